// Softmax over a split dim.
// EXPECT: \[shardtype S03\] .*softmax<J, Dim<I, X>, Dim<J, Y>>\(a\)
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
using A = Tensor<float, Dim<I, X>, Dim<J, Y>>;

#ifdef LEGAL
void ask(A const& a) { (void)softmax<J, Dim<I, X>, Dim<J, Y>>(a); }
#else
void ask(A const& a) { (void)softmax<J>(a); }
#endif
