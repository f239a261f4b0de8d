// A tensor is unreduced over mesh axes, not over an index.
// EXPECT: \[shardtype T05\] a mesh axis stands where an index belongs
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Unreduced<J> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using Mine = Tensor<float, Dim<I>, Unreduced<X>>;
#else
using Mine = Tensor<float, Dim<I>, Unreduced<J>>;
#endif

void ask() { (void)plan(op::Reshard<Mine>{}, type<Mine>); }
