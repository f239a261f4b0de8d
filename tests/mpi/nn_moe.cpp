// Mixtures of experts beside loops on one rank: every form, for routings that leave experts empty
// or give one everything, with gradients; products of groups of rows; routers and their losses.
// RANKS: 1 2 4 8
// OPTIMIZE: 1
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
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

using Tokens = Tensor<double, Dim<S, X>, Dim<D>>;
using Weights = Tensor<double, Dim<S, X>, Dim<K>>;
using Ids = Tensor<std::int64_t, Dim<S, X>, Dim<K>>;
using Into = Tensor<double, Dim<E, X>, Dim<D>, Dim<F, Y>>;
using From = Tensor<double, Dim<E, X>, Dim<F, Y>, Dim<D>>;

using Numbers = std::vector<double>;
double at(Numbers const& v, std::int64_t k) { return v[static_cast<std::size_t>(k)]; }
double& at(Numbers& v, std::int64_t k) { return v[static_cast<std::size_t>(k)]; }

// The largest difference; infinite where there is a NaN.
template <class A>
double distance(A const& a, Numbers const& b) {
  auto const host = to_host(a);
  double out = host.size() == b.size() ? 0 : 1e300;
  for (std::size_t k = 0; k < b.size() && k < host.size(); ++k) {
    double const d = std::abs(static_cast<double>(host[k]) - b[k]);
    out = std::isnan(d) ? 1e300 : std::max(out, d);
  }
  return out;
}
template <class A>
Numbers numbers(A const& a) {
  Numbers out;
  for (auto const x : to_host(a)) out.push_back(static_cast<double>(x));
  return out;
}

std::int64_t few(Case const&, std::int64_t s, std::int64_t k) { return (s + k) % 2; }
std::int64_t none_for_some(Case const& c, std::int64_t s, std::int64_t k) {
  return (s + k) % 4 == 0 ? -1 : (s + 2 * k) % c.experts;
}

// Values and gradients by loops. The loss is the sum of ct times the result.
struct Dense {
  Numbers out, x, weights, into, from;
  Dense(Case const& c, std::vector<std::int64_t> const& ids, Numbers const& a, Numbers const& g,
        Numbers const& w, Numbers const& v, Numbers const& ct)
      : out(a.size()), x(a.size()), weights(g.size()), into(w.size()), from(v.size()) {
    std::int64_t const d = c.features, f = c.hidden;
    for (std::int64_t s = 0; s < c.tokens; ++s)
      for (std::int64_t k = 0; k < c.choices; ++k) {
        std::int64_t const e = ids[static_cast<std::size_t>(s * c.choices + k)];
        if (e < 0) continue;
        double const gate = at(g, s * c.choices + k);
        for (std::int64_t j = 0; j < f; ++j) {
          double h = 0, back = 0;
          for (std::int64_t i = 0; i < d; ++i) h += at(a, s * d + i) * at(w, (e * d + i) * f + j);
          double const share = 1 / (1 + std::exp(-h));
          double const act = h * share;
          for (std::int64_t i = 0; i < d; ++i) {
            double const made = act * at(v, (e * f + j) * d + i);
            at(out, s * d + i) += gate * made;
            at(weights, s * c.choices + k) += made * at(ct, s * d + i);
            at(from, (e * f + j) * d + i) += gate * act * at(ct, s * d + i);
            back += gate * at(v, (e * f + j) * d + i) * at(ct, s * d + i);
          }
          back *= share * (1 + h * (1 - share));
          for (std::int64_t i = 0; i < d; ++i) {
            at(x, s * d + i) += back * at(w, (e * d + i) * f + j);
            at(into, (e * d + i) * f + j) += back * at(a, s * d + i);
          }
        }
      }
  }
};

