// Functions of neural networks beside loops on one rank: norms, cross entropy, rotations, masks,
// dropout, layers.
// RANKS: 1 2 3 4 8
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

#include <shardtype/nn/nn.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct S : Index<"S"> {};
struct D : Index<"D"> {};
struct V : Index<"V"> {};
struct F : Index<"F"> {};

using Vec = Tensor<double, Dim<D>>;
using Last = Tensor<double, Dim<B, X>, Dim<S, Y>, Dim<D>>;
using Middle = Tensor<double, Dim<B, X>, Dim<D>, Dim<S, Y>>;
using UsedVec = Tensor<double, Dim<D>, Reduced<X, Y>>;

// Types and plans, on types alone.
namespace proofs {
struct A2 : Axis<"A2", 2> {};
struct A4 : Axis<"A4", 4> {};
struct I : Index<"I", 8> {};
struct J : Index<"J", 16> {};
struct C : Index<"C", 40> {};
using Rows = Tensor<float, Dim<I, A2>, Dim<J>>;
using Gain = Tensor<float, Dim<J>>;
using Logits = Tensor<float, Dim<I, A2>, Dim<C, A4>>;
using Numbers = Tensor<std::int64_t, Dim<I, A2>>;
inline constexpr auto norm = [](auto const& x, auto const& gain, auto const& bias) {
  return sum<Tensor<float>>(
      square(nn::layer_norm<J>(x, used_as<Reduced<A2>>(gain), used_as<Reduced<A2>>(bias))));
};
inline constexpr auto norms =
    plan(value_and_grad<0, 1, 2>(norm), type<Rows>, type<Gain>, type<Gain>);
static_assert(norms.forward.collectives() == 1);
static_assert(norms.backward.collectives() == 2);
static_assert(norms.backward.count(Collective::all_reduce) == 2);
inline constexpr auto entropy = [](auto const& logits, auto const& ids) {
  return nn::mean_cross_entropy<C, Tensor<float>>(logits, ids);
};
inline constexpr auto entropies = plan(value_and_grad<0>(entropy), type<Logits>, type<Numbers>);
static_assert(entropies.forward.count(Collective::all_gather) == 1);
static_assert(entropies.forward.count(Collective::all_reduce) == 2);
static_assert(entropies.backward.collectives() == 0);
template <class Op, class... As>
using result = typename checking::Resolve<Op, As...>::result;
static_assert(std::is_same_v<result<op::RmsNorm<J>, Rows, Gain>, Rows>);
static_assert(std::is_same_v<result<op::RowNormGain<true, J>, Rows, Rows>,
                             Tensor<float, Dim<J>, Unreduced<A2>>>);
using Q = Tensor<float, Dim<I, A2>, Dim<J>, Dim<C, A4>, Dim<D>>;
using K = Tensor<float, Dim<I, A2>, Dim<J>, Dim<V>, Dim<D>>;
static_assert(std::is_same_v<result<op::Attention, Q, Q, Q>, Q>);
static_assert(std::is_same_v<result<op::Attention, Q, K, K>, Q>);
static_assert(!checking::Resolve<op::Attention, K, Q, Q>::verdict);
}  // namespace proofs

auto mesh_of() { return on_ranks::two_axes<X, Y>(); }
double at(std::vector<double> const& v, std::int64_t k) { return v[static_cast<std::size_t>(k)]; }

// The largest difference; infinite where one of both is NaN.
template <class A>
double distance(A const& a, std::vector<double> const& b) {
  auto const host = to_host(a);
  double out = host.size() == b.size() ? 0 : 1e300;
  for (std::size_t k = 0; k < b.size() && k < host.size(); ++k) {
    double const x = static_cast<double>(host[k]);
    if (std::isnan(x) && std::isnan(b[k])) continue;
    double const d = x == b[k] ? 0 : std::abs(x - b[k]);
    out = std::isnan(d) ? 1e300 : std::max(out, d);
  }
  return out;
}
template <class A>
std::vector<double> numbers(A const& a) {
  std::vector<double> out;
  for (auto const x : to_host(a)) out.push_back(static_cast<double>(x));
  return out;
}

