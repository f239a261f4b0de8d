// An unreduced maximum, and no sum.
// EXPECT: \[shardtype V16\] the block is unreduced with another kind
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Unreduced<shardtype::Max, X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Local<float, Dim<I>, Dim<J>, Unreduced<X>>;
#else
using A = Local<float, Dim<I>, Dim<J>, Unreduced<Max, X>>;
#endif

void ask(A const& a) { (void)reduce_scatter<X, I>(a); }
