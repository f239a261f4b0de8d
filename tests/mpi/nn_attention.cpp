// Attention beside loops on one rank: blocks that end anywhere, heads that are split unevenly,
// grouped queries, rows that see no key, gradients, a cache of keys and values.
// RANKS: 1 2 3 4 8
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <shardtype/nn/nn.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct S : Index<"S"> {};
struct K : Index<"K"> {};
struct H : Index<"H"> {};
struct G : Index<"G"> {};
struct F : Index<"F"> {};
struct N : Index<"N"> {};

template <class T = double>
using Queries = Tensor<T, Dim<B, X>, Dim<S>, Dim<H, Y>, Dim<F>>;
template <class T = double>
using Keys = Tensor<T, Dim<B, X>, Dim<K>, Dim<H, Y>, Dim<F>>;
using SplitGroups = Tensor<double, Dim<B, X>, Dim<K>, Dim<G, Y>, Dim<F>>;
using WholeGroups = Tensor<double, Dim<B, X>, Dim<K>, Dim<G>, Dim<F>>;
using UsedGroups = Tensor<double, Dim<B, X>, Dim<K>, Dim<G>, Dim<F>, Reduced<Y>>;

auto mesh_of() { return on_ranks::two_axes<X, Y>(); }

struct Sizes {
  std::int64_t b, s, k, h, g, f;
};

// Row by row, as the formula has it.
std::vector<double> attended(std::vector<double> const& q, std::vector<double> const& k,
                             std::vector<double> const& v, Sizes const& n,
                             nn::AttentionOptions const& options) {
  std::vector<double> out(q.size(), 0.0);
  double const scale = options.scale != 0 ? options.scale : 1 / std::sqrt(double(n.f));
  for (std::int64_t b = 0; b < n.b; ++b)
    for (std::int64_t h = 0; h < n.h; ++h)
      for (std::int64_t i = 0; i < n.s; ++i) {
        std::int64_t const query = ((b * n.s + i) * n.h + h) * n.f;
        std::int64_t const seen =
            options.causal ? std::clamp(options.first + i + 1, std::int64_t{0}, n.k) : n.k;
        std::vector<double> score;
        auto const key = [&](std::int64_t j) {
          return ((b * n.k + j) * n.g + h / (n.h / n.g)) * n.f;
        };
        for (std::int64_t j = 0; j < seen; ++j) {
          double sum = 0;
          for (std::int64_t f = 0; f < n.f; ++f)
            sum += q[static_cast<std::size_t>(query + f)] * k[static_cast<std::size_t>(key(j) + f)];
          score.push_back(sum * scale);
        }
        double const top = score.empty() ? 0 : *std::max_element(score.begin(), score.end());
        double total = 0;
        for (double& e : score) total += e = std::exp(e - top);
        for (std::int64_t j = 0; j < seen; ++j)
          for (std::int64_t f = 0; f < n.f; ++f)
            out[static_cast<std::size_t>(query + f)] += score[static_cast<std::size_t>(j)] / total *
                                                        v[static_cast<std::size_t>(key(j) + f)];
      }
  return out;
}

template <class A>
std::vector<double> numbers(A const& a) {
  std::vector<double> out;
  for (auto const x : to_host(a)) out.push_back(static_cast<double>(x));
  return out;
}
double distance(std::vector<double> const& a, std::vector<double> const& b) {
  double out = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t k = 0; k < a.size() && k < b.size(); ++k)
    out = std::isfinite(a[k]) ? std::max(out, std::abs(a[k] - b[k])) : 1e300;
  return out;
}

