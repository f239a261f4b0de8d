// A slice of an index whose type says 8.
// EXPECT: \[shardtype D05\] this operation changes the extent of an index
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<P> ?>, P>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct P : Index<"P", 8> {};
struct Head : Index<"Head"> {};
using A = Tensor<float, Dim<I, X>, Dim<P>>;

#ifdef LEGAL
inline constexpr auto asked = op::Slice<P, Head>{};
#else
inline constexpr auto asked = op::Slice<P>{};
#endif

void ask() { (void)plan(asked, type<A>); }
