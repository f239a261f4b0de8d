// A router without the number of choices; what takes its routes adds no message.
// EXPECT: \[shardtype N08\] no function of nn .* router<E>\(logits, k\)
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
auto routes_of(Logits const& logits) { return nn::router<E>(logits); }
#endif

auto mix(A const& x, Logits const& logits, W const& w, V const& v) {
  auto const routes = routes_of(logits);
  auto const [experts, weights] = routes;
  auto const uneven = nn::load_balance_loss<E>(logits, routes);
  return (nn::moe(x, routes, w, v) * uneven + sum<Tensor<float>>(weights)).tensor();
}
