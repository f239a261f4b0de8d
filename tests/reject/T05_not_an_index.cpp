// First in a Dim stands an index, not an axis.
// EXPECT: \[shardtype T05\] a mesh axis stands where an index belongs
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using Mine = Tensor<float, Dim<I, X>>;
#else
using Mine = Tensor<float, Dim<X>>;
#endif

void ask() { (void)plan(op::Reshard<Mine>{}, type<Mine>); }
