// f_contract of JAX's tutorial, layer norm, softmax, attention and cross-entropy: each is written
// once, and run by automatic mode, on strict tensors and by shard_map on the blocks of ranks. If a
// batch is split, each rank computes its part alone, and the three give the same bits. If the dim
// of a sum is split, the modes may add in another order: each is compared with a reference in
// double.
// RANKS: 1 2 4 8
// TIMEOUT: 300
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct S : Index<"S"> {};  // samples
struct F : Index<"F"> {};  // features
struct B : Index<"B"> {};  // heads of a batch
struct Q : Index<"Q"> {};  // queries
struct T : Index<"T"> {};  // keys
struct D : Index<"D"> {};  // their features
struct C : Index<"C"> {};  // classes

using Int = std::int64_t;
using Grid = Mesh<X, Y>;

// ---- What differs between modes: who completes a sum or a maximum over a split dim ----

// Automatic mode does it itself; a value with several readers is marked, so that it is computed
// once. The functions of blocks and of strict tensors need this one too if the dim is not split.
struct Itself {
  static auto total(auto const& part) { return part; }
  static auto most(auto const& part) { return part; }
  template <class Tag>
  static auto once(auto const& value) {
    return value;
  }
};
struct Automatic : Itself {
  template <class Tag>
  static auto once(auto const& value) {
    return share<Tag>(value);
  }
};
// In strict mode the type says of which kind the reduction is that is pending.
template <class Over>
struct Strict : Itself {
  static auto total(auto const& part) { return all_reduce<Over>(part); }
  static auto most(auto const& part) { return all_reduce<Over>(part); }
};
// A block varies, and its reduction is named.
template <class Over>
struct Manual : Itself {
  static auto total(auto const& part) { return all_reduce<Over>(part); }
  static auto most(auto const& part) { return all_reduce<Max, Over>(part); }
};

// ---- The functions, of tensors, of blocks and of expressions ----

constexpr auto f_contract = [](auto by, auto const& x) { return by.total(sum<I>(x)); };

constexpr auto layer_norm = [](auto const& x, auto const& gain, auto const& bias) {
  return (x - mean<F>(x)) * rsqrt(var<F>(x) + 1e-5F) * gain + bias;
};
// `var` of a split dim is named in strict mode and has no form on blocks: sums say the same in all
// modes.
constexpr auto split_layer_norm = [](auto by, float n, auto const& x, auto const& gain,
                                     auto const& bias) {
  auto const centred = by.template once<struct Centred>(x - by.total(sum<F>(x)) / n);
  auto const variance = by.total(sum<F>(square(centred))) / n;
  return centred * rsqrt(variance + 1e-5F) * gain + bias;
};

constexpr auto probabilities = [](auto const& x) { return softmax<F>(x); };
// The same for `softmax`.
constexpr auto split_softmax = [](auto by, auto const& x) {
  auto const weights = by.template once<struct Weights>(exp(x - by.most(max<F>(x))));
  return weights / by.total(sum<F>(weights));
};

constexpr auto attention = [](auto const& q, auto const& k, auto const& v) {
  return einsum<B, Q, D>(softmax<T>(einsum<B, Q, T>(q, k) * 0.5F), v);
};
// Of keys that are split, each rank weighs the values that it has.
constexpr auto split_attention = [](auto by, auto const& q, auto const& k, auto const& v) {
  auto const scores = by.template once<struct Scores>(einsum<B, Q, T>(q, k) * 0.5F);
  auto const weights = by.template once<struct Weighed>(exp(scores - by.most(max<T>(scores))));
  return by.total(einsum<B, Q, D>(weights, v)) / by.total(sum<T>(weights));
};

