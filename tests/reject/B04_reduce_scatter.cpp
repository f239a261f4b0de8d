// Nor can a sum be scattered there.
// EXPECT: \[shardtype B04\] this collective would put a mesh axis behind one that splits the dim block-cyclically
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J, shardtype::Cyclic<Y, 16> ?>, shardtype::Unreduced<X> ?>, J, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I>, Dim<J, Cyclic<Y, 16>>, Unreduced<X>>;

#ifdef LEGAL
using Onto = I;
#else
using Onto = J;
#endif

void ask() { (void)plan(op::ReduceScatter<X, Onto>{}, type<A>); }
