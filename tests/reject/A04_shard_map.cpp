// An argument of shard_map that is still under way.
// EXPECT: \[shardtype A04\] this is a Pending result, not yet a tensor
// EXPECT: shardtype::Pending<shardtype::Tensor<float, shardtype::Dim<I> ?> ?>
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

auto scaled(Tensor<float, Dim<I, X>> const& a) {
  auto pending = start(op::AllGather<X>{}, a);
#ifdef LEGAL
  auto const b = std::move(pending).wait();
#else
  auto& b = pending;
#endif
  return shard_map<Dim<I>>([](auto block) { return block; }, b);
}