constexpr auto losses = [](Int classes, auto const& logits, auto const& labels) {
  return -sum<C>(log_softmax<C>(logits) * one_hot<C, float>(labels, classes));
};
constexpr auto cross_entropy = [](auto by, Int samples, Int classes, auto const& logits,
                                  auto const& labels) {
  return by.total(sum<S>(losses(classes, logits, labels))) / static_cast<float>(samples);
};
// A rank's classes are numbered by `numbers`: which of them a sample's label is.
struct Chosen {
  KOKKOS_FUNCTION float operator()(float logit, Int number, Int label) const {
    return number == label ? logit : 0.0F;
  }
};
constexpr auto split_losses = [](auto by, auto const& logits, auto const& numbers,
                                 auto const& labels) {
  auto const most = by.template once<struct Most>(by.most(max<C>(logits)));
  auto const sums = by.total(sum<C>(exp(logits - most)));
  return log(sums) + most - by.total(sum<C>(map(Chosen{}, logits, numbers, labels)));
};

// ---- What they are compared with ----

double at(Int i, Int j, Int k = 0) {
  return std::sin(static_cast<double>(i * 31 + j * 7 + k * 13 + i * j)) * 2;
}
float value(Int i, Int j) { return static_cast<float>(at(i, j)); }
float value3(Int i, Int j, Int k) { return static_cast<float>(at(i, j, k)); }
Int label_of(Int sample, Int classes) { return (sample * 5 + 3) % classes; }

template <class A, class Other>
bool same_bits(A const& a, Other const& b) {
  auto const x = to_host(a);
  auto const y = to_host(b);
  return x.size() == y.size() &&
         (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(x[0])) == 0);
}
// The largest difference. The values are of size 1, so that it is relative too.
template <class A>
double difference(A const& a, std::vector<double> const& wanted) {
  auto const have = to_host(a);
  REQUIRE(have.size() == wanted.size());
  double out = 0;
  for (std::size_t k = 0; k < wanted.size(); ++k)
    out = std::max(out, std::abs(static_cast<double>(have[k]) - wanted[k]));
  return out;
}
constexpr double near = 4e-6;  // of sums of at most 24 floats of size 2, or 4 times that

std::vector<double> dense_layer_norm(Int samples, Int features) {
  std::vector<double> out;
  for (Int s = 0; s < samples; ++s) {
    double mean = 0, variance = 0;
    auto const n = static_cast<double>(features);
    for (Int f = 0; f < features; ++f) mean += value(s, f) / n;
    for (Int f = 0; f < features; ++f) variance += std::pow(value(s, f) - mean, 2) / n;
    for (Int f = 0; f < features; ++f)
      out.push_back((value(s, f) - mean) / std::sqrt(variance + 1e-5) * value(f, 1) + value(f, 2));
  }
  return out;
}
std::vector<double> dense_softmax(Int samples, Int features) {
  std::vector<double> out;
  for (Int s = 0; s < samples; ++s) {
    double sum = 0;
    for (Int f = 0; f < features; ++f) sum += std::exp(value(s, f));
    for (Int f = 0; f < features; ++f) out.push_back(std::exp(value(s, f)) / sum);
  }
  return out;
}
struct AttentionSizes {
  Int batch, queries, keys, features;
};
std::vector<double> dense_attention(AttentionSizes const& n) {
  std::vector<double> out;
  for (Int b = 0; b < n.batch; ++b)
    for (Int i = 0; i < n.queries; ++i) {
      std::vector<double> weights;
      double sum = 0;
      for (Int j = 0; j < n.keys; ++j) {
        double score = 0;
        for (Int d = 0; d < n.features; ++d)
          score += value3(b, i, d) * static_cast<double>(value3(b, j, d + 40));
        sum += weights.emplace_back(std::exp(score / 2));
      }
      for (Int d = 0; d < n.features; ++d) {
        double mixed = 0;
        for (Int j = 0; j < n.keys; ++j)
          mixed += weights[static_cast<std::size_t>(j)] / sum * value3(b, j, d + 80);
        out.push_back(mixed);
      }
    }
  return out;
}
std::vector<double> dense_losses(Int samples, Int classes) {
  std::vector<double> out;
  for (Int s = 0; s < samples; ++s) {
    double sum = 0;
    for (Int c = 0; c < classes; ++c) sum += std::exp(value(s, c));
    out.push_back(std::log(sum) - value(s, label_of(s, classes)));
  }
  return out;
}
double mean_of(std::vector<double> const& all) {
  double sum = 0;
  for (double const x : all) sum += x;
  return sum / static_cast<double>(all.size());
}

