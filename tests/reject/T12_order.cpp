// The key before the mesh, as in JAX.
// EXPECT: \[shardtype T12\] .*normal<float, Dim<I>>\(mesh
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/random/random.hpp>
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
void ask(M const& mesh) { (void)normal<float, Dim<I, X>>(mesh, {8}, RandomKey{7}); }
#else
void ask(M const& mesh) { (void)normal<float, Dim<I, X>>(RandomKey{7}, mesh, {8}); }
#endif
