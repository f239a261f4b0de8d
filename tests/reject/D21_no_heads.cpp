// Attention without heads.
// EXPECT: \[shardtype D21\] attention takes queries q\[B, S, H, F\]
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

#ifdef LEGAL
using Q = Tensor<float, Dim<B, X>, Dim<S>, Dim<H>, Dim<F>>;
#else
using Q = Tensor<float, Dim<B, X>, Dim<S>, Dim<F>>;
#endif

void attend(Q const& q) { (void)nn::attention(q, q, q); }
