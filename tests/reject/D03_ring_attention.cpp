// A sequence that two axes split: the ring has one.
// EXPECT: \[shardtype D03\] this operation works along one dim, and a mesh axis splits that dim
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
struct H : Index<"H"> {};
struct F : Index<"F"> {};

#ifdef LEGAL
using Ss = Dim<S, X>;
#else
using Ss = Dim<S, X, Y>;
#endif
using A = Tensor<float, Dim<B>, Ss, Dim<H>, Dim<F>>;

void attend(A const& q, A const& k, A const& v) {
  (void)nn::attention<Dim<B>, Ss, Dim<H>, Dim<F>>(q, k, v);
}
