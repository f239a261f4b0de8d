// What is neither a form nor a function, in the place of a form.
// EXPECT: \[shardtype D19\] a mixture of experts does not understand this argument
// EXPECT: false, int>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/nn/moe.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct S : Index<"S"> {};
struct E : Index<"E"> {};
struct D : Index<"D"> {};
struct F : Index<"F"> {};
using A = Tensor<float, Dim<S, X>, Dim<D>>;
using Logits = Tensor<float, Dim<S, X>, Dim<E>>;
using W = Tensor<float, Dim<E, X>, Dim<D>, Dim<F>>;
using V = Tensor<float, Dim<E, X>, Dim<F>, Dim<D>>;

#ifdef LEGAL
constexpr nn::Capacity rows{64};
#else
constexpr int rows = 64;
#endif

void mix(A const& a, Logits const& logits, W const& w, V const& v) {
  (void)nn::moe(a, nn::router<E>(logits, 2), w, v, rows);
}
