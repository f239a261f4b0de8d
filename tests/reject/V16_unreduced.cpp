// One block is unreduced with one kind.
// EXPECT: \[shardtype V16\] the block is unreduced with another kind
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Varying<Y>, shardtype::Unreduced<shardtype::Max, X> ?>, Y>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Local<float, Dim<I>, Dim<J>, Varying<Y>, Unreduced<X>>;
#else
using A = Local<float, Dim<I>, Dim<J>, Varying<Y>, Unreduced<Max, X>>;
#endif

void ask(A const& a) { (void)unreduced<Y>(a); }
