// The condition of a matrix over a grid of ranks.
// EXPECT: \[shardtype Q03\] rows and columns of this matrix are both block-cyclic
// EXPECT: inv, det, rcond and linalg::refined take whole rows
// FORBID: shardtype S02
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Tensor<double, Dim<I>, Dim<J, Cyclic<Y, 64>>>;
#else
using A = Tensor<double, Dim<I, Cyclic<X, 64>>, Dim<J, Cyclic<Y, 64>>>;
#endif
void ask(A const& a) { (void)linalg::rcond<I, J>(a); }