// Values and gradients of one form. `Whole`: each rank has all experts.
template <bool Whole, class Form>
void check_form(Form const& form, Tokens const& x, Weights const& weights, Ids const& ids,
                Into const& into, From const& from, Tokens const& ct, Dense const& dense) {
  auto const mixture = [&](auto const& a, auto const& g, auto const& w, auto const& v) {
    auto const tokens = used_as<Reduced<Y>>(a);
    auto const gates = used_as<Reduced<Y>>(g);
    nn::Routes<Ids, std::remove_cvref_t<decltype(gates)>> const routes{ids, gates};
    if constexpr (Whole) {
      return nn::moe<Dim<S, X>, Dim<D>>(tokens, routes, used_as<Reduced<X>>(w),
                                        used_as<Reduced<X>>(v), form, nn::Silu{});
    } else {
      return nn::moe<Dim<S, X>, Dim<D>>(tokens, routes, w, v, form, nn::Silu{});
    }
  };
  CHECK(distance(mixture(x, weights, into, from), dense.out) < 1e-12);
  auto const loss = [&](auto const& a, auto const& g, auto const& w, auto const& v) {
    return sum<Tensor<double>>(mixture(a, g, w, v) * ct);
  };
  auto const [value, gradients] = value_and_grad<0, 1, 2, 3>(loss)(x, weights, into, from);
  auto const& [to_x, to_weights, to_into, to_from] = gradients;
  CHECK(distance(to_x, dense.x) < 1e-12);
  CHECK(distance(to_weights, dense.weights) < 1e-12);
  CHECK(distance(to_into, dense.into) < 1e-12);
  CHECK(distance(to_from, dense.from) < 1e-12);
}

using Sizes = std::array<std::int64_t, 2>;
template <class Check>
void on_grids(Check const& check) {
  for (auto const& sizes : on_ranks::grids()) check(Mesh<X, Y>(MPI_COMM_WORLD, sizes), sizes);
}

}  // namespace

TEST_CASE("each form of a mixture is that of loops, and so are its gradients") {
  on_grids([](Mesh<X, Y> const& mesh, Sizes const& sizes) {
    int number = 0;
    for (Case const& c : {Case{13, 5, 2, mixed}, Case{16, 8, 1, mixed}, Case{9, 3, 3, mixed},
                          Case{11, 6, 1, all_to_last}, Case{10, 4, 2, all_to_last},
                          Case{7, 9, 2, few}, Case{12, 5, 2, none_for_some}, Case{1, 4, 2, mixed},
                          Case{0, 4, 2, mixed}, Case{5, 1, 1, mixed}}) {
      // every other case on each mesh
      bool const taken = (number++ % 2 == 0) == (sizes[1] > 1) || sizes[0] * sizes[1] == 1;
      if (!taken || (c.expert == none_for_some && runtime::run_time.settings.check_values))
        continue;  // E50
      CAPTURE(c.tokens, c.experts, c.choices);
      auto const x = normal<Tokens>(mesh, {c.tokens, c.features}, RandomKey{1});
      auto const g = uniform<Weights>(mesh, {c.tokens, c.choices}, RandomKey{2});
      auto const w = normal<Into>(mesh, {c.experts, c.features, c.hidden}, RandomKey{3});
      auto const v = normal<From>(mesh, {c.experts, c.hidden, c.features}, RandomKey{4});
      auto const ct = normal<Tokens>(mesh, {c.tokens, c.features}, RandomKey{5});
      auto const ids = from_host<Ids>(mesh, {c.tokens, c.choices}, c.ids());
      Dense const dense(c, c.ids(), numbers(x), numbers(g), numbers(w), numbers(v), numbers(ct));
      check_form<true>(nn::Ragged{}, x, g, ids, w, v, ct, dense);
      check_form<false>(nn::Ragged{}, x, g, ids, w, v, ct, dense);
      check_form<false>(nn::Gathered{}, x, g, ids, w, v, ct, dense);
      check_form<false>(nn::Capacity{c.tokens * c.choices + 1}, x, g, ids, w, v, ct, dense);
    }
  });
}

