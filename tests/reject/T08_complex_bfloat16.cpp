// bfloat16 is an element type, and no part of a complex one.
// EXPECT: \[shardtype T08\] a tensor cannot hold this element type\. Use float, double, bfloat16
// EXPECT: Tensor<Kokkos::complex<shardtype::bfloat16>, shardtype::Dim<I, X> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using Mine = Tensor<bfloat16, Dim<I, X>>;
#else
using Mine = Tensor<Kokkos::complex<bfloat16>, Dim<I, X>>;
#endif

static_assert(Mine::spec.rank >= 0);
