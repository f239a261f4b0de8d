// The sum is split, the tensor it is written to is not.
// EXPECT: \[shardtype P13\] .*would have another sharding or element type
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I> ?>, shardtype::Tensor<float, shardtype::Dim<I, X> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I>>;

#ifdef LEGAL
using B = Tensor<float, Dim<I>>;
#else
using B = Tensor<float, Dim<I, X>>;
#endif

void ask(A& a, B const& b) { a += b; }
