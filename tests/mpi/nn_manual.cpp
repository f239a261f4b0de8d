// Functions of neural networks in manual mode beside strict ones, with gradients; positions, heads
// and classes that a block does not know.
// RANKS: 1 2 4
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include <shardtype/nn/nn.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct B : Index<"B"> {};
struct S : Index<"S"> {};
struct H : Index<"H"> {};
struct G : Index<"G"> {};
struct F : Index<"F"> {};

template <class... Parts>
using T = Tensor<double, Parts...>;
using A = T<Dim<B, X>, Dim<S>, Dim<H>, Dim<F>>;
using Rows = T<Dim<B, X>, Dim<S>, Dim<H>>;
using Long = T<Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>;

template <class U, class V>
double distance(U const& a, V const& b) {
  auto const x = to_host(a);
  auto const y = to_host(b);
  double out = x.size() == y.size() ? 0 : 1e300;
  for (std::size_t k = 0; k < x.size() && k < y.size(); ++k)
    out = std::isfinite(x[k]) ? std::max(out, std::abs(x[k] - y[k])) : 1e300;
  return out;
}
template <class... Us, class... Vs>
double distances(std::tuple<Us...> const& a, std::tuple<Vs...> const& b) {
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    return std::max({distance(std::get<K>(a), std::get<K>(b))...});
  }(std::index_sequence_for<Us...>{});
}
template <class Function>
auto loss(Function f) {
  return [f](auto const&... as) { return sum<T<>>(square(f(as...))); };
}
Mesh<X> mesh_of() { return Mesh<X>(MPI_COMM_WORLD, {on_ranks::rank_total()}); }

}  // namespace

TEST_CASE("attention, rotary and dropout of blocks of a batch") {
  auto const mesh = mesh_of();
  std::array<std::int64_t, 4> const n{2 * on_ranks::rank_total(), 5, 2, 4};
  auto const q = normal<A>(mesh, n, RandomKey{1});
  auto const k = normal<A>(mesh, n, RandomKey{2});
  auto const v = normal<A>(mesh, n, RandomKey{3});
  auto const strictly = [](auto const& a, auto const& b, auto const& c) {
    return nn::attention(nn::rotary<S, F>(a), nn::rotary<S, F>(b, 2), c);
  };
  auto const blocks = [&](auto const& a, auto const& b, auto const& c) {
    return shard_map<A>(
        [](auto x, auto y, auto z) {
          return nn::attention(nn::rotary<S, F>(x), nn::rotary<S, F>(y, 2), z);
        },
        a, b, c);
  };
  CHECK(distance(blocks(q, k, v), strictly(q, k, v)) == 0);
  CHECK(distances(grad<0, 1, 2>(loss(blocks))(q, k, v), grad<0, 1, 2>(loss(strictly))(q, k, v)) ==
        0);
  auto const drop = [&](auto const& a) {
    return shard_map<A>([](auto x) { return nn::dropout(x, RandomKey{9}, 0.5); }, a);
  };
  auto const kept = drop(q);
  // half of the elements are kept, twice as large; the gradient of the sum is 2 for these
  auto const gradient = grad<0>([&](auto const& a) { return sum<T<>>(drop(a)); })(q);
  CHECK(distance(gradient * q, kept) < 1e-15);
  CHECK(distance(where(kept == 0.0, 0.0, 2.0), gradient) == 0);
}

TEST_CASE("norms and cross entropy of blocks of a batch") {
  auto const mesh = mesh_of();
  std::int64_t const b = 2 * on_ranks::rank_total();
  auto const x = normal<A>(mesh, {b, 5, 2, 4}, RandomKey{1});
  auto const gain = normal<T<Dim<F>>>(mesh, {4}, RandomKey{2});
  auto const bias = normal<T<Dim<F>>>(mesh, {4}, RandomKey{3});
  auto const used = [](auto const& a) { return used_as<Reduced<X>>(a); };
  auto const layer = [&](auto const& a, auto const& g, auto const& c) {
    return nn::rms_norm<F>(nn::layer_norm<F>(a, used(g), used(c)), used(g));
  };
  auto const blocks = [&](auto const& a, auto const& g, auto const& c) {
    return shard_map<A>(
        [](auto u, auto v, auto w) {
          return nn::rms_norm<F>(nn::layer_norm<F>(u, reduced<X>(v), reduced<X>(w)), reduced<X>(v));
        },
        a, g, c);
  };
  CHECK(distance(blocks(x, gain, bias), layer(x, gain, bias)) == 0);
  CHECK(distances(grad<0, 1, 2>(loss(blocks))(x, gain, bias),
                  grad<0, 1, 2>(loss(layer))(x, gain, bias)) < 1e-14);
  auto const ids = from_function<Tensor<std::int64_t, Dim<B, X>, Dim<S>, Dim<H>>>(
      mesh, {b, 5, 2},
      [](std::int64_t i, std::int64_t j, std::int64_t k) { return (i + j + k) % 5 - 1; });
  auto const strictly = [&](auto const& a) { return nn::cross_entropy<F>(a, ids); };
  auto const entropy = [&](auto const& a) {
    return shard_map<Rows>([](auto u, auto i) { return nn::cross_entropy<F>(u, i); }, a, ids);
  };
  CHECK(distance(entropy(x), strictly(x)) == 0);
  CHECK(distance(grad<0>(loss(entropy))(x), grad<0>(loss(strictly))(x)) == 0);
}

TEST_CASE("a split sequence inside of shard_map, by strict") {
  auto const mesh = mesh_of();
  std::array<std::int64_t, 4> const n{2, 3 * on_ranks::rank_total(), 2, 4};
  auto const q = normal<Long>(mesh, n, RandomKey{1});
  auto const ring = [](auto const& a) {
    auto const turned = nn::rotary<S, F>(a, 1);
    return nn::attention<Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>(turned, turned, a);
  };
  auto const inside = [&](auto const& a) {
    return shard_map<Long>([&](auto x) { return strict<Long>(ring, x); }, a);
  };
  CHECK(distance(inside(q), ring(q)) == 0);
  CHECK(distance(grad<0>(loss(inside))(q), grad<0>(loss(ring))(q)) == 0);
}

TEST_CASE("positions and heads that a block does not know are an error") {
  auto const mesh = mesh_of();
  std::int64_t const p = on_ranks::rank_total();
  auto const q = normal<Long>(mesh, {2, 3 * p, 2, 4}, RandomKey{1});
  auto const gathered = [&](nn::AttentionOptions const& o) {
    return shard_map<Long>(
        [&](auto x) {
          auto const all = all_gather<X, S>(x);
          return nn::attention(x, relabel<S, G>(all), relabel<S, G>(all), o);
        },
        q);
  };
  CHECK(on_ranks::code_of([&] { (void)gathered({}); }) == "E41");
  using Whole = T<Dim<B>, Dim<S>, Dim<H>, Dim<F>>;
  auto const whole = reshard<Whole>(q);
  CHECK(distance(gathered({.causal = false}), nn::attention(whole, whole, whole, {false})) < 1e-14);
  using Heads = T<Dim<B>, Dim<S>, Dim<H, X>, Dim<F>>;
  auto const heads = normal<Heads>(mesh, {2, 3, 2 * p, 4}, RandomKey{1});
  auto const groups = normal<T<Dim<B>, Dim<S>, Dim<G>, Dim<F>>>(mesh, {2, 3, 1, 4}, RandomKey{2});
  CHECK(on_ranks::code_of([&] {
          (void)shard_map<Heads>([](auto a, auto b) { return nn::attention(a, b, b, {false}); },
                                 heads, groups);
        }) == "E41");
}
