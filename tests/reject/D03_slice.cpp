// Rows of a split dim.
// EXPECT: \[shardtype D03\] .*slice<I, Head, Dim<Head>, Dim<J, X>>\(a, 0, 10\)
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
void ask(A const& a) { (void)slice<J, K, Dim<I, X>, Dim<K>>(a, 0, 3); }
#else
void ask(A const& a) { (void)slice<J>(a, 0, 3); }
#endif
