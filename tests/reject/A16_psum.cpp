// A collective by its name in JAX.
// EXPECT: \[shardtype A16\] .*psum<X>\(a\) is all_reduce<X>\(a\)
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
void ask(A const& a) { (void)all_reduce<X>(sum<I>(a)); }
#else
void ask(A const& a) { (void)psum<X>(sum<I>(a)); }
#endif
