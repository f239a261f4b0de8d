// Attention over a sequence that X splits.
// EXPECT: \[shardtype D03\] this operation works along one dim, and a mesh axis splits that dim
// EXPECT: nn::attention<Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>\(q, k, v\). Or all_gather the axis first
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

using A = Tensor<float, Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>;

void attend(A const& q, A const& k, A const& v) {
#ifdef LEGAL
  (void)nn::attention<Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>(q, k, v);
#else
  (void)nn::attention(q, k, v);
#endif
}