// Rows of n elements: element k of row r is at place(r, k).
template <class Place>
std::vector<double> normed(std::vector<double> const& x, std::vector<double> const& gain,
                           std::vector<double> const& bias, std::int64_t rows, std::int64_t n,
                           bool centred, double eps, Place place) {
  std::vector<double> out(x.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    double mean = 0, square = 0;
    for (std::int64_t k = 0; centred && k < n; ++k) mean += at(x, place(r, k)) / double(n);
    for (std::int64_t k = 0; k < n; ++k)
      square += std::pow(at(x, place(r, k)) - mean, 2) / double(n);
    for (std::int64_t k = 0; k < n; ++k)
      out[static_cast<std::size_t>(place(r, k))] =
          (at(x, place(r, k)) - mean) / std::sqrt(square + eps) * at(gain, k) +
          (centred ? at(bias, k) : 0);
  }
  return out;
}

}  // namespace

TEST_CASE("layer_norm and rms_norm of rows in every place, and their gradients") {
  auto const mesh = mesh_of();
  struct Shape {
    std::int64_t b, s, d;
  };
  for (Shape const n :
       {Shape{13, 5, 19}, Shape{1, 1, 8}, Shape{3, 2, 1}, Shape{0, 4, 7}, Shape{40, 3, 65}}) {
    auto const gain = normal<Vec>(mesh, {n.d}, RandomKey{2});
    auto const bias = normal<Vec>(mesh, {n.d}, RandomKey{3});
    auto const last = normal<Last>(mesh, {n.b, n.s, n.d}, RandomKey{1}, 3.0, 2.0);
    auto const middle = normal<Middle>(mesh, {n.b, n.d, n.s}, RandomKey{1}, 3.0, 2.0);
    auto const in_last = [&](std::int64_t r, std::int64_t k) { return r * n.d + k; };
    auto const in_middle = [&](std::int64_t r, std::int64_t k) {
      return r / n.s * n.d * n.s + k * n.s + r % n.s;
    };
    auto const g = numbers(gain), b = numbers(bias);
    CHECK(distance(nn::layer_norm<D>(last, gain, bias),
                   normed(numbers(last), g, b, n.b * n.s, n.d, true, 1e-5, in_last)) < 1e-12);
    CHECK(distance(nn::rms_norm<D>(last, gain, 0.5),
                   normed(numbers(last), g, b, n.b * n.s, n.d, false, 0.5, in_last)) < 1e-12);
    CHECK(distance(nn::layer_norm<D>(middle, gain, bias, 0.1),
                   normed(numbers(middle), g, b, n.b * n.s, n.d, true, 0.1, in_middle)) < 1e-12);
    check_grads(
        [](auto const& x, auto const& w, auto const& v) {
          return nn::layer_norm<D>(x, used_as<UsedVec>(w), used_as<UsedVec>(v), 0.1);
        },
        last, gain, bias);
    check_grads(
        [](auto const& x, auto const& w, auto const& v) {
          return nn::layer_norm<D>(x, used_as<UsedVec>(w), used_as<UsedVec>(v), 0.1);
        },
        middle, gain, bias);
    check_grads(
        [](auto const& x, auto const& w) { return nn::rms_norm<D>(x, used_as<UsedVec>(w)); }, last,
        gain);
  }
}

