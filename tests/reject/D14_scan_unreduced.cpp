// A running maximum of unreduced sums.
// EXPECT: \[shardtype D14\] the tensor is unreduced, and a running value of it would be wrong
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Unreduced<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I>, Unreduced<Max, X>>;
#else
using A = Tensor<float, Dim<I>, Unreduced<X>>;
#endif

void run(A const& a) { (void)cummax<I>(a); }