// Of sequences of n.s positions: the numbers of those before `end`, and the sequences with `x` from
// there on.
std::vector<double> before(std::vector<double> const& a, Sizes const& n, std::int64_t end) {
  std::vector<double> out;
  auto const row = static_cast<std::int64_t>(a.size()) / (n.b * n.s);
  for (std::int64_t b = 0; b < n.b; ++b)
    for (std::int64_t k = 0; k < end * row; ++k)
      out.push_back(a[static_cast<std::size_t>(b * n.s * row + k)]);
  return out;
}
template <class A>
A with_from(Mesh<X, Y> const& mesh, A const& a, Sizes const& n, std::int64_t end, double x) {
  std::vector<double> all = numbers(a);
  auto const row = static_cast<std::int64_t>(all.size()) / (n.b * n.s);
  for (std::int64_t b = 0; b < n.b; ++b)
    for (std::int64_t k = end * row; k < n.s * row; ++k)
      all[static_cast<std::size_t>(b * n.s * row + k)] = x;
  return from_host<A>(mesh, a.extents(), all);
}

struct Attend {
  nn::AttentionOptions options;
  constexpr auto operator()(auto const& q, auto const& k, auto const& v) const {
    return nn::attention(q, k, v, options);
  }
};
// The same with a mask and a matrix of all scores.
struct Dense {
  double scale;
  constexpr auto operator()(auto const& q, auto const& k, auto const& v, auto const& mask) const {
    auto const scores = einsum<B, H, S, K>(q, k);
    return einsum<B, S, H, F>(softmax<K>(where(mask, scores * scale, -1e30)), v);
  }
};

}  // namespace

TEST_CASE("attention of blocks that end anywhere, with heads that are split unevenly") {
  auto const mesh = mesh_of();
  for (Sizes const n :
       {Sizes{3, 5, 5, 3, 3, 4}, Sizes{1, 1, 1, 1, 1, 1}, Sizes{2, 128, 128, 2, 2, 3},
        Sizes{1, 129, 257, 5, 5, 7}, Sizes{2, 300, 127, 2, 2, 2}, Sizes{0, 4, 4, 2, 2, 3},
        Sizes{2, 3, 0, 2, 2, 3}, Sizes{2, 0, 3, 2, 2, 3}}) {
    auto const q = normal<Queries<>>(mesh, {n.b, n.s, n.h, n.f}, RandomKey{1}, 0.0, 2.0);
    auto const k = normal<Keys<>>(mesh, {n.b, n.k, n.h, n.f}, RandomKey{2}, 0.0, 2.0);
    auto const v = normal<Keys<>>(mesh, {n.b, n.k, n.h, n.f}, RandomKey{3});
    for (nn::AttentionOptions const options :
         {nn::AttentionOptions{}, nn::AttentionOptions{false}, nn::AttentionOptions{true, 0.3, 2},
          nn::AttentionOptions{true, 0, -2}, nn::AttentionOptions{true, 0, -200}}) {
      auto const expected = attended(numbers(q), numbers(k), numbers(v), n, options);
      CHECK(distance(numbers(nn::attention(q, k, v, options)), expected) < 1e-13);
    }
  }
}

TEST_CASE("attention in float and bfloat16, with large scores, and in automatic mode") {
  auto const mesh = mesh_of();
  Sizes const n{2, 150, 150, 3, 3, 8};
  auto const q = normal<Queries<float>>(mesh, {n.b, n.s, n.h, n.f}, RandomKey{1}, 0.0F, 100.0);
  auto const k = normal<Keys<float>>(mesh, {n.b, n.k, n.h, n.f}, RandomKey{2}, 0.0F, 10.0);
  auto const v = normal<Keys<float>>(mesh, {n.b, n.k, n.h, n.f}, RandomKey{3});
  auto const expected = attended(numbers(q), numbers(k), numbers(v), n, {true, 0.1, 0});
  CHECK(distance(numbers(nn::attention(q, k, v, {.scale = 0.1})), expected) < 2e-3);
  auto const half =
      nn::attention(cast<bfloat16>(q), cast<bfloat16>(k), cast<bfloat16>(v), {.scale = 0.001});
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(half.tensor())>, Queries<bfloat16>>);
  auto const rounded = attended(numbers(cast<bfloat16>(q)), numbers(cast<bfloat16>(k)),
                                numbers(cast<bfloat16>(v)), n, {true, 0.001, 0});
  CHECK(distance(numbers(half.tensor()), rounded) < 0.02);
  auto const planned =
      evaluate<Queries<float>>(mesh, nn::attention(lazy(q), lazy(k), lazy(v), {.scale = 0.1}));
  CHECK(distance(numbers(planned), expected) < 2e-3);
}