// The extents that a test runs with: those that the ranks divide, which shard_map wants, and
// others.
bool equal_blocks(Grid const& mesh, Int n) { return n % mesh.size() == 0; }

}  // namespace

TEST_CASE("f_contract: x split over both axes, its column sums over one") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<Int, 2> const n : {std::array<Int, 2>{64, 4096}, {5, 7}, {1, 3}}) {
    INFO("extents " << n[0] << " " << n[1]);
    auto const x = from_function<float, Dim<I, X>, Dim<J, Y>>(mesh, n, value);
    auto const strict = f_contract(Strict<X>{}, x);
    // replicated along X: what JAX's tutorial draws
    static_assert(same_spec<decltype(strict), Tensor<float, Dim<J, Y>> const>);
    auto const e = f_contract(Automatic{}, lazy(x));
    auto const automatic = evaluate<Dim<J, Y>>(mesh, e);
    // of many rows: the plan of strict mode, one all_reduce of the sums of blocks. Few are gathered
    // first, and added in another order
    if (n[0] == 64) {
      if (mesh.size_of<X>() > 1) {
        auto const plan = planned(evaluate_to<Dim<J, Y>>, mesh, e).plan;
        CHECK(plan.count(Collective::all_reduce) == 1);
        CHECK(plan.collectives() == 1);
      }
      CHECK(same_bits(automatic, strict));
    }
    std::vector<double> wanted;
    for (Int j = 0; j < n[1]; ++j) {
      wanted.push_back(0);
      for (Int i = 0; i < n[0]; ++i) wanted.back() += value(i, j);
    }
    double const near_sums = 1e-6 * static_cast<double>(n[0]);
    CHECK(difference(strict, wanted) < near_sums);
    CHECK(difference(automatic, wanted) < near_sums);
    if (!equal_blocks(mesh, n[0]) || !equal_blocks(mesh, n[1])) continue;
    auto const manual =
        shard_map<Dim<J, Y>>([](auto const& b) { return f_contract(Manual<X>{}, b); }, x);
    CHECK(same_bits(manual, strict));
  }
}

TEST_CASE("layer norm") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<Int, 2> const n : {std::array<Int, 2>{8, 24}, {5, 7}, {9, 13}}) {
    INFO("extents " << n[0] << " " << n[1]);
    auto const x = from_function<float, Dim<S, X>, Dim<F>>(mesh, n, value);
    auto const gain = from_function<float, Dim<F>>(mesh, {n[1]}, [](Int f) { return value(f, 1); });
    auto const bias = from_function<float, Dim<F>>(mesh, {n[1]}, [](Int f) { return value(f, 2); });
    auto const wanted = dense_layer_norm(n[0], n[1]);

    auto const e = layer_norm(lazy(x), gain, bias);
    CHECK(planned(evaluate_to<Dim<S, X>, Dim<F>>, mesh, e).plan.collectives() == 0);
    auto const strict = layer_norm(x, gain, bias).tensor();
    CHECK(same_bits(evaluate<Dim<S, X>, Dim<F>>(mesh, e), strict));
    CHECK(difference(strict, wanted) < 4 * near);

    // features split too
    auto const y = reshard<Dim<S, X>, Dim<F, Y>>(x);
    auto const g = reshard<Dim<F, Y>>(gain);
    auto const b = reshard<Dim<F, Y>>(bias);
    auto const count = static_cast<float>(n[1]);
    CHECK(difference(split_layer_norm(Strict<Y>{}, count, y, g, b), wanted) < 4 * near);
    CHECK(difference(evaluate<Dim<S, X>, Dim<F, Y>>(
                         mesh, split_layer_norm(Automatic{}, count, lazy(y), g, b)),
                     wanted) < 4 * near);
    if (!equal_blocks(mesh, n[0]) || !equal_blocks(mesh, n[1])) continue;
    CHECK(same_bits(shard_map<Dim<S, X>, Dim<F>>(layer_norm, x, gain, bias), strict));
    auto const manual = shard_map<Dim<S, X>, Dim<F, Y>>(
        [=](auto const&... blocks) { return split_layer_norm(Manual<Y>{}, count, blocks...); }, y,
        g, b);
    CHECK(same_bits(manual, split_layer_norm(Strict<Y>{}, count, y, g, b)));
  }
}