TEST_CASE("a capacity drops the last rows of each rank for an expert, and counts them") {
  on_grids([](Mesh<X, Y> const& mesh, Sizes const& sizes) {
    for (Case const& c : {Case{46, 4, 2, mixed}, Case{17, 5, 1, all_to_last}}) {
      // of a capacity of 0 rows, as int(factor * tokens * k / experts) is of few tokens, all are
      // dropped
      std::int64_t const capacity = c.choices - 1;
      auto const x = normal<Tokens>(mesh, {c.tokens, c.features}, RandomKey{1});
      auto const g = uniform<Weights>(mesh, {c.tokens, c.choices}, RandomKey{2});
      auto const w = normal<Into>(mesh, {c.experts, c.features, c.hidden}, RandomKey{3});
      auto const v = normal<From>(mesh, {c.experts, c.hidden, c.features}, RandomKey{4});
      auto const ct = normal<Tokens>(mesh, {c.tokens, c.features}, RandomKey{5});
      auto const ids = from_host<Ids>(mesh, {c.tokens, c.choices}, c.ids());
      std::vector<std::int64_t> kept = c.ids();
      std::int64_t const ranks = sizes[0];
      std::int64_t const block = (c.tokens + ranks - 1) / ranks;
      std::vector<std::int64_t> rows(static_cast<std::size_t>(ranks * c.experts));
      std::int64_t dropped = 0;
      for (std::int64_t k = 0; k < c.tokens * c.choices; ++k) {
        std::int64_t& e = kept[static_cast<std::size_t>(k)];
        auto const row = static_cast<std::size_t>(k / c.choices / block * c.experts + e);
        if (++rows[row] > capacity) e = -1, ++dropped;
      }
      REQUIRE(dropped > 0);
      Dense const dense(c, kept, numbers(x), numbers(g), numbers(w), numbers(v), numbers(ct));
      check_form<false>(nn::Capacity{capacity}, x, g, ids, w, v, ct, dense);
      check_form<true>(nn::Capacity{capacity}, x, g, ids, w, v, ct, dense);
      nn::Routes<Ids, Weights> const routes{ids, g};
      CHECK(item(nn::dropped_rows<E>(routes, c.experts, capacity)) == dropped);
      Numbers load(static_cast<std::size_t>(c.experts));
      for (std::int64_t const e : c.ids()) at(load, e) += 1;
      CHECK(distance(nn::expert_load<E>(routes, c.experts), load) == 0);
    }
  });
}

TEST_CASE("an exchange of rows holds less than all tokens") {
  Mesh<X, Y> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total(), 1});
  std::int64_t const p = mesh.size();
  Case const c{16 * p, 2 * p, 1, mixed, 64, 32};
  auto const x = normal<Tokens>(mesh, {c.tokens, c.features}, RandomKey{1});
  auto const g = uniform<Weights>(mesh, {c.tokens, c.choices}, RandomKey{2});
  auto const w = normal<Into>(mesh, {c.experts, c.features, c.hidden}, RandomKey{3});
  auto const v = normal<From>(mesh, {c.experts, c.hidden, c.features}, RandomKey{4});
  auto const ids = from_function<Ids>(
      mesh, {c.tokens, c.choices},
      [&](std::int64_t s, std::int64_t) { return s % c.experts; });  // as many for each
  auto const peak = [&](auto const& form) {
    runtime::BytesInUse& memory = runtime::run_time.memory;
    memory.reset();
    std::int64_t const before = memory.now();
    (void)nn::moe<Dim<S, X>, Dim<D>>(x, nn::Routes<Ids, Weights>{ids, g}, w, v, form);
    return memory.most() - before;
  };
  std::int64_t const ragged = peak(nn::Ragged{});
  std::int64_t const gathered = peak(nn::Gathered{});
  if (p > 2) {
    CHECK(ragged < gathered);
  }
  // what is sent, received and sorted, besides small numbers
  CHECK(ragged < 3 * 16 * c.features * 8 + 4096 + 64 * c.experts);
}

