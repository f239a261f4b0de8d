// Summed over X, it still varies over Y.
// EXPECT: \[shardtype V07\] the output names no dim split over the mesh axis
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Varying<Y> ?>, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, Y>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J, Y>>;

void ask(A const& a) {
#ifdef LEGAL
  (void)shard_map<Dim<I>, Dim<J>>([](auto b) { return all_reduce<X, Y>(b); }, a);
#else
  (void)shard_map<Dim<I>, Dim<J>>([](auto b) { return all_reduce<X>(b); }, a);
#endif
}
