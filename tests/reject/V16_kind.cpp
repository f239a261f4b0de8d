// A sum is unreduced, and no maximum.
// EXPECT: \[shardtype V16\] the block is unreduced with another kind
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Unreduced<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Local<float, Dim<I>, Dim<J>, Unreduced<Max, X>>;
#else
using A = Local<float, Dim<I>, Dim<J>, Unreduced<X>>;
#endif

void ask(A const& a) { (void)all_reduce<Max, X>(a); }
