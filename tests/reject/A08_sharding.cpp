// Another sharding is assigned.
// EXPECT: \[shardtype A08\] the variable has other dims, another sharding or another element type
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?> ?>
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

#ifdef LEGAL
void ask(A& a) { a = reshard<Dim<I, X>, Dim<J>>(a); }
#else
void ask(A& a) { a = reshard<Dim<I>, Dim<J>>(a); }
#endif
