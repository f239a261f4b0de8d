// A member that the options of attention do not have: one error, at the user's line.
// EXPECT: N08_unknown_member.cpp:23:
// EXPECT: \[shardtype N08\] no function of nn .* attention\(q, k, v, {.causal = true}\)|no matching function for call to 'attention'
// FORBID: error:.*error:
// MAX-LINES: 10, 26 with echo
// NEEDS: full
#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct B : Index<"B"> {};
struct S : Index<"S"> {};
struct T : Index<"T"> {};
struct H : Index<"H"> {};
struct F : Index<"F"> {};
using Q = Tensor<float, Dim<B, X>, Dim<S>, Dim<H>, Dim<F>>;
using K = Tensor<float, Dim<B, X>, Dim<T>, Dim<H>, Dim<F>>;

#ifdef LEGAL
auto weighed(Q const& q, K const& k) { return nn::attention(q, k, k, {.causal = true}); }
#else
auto weighed(Q const& q, K const& k) { return nn::attention(q, k, k, {.casual = true}); }
#endif
