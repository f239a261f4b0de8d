// LU of a matrix whose rows and columns are block-cyclic.
// EXPECT: \[shardtype Q03\] rows and columns of this matrix are both block-cyclic
// EXPECT: reshard<Dim<I>, Dim<J, Cyclic<X, 64>>>\(a\)
// EXPECT: I, J>
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
using A = Tensor<double, Dim<I, Cyclic<Y, 64>>, Dim<J, Cyclic<X, 64>>>;
#endif

void ask() { (void)plan(op::CyclicLu<I, J>{}, type<A>); }
