// An expression of another sharding is assigned.
// EXPECT: \[shardtype A08\] the variable has other dims, another sharding or another element type
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
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<I>, Dim<J>>;

#ifdef LEGAL
void ask(A& a, B const& b) { a = a * b; }
#else
void ask(A& a, B const& b) { a = b * 2; }
#endif
