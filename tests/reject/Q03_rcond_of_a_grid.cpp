// The condition of a matrix over a grid of ranks, in blocks of two sizes.
// EXPECT: \[shardtype Q03\] rows and columns of this matrix are both block-cyclic
// EXPECT: reshard<Dim<I, Cyclic<Y, 64>>, Dim<J, Cyclic<X, 64>>>\(a\)
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
inline constexpr int rows_per_block = 64;
#else
inline constexpr int rows_per_block = 32;
#endif
using A = Tensor<double, Dim<I, Cyclic<X, rows_per_block>>, Dim<J, Cyclic<Y, 64>>>;
void ask(A const& a) { (void)linalg::rcond<I, J>(a); }
