// LU of a matrix whose rows and columns are block-cyclic, in blocks of different sizes.
// EXPECT: \[shardtype Q03\] rows and columns of this matrix are both block-cyclic
// EXPECT: reshard<Dim<I, Cyclic<Y, 64>>, Dim<J, Cyclic<X, 64>>>\(a\)
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

#ifdef LEGAL
inline constexpr int rows_per_block = 64;
#else
inline constexpr int rows_per_block = 32;
#endif
using A = Tensor<double, Dim<I, Cyclic<Y, rows_per_block>>, Dim<J, Cyclic<X, 64>>>;

void ask() { (void)plan(op::CyclicLu<I, J>{}, type<A>); }
