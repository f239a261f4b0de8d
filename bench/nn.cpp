// Functions of nn against the compositions that users wrote before, in float: norms, cross entropy,
// attention. Attention with a window against attention without one.
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include <shardtype/nn/nn.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "paired.hpp"
#include "yield.hpp"

using namespace shardtype;

namespace {

char const* const help =
    "bench_nn [--rounds=21] [--benchmark_filter=CASE]\n"
    "nn::layer_norm, cross_entropy and attention against compositions of other functions; each "
    "rank has\n"
    "4 sequences. window: causal attention of a head of 64 features to the last 256 of 8192 "
    "positions,\n"
    "over that to all. Last lines: ratio nn CASE RANKS MEDIAN Q1 Q3, ours over the composition in "
    "time.\n";

struct X : Axis<"X"> {};
struct B : Index<"B"> {};
struct S : Index<"S", 512> {};
struct K : Index<"K", 512> {};
struct H : Index<"H", 8> {};
struct F : Index<"F", 64> {};
struct D : Index<"D", 512> {};
struct V : Index<"V", 8192> {};
struct L : Index<"L", 8192> {};
struct One : Index<"One", 1> {};
using Rows = Tensor<float, Dim<B, X>, Dim<S>, Dim<D>>;
using Vec = Tensor<float, Dim<D>>;
using Logits = Tensor<float, Dim<B, X>, Dim<S>, Dim<V>>;
using Ids = Tensor<std::int64_t, Dim<B, X>, Dim<S>>;
using Queries = Tensor<float, Dim<B, X>, Dim<S>, Dim<H>, Dim<F>>;
using Keys = Tensor<float, Dim<B, X>, Dim<K>, Dim<H>, Dim<F>>;
using Long = Tensor<float, Dim<B, X>, Dim<L>, Dim<One>, Dim<F>>;
using Pair = std::pair<std::function<void()>, std::function<void()>>;

constexpr auto fused_norm = [](auto const& x, auto const& gain, auto const& bias) {
  return nn::layer_norm<D>(x, used_as<Reduced<X>>(gain), used_as<Reduced<X>>(bias));
};
constexpr auto composed_norm = [](auto const& x, auto const& gain, auto const& bias) {
  auto const centred = (x - mean<D>(x)).tensor();
  return (centred * rsqrt(mean<D>(square(centred)) + 1e-5F) * used_as<Reduced<X>>(gain) +
          used_as<Reduced<X>>(bias))
      .tensor();
};
constexpr auto entropy = [](auto const& x, auto const& ids) {
  return nn::cross_entropy<V>(x, ids);
};
constexpr auto composed_entropy = [](auto const& x, auto const& ids) {
  return (logsumexp<V>(x) - sum<V>(x * one_hot<V, float>(ids))).tensor();
};
constexpr auto attention = [](auto const& q, auto const& k, auto const& v, auto const&) {
  return nn::attention(q, k, v);
};
constexpr auto attention_in_window = [](auto const& q, auto const& k, auto const& v) {
  return nn::attention(q, k, v, {.causal = true, .window = 256});
};
constexpr auto attention_to_all = [](auto const& q, auto const& k, auto const& v) {
  return nn::attention(q, k, v, {.causal = true});
};
// masked scores are not so small that their exponentials are subnormal
constexpr auto composed_attention = [](auto const& q, auto const& k, auto const& v,
                                       auto const& mask) {
  auto const scores = einsum<B, H, S, K>(q, k) * 0.125F;
  return einsum<B, S, H, F>(softmax<K>(where(mask, scores, -80.0F)), v);
};
template <class Fn>
struct Loss {
  Fn f;
  constexpr auto operator()(auto const&... as) const { return sum<Tensor<float>>(f(as...)); }
};

/// Both passes with the gradients of the first `n` operands, and the forward pass.
template <int... Ks, class Ours, class Theirs, class... As>
void add(Suite& suite, std::string const& name, Ours ours, Theirs theirs, As const&... as) {
  suite.add(name + "_forward",
            [=] { return Pair{[=] { (void)ours(as...); }, [=] { (void)theirs(as...); }}; });
  suite.add(name + "_both", [=] {
    return Pair{[=] { (void)value_and_grad<Ks...>(Loss<Ours>{ours})(as...); },
                [=] { (void)value_and_grad<Ks...>(Loss<Theirs>{theirs})(as...); }};
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  Mesh<X> const mesh(env.world(), {env.size()});
  std::int64_t const b = 4 * env.size();
  Suite suite("nn", option(argc, argv, "rounds", 21));
  add<0, 1, 2>(suite, "layer_norm", fused_norm, composed_norm,
               normal<Rows>(mesh, {b, 512, 512}, RandomKey{1}), normal<Vec>(mesh, RandomKey{2}),
               normal<Vec>(mesh, RandomKey{3}));
  add<0>(suite, "cross_entropy", entropy, composed_entropy,
         normal<Logits>(mesh, {b, 512, 8192}, RandomKey{4}),
         integers<Ids>(mesh, {b, 512}, RandomKey{5}, 0, 8192));
  add<0, 1, 2>(suite, "attention", attention, composed_attention,
               normal<Queries>(mesh, {b, 512, 8, 64}, RandomKey{6}),
               normal<Keys>(mesh, {b, 512, 8, 64}, RandomKey{7}),
               normal<Keys>(mesh, {b, 512, 8, 64}, RandomKey{8}),
               from_function<Tensor<bool, Dim<S>, Dim<K>>>(
                   mesh, [](std::int64_t s, std::int64_t k) { return k <= s; }));
  add<0, 1, 2>(suite, "window", attention_in_window, attention_to_all,
               normal<Long>(mesh, {env.size(), 8192, 1, 64}, RandomKey{9}),
               normal<Long>(mesh, {env.size(), 8192, 1, 64}, RandomKey{10}),
               normal<Long>(mesh, {env.size(), 8192, 1, 64}, RandomKey{11}));
  suite.run(argc, argv);
  suite.print();
  return 0;
}