TEST_CASE("norms in float, in bfloat16, and in automatic mode") {
  auto const mesh = mesh_of();
  auto const x = normal<Last>(mesh, {6, 5, 33}, RandomKey{1}, 100.0, 0.5);
  auto const gain = normal<Vec>(mesh, {33}, RandomKey{2});
  auto const bias = normal<Vec>(mesh, {33}, RandomKey{3});
  auto const whole = nn::layer_norm<D>(cast<double>(cast<float>(x)), gain, bias);
  auto const in_float = nn::layer_norm<D>(cast<float>(x), cast<float>(gain), cast<float>(bias));
  static_assert(std::is_same_v<decltype(in_float)::element, float>);
  CHECK(distance(in_float, numbers(whole)) < 2e-4);
  auto const small = nn::rms_norm<D>(cast<bfloat16>(x), cast<bfloat16>(gain));
  CHECK(distance(small, numbers(nn::rms_norm<D>(cast<double>(cast<bfloat16>(x)),
                                                cast<double>(cast<bfloat16>(gain))))) < 0.02);
  auto const planned = evaluate<Last>(mesh, nn::layer_norm<D>(lazy(x), lazy(gain), lazy(bias)));
  CHECK(distance(planned, numbers(nn::layer_norm<D>(x, gain, bias))) < 1e-13);
}

namespace {

using Rows = Tensor<double, Dim<B, X>, Dim<S>>;
using Logits = Tensor<double, Dim<B, X>, Dim<S>, Dim<V>>;
using SplitLogits = Tensor<double, Dim<B, X>, Dim<S>, Dim<V, Y>>;
using First = Tensor<double, Dim<V, Y>, Dim<B, X>, Dim<S>>;
using Ids = Tensor<std::int64_t, Dim<B, X>, Dim<S>>;

std::vector<double> entropies(std::vector<double> const& x, std::vector<std::int64_t> const& ids,
                              std::int64_t classes, nn::CrossEntropy const& options) {
  std::vector<double> out;
  for (std::size_t r = 0; r < ids.size(); ++r) {
    double const* const row = x.data() + static_cast<std::int64_t>(r) * classes;
    double const top = *std::max_element(row, row + classes);
    double sum = 0, mean = 0;
    for (std::int64_t k = 0; k < classes; ++k) {
      sum += std::exp(row[k] - top);
      mean += row[k] / double(classes);
    }
    double const all = top + std::log(sum);
    double const s = options.smoothing;
    bool const there = ids[r] >= 0 && ids[r] < classes;
    double const picked = there ? row[ids[r]] : std::numeric_limits<double>::quiet_NaN();
    double const loss = all - picked;
    out.push_back(ids[r] == options.ignored ? 0
                  : s == 0                  ? loss
                                            : (1 - s) * loss + s * (all - mean));
  }
  return out;
}

struct Split {
  nn::CrossEntropy options;
  constexpr auto operator()(auto const& x, auto const& ids) const {
    return nn::cross_entropy<V, Dim<B, X>, Dim<S>>(x, ids, options);
  }
};
struct Whole {
  nn::CrossEntropy options;
  constexpr auto operator()(auto const& x, auto const& ids) const {
    return nn::cross_entropy<V>(x, ids, options);
  }
};
struct MeanLoss {
  nn::CrossEntropy options;
  constexpr auto operator()(auto const& x, auto const& ids) const {
    return nn::mean_cross_entropy<V, Tensor<double>>(x, ids, options);
  }
};

}  // namespace