TEST_CASE("softmax") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<Int, 2> const n : {std::array<Int, 2>{8, 24}, {5, 7}, {9, 13}}) {
    INFO("extents " << n[0] << " " << n[1]);
    auto const x = from_function<float, Dim<S, X>, Dim<F>>(mesh, n, value);
    auto const wanted = dense_softmax(n[0], n[1]);

    auto const e = probabilities(lazy(x));
    CHECK(planned(evaluate_to<Dim<S, X>, Dim<F>>, mesh, e).plan.collectives() == 0);
    auto const strict = probabilities(x);
    CHECK(same_bits(evaluate<Dim<S, X>, Dim<F>>(mesh, e), strict));
    CHECK(difference(strict, wanted) < near);

    auto const y = reshard<Dim<S, X>, Dim<F, Y>>(x);
    CHECK(difference(split_softmax(Strict<Y>{}, y), wanted) < near);
    CHECK(difference(evaluate<Dim<S, X>, Dim<F, Y>>(mesh, split_softmax(Automatic{}, lazy(y))),
                     wanted) < near);
    // the operation itself: strict mode names the result, automatic mode finds it
    CHECK(difference(softmax<F, Dim<S, X>, Dim<F, Y>>(y), wanted) < near);
    CHECK(difference(evaluate<Dim<S, X>, Dim<F, Y>>(mesh, probabilities(lazy(y))), wanted) < near);
    if (!equal_blocks(mesh, n[0]) || !equal_blocks(mesh, n[1])) continue;
    CHECK(same_bits(shard_map<Dim<S, X>, Dim<F>>(probabilities, x), strict));
    auto const manual = shard_map<Dim<S, X>, Dim<F, Y>>(
        [](auto const& block) { return split_softmax(Manual<Y>{}, block); }, y);
    CHECK(same_bits(manual, split_softmax(Strict<Y>{}, y)));
  }
}

TEST_CASE("attention") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (AttentionSizes const n : {AttentionSizes{8, 3, 8, 6}, {5, 7, 9, 3}, {1, 1, 5, 2}}) {
    INFO("extents " << n.batch << " " << n.queries << " " << n.keys << " " << n.features);
    auto const q = from_function<float, Dim<B, X>, Dim<Q>, Dim<D>>(
        mesh, {n.batch, n.queries, n.features}, value3);
    auto const k = from_function<float, Dim<B, X>, Dim<T>, Dim<D>>(
        mesh, {n.batch, n.keys, n.features},
        [](Int b, Int t, Int d) { return value3(b, t, d + 40); });
    auto const v = from_function<float, Dim<B, X>, Dim<T>, Dim<D>>(
        mesh, {n.batch, n.keys, n.features},
        [](Int b, Int t, Int d) { return value3(b, t, d + 80); });
    auto const wanted = dense_attention(n);

    auto const e = attention(lazy(q), lazy(k), lazy(v));
    CHECK(planned(evaluate_to<Dim<B, X>, Dim<Q>, Dim<D>>, mesh, e).plan.collectives() == 0);
    auto const strict = attention(q, k, v);
    CHECK(same_bits(evaluate<Dim<B, X>, Dim<Q>, Dim<D>>(mesh, e), strict));
    CHECK(difference(strict, wanted) < 4 * near);

    auto const k_split = reshard<Dim<B, X>, Dim<T, Y>, Dim<D>>(k);
    auto const v_split = reshard<Dim<B, X>, Dim<T, Y>, Dim<D>>(v);
    auto const strict_split = split_attention(Strict<Y>{}, q, k_split, v_split).tensor();
    CHECK(difference(strict_split, wanted) < 4 * near);
    CHECK(difference(evaluate<Dim<B, X>, Dim<Q>, Dim<D>>(
                         mesh, split_attention(Automatic{}, lazy(q), lazy(k_split), lazy(v_split))),
                     wanted) < 4 * near);
    // the short form, of the same shardings
    CHECK(difference(evaluate<Dim<B, X>, Dim<Q>, Dim<D>>(
                         mesh, attention(lazy(q), lazy(k_split), lazy(v_split))),
                     wanted) < 4 * near);
    if (!equal_blocks(mesh, n.batch) || !equal_blocks(mesh, n.keys)) continue;
    CHECK(same_bits(shard_map<Dim<B, X>, Dim<Q>, Dim<D>>(attention, q, k, v), strict));
    auto const manual = shard_map<Dim<B, X>, Dim<Q>, Dim<D>>(
        [](auto const&... blocks) { return split_attention(Manual<Y>{}, blocks...); }, q, k_split,
        v_split);
    CHECK(same_bits(manual, strict_split));
  }
}

