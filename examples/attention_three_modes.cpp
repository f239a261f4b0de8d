// Attention and a cross-entropy loss, written once and run in three modes: automatic (jax.jit),
// strict (explicit shardings in the types) and manual (jax.shard_map).
// RANKS: 1 2 4 8
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct Data : Axis<"data"> {};
struct Sequence : Index<"S", 16> {};
struct Query : Index<"Q", 12> {};
struct Key : Index<"K", 12> {};
struct Feature : Index<"F", 8> {};
struct Class : Index<"C", 10> {};

// The sequences are split, the weights are replicated.
using Queries = Tensor<float, Dim<Sequence, Data>, Dim<Query>, Dim<Feature>>;
using Keys = Tensor<float, Dim<Sequence, Data>, Dim<Key>, Dim<Feature>>;
using Weights = Tensor<float, Dim<Feature>, Dim<Class>>;
using Labels = Tensor<std::int64_t, Dim<Sequence, Data>, Dim<Query>>;
using Losses = Tensor<float, Dim<Sequence, Data>, Dim<Query>>;

// docs: functions
// The mathematics, of tensors, of blocks and of expressions.
constexpr auto attention = [](auto const& q, auto const& k, auto const& v) {
  auto const scores = einsum<Sequence, Query, Key>(q, k) / std::sqrt(8.0F);
  return einsum<Sequence, Query, Feature>(softmax<Key>(scores), v);
};
constexpr auto losses = [](auto const& q, auto const& k, auto const& v, auto const& weights,
                           auto const& labels) {
  auto const logits = matmul(attention(q, k, v), weights);
  return -sum<Class>(log_softmax<Class>(logits) * one_hot<Class, float>(labels, Class::extent));
};
// docs: end

bool same_bits(Losses const& a, Losses const& b) {
  std::vector<float> const x = to_host(a);
  std::vector<float> const y = to_host(b);
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<Data> const mesh(env.world());
  auto const wave = [](double speed) {
    return [=](auto... i) {
      double angle = 0;
      ((angle = angle * 1.7 + static_cast<double>(i)), ...);
      return static_cast<float>(std::sin(speed * angle));
    };
  };
  auto const q = from_function<Queries>(mesh, wave(1.1));
  auto const k = from_function<Keys>(mesh, wave(0.7));
  auto const v = from_function<Keys>(mesh, wave(1.3));
  auto const w = from_function<Weights>(mesh, wave(0.9));
  auto const labels = from_function<Labels>(
      mesh, [](std::int64_t s, std::int64_t i) { return (5 * s + 3 * i) % 10; });

  // docs: run
  // The loss of each query: no rank needs anything of another one. Automatic mode finds that,
  // strict mode would not compile otherwise, and in manual mode nobody calls a collective.
  auto const e = losses(lazy(q), lazy(k), lazy(v), w, lazy(labels));
  auto const automatic = evaluate<Losses>(mesh, e);
  Losses const strict = losses(q, k, v, w, labels);
  auto const manual = shard_map<Losses>(losses, q, k, v, w, labels);
  // docs: end
  if (planned(evaluate_to<Losses>, mesh, e).plan.collectives() != 0)
    throw Error("example", "automatic mode sends something", FailedOn::every_rank);
  if (!same_bits(automatic, strict) || !same_bits(automatic, manual))
    throw Error("example", "the modes gave other bits", FailedOn::every_rank);

  // Their mean, over sequences that are split. Automatic mode reduces the sum as it likes; the
  // other two name the all_reduce, and do not compile without it.
  float const count = 16 * 12;
  float const mean_automatic = item(evaluate<Tensor<float>>(mesh, sum(e) / count));
  float const mean_strict = item(all_reduce<Data>(sum(strict)) / count);
  float const mean_manual = item(shard_map<Tensor<float>>(
      [=](auto const&... blocks) { return all_reduce<Data>(sum(losses(blocks...))) / count; }, q, k,
      v, w, labels));
  if (std::abs(mean_automatic - mean_strict) > 1e-6F || mean_manual != mean_strict)
    throw Error("example", "the modes gave other means", FailedOn::every_rank);
  if (mean_strict < 0.5F || mean_strict > 5.0F)  // ln 10 = 2.3 of a guess
    throw Error("example", "this is no cross-entropy of ten classes", FailedOn::every_rank);

  if (env.rank() == 0) {
    std::puts(explain(evaluate_to<Losses>, mesh, e).c_str());
    std::printf("losses: the same bits in three modes; their mean: %.6f, %.6f, %.6f\n",
                static_cast<double>(mean_automatic), static_cast<double>(mean_strict),
                static_cast<double>(mean_manual));
  }
}
