// Waiting without giving the Pending away.
// EXPECT: \[shardtype A04\] this is a Pending result, not yet a tensor
// EXPECT: shardtype::Pending<shardtype::Tensor<float, shardtype::Dim<I> ?> ?>
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

using A = Tensor<float, Dim<I, X>>;

Tensor<float, Dim<I>> whole(A const& a) {
  auto pending = start(op::AllGather<X>{}, a);
#ifdef LEGAL
  return std::move(pending).wait();
#else
  return pending.wait();
#endif
}
