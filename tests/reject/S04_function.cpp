// A function of real numbers, of complex ones.
// EXPECT: \[shardtype S04\] .*complex numbers have no order
// EXPECT: false, shardtype::Tensor<Kokkos::complex<float>, shardtype::Dim<I> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I>>;

#ifdef LEGAL
using B = Tensor<float, Dim<I>>;
#else
using B = Tensor<Kokkos::complex<float>, Dim<I>>;
#endif

void ask(A const& a, B const& b) { (void)relu(b), (void)a; }
