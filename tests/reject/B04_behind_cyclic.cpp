// X cannot move behind the axis that splits J block-cyclically.
// EXPECT: \[shardtype B04\] this collective would put a mesh axis behind one that splits the dim block-cyclically
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J, shardtype::Cyclic<Y, 16> ?> ?>, J, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I, X>, Dim<J, Y>>;
#else
using A = Tensor<float, Dim<I, X>, Dim<J, Cyclic<Y, 16>>>;
#endif

void ask() { (void)plan(op::AllToAll<X, I, J>{}, type<A>); }
