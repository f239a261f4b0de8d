// A block, and nobody to reduce with.
// EXPECT: \[shardtype K07\] this collective names no mesh axis
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Varying<X> ?> ?>
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
using A = Local<float, Dim<I>, Varying<X>>;

#ifdef LEGAL
void ask(A const& a) { (void)all_reduce<X>(a); }
#else
void ask(A const& a) { (void)all_reduce(a); }
#endif
