// Queries that X splits, and keys that Y splits: no ring passes both.
// EXPECT: \[shardtype D12\] the operands must have the same indices in the same order, split over the same mesh axes
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/nn/attention.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct B : Index<"B"> {};
struct S : Index<"S"> {};
struct K : Index<"K"> {};
struct H : Index<"H"> {};
struct F : Index<"F"> {};

using Q = Tensor<float, Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>;
#ifdef LEGAL
using Keys = Tensor<float, Dim<B>, Dim<K, X>, Dim<H>, Dim<F>>;
#else
using Keys = Tensor<float, Dim<B>, Dim<K, Y>, Dim<H>, Dim<F>>;
#endif

void attend(Q const& q, Keys const& k, Keys const& v) {
  (void)nn::attention<Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>(q, k, v);
}
