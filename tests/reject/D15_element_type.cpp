// A running maximum of complex numbers.
// EXPECT: \[shardtype D15\] elements of this type cannot be scanned like this
// EXPECT: false, shardtype::Tensor<Kokkos::complex<float>, shardtype::Dim<I, X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using A = Tensor<double, Dim<I, X>>;
#else
using A = Tensor<Kokkos::complex<float>, Dim<I, X>>;
#endif

void run(A const& a) { (void)cummax<I>(a); }
