// Gated experts on tokens whose features are split as well, W[E@X, D, F@Y] with A[S@X, D@Y]: every
// form for routings that leave experts empty or give one everything, beside einsums of all experts,
// with gradients and check_grads.
// RANKS: 1 2 4 8
// OPTIMIZE: 1
#include <array>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/nn/nn.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/expert_cases.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using expert_cases::all_to_last, expert_cases::Case, expert_cases::mixed;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct S : Index<"S"> {};
struct E : Index<"E"> {};
struct K : Index<"K"> {};
struct D : Index<"D"> {};
struct F : Index<"F"> {};

using Tokens = Tensor<double, Dim<S, X>, Dim<D, Y>>;
using Weights = Tensor<double, Dim<S, X>, Dim<K>>;
using Ids = Tensor<std::int64_t, Dim<S, X>, Dim<K>>;
using Into = Tensor<double, Dim<E, X>, Dim<D>, Dim<F, Y>>;
using From = Tensor<double, Dim<E, X>, Dim<F, Y>, Dim<D>>;
using Each = std::array<std::int64_t, 2>;

template <class A>
std::vector<double> numbers(A const& a) {
  std::vector<double> out;
  for (auto const x : to_host(a)) out.push_back(static_cast<double>(x));
  return out;
}
template <class U, class V>
double distance(U const& a, V const& b) {
  auto const x = numbers(a);
  auto const y = numbers(b);
  double out = x.size() == y.size() ? 0 : 1e300;
  for (std::size_t k = 0; k < x.size() && k < y.size(); ++k)
    out = std::isfinite(x[k]) ? std::max(out, std::abs(x[k] - y[k])) : 1e300;
  return out;
}

std::int64_t all_to_first(Case const&, std::int64_t, std::int64_t) { return 0; }
std::int64_t even_ones(Case const& c, std::int64_t s, std::int64_t k) {
  return 2 * (s + k) % c.experts / 2 * 2;
}
// every token to every expert
std::int64_t each(Case const&, std::int64_t, std::int64_t k) { return k; }
// the first tokens, those of the first ranks, to the last experts, and the other way round
std::int64_t far_away(Case const& c, std::int64_t s, std::int64_t k) {
  return c.experts - 1 - (s * c.experts / (c.tokens + 1) + k) % c.experts;
}
inline constexpr Case cases[] = {{13, 5, 2, mixed},       {9, 3, 3, each},
                                 {11, 6, 1, all_to_last}, {10, 4, 2, all_to_first},
                                 {12, 9, 2, even_ones},   {17, 8, 1, far_away},
                                 {1, 4, 2, mixed},        {0, 4, 2, mixed},
                                 {5, 1, 1, all_to_first}, {7, 2, 2, all_to_last}};

// What a case is made of; `Whole` on every rank.
struct Parts {
  Tokens x, ct;
  Weights weights;
  Ids ids;
  Into gate, up;
  From down;
  Parts(Mesh<X, Y> const& mesh, Case const& c)
      : x(normal<Tokens>(mesh, {c.tokens, c.features}, RandomKey{1})),
        ct(normal<Tokens>(mesh, {c.tokens, c.features}, RandomKey{2})),
        weights(uniform<Weights>(mesh, {c.tokens, c.choices}, RandomKey{3})),
        ids(from_host<Ids>(mesh, {c.tokens, c.choices}, c.ids())),
        gate(normal<Into>(mesh, {c.experts, c.features, c.hidden}, RandomKey{4})),
        up(normal<Into>(mesh, {c.experts, c.features, c.hidden}, RandomKey{5})),
        down(normal<From>(mesh, {c.experts, c.hidden, c.features}, RandomKey{6})) {}
};

// All tokens through all experts, on every rank: nothing here is sorted, exchanged or multiplied by
// groups.
inline constexpr auto dense = [](auto const& x, auto const& weights, auto const& gate,
                                 auto const& up, auto const& down, auto const& ids) {
  auto const chosen = einsum<S, E>(weights, one_hot<E, double>(ids, gate.extents()[0]));
  auto const hidden = silu(einsum<S, E, F>(x, gate)) * einsum<S, E, F>(x, up);
  return einsum<S, D>(einsum<S, E, D>(hidden, down), chosen).tensor();
};
template <class Form>
auto mixture_of(Ids const& ids, Form const& form) {
  return [&ids, form](auto const& x, auto const& weights, auto const& gate, auto const& up,
                      auto const& down) {
    nn::Routes<Ids, std::remove_cvref_t<decltype(weights)>> const routes{ids, weights};
    return nn::moe(x, routes, nn::Gated{gate, up}, down, form, nn::Silu{});
  };
}

template <class Check>
void on_grids(Check const& check) {
  for (auto const& sizes : on_ranks::grids()) check(Mesh<X, Y>(MPI_COMM_WORLD, sizes), sizes);
}

}  // namespace

