// A block that varies is assigned to one that does not.
// EXPECT: \[shardtype A08\] the variable has other dims, another sharding or another element type
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I> ?>, shardtype::Local<float, shardtype::Dim<I>, shardtype::Varying<X> ?> ?>
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
using A = Local<float, Dim<I>>;
using B = Local<float, Dim<I>, Varying<X>>;

#ifdef LEGAL
void ask(A& a, B const& b) { a = all_reduce<X>(b); }
#else
void ask(A& a, B const& b) { a = b; }
#endif