TEST_CASE("cross_entropy of whole and split classes, and its gradient") {
  auto const mesh = mesh_of();
  struct Shape {
    std::int64_t b, s, v;
  };
  // fewer classes than ranks, one row, no rows
  for (Shape const n : {Shape{13, 3, 19}, Shape{5, 2, 3}, Shape{1, 1, 130}, Shape{0, 3, 5}}) {
    auto const x = normal<Logits>(mesh, {n.b, n.s, n.v}, RandomKey{1}, 1.0, 3.0);
    auto const y = reshard<SplitLogits>(x);
    auto const first = reshard<First>(transpose<V, B, S>(x));
    auto const ids = integers<Ids>(mesh, {n.b, n.s}, RandomKey{2}, -1, n.v);
    for (nn::CrossEntropy const options : {nn::CrossEntropy{}, nn::CrossEntropy{2, 0},
                                           nn::CrossEntropy{-1, 0.1}, nn::CrossEntropy{-1, 1}}) {
      auto const expected = entropies(numbers(x), to_host(ids), n.v, options);
      CHECK(distance(Whole{options}(x, ids), expected) < 1e-12);
      CHECK(distance(Split{options}(y, ids), expected) < 1e-12);
      CHECK(distance(Split{options}(first, ids), expected) < 1e-12);
      if (options.ignored != -1) continue;  // -1 would be NaN
      check_grads<0>(Whole{options}, x, ids);
      check_grads<0>(Split{options}, y, ids);
      check_grads<0>(Split{options}, first, ids);
      check_grads<0>(MeanLoss{options}, x, ids);
      check_grads<0>(MeanLoss{options}, y, ids);
      double sum = 0, count = 0;
      for (double const e : expected) sum += e;
      for (std::int64_t const id : to_host(ids)) count += id == -1 ? 0 : 1;
      CHECK(std::abs(item(MeanLoss{options}(y, ids)) - sum / std::max(count, 1.0)) < 1e-12);
    }
  }
}

TEST_CASE(
    "cross_entropy of rows that are all ignored, of -inf, of huge logits, and of other element "
    "types") {
  auto const mesh = mesh_of();
  auto const x = normal<SplitLogits>(mesh, {7, 3, 11}, RandomKey{1}, 0.0, 3.0);
  auto const none = full<Ids>(mesh, {7, 3}, std::int64_t{-1});
  auto const [loss, gradient] = value_and_grad<0>(MeanLoss{})(x, none);
  CHECK(item(loss) == 0);
  CHECK(distance(gradient, std::vector<double>(7 * 3 * 11, 0.0)) == 0);

  double const inf = std::numeric_limits<double>::infinity();
  auto const masked = from_function<SplitLogits>(mesh, {7, 3, 11}, [&](auto b, auto s, auto v) {
    return v < 4 || (v == 10 && b > 2) ? -inf : -1000.0 + double(b + 2 * s) - 3 * double(v);
  });
  auto const ids = full<Ids>(mesh, {7, 3}, std::int64_t{7});
  CHECK(distance(Split{}(masked, ids), entropies(numbers(masked), to_host(ids), 11, {})) < 1e-9);
  auto const g = numbers(grad<0>(MeanLoss{})(masked, ids));
  for (std::size_t k = 0; k < g.size(); ++k)
    REQUIRE((std::isfinite(g[k]) && (k % 11 >= 4 || g[k] == 0)));
  auto const large = (x * 1e300).tensor();
  CHECK(distance(Split{}(large, ids), entropies(numbers(large), to_host(ids), 11, {})) < 1e290);
  auto const outside = full<Ids>(mesh, {7, 3}, std::int64_t{11});
  CHECK(std::isnan(item(MeanLoss{}(x, outside))));

  auto const small = cast<bfloat16>(x);
  auto const losses = nn::cross_entropy<V, Dim<B, X>, Dim<S>>(small, cast<std::int32_t>(ids));
  static_assert(std::is_same_v<decltype(losses)::element, float>);
  CHECK(distance(losses, entropies(numbers(small), to_host(ids), 11, {})) < 1e-5);
  auto const slope = grad<0>([](auto const& l, auto const& t) {
    return nn::mean_cross_entropy<V, Tensor<float>>(l, t);
  })(small, ids);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(slope)>,
                               Tensor<bfloat16, Dim<B, X>, Dim<S>, Dim<V, Y>>>);
  CHECK(distance(slope, numbers(grad<0>(MeanLoss{})(cast<double>(small), ids))) < 1e-3);

  auto const whole = reshard<Logits>(x);
  auto const planned = evaluate<Rows>(mesh, nn::cross_entropy<V>(lazy(whole), lazy(ids)));
  CHECK(distance(planned, numbers(Split{}(x, ids))) < 1e-13);
}

