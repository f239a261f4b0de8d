// Attention of heads that are split in the keys and values alone.
// EXPECT: \[shardtype D21\] attention takes .* the third are heads, split in keys and values as in queries, or whole
// FORBID: Resolve<|basic_type|Pack<|NotTaken
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
using K = Tensor<float, Dim<B>, Dim<S>, Dim<H, X>, Dim<F>>;

#ifdef LEGAL
using Q = K;
#else
using Q = Tensor<float, Dim<B>, Dim<S>, Dim<H>, Dim<F>>;
#endif

void attend(Q const& q, K const& k, K const& v) { (void)nn::attention(q, k, v); }
