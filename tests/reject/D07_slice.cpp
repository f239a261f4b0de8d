// A slice makes one index.
// EXPECT: \[shardtype D07\] the indices named here are not as many
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, J>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
inline constexpr auto asked = op::Slice<J, K>{};
#else
inline constexpr auto asked = op::Slice<J, K, L>{};
#endif

void ask() { (void)plan(asked, type<A>); }
