// A bool for all ranks, of blocks that each rank has for itself.
// EXPECT: \[shardtype V01\] a Tensor stands where a Local belongs, or a Local where a Tensor does
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I, X>>;

auto near(A const& a) {
  return shard_map<Dim<I, X>>(
      [](auto const& block) {
#ifdef LEGAL
        return where(isclose(block, 0), block, 1.0F);
#else
        return where(allclose(block, 0), block, 1.0F);
#endif
      },
      a);
}
