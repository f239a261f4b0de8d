// An axis is unreduced or reduced, not both.
// EXPECT: \[shardtype T01\] a mesh axis is listed twice
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Unreduced<X>, shardtype::Reduced<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using Mine = Tensor<float, Dim<I>, Unreduced<X>, Reduced<Y>>;
#else
using Mine = Tensor<float, Dim<I>, Unreduced<X>, Reduced<X>>;
#endif

void ask() { (void)plan(op::Reshard<Mine>{}, type<Mine>); }
