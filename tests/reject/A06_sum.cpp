// The number of a dim, as in NumPy.
// EXPECT: \[shardtype A06\] unexpected last argument
// EXPECT: A06_no_such_argument, false, int>
// FORBID: Resolve<|basic_type|Pack<|source_location|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
void ask(A const& a) { (void)sum<I>(a); }
#else
void ask(A const& a) { (void)sum(a, 0); }
#endif
