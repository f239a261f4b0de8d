// X cuts the inner dim only, so no block of the merged one is in one piece.
// EXPECT: \[shardtype D09\] the blocks of the split dims do not line up
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J, X> ?>, I, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I, X>, Dim<J>>;
#else
using A = Tensor<float, Dim<I>, Dim<J, X>>;
#endif

void ask() { (void)plan(op::MergeDims<I, J, K>{}, type<A>); }
