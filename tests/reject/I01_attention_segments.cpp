// Attention with segments that are no integers.
// EXPECT: \[shardtype I01\] places are given by a tensor of std::int32_t or std::int64_t
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/nn/attention.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct B : Index<"B"> {};
struct S : Index<"S"> {};
struct H : Index<"H"> {};
struct F : Index<"F"> {};
using Q = Tensor<float, Dim<B>, Dim<S>, Dim<H>, Dim<F>>;

#ifdef LEGAL
using Ids = Tensor<std::int32_t, Dim<B>, Dim<S>>;
#else
using Ids = Tensor<float, Dim<B>, Dim<S>>;
#endif

void attend(Q const& q, Ids const& ids) { (void)nn::attention(q, q, q, ids, ids); }
