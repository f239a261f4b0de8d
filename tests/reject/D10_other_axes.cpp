// The outer part gets the major axis, X.
// EXPECT: \[shardtype D10\] the parts of a split must have the mesh axes of the dim
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X, Y> ?>, I>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X, Y>>;

#ifdef LEGAL
inline constexpr auto asked = op::SplitDim<I, Dim<J, X>, Dim<K, Y>>{};
#else
inline constexpr auto asked = op::SplitDim<I, Dim<J, Y>, Dim<K, X>>{};
#endif

void ask() { (void)plan(asked, type<A>); }
