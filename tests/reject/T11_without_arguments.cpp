// A function of one block, and no tensor.
// EXPECT: \[shardtype T11\] the function given here cannot be called
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
using M = Mesh<X, Y>;

#ifdef LEGAL
auto ask(M const& mesh) {
  return shard_map<Dim<I>>(mesh, [] { return zeros_local<float, Dim<I>>({4}); });
}
#else
auto ask(M const& mesh) {
  return shard_map<Dim<I>>(mesh, [](auto a) { return a; });
}
#endif
