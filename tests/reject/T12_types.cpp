// A tensor without element type and dims.
// EXPECT: \[shardtype T12\] no tensor is made of these arguments
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
void ask(M const& mesh) { (void)zeros<float, Dim<I, X>, Dim<J>>(mesh, {8, 12}); }
#else
void ask(M const& mesh) { (void)zeros(mesh, {8, 12}); }
#endif
