// A number is no tensor.
// EXPECT: \[shardtype T09\] an operand is not a Tensor
// EXPECT: false, double ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I, X>>;
#else
using A = double;
#endif

void ask(A const& a) {
  (void)shard_map<Dim<I, X>>([](auto b) { return b; }, a);
}
