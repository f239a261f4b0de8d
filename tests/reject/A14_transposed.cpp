// The transposed matrix as a member.
// EXPECT: \[shardtype A14\] .*transpose<J, I>\(a\)
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
using W = Tensor<float, Dim<J>>;
using M = Mesh<X, Y>;

#ifdef LEGAL
void ask(A const& a) { (void)transpose<J, I>(a); }
#else
void ask(A const& a) { auto b = a.T; }
#endif
