// Experts with logits, without a router.
// EXPECT: \[shardtype N08\] no function of nn .* moe\(x, routes, w_in, w_out\) with the routes of router
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/nn/nn.hpp>
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
auto routes_of(Logits const& logits) { return nn::router<E>(logits, 2); }
#else
auto const& routes_of(Logits const& logits) { return logits; }
#endif

auto mix(A const& x, Logits const& logits, W const& w, V const& v) {
  return nn::moe(x, routes_of(logits), w, v);
}