TEST_CASE("gradients of attention, of small operands beside differences") {
  auto const mesh = mesh_of();
  for (Sizes const n :
       {Sizes{2, 5, 5, 3, 3, 4}, Sizes{1, 3, 6, 2, 2, 2}, Sizes{1, 6, 3, 5, 5, 1}}) {
    auto const q = normal<Queries<>>(mesh, {n.b, n.s, n.h, n.f}, RandomKey{1});
    auto const k = normal<Keys<>>(mesh, {n.b, n.k, n.h, n.f}, RandomKey{2});
    auto const v = normal<Keys<>>(mesh, {n.b, n.k, n.h, n.f}, RandomKey{3});
    check_grads(Attend{{}}, q, k, v);
    check_grads(Attend{{false, 0.7, 0}}, q, k, v);
    check_grads(Attend{{true, 0, -2}}, q, k, v);
  }
}

TEST_CASE("gradients of attention over several blocks, beside those of a matrix of scores") {
  auto const mesh = mesh_of();
  Sizes const n{2, 140, 270, 3, 3, 4};
  auto const q = normal<Queries<>>(mesh, {n.b, n.s, n.h, n.f}, RandomKey{1});
  auto const k = normal<Keys<>>(mesh, {n.b, n.k, n.h, n.f}, RandomKey{2});
  auto const v = normal<Keys<>>(mesh, {n.b, n.k, n.h, n.f}, RandomKey{3});
  auto const mask = from_function<Tensor<bool, Dim<S>, Dim<K>>>(
      mesh, {n.s, n.k}, [](std::int64_t i, std::int64_t j) { return j <= i + 30; });
  auto const weights = normal<Queries<>>(mesh, {n.b, n.s, n.h, n.f}, RandomKey{4});
  auto const [g, h] = std::pair(
      grad<0, 1, 2>([&](auto const& a, auto const& b, auto const& c) {
        return sum<Tensor<double>>(weights * nn::attention(a, b, c, {.scale = 0.4, .first = 30}));
      })(q, k, v),
      grad<0, 1, 2>([&](auto const& a, auto const& b, auto const& c) {
        return sum<Tensor<double>>(weights * Dense{0.4}(a, b, c, mask));
      })(q, k, v));
  CHECK(distance(numbers(std::get<0>(g)), numbers(std::get<0>(h))) < 1e-13);
  CHECK(distance(numbers(std::get<1>(g)), numbers(std::get<1>(h))) < 1e-13);
  CHECK(distance(numbers(std::get<2>(g)), numbers(std::get<2>(h))) < 1e-13);
}

TEST_CASE("grouped queries, with heads of keys that are split or on every rank") {
  auto const mesh = mesh_of();
  std::int64_t const ranks = mesh.size_of<Y>();
  for (Sizes const n :
       {Sizes{2, 6, 6, 2 * ranks, ranks, 3}, Sizes{1, 3, 4, 6, 2, 2}, Sizes{1, 4, 4, 5, 1, 2}}) {
    auto const q = normal<Queries<>>(mesh, {n.b, n.s, n.h, n.f}, RandomKey{1});
    auto const k = normal<WholeGroups>(mesh, {n.b, n.k, n.g, n.f}, RandomKey{2});
    auto const v = normal<WholeGroups>(mesh, {n.b, n.k, n.g, n.f}, RandomKey{3});
    auto const expected = attended(numbers(q), numbers(k), numbers(v), n, {});
    CHECK(distance(numbers(nn::attention(q, k, v)), expected) < 1e-13);
    check_grads(
        [](auto const& a, auto const& b, auto const& c) {
          return nn::attention(a, used_as<UsedGroups>(b), used_as<UsedGroups>(c));
        },
        q, k, v);
    if (n.g % ranks != 0) {
      CHECK(on_ranks::code_of([&] {
              (void)nn::attention(q, reshard<SplitGroups>(k), reshard<SplitGroups>(v));
            }) == "E41");
      continue;
    }
    auto const split_k = reshard<SplitGroups>(k);
    auto const split_v = reshard<SplitGroups>(v);
    CHECK(distance(numbers(nn::attention(q, split_k, split_v)), expected) < 1e-13);
    check_grads(Attend{}, q, split_k, split_v);
  }
}