TEST_CASE("experts over two axes, in float and bfloat16") {
  on_grids([](Mesh<X, Y> const& mesh, Sizes const&) {
    Case const c{21, 7, 2, mixed, 8, 16};
    using All = Tensor<double, Dim<S, X, Y>, Dim<D>>;
    using Gates = Tensor<double, Dim<S, X, Y>, Dim<K>>;
    using In = Tensor<double, Dim<E, X, Y>, Dim<D>, Dim<F>>;
    using To = Tensor<double, Dim<E, X, Y>, Dim<F>, Dim<D>>;
    auto const x = normal<All>(mesh, {c.tokens, c.features}, RandomKey{1});
    auto const g = uniform<Gates>(mesh, {c.tokens, c.choices}, RandomKey{2});
    auto const w = normal<In>(mesh, {c.experts, c.features, c.hidden}, RandomKey{3}, 0.0, 0.3);
    auto const v = normal<To>(mesh, {c.experts, c.hidden, c.features}, RandomKey{4}, 0.0, 0.3);
    auto const ids =
        from_host<Tensor<std::int64_t, Dim<S, X, Y>, Dim<K>>>(mesh, {c.tokens, c.choices}, c.ids());
    Dense const dense(c, c.ids(), numbers(x), numbers(g), numbers(w), numbers(v), numbers(x));
    auto const run = [&]<class T>(T, auto const& form) {
      auto const gates = cast<T>(g).tensor();
      nn::Routes<std::remove_cvref_t<decltype(ids)>, std::remove_cvref_t<decltype(gates)>> const
          routes{ids, gates};
      return nn::moe(cast<T>(x).tensor(), routes, cast<T>(w).tensor(), cast<T>(v).tensor(), form,
                     nn::Silu{});
    };
    CHECK(distance(run(double{}, nn::Ragged{}), dense.out) < 1e-12);
    CHECK(distance(run(double{}, nn::Gathered{}), dense.out) < 1e-12);
    CHECK(distance(run(float{}, nn::Ragged{}), dense.out) < 1e-5);
    CHECK(distance(run(bfloat16{}, nn::Ragged{}), dense.out) < 0.1);
    CHECK(distance(run(bfloat16{}, nn::Gathered{}), dense.out) < 0.1);
  });
}

TEST_CASE("tokens of batches of sequences") {
  Mesh<X, Y> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total(), 1});
  struct B : Index<"B"> {};
  using Batches = Tensor<double, Dim<B, X>, Dim<S>, Dim<D>>;
  auto const x = normal<Batches>(mesh, {8, 3, 4}, RandomKey{1});
  auto const r = normal<double, Dim<D>, Dim<E>>(mesh, {4, 5}, RandomKey{2});
  auto const w = normal<Into>(mesh, {5, 4, 6}, RandomKey{3});
  auto const v = normal<From>(mesh, {5, 6, 4}, RandomKey{4});
  auto const losses = [&](auto const& tokens) {
    auto const logits = matmul(tokens, used_as<Reduced<X, Y>>(r));
    auto const routes = nn::router<E>(logits, 2);
    auto const made = nn::moe(tokens, routes, w, v);
    return std::tuple(all_reduce<Y>(made).tensor(),
                      (nn::load_balance_loss<E>(logits, routes) + nn::z_loss<E>(logits)).tensor(),
                      nn::expert_load<E>(routes, 5));
  };
  auto const [batches, loss, load] = losses(x);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(batches)>, Batches>);
  auto const [rows, same, also] = losses(from_host<Tokens>(mesh, {24, 4}, numbers(x)));
  CHECK(distance(batches, numbers(rows)) < 1e-13);
  CHECK(std::abs(item(loss) - item(same)) < 1e-13);
  CHECK(distance(load, numbers(also)) == 0);
  auto const [value, gradient] = value_and_grad<0>([&](auto const& tokens) {
    auto const routes =
        nn::router<E>(matmul(used_as<Reduced<Y>>(tokens), used_as<Reduced<X>>(r)), 2);
    return sum<Tensor<double>>(
        square(nn::moe<Dim<B, X>, Dim<S>, Dim<D>>(used_as<Reduced<Y>>(tokens), routes, w, v)));
  })(x);
  auto const [other, of_rows] = value_and_grad<0>([&](auto const& tokens) {
    auto const routes =
        nn::router<E>(matmul(used_as<Reduced<Y>>(tokens), used_as<Reduced<X>>(r)), 2);
    return sum<Tensor<double>>(
        square(nn::moe<Dim<S, X>, Dim<D>>(used_as<Reduced<Y>>(tokens), routes, w, v)));
  })(from_host<Tokens>(mesh, {24, 4}, numbers(x)));
  CHECK(std::abs(item(value) - item(other)) < 1e-12);
  CHECK(distance(gradient, numbers(of_rows)) < 1e-12);
}

