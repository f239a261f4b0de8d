// reduce_scatter takes the axis, then the index.
// EXPECT: \[shardtype T05\] a mesh axis stands where an index belongs
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Unreduced<X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I>, Unreduced<X>>;

#ifdef LEGAL
using First = X;
using Second = I;
#else
using First = I;
using Second = X;
#endif

void ask() { (void)plan(op::ReduceScatter<First, Second>{}, type<A>); }
