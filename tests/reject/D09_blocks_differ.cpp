// 12 rows over 4 ranks are blocks of 3; rows of 4 do not fit.
// EXPECT: \[shardtype D09\] the blocks of the split dims do not line up
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<P, X, Y> ?>, P, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct P : Index<"P", 12> {};
struct Three : Index<"Three", 3> {};
struct Four : Index<"Four", 4> {};
using A = Tensor<float, Dim<P, X, Y>>;

#ifdef LEGAL
inline constexpr auto asked = op::SplitDim<P, Four, Three>{};
#else
inline constexpr auto asked = op::SplitDim<P, Three, Four>{};
#endif

void ask() { (void)plan(asked, type<A>); }
