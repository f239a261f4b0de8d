// The largest of complex numbers.
// EXPECT: \[shardtype S04\] complex numbers have no order
// EXPECT: false, shardtype::Local<Kokkos::complex<float>, shardtype::Dim<I>, shardtype::Varying<X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using A = Local<float, Dim<I>, Varying<X>>;
#else
using A = Local<Kokkos::complex<float>, Dim<I>, Varying<X>>;
#endif

void ask(A const& a) { (void)all_reduce<Max, X>(a); }
