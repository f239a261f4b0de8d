// A sum with what is still under way.
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

auto twice(A const& a, Tensor<float, Dim<I>> const& b) {
  auto pending = start(op::AllGather<X>{}, a);
#ifdef LEGAL
  return (std::move(pending).wait() + b).tensor();
#else
  return (pending + b).tensor();
#endif
}