TEST_CASE("ragged_dot multiplies each group of rows by its matrix, and its gradients") {
  Mesh<X, Y> const mesh(MPI_COMM_WORLD, on_ranks::grids()[0]);
  auto const run = [&](std::vector<std::int64_t> const& groups, std::int64_t rows, std::int64_t d,
                       std::int64_t f) {
    auto const n = static_cast<std::int64_t>(groups.size());
    auto const a = normal<double, Dim<S>, Dim<D, Y>>(mesh, {rows, d}, RandomKey{1});
    auto const w = normal<double, Dim<E>, Dim<D, Y>, Dim<F, X>>(mesh, {n, d, f}, RandomKey{2});
    auto const sizes = from_host<std::int64_t, Dim<E>>(mesh, {n}, groups);
    Numbers const ha = numbers(a), hw = numbers(w);
    Numbers want(static_cast<std::size_t>(rows * f));
    std::int64_t s = 0;
    for (std::int64_t e = 0; e < n; ++e)
      for (std::int64_t i = 0; i < groups[static_cast<std::size_t>(e)]; ++i, ++s)
        for (std::int64_t j = 0; j < f; ++j)
          for (std::int64_t k = 0; k < d; ++k)
            at(want, s * f + j) += at(ha, s * d + k) * at(hw, (e * d + k) * f + j);
    CHECK(distance(all_reduce<Y>(nn::ragged_dot<D>(a, w, sizes)), want) < 1e-12);
    // the matrices in another order of dims
    auto const turned = transpose<D, E, F>(w);
    CHECK(distance(all_reduce<Y>(nn::ragged_dot<D>(a, turned, sizes)), want) < 1e-12);
    CHECK(distance(all_reduce<Y>(nn::ragged_dot<D>(cast<float>(a), cast<float>(w), sizes)), want) <
          1e-4);
    check_grads(
        [&](auto const& p, auto const& q) {
          return all_reduce<Y>(nn::ragged_dot<D>(used_as<Reduced<X>>(p), q, sizes));
        },
        a, w, GradientCheck{.elements = 5});
  };
  run({2, 0, 6, 1}, 11, 4, 5);
  run({0, 0, 7}, 7, 3, 2);
  run({0}, 0, 2, 3);
  run({0, 0}, 3, 1, 4);
  run({4, 1}, 5, 0, 2);
}

TEST_CASE("ragged_dot of blocks, of second order, and its errors") {
  Mesh<X, Y> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total(), 1});
  std::int64_t const p = mesh.size();
  auto const a = normal<double, Dim<S, X>, Dim<D>>(mesh, {6 * p, 3}, RandomKey{1});
  auto const w = normal<double, Dim<E, X>, Dim<D>, Dim<F>>(mesh, {2 * p, 3, 4}, RandomKey{2});
  auto const sizes = from_function<std::int64_t, Dim<E, X>>(
      mesh, {2 * p}, [](std::int64_t e) { return e % 2 == 0 ? e % 5 : 1; });
  auto const strict = nn::ragged_dot<D>(a, w, sizes);
  auto const blocks = shard_map<Dim<S, X>, Dim<F>>(
      [](auto const& x, auto const& y, auto const& n) { return nn::ragged_dot<D>(x, y, n); }, a, w,
      sizes);
  CHECK(distance(blocks, numbers(strict)) == 0);
  check_grads(
      [&](auto const& x, auto const& y) {
        return grad<0>([&](auto const& u, auto const& m) {
          return sum<Tensor<double>>(square(nn::ragged_dot<D>(u, m, sizes)));
        })(x, y);
      },
      a, w, GradientCheck{.elements = 4});
  check_grads(
      [&](auto const& x, auto const& y) {
        return grad<1>([&](auto const& u, auto const& m) {
          return sum<Tensor<double>>(square(nn::ragged_dot<D>(u, m, sizes)));
        })(x, y);
      },
      a, w, GradientCheck{.elements = 4});
  auto const whole = normal<double, Dim<S>, Dim<D>>(mesh, {3, 3}, RandomKey{1});
  auto const two = normal<double, Dim<E>, Dim<D>, Dim<F>>(mesh, {2, 3, 4}, RandomKey{2});
  auto const groups = [&](std::vector<std::int64_t> const& n) {
    return from_host<std::int64_t, Dim<E>>(mesh, {static_cast<std::int64_t>(n.size())}, n);
  };
  CHECK(on_ranks::code_of([&] { (void)nn::ragged_dot<D>(whole, two, groups({2, 2})); }) == "E41");
  CHECK(on_ranks::code_of([&] { (void)nn::ragged_dot<D>(whole, two, groups({-1, 2})); }) == "E41");
  CHECK(on_ranks::code_of([&] { (void)nn::ragged_dot<D>(whole, two, groups({1, 1, 1})); }) ==
        "E24");
}

