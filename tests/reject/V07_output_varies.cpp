// Blocks that differ, promised to be equal.
// EXPECT: \[shardtype V07\] the output names no dim split over the mesh axis
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Varying<X> ?>, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, X>
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
  (void)shard_map<Dim<I>, Dim<J>>([](auto b) { return b; }, a);
#endif
}
