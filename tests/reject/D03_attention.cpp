// Attention over a sequence that X splits.
// EXPECT: \[shardtype D03\] this operation works along one dim, and a mesh axis splits that dim
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

#ifdef LEGAL
using A = Tensor<float, Dim<B>, Dim<S>, Dim<H, X>, Dim<F>>;
#else
using A = Tensor<float, Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>;
#endif

void attend(A const& q, A const& k, A const& v) { (void)nn::attention(q, k, v); }
