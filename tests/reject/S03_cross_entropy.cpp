// A strict cross entropy over split classes.
// EXPECT: \[shardtype S03\] the reduction runs over a split dim and cannot stay unreduced
// EXPECT: Name the result
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/nn/cross_entropy.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct B : Index<"B"> {};
struct V : Index<"V"> {};
using A = Tensor<float, Dim<B>, Dim<V, X>>;
using Ids = Tensor<std::int64_t, Dim<B>>;

void entropy(A const& logits, Ids const& targets) {
#ifdef LEGAL
  (void)nn::cross_entropy<V, Dim<B>>(logits, targets);
#else
  (void)nn::cross_entropy<V>(logits, targets);
#endif
}
