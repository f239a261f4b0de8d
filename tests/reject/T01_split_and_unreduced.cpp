// X splits a dim and is unreduced as well.
// EXPECT: \[shardtype T01\] a mesh axis is listed twice
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J>, shardtype::Unreduced<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using Mine = Tensor<float, Dim<I, X>, Dim<J>, Unreduced<Y>>;
#else
using Mine = Tensor<float, Dim<I, X>, Dim<J>, Unreduced<X>>;
#endif

void ask() { (void)plan(op::Reshard<Mine>{}, type<Mine>); }