TEST_CASE("gated experts of tokens with split features are dense ones, and so are gradients") {
  on_grids([](Mesh<X, Y> const& mesh, Each const& sizes) {
    int number = 0;
    for (Case const& c : cases) {
      if ((number++ % 2 == 0) != (sizes[1] > 1) && mesh.size() > 1) continue;
      CAPTURE(c.tokens, c.experts, c.choices, sizes[0], sizes[1]);
      Parts const p(mesh, c);
      auto const x = reshard<Dim<S>, Dim<D>>(p.x);
      auto const weights = reshard<Dim<S>, Dim<K>>(p.weights);
      auto const gate = reshard<Dim<E>, Dim<D>, Dim<F>>(p.gate);
      auto const up = reshard<Dim<E>, Dim<D>, Dim<F>>(p.up);
      auto const down = reshard<Dim<E>, Dim<F>, Dim<D>>(p.down);
      auto const ids = reshard<Dim<S>, Dim<K>>(p.ids);
      auto const ct = reshard<Dim<S>, Dim<D>>(p.ct);
      auto const out = dense(x, weights, gate, up, down, ids);
      auto const expected = grad<0, 1, 2, 3, 4>([&](auto const&... as) {
        return sum<Tensor<double>>(dense(as..., ids) * ct);
      })(x, weights, gate, up, down);
      auto const check = [&](auto const& form) {
        auto const mixture = mixture_of(p.ids, form);
        auto const made = mixture(p.x, p.weights, p.gate, p.up, p.down);
        static_assert(std::is_same_v<std::remove_cvref_t<decltype(made)>, Tokens>);
        CHECK(distance(made, out) < 1e-11);
        auto const got = grad<0, 1, 2, 3, 4>([&](auto const&... as) {
          return sum<Tensor<double>>(mixture(as...) * p.ct);
        })(p.x, p.weights, p.gate, p.up, p.down);
        CHECK(distance(std::get<0>(got), std::get<0>(expected)) < 1e-11);
        CHECK(distance(std::get<1>(got), std::get<1>(expected)) < 1e-11);
        CHECK(distance(std::get<2>(got), std::get<2>(expected)) < 1e-11);
        CHECK(distance(std::get<3>(got), std::get<3>(expected)) < 1e-11);
        CHECK(distance(std::get<4>(got), std::get<4>(expected)) < 1e-11);
      };
      check(nn::Ragged{});
      check(nn::Gathered{});
      check(nn::Capacity{c.tokens * c.choices + 1});
      // the reference on one rank: sorted rows and products of groups
      nn::Routes const routes{ids, weights};
      CHECK(distance(nn::moe(x, routes, nn::Gated{gate, up}, down, nn::Ragged{}, nn::Silu{}), out) <
            1e-11);
    }
  });
}

TEST_CASE("gradients of every form agree with differences of values") {
  Mesh<X, Y> const mesh(MPI_COMM_WORLD, on_ranks::grids()[0]);
  GradientCheck const some{.elements = 3};
  for (Case const& c : {Case{7, 3, 2, mixed, 4, 3}, Case{5, 4, 1, all_to_last, 3, 4}}) {
    Parts const p(mesh, c);
    check_grads(mixture_of(p.ids, nn::Ragged{}), p.x, p.weights, p.gate, p.up, p.down, some);
    check_grads(mixture_of(p.ids, nn::Gathered{}), p.x, p.weights, p.gate, p.up, p.down, some);
    check_grads(mixture_of(p.ids, nn::Capacity{1}), p.x, p.weights, p.gate, p.up, p.down, some);
  }
}

TEST_CASE("experts of the members of a struct, by a router, on batches of sequences") {
  struct B : Index<"B"> {};
  Mesh<X, Y> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total(), 1});
  auto const x =
      normal<Tensor<double, Dim<B, X>, Dim<S>, Dim<D, Y>>>(mesh, {8, 3, 4}, RandomKey{1});
  auto const r = normal<double, Dim<D, Y>, Dim<E>>(mesh, {4, 3}, RandomKey{2});
  auto const experts = nn::GatedMlp<value_t, Into, From>{
      normal<Into>(mesh, {3, 4, 6}, RandomKey{3}), normal<Into>(mesh, {3, 4, 6}, RandomKey{4}),
      normal<From>(mesh, {3, 6, 4}, RandomKey{5})};
  auto const run = [&](auto const& tokens) {
    auto const routes = nn::router<E>(einsum<Dim<B, X>, Dim<S>, Dim<E>>(tokens, r), 2);
    return std::pair(nn::moe(tokens, routes, experts),
                     nn::moe(tokens, routes, nn::Gated{experts.gate, experts.up}, experts.down,
                             nn::Gathered{}, nn::Silu{}));
  };
  auto const [by_members, by_hand] = run(x);
  CHECK(distance(by_members, by_hand) < 1e-12);
  CHECK(numbers(by_members).size() == 96);
}

TEST_CASE("rows of split features travel as parts, which a plan says") {
  struct A2 : Axis<"A2", 2> {};
  struct A4 : Axis<"A4", 4> {};
  struct N : Index<"N", 64> {};
  struct C : Index<"C", 16> {};
  struct G : Index<"G", 8> {};
  struct H : Index<"H", 32> {};
  using In = Tensor<double, Dim<N, A2>, Dim<C, A4>>;
  using Logits = Tensor<double, Dim<N, A2>, Dim<G>>;
  using W = Tensor<double, Dim<G, A2>, Dim<C>, Dim<H, A4>>;
  using V = Tensor<double, Dim<G, A2>, Dim<H, A4>, Dim<C>>;
  constexpr auto planned = [](auto form) {
    return plan(
        [form](auto const& x, auto const& l, auto const& gate, auto const& up, auto const& down) {
          return nn::moe(x, nn::router<G>(l, 1), nn::Gated{gate, up}, down, form, nn::Silu{});
        },
        type<In>, type<Logits>, type<W>, type<W>, type<V>);
  };
  constexpr auto ragged = planned(nn::Ragged{});
  static_assert(ragged.count(Collective::all_to_all) == 3);
  static_assert(ragged.count(Collective::all_gather) == 1);
  static_assert(ragged.count(Collective::reduce_scatter) == 1);
  // 32 rows of 4 features go there and come back over X; over Y three parts of other ranks are
  // gathered and summed
  constexpr std::int64_t rows = 32 * 4 * 8, counts = 4 * 8;
  static_assert(ragged.bytes_per_rank() == counts + 2 * rows + 3 * rows + 3 * rows);
  static_assert(ragged.peak_bytes() < planned(nn::Gathered{}).peak_bytes());
}