// Results, and gradients of the rows before `end`, of operands that hold `x` from there on.
template <class K>
void check_hidden(Sizes const& n, std::int64_t end, double x) {
  auto const mesh = mesh_of();
  INFO("sizes " << n.s << " " << n.h << " " << n.g << " from " << end << " on " << x);
  auto const q = normal<Queries<>>(mesh, {n.b, n.s, n.h, n.f}, RandomKey{1});
  auto const k = normal<K>(mesh, {n.b, n.k, n.g, n.f}, RandomKey{2});
  auto const v = normal<K>(mesh, {n.b, n.k, n.g, n.f}, RandomKey{3});
  auto const weights =
      with_from(mesh, normal<Queries<>>(mesh, {n.b, n.s, n.h, n.f}, RandomKey{4}), n, end, 0.0);
  auto const gradients = grad<0, 1, 2>([&](auto const& a, auto const& b, auto const& c) {
    return sum<Tensor<double>>(weights * nn::attention(a, b, c));
  });
  auto const rows = [&](auto const& a) { return before(numbers(a), n, end); };
  auto const expected = rows(nn::attention(q, k, v));
  auto const [to_q, to_k, to_v] = gradients(q, k, v);
  auto const bad_q = with_from(mesh, q, n, end, x);
  auto const bad_k = with_from(mesh, k, n, end, x);
  auto const bad_v = with_from(mesh, v, n, end, x);
  auto const check = [&](auto const& a, auto const& b, auto const& c) {
    CHECK(distance(rows(nn::attention(a, b, c)), expected) < 1e-13);
    auto const [g, h, i] = gradients(a, b, c);
    CHECK(distance(rows(g), rows(to_q)) < 1e-13);
    CHECK(distance(rows(h), rows(to_k)) < 1e-13);
    CHECK(distance(rows(i), rows(to_v)) < 1e-13);
  };
  check(q, bad_k, v);
  check(q, k, bad_v);
  check(bad_q, bad_k, bad_v);
}
TEST_CASE("no number of a key reaches queries that do not see it, nor their gradients") {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  std::int64_t const ranks = mesh_of().size_of<Y>();
  for (double const x : {nan, std::numeric_limits<double>::infinity()}) {
    check_hidden<Keys<>>({2, 4, 4, 3, 3, 2}, 3, x);
    check_hidden<Keys<>>({1, 150, 150, 2, 2, 3}, 140, x);
    check_hidden<SplitGroups>({2, 9, 9, 2 * ranks, ranks, 3}, 4, x);
  }
  // what is seen is not hidden
  auto const mesh = mesh_of();
  Sizes const n{2, 4, 4, 3, 3, 2};
  auto const q = normal<Queries<>>(mesh, {n.b, n.s, n.h, n.f}, RandomKey{1});
  auto const v =
      with_from(mesh, normal<Keys<>>(mesh, {n.b, n.k, n.h, n.f}, RandomKey{2}), n, 3, nan);
  for (double const y : numbers(nn::attention(q, v, v, {.causal = false}))) CHECK(std::isnan(y));
  CHECK(std::isnan(numbers(nn::attention(q, v, v)).back()));
}

