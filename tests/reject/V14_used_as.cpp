// A block is cast by a cast.
// EXPECT: \[shardtype V14\] operations on Locals name no result by dims
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using W = Local<float, Dim<I>>;

#ifdef LEGAL
void use(W const& w) { (void)reduced<X>(w); }
#else
void use(W const& w) { (void)used_as<Reduced<X>>(w); }
#endif
