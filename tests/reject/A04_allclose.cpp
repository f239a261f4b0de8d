// A comparison with a collective that has not been waited for.
// EXPECT: \[shardtype A04\] this is a Pending result, not yet a tensor
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I, X>>;

bool compare(A const& a, Tensor<float, Dim<I>> const& whole) {
  auto pending = start(op::AllGather<X>{}, a);
#ifdef LEGAL
  return allclose(std::move(pending).wait(), whole);
#else
  return allclose(pending, whole);
#endif
}