TEST_CASE("routers choose the largest logits, of equal ones the first") {
  Mesh<X, Y> const mesh(MPI_COMM_WORLD, on_ranks::grids()[1]);
  std::int64_t const tokens = 11, experts = 6;
  using Logits = Tensor<double, Dim<S, X>, Dim<E>>;
  // multiples of 1/2: many are equal
  auto const logits = from_function<Logits>(
      mesh, {tokens, experts},
      [](std::int64_t s, std::int64_t e) { return static_cast<double>((s * 5 + e * 3) % 4) / 2; });
  Numbers const h = numbers(logits);
  for (std::int64_t const k : {1, 2, 6}) {
    auto const routes = nn::router<E, K>(logits, k);
    auto const shares = nn::router<E, K, nn::RouterWeights::of_all>(logits, k);
    Numbers ids, weights, of_all;
    double balance = 0, z = 0;
    Numbers load(6), mean(6);
    for (std::int64_t s = 0; s < tokens; ++s) {
      std::vector<std::int64_t> order{0, 1, 2, 3, 4, 5};
      std::sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
        double const a = at(h, s * experts + i), b = at(h, s * experts + j);
        return a > b || (a == b && i < j);
      });
      double all = 0, chosen = 0;
      for (std::int64_t e = 0; e < experts; ++e) {
        double const x = std::exp(at(h, s * experts + order[static_cast<std::size_t>(e)]));
        all += x;
        if (e < k) chosen += x;
      }
      for (std::int64_t e = 0; e < experts; ++e) {
        std::int64_t const id = order[static_cast<std::size_t>(e)];
        double const x = std::exp(at(h, s * experts + id));
        at(mean, id) += x / all / double(tokens);
        if (e >= k) continue;
        ids.push_back(double(id));
        weights.push_back(x / chosen);
        of_all.push_back(x / all);
        at(load, id) += 1.0 / double(tokens * k);
      }
      z += std::pow(std::log(all), 2) / double(tokens);
    }
    for (std::int64_t e = 0; e < experts; ++e)
      balance += double(experts) * at(load, e) * at(mean, e);
    CHECK(distance(routes.experts, ids) == 0);
    CHECK(distance(routes.weights, weights) < 1e-14);
    CHECK(distance(shares.experts, ids) == 0);
    CHECK(distance(shares.weights, of_all) < 1e-14);
    CHECK(std::abs(item(nn::load_balance_loss<E>(logits, routes)) - balance) < 1e-13);
    CHECK(std::abs(item(nn::z_loss<E>(logits)) - z) < 1e-13);
  }
  // apart from each other, so that no choice changes
  auto const spread = from_function<Logits>(
      mesh, {tokens, experts},
      [](std::int64_t s, std::int64_t e) { return static_cast<double>((s * 5 + e) % 6) / 3; });
  GradientCheck const some{.elements = 6};
  check_grads([](auto const& x) { return nn::router<E, K>(x, 2).weights; }, spread, some);
  check_grads(
      [](auto const& x) {
        auto const routes = nn::router<E, K, nn::RouterWeights::of_all>(x, 2);
        return nn::load_balance_loss<E>(x, routes) + 0.1 * nn::z_loss<E>(x);
      },
      spread, some);
  auto const none = normal<Logits>(mesh, {0, experts}, RandomKey{1});
  CHECK(item(nn::load_balance_loss<E>(none, nn::router<E>(none, 2))) == 0);
  CHECK(item(nn::z_loss<E>(none)) == 0);
  CHECK(on_ranks::code_of([&] { (void)nn::router<E>(logits, 7); }) == "E41");
}
