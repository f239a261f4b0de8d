// LU of one matrix over many ranks, of which summands are pending.
// EXPECT: \[shardtype Q02\] a matrix is unreduced over the axis
// EXPECT: all_reduce<X>\(a\) first
// EXPECT: , Y>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/linalg/types_cyclic.hpp>
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

#ifdef LEGAL
using A = Tensor<double, Dim<I>, Dim<J, Cyclic<X, 64>>>;
#else
using A = Tensor<double, Dim<I>, Dim<J, Cyclic<X, 64>>, Unreduced<Y>>;
#endif

void ask() { (void)plan(op::CyclicLu<I, J>{}, type<A>); }