namespace {

using Heads = Tensor<double, Dim<B, X>, Dim<S, Y>, Dim<D>, Dim<F>>;
using HeadsFirst = Tensor<double, Dim<F>, Dim<B, X>, Dim<S, Y>, Dim<D>>;

}  // namespace

TEST_CASE("rotary turns pairs by the angle of their position, also of a split sequence") {
  auto const mesh = mesh_of();
  auto const x = normal<Heads>(mesh, {3, 7, 2, 6}, RandomKey{1});
  auto const before = numbers(x);
  std::vector<double> after(before.size());
  for (std::int64_t row = 0; row < 3 * 7 * 2; ++row)
    for (std::int64_t k = 0; k < 3; ++k) {
      double const angle = double(5 + row / 2 % 7) * std::pow(100.0, -double(k) / 3);
      double const a = at(before, row * 6 + k), b = at(before, row * 6 + k + 3);
      after[static_cast<std::size_t>(row * 6 + k)] = a * std::cos(angle) - b * std::sin(angle);
      after[static_cast<std::size_t>(row * 6 + k + 3)] = b * std::cos(angle) + a * std::sin(angle);
    }
  auto const turned = nn::rotary<S, F>(x, 5, 100);
  CHECK(distance(turned, after) < 1e-14);
  auto const first = nn::rotary<S, F>(reshard<HeadsFirst>(transpose<F, B, S, D>(x)), 5, 100);
  CHECK(distance(transpose<B, S, D, F>(first), after) < 1e-14);
  check_grads([](auto const& a) { return nn::rotary<S, F>(a, 2); }, x);
  CHECK(on_ranks::code_of([&] {
          (void)nn::rotary<S, F>(normal<Heads>(mesh, {3, 7, 2, 5}, RandomKey{1}));
        }) == "E41");
}

TEST_CASE("causal_mask by positions of split queries and keys") {
  auto const mesh = mesh_of();
  using Scores = Tensor<double, Dim<B>, Dim<S, X>, Dim<V, Y>>;
  using Turned = Tensor<double, Dim<V, Y>, Dim<S, X>, Dim<B>>;
  auto const x = normal<Scores>(mesh, {2, 7, 9}, RandomKey{1});
  for (std::int64_t const first : {-2, 0, 3}) {
    auto expected = numbers(x);
    for (std::int64_t k = 0; k < 2 * 7 * 9; ++k)
      if (k % 9 > first + k / 9 % 7)
        expected[static_cast<std::size_t>(k)] = -std::numeric_limits<double>::infinity();
    CHECK(distance(nn::causal_mask<S, V>(x, first), expected) == 0);
    auto const turned = nn::causal_mask<S, V>(reshard<Turned>(transpose<V, S, B>(x)), first);
    CHECK(distance(transpose<B, S, V>(turned), expected) == 0);
  }
  check_grads([](auto const& a) { return exp(nn::causal_mask<S, V>(a, 1)); }, x);
}

