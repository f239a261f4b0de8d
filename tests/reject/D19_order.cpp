// A function before a form.
// EXPECT: \[shardtype D19\] .*nn::moe\(x, routes, w, v, nn::Ragged\{\}, nn::Gelu\{\}\)
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
using W = Tensor<float, Dim<E>, Dim<D>, Dim<F>>;
using V = Tensor<float, Dim<E>, Dim<F>, Dim<D>>;

void mix(A const& a, Logits const& logits, W const& w, V const& v) {
  auto const routes = nn::router<E>(logits, 2);
#ifdef LEGAL
  (void)nn::moe(a, routes, w, v, nn::Capacity{2}, nn::Gelu{});
#else
  (void)nn::moe(a, routes, w, v, nn::Gelu{}, nn::Capacity{2});
#endif
}
