// So it is in the name of a result.
// EXPECT: \[shardtype B01\] a block-cyclic dim has exactly one mesh axis
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I>>;

#ifdef LEGAL
using Out = Dim<I, Cyclic<Y, 16>>;
#else
using Out = Dim<I, X, Cyclic<Y, 16>>;
#endif

void ask() { (void)plan(op::Reshard<Out>{}, type<A>); }
