// A matrix with block-cyclic columns, whose rows are in blocks.
// EXPECT: \[shardtype Q01\] a mesh axis splits the rows or columns of a matrix
// EXPECT: hold one large matrix block-cyclic, reshard<Dim<I>, Dim<J, Cyclic<X, 64>>>\(a\)
// EXPECT: I, Y>
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
using A = Tensor<double, Dim<I, Y>, Dim<J, Cyclic<X, 64>>>;
#endif

void ask() { (void)plan(op::CyclicLu<I, J>{}, type<A>); }
