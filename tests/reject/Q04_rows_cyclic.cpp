// LU of a matrix whose rows are block-cyclic; the transposed one is legal.
// EXPECT: \[shardtype Q04\] the rows of this matrix are block-cyclic
// EXPECT: lu_factor<J, I>\(a\)
// EXPECT: I, J, X>
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
using Lu = op::CyclicLu<J, I>;
#else
using Lu = op::CyclicLu<I, J>;
#endif

using A = Tensor<double, Dim<I, Cyclic<X, 64>>, Dim<J>>;
void ask() { (void)plan(Lu{}, type<A>); }
