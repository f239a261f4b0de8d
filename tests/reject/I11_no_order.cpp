// Complex numbers, sorted.
// EXPECT: \[shardtype I11\] complex numbers have no order
// EXPECT: false, shardtype::Tensor<Kokkos::complex<float>, shardtype::Dim<V> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct V : Index<"V"> {};
struct D : Index<"D"> {};
struct B : Index<"B"> {};
struct N : Index<"N"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<V>>;
#else
using A = Tensor<Kokkos::complex<float>, Dim<V>>;
#endif

void ask(A const& a) { (void)argsort<V>(a); }