TEST_CASE("dropout has the same bits on every sharding, forward and backward") {
  auto const mesh = mesh_of();
  using WholeRows = Tensor<double, Dim<B>, Dim<S>>;
  auto const x = normal<WholeRows>(mesh, {37, 300}, RandomKey{1});
  RandomKey const key = RandomKey{9}.fold_in(4);
  auto const expected = numbers(
      where(bernoulli<bool, Dim<B>, Dim<S>>(mesh, {37, 300}, key, 0.75), x * (1 / 0.75), 0.0));
  auto const drop = [&](auto const& a) { return nn::dropout(a, key, 0.25); };
  auto const same = [&]<class A>(Type<A>) {
    auto const a = reshard<A>(x);
    CHECK(distance(drop(a), expected) == 0);
    check_grads(drop, a);
  };
  same(type<WholeRows>);
  same(type<Tensor<double, Dim<B, X>, Dim<S, Y>>>);
  same(type<Tensor<double, Dim<B, Y, X>, Dim<S>>>);
  same(type<Tensor<double, Dim<B>, Dim<S, Cyclic<X, 3>>>>);
  CHECK(distance(nn::dropout(x, key, 0), numbers(x)) == 0);
  std::int64_t kept = 0;
  for (double const v : expected) kept += v != 0 ? 1 : 0;
  CHECK(std::abs(double(kept) / (37 * 300) - 0.75) < 0.02);
  CHECK(on_ranks::code_of([&] { (void)nn::dropout(x, key, 1); }) == "E30");
  CHECK(on_ranks::code_of([&] { (void)nn::dropout(x, key, -0.1); }) == "E30");
}

namespace {

/// Dropout of one type and shape is that of the masks, on all shardings, of NaN and infinity too.
template <class T>
void check_dropout(std::array<std::int64_t, 3> const& n) {
  INFO("extents " << n[0] << " " << n[1] << " " << n[2]);
  auto const mesh = mesh_of();
  RandomKey const key{21};
  auto const values = normal<T, Dim<B>, Dim<S>, Dim<D>>(mesh, n, RandomKey{2});
  auto const whole = where(values > 1, std::numeric_limits<T>::quiet_NaN(), values).tensor();
  auto const mask = bernoulli<bool, Dim<B>, Dim<S>, Dim<D>>(mesh, n, key, 1 - 0.375);
  auto expected = numbers(whole);
  auto const kept = to_host(mask);
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  for (std::size_t k = 0; k < expected.size(); ++k)
    expected[k] = kept[k] ? static_cast<double>(static_cast<T>(static_cast<C>(expected[k]) *
                                                               static_cast<C>(1 / (1 - 0.375))))
                          : 0;
  auto const same = [&]<class A>(Type<A>) {
    CHECK(distance(nn::dropout(reshard<A>(whole), key, 0.375), expected) == 0);
  };
  same(type<Tensor<T, Dim<B>, Dim<S>, Dim<D>>>);
  same(type<Tensor<T, Dim<B, X>, Dim<S, Y>, Dim<D>>>);
  same(type<Tensor<T, Dim<B>, Dim<S, Y>, Dim<D, X>>>);
  same(type<Tensor<T, Dim<B, Y, X>, Dim<S>, Dim<D>>>);
  same(type<Tensor<T, Dim<B, Cyclic<X, 2>>, Dim<S, Y>, Dim<D>>>);
  same(type<Tensor<T, Dim<B, Y>, Dim<S>, Dim<D, Cyclic<X, 3>>>>);
}

}  // namespace

TEST_CASE("dropout of all types, in blocks of all shapes") {
  using Extents = std::array<std::int64_t, 3>;
  for (Extents const& n :
       {Extents{2, 3, 257}, {3, 520, 1}, {1, 1100, 2}, {1, 1, 1}, {9, 4, 6}, {4, 0, 3}}) {
    check_dropout<float>(n);
    check_dropout<double>(n);
    check_dropout<bfloat16>(n);
  }
}

