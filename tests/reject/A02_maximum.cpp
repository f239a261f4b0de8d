// A maximum over a split dim, read as if it were there.
// EXPECT: \[shardtype A02\] .*or candidates of a maximum or minimum
// EXPECT: false, shardtype::Tensor<float, shardtype::Unreduced<shardtype::Max, X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>>;

#ifdef LEGAL
float ask(A const& a) { return item(all_reduce<X>(max(a))); }
#else
float ask(A const& a) { return item(max(a)); }
#endif
