// Random numbers without their header.
// EXPECT: \[shardtype A15\] .*#include <shardtype/random/random.hpp>
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
void ask(M const& mesh) { (void)full<float, Dim<I, X>>(mesh, {8}, 1.0F); }
#else
void ask(M const& mesh) { (void)normal<float, Dim<I, X>>(mesh, {8}, 7); }
#endif