namespace {

struct D4 : Index<"D4", 6> {};
struct M : Index<"M", 10> {};
struct H : Index<"H", 4> {};
struct G : Index<"G", 2> {};
struct E : Index<"E", 3> {};
struct C : Index<"C", 9> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

// One block, of types that `P` gives: parameters as stored, and the splits of heads and hidden
// features.
struct OneCopy {
  using Ds = Dim<D4>;
  using Hs = Dim<H>;
  using Gs = Dim<G>;
  using Ms = Dim<M>;
  using In = nn::Use<>;
  using KeyUse = nn::Use<Reduced<X>>;
};
struct Sharded {
  using Ds = Dim<D4, X>;
  using Hs = Dim<H, Y>;
  using Gs = Dim<G>;
  using Ms = Dim<M, Y>;
  using In = nn::Use<Reduced<Y>>;
  using KeyUse = nn::Use<Reduced<X, Y>>;
};
template <class P>
struct Block {
  template <template <class> class As>
  struct Model {
    nn::Norm<As, T<typename P::Ds>> norm;
    nn::Attention<As, T<typename P::Ds, typename P::Hs, Dim<E>>,
                  T<typename P::Ds, typename P::Gs, Dim<E>>,
                  T<typename P::Hs, Dim<E>, typename P::Ds>>
        attention;
    nn::Mlp<As, T<typename P::Ds, typename P::Ms>, T<typename P::Ms>,
            T<typename P::Ms, typename P::Ds>, T<typename P::Ds>>
        mlp;
    nn::GatedMlp<As, T<typename P::Ds, typename P::Ms>, T<typename P::Ms, typename P::Ds>> gated;
    nn::Linear<As, T<typename P::Ds, Dim<C>>, T<Dim<C>>> head;
  };
  struct E2 : Index<"E2", 4> {};
  static constexpr auto pairs = [](auto const& a) { return pad<E, E2>(a, 0, 1); };
  static constexpr auto loss = [](auto const& m, auto const& x, auto const& ids) {
    nn::Use<Reduced<X>> const use;
    typename P::In const in;
    typename P::KeyUse const keys;
    auto const a = nn::layer_norm<D4>(x, m.norm, use);
    auto const read = in(a);
    auto const q = nn::linear(read, use(m.attention.q));
    auto const k = nn::linear(read, keys(m.attention.k));
    auto const v = nn::linear(read, keys(m.attention.v));
    auto const mixed =
        nn::attention(nn::rotary<S, E2>(pairs(q)), nn::rotary<S, E2>(pairs(k)), pairs(v));
    auto const y =
        (x + einsum<Dim<B, X>, Dim<S>, Dim<D4>>(slice<E2, E>(mixed, 0, 3), use(m.attention.out)))
            .tensor();
    auto const z = (y + nn::mlp<Dim<B, X>, Dim<S>, Dim<D4>>(in(y), m.mlp, use)).tensor();
    auto const w = (z + nn::gated_mlp<Dim<B, X>, Dim<S>, Dim<D4>>(in(z), m.gated, use)).tensor();
    return nn::mean_cross_entropy<C, Tensor<double>>(nn::linear(w, m.head, use).tensor(), ids);
  };
};

}  // namespace

TEST_CASE("a block of layers has the same loss and gradients in two parallelisms") {
  auto const mesh = mesh_of();
  auto const run = [&]<class P>(P) {
    using Model = typename Block<P>::template Model<value_t>;
    auto const model =
        train::initialize<Model>(mesh, RandomKey{3}, [](std::string_view path, auto) {
          return path.ends_with("gain") ? train::Initial::ones() : train::Initial::normal(0.4);
        });
    auto const x = normal<double, Dim<B, X>, Dim<S>, Dim<D4>>(mesh, {5, 7, 6}, RandomKey{1});
    auto const ids = integers<Ids>(mesh, {5, 7}, RandomKey{2}, -1, 9);
    auto const [loss, gradient] = value_and_grad<0>(Block<P>::loss)(model, x, ids);
    std::vector<double> out(1, item(loss));
    train::for_each_tensor(
        [&](std::string_view, auto const& g) {
          for (double const e : to_host(g)) out.push_back(e);
        },
        gradient);
    return out;
  };
  auto const a = run(OneCopy{});
  auto const b = run(Sharded{});
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (std::size_t k = 0; k < a.size(); ++k) worst = std::max(worst, std::abs(a[k] - b[k]));
  CHECK(worst < 1e-12);
  CHECK(a[0] > 1);
}