TEST_CASE(
    "keys that are used as Reduced ones beside values that are not, and the other way round") {
  auto const mesh = mesh_of();
  nn::AttentionOptions const options{.causal = true, .first = 2};
  auto const q = normal<Queries<>>(mesh, {2, 5, 4, 3}, RandomKey{1});
  auto const k = normal<WholeGroups>(mesh, {2, 7, 2, 3}, RandomKey{2});
  auto const v = normal<WholeGroups>(mesh, {2, 7, 2, 3}, RandomKey{3});
  auto const used = [](auto const& a) { return used_as<Reduced<Y>>(a); };
  auto const expected = nn::attention(q, used(k), used(v), options);
  CHECK(array_equal(nn::attention(q, used(k), v, options), expected));
  CHECK(array_equal(nn::attention(q, k, used(v), options), expected));
  auto const loss = [&](auto const& keys, auto const& values) {
    return sum<Tensor<double>>(square(nn::attention(q, keys, values, options)));
  };
  auto const [to_k, to_v] =
      grad<0, 1>([&](auto const& a, auto const& b) { return loss(used(a), used(b)); })(k, v);
  CHECK(allclose(grad<0>([&](auto const& a) { return loss(used(a), v); })(k), to_k, 1e-13, 1e-14));
  CHECK(allclose(grad<0>([&](auto const& a) { return loss(k, used(a)); })(v), to_v, 1e-13, 1e-14));
  // around the ring
  auto const of_rows = [&](auto const& keys, auto const& values) {
    return nn::attention<Dim<B>, Dim<S, X>, Dim<H, Y>, Dim<F>>(
        reshard<Dim<B>, Dim<S, X>, Dim<H, Y>, Dim<F>>(q), keys, values, options);
  };
  auto const rows = [](auto const& a) { return reshard<Dim<B>, Dim<K, X>, Dim<G>, Dim<F>>(a); };
  auto const there = reshard<Dim<B>, Dim<S, X>, Dim<H, Y>, Dim<F>>(expected);
  CHECK(allclose(of_rows(used(rows(k)), rows(v)), there, 1e-13, 1e-14));
  CHECK(allclose(of_rows(rows(k), used(rows(v))), there, 1e-13, 1e-14));
}

TEST_CASE("attention refuses extents that do not fit") {
  auto const mesh = mesh_of();
  auto const q = normal<Queries<>>(mesh, {2, 3, 4, 5}, RandomKey{1});
  auto const code = [&](std::array<std::int64_t, 4> const& k,
                        std::array<std::int64_t, 4> const& v) {
    return on_ranks::code_of([&] {
      (void)nn::attention(q, normal<WholeGroups>(mesh, k, RandomKey{1}),
                          normal<WholeGroups>(mesh, v, RandomKey{1}));
    });
  };
  CHECK(code({2, 7, 2, 5}, {2, 7, 2, 5}) == "none");
  CHECK(code({2, 7, 3, 5}, {2, 7, 3, 5}) == "E41");
  CHECK(code({2, 7, 2, 5}, {2, 8, 2, 5}) == "E24");
  CHECK(code({2, 7, 2, 4}, {2, 7, 2, 4}) == "E24");
  CHECK(code({1, 7, 2, 5}, {1, 7, 2, 5}) == "E24");
}

TEST_CASE("generation with a cache gives the rows of the whole sequence") {
  auto const mesh = mesh_of();
  Sizes const n{3, 11, 11, 4, 4, 2};
  auto const q = normal<Keys<>>(mesh, {n.b, n.k, n.h, n.f}, RandomKey{1});
  auto const k = normal<Keys<>>(mesh, {n.b, n.k, n.h, n.f}, RandomKey{2});
  auto const v = normal<Keys<>>(mesh, {n.b, n.k, n.h, n.f}, RandomKey{3});
  auto const whole = nn::attention(q, k, v);
  // docs: cache
  auto cache = nn::KeyValueCache<Keys<>>::of(mesh, {n.b, 16, n.h, n.f});
  for (std::int64_t const step : {4, 1, 1, 5}) {
    std::int64_t const t = cache.length;
    auto const next = [&](auto const& a) { return slice<K, N>(a, t, t + step); };
    cache.append(next(k), next(v));
    auto const out = nn::attention(next(q), cache.keys, cache.values, cache.options(step));
    CHECK(distance(numbers(out), numbers(next(whole))) < 1e-14);
  }
  CHECK(cache.length == 11);
  // docs: end
  CHECK(on_ranks::code_of([&] { cache.append(slice<K, N>(k, 0, 6), slice<K, N>(v, 0, 6)); }) ==
        "E41");
}
