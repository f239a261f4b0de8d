// The view of the block, and not the block.
// EXPECT: \[shardtype V15\] the function of shard_map must return a Local
// EXPECT: false, Kokkos::View
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

void ask(A const& a) {
#ifdef LEGAL
  (void)shard_map<Dim<I, X>, Dim<J>>([](auto b) { return b; }, a);
#else
  (void)shard_map<Dim<I, X>, Dim<J>>([](auto const& b) { return b.local(); }, a);
#endif
}
