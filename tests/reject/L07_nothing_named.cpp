// evaluate without the dims of the result.
// EXPECT: \[shardtype L07\] the result that evaluate names has other indices than the expression
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
using M = Mesh<X, Y>;

#ifdef LEGAL
auto ask(M const& mesh, A const& a) { return evaluate<Dim<I, X>, Dim<J>>(mesh, lazy(a) * 2); }
#else
auto ask(M const& mesh, A const& a) { return evaluate(mesh, lazy(a) * 2); }
#endif
