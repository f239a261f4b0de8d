// Attention around a ring with segments of keys that are split as the keys are: each rank has all.
// EXPECT: \[shardtype D12\] the operands must have the same indices in the same order
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/nn/attention.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct B : Index<"B"> {};
struct S : Index<"S"> {};
struct H : Index<"H"> {};
struct F : Index<"F"> {};
using Q = Tensor<float, Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>;
using Ids = Tensor<std::int32_t, Dim<B>, Dim<S, X>>;

#ifdef LEGAL
using OfKeys = Tensor<std::int32_t, Dim<B>, Dim<S>>;
#else
using OfKeys = Ids;
#endif

void attend(Q const& q, Ids const& a, OfKeys const& b) {
  (void)nn::attention<Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>(q, q, q, a, b);
}
