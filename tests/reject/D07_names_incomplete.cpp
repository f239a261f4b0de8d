// transpose must name I too.
// EXPECT: \[shardtype D07\] the indices named here are not as many
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, I>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
inline constexpr auto asked = op::Transpose<J, I>{};
#else
inline constexpr auto asked = op::Transpose<J>{};
#endif

void ask() { (void)plan(asked, type<A>); }
