// Tokens whose features are split, with experts whose hidden features are not.
// EXPECT: \[shardtype D18\] rows, matrices and the sizes of groups do not fit together
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/nn/moe.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct S : Index<"S"> {};
struct E : Index<"E"> {};
struct D : Index<"D"> {};
struct F : Index<"F"> {};
using A = Tensor<float, Dim<S, X>, Dim<D, Y>>;
using Logits = Tensor<float, Dim<S, X>, Dim<E>>;

#ifdef LEGAL
using W = Tensor<float, Dim<E, X>, Dim<D>, Dim<F, Y>>;
using V = Tensor<float, Dim<E, X>, Dim<F, Y>, Dim<D>>;
#else
using W = Tensor<float, Dim<E, X>, Dim<D>, Dim<F>>;
using V = Tensor<float, Dim<E, X>, Dim<F>, Dim<D>>;
#endif

void mix(A const& a, Logits const& logits, W const& w, V const& v) {
  (void)nn::moe(a, nn::router<E>(logits, 2), nn::Gated{w, w}, v);
}
