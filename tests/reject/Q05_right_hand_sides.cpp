// Right-hand sides along the axis that splits the matrix.
// EXPECT: \[shardtype Q05\] a matrix whose columns are block-cyclic is one matrix
// EXPECT: takes b\[I\] or b\[I, K\]
// EXPECT: K, X>
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
using B = Tensor<double, Dim<I>, Dim<K, Y>>;
#else
using B = Tensor<double, Dim<I>, Dim<K, X>>;
#endif

using A = Tensor<double, Dim<I>, Dim<J, Cyclic<X, 64>>>;
void ask() { (void)plan(op::CyclicSolve<I, J>{}, type<A>, type<B>); }
