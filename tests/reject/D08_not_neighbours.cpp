// J stands behind I, not before it.
// EXPECT: \[shardtype D08\] merge_dims joins two neighbouring dims
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, J, I>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
inline constexpr auto asked = op::MergeDims<I, J, K>{};
#else
inline constexpr auto asked = op::MergeDims<J, I, K>{};
#endif

void ask() { (void)plan(asked, type<A>); }