TEST_CASE("cross-entropy") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<Int, 2> const n : {std::array<Int, 2>{8, 24}, {5, 7}, {9, 13}}) {
    INFO("extents " << n[0] << " " << n[1]);
    Int const samples = n[0], classes = n[1];
    auto const logits = from_function<float, Dim<S, X>, Dim<C>>(mesh, n, value);
    auto const labels =
        from_function<Int, Dim<S, X>>(mesh, {samples}, [=](Int s) { return label_of(s, classes); });
    auto const wanted = dense_losses(samples, classes);

    // each sample's loss: nothing is sent
    auto const e = losses(classes, lazy(logits), lazy(labels));
    CHECK(planned(evaluate_to<Dim<S, X>>, mesh, e).plan.collectives() == 0);
    auto const strict = losses(classes, logits, labels).tensor();
    CHECK(same_bits(evaluate<Dim<S, X>>(mesh, e), strict));
    CHECK(difference(strict, wanted) < near);

    // their mean: a sum over split samples
    auto const mean_strict = cross_entropy(Strict<X>{}, samples, classes, logits, labels).tensor();
    auto const mean_automatic =
        evaluate<>(mesh, cross_entropy(Automatic{}, samples, classes, lazy(logits), lazy(labels)));
    CHECK(difference(mean_strict, {mean_of(wanted)}) < near);
    CHECK(difference(mean_automatic, {mean_of(wanted)}) < near);

    // classes split too
    auto const l = reshard<Dim<S, X>, Dim<C, Y>>(logits);
    auto const numbers = arange<Int, Dim<C, Y>>(mesh, classes);
    auto const strict_split = split_losses(Strict<Y>{}, l, numbers, labels).tensor();
    CHECK(difference(strict_split, wanted) < near);
    CHECK(difference(
              evaluate<Dim<S, X>>(mesh, split_losses(Automatic{}, lazy(l), lazy(numbers), labels)),
              wanted) < near);
    CHECK(difference(evaluate<Dim<S, X>>(mesh, losses(classes, lazy(l), lazy(labels))), wanted) <
          near);
    if (!equal_blocks(mesh, samples) || !equal_blocks(mesh, classes)) continue;
    auto const by_blocks = [=](auto const&... blocks) { return losses(classes, blocks...); };
    CHECK(same_bits(shard_map<Dim<S, X>>(by_blocks, logits, labels), strict));
    auto const mean_by_blocks = [=](auto const&... blocks) {
      return cross_entropy(Manual<X>{}, samples, classes, blocks...);
    };
    CHECK(same_bits(shard_map<Tensor<float>>(mean_by_blocks, logits, labels), mean_strict));
    auto const split_by_blocks = [](auto const&... blocks) {
      return split_losses(Manual<Y>{}, blocks...);
    };
    CHECK(same_bits(shard_map<Dim<S, X>>(split_by_blocks, l, numbers, labels), strict_split));
  }
}
