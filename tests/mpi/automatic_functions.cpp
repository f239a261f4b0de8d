// Functions of expressions: what they compute twice is computed once, and has the value of strict
// mode.
// SOURCES: tests/shim/pmpi.cpp
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <tuple>

#include <shardtype/nn/nn.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

using Int = std::int64_t;

Int f(Int i, Int j) { return (i * 31 + j * 17 + 5) % 13 - 6; }
Int g(Int i, Int j) { return (i * 7 + j * 29 + 3) % 11 - 4; }

// Written without `share`: the mean is read three times, the largest element twice.
constexpr auto layer_norm = [](auto const& x, auto const& gain) {
  auto const centred = x - mean<J>(x);
  return centred / sqrt(mean<J>(centred * centred) + 1e-5) * gain;
};
constexpr auto softmax_of = [](auto const& x) {
  auto const e = exp(x - max<J>(x));
  return e / sum<J>(e);
};
constexpr auto twice = [](auto const& a, auto const& b) {
  auto const product = matmul(a, b);
  return std::tuple(product * product, sum<K>(product), matmul(a, b));
};

}  // namespace

TEST_CASE("a function of tensors as one program") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<Int, 2> const n : {std::array<Int, 2>{6, 8}, {5, 7}, {1, 3}}) {
    INFO("extents " << n[0] << " " << n[1]);
    auto const a = from_function<double, Dim<I, X>, Dim<J, Y>>(
        mesh, n, [](auto i, auto j) { return static_cast<double>(f(i, j)); });
    auto const gain = from_function<double, Dim<J, Y>>(
        mesh, {n[1]}, [](auto j) { return 1 + 0.25 * static_cast<double>(j); });
    auto const whole = reshard<Dim<I>, Dim<J>>(a);
    auto const normed = evaluate<Dim<I, X>, Dim<J, Y>>(mesh, layer_norm, a, gain);
    CHECK(
        allclose(reshard<Dim<I>, Dim<J>>(normed), layer_norm(whole, reshard<Dim<J>>(gain)), 1e-12));
    auto const soft = evaluate<Dim<I>, Dim<J, X>>(mesh, softmax_of, a);
    CHECK(allclose(reshard<Dim<I>, Dim<J>>(soft), softmax_of(whole), 1e-12));
  }
}

TEST_CASE("several results, of integers: the same bits") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Int const n : {1, 5, 8}) {
    auto const a = from_function<Int, Dim<I, X>, Dim<J, Y>>(mesh, {n, 2 * n}, f);
    auto const b = from_function<Int, Dim<J, Y>, Dim<K>>(mesh, {2 * n, n + 1}, g);
    using Squares = Tensor<Int, Dim<I, X>, Dim<K>>;
    using Sums = Tensor<Int, Dim<I>>;
    using Product = Tensor<Int, Dim<I>, Dim<K, X>>;
    auto const [squares, sums, product] = evaluate<Outs<Squares, Sums, Product>>(mesh, twice, a, b);
    auto const [s, t, p] = twice(reshard<Dim<I>, Dim<J>>(a), reshard<Dim<J>, Dim<K>>(b));
    CHECK(array_equal(reshard<Dim<I>, Dim<K>>(squares), s));
    CHECK(array_equal(sums, t));
    CHECK(array_equal(reshard<Dim<I>, Dim<K>>(product), p));
  }
}

// An operation with a run-time argument that counts how often it runs on this rank.
int kernel_calls = 0;
template <class V>
struct Scaled {
  using operation = Scaled;
  using from = Mentions<Dim<V>>;
  static constexpr std::string_view name = "scaled";
  Int by = 1;
  static constexpr rules::Verdict rule(rules::Question const& q) { return rules::flip(q); }
  template <class Exec, class Out, class In>
  void kernel(Exec const&, Out const& out, In const& in) const {
    ++kernel_calls;
    for (std::size_t i = 0; i < in.extent(0); ++i)
      for (std::size_t j = 0; j < in.extent(1); ++j) out(i, j) = by * in(i, j);
  }
};

TEST_CASE("operations with equal run-time arguments run once") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const here = std::source_location::current();
  auto const a = from_function<Int, Dim<I, X>, Dim<J, Y>>(mesh, {6, 8}, f);
  auto const b = from_function<Int, Dim<I, X>, Dim<J, Y>>(mesh, {6, 8}, g);
  auto const whole = reshard<Dim<I>, Dim<J>>(a);
  auto const other = reshard<Dim<I>, Dim<J>>(b);
  kernel_calls = 0;
  auto const c = evaluate<Dim<I>, Dim<J>>(
      mesh,
      [&](auto const& x, auto const& y) {
        return call(Scaled<J>{2}, here, x) + call(Scaled<J>{3}, here, x) * 10 +
               call(Scaled<J>{2}, here, y) * 100 + abs(call(Scaled<J>{2}, here, x)) * 1000;
      },
      a, b);
  CHECK(kernel_calls == 3);
  CHECK(array_equal(c, (whole * 32 + other * 200 + abs(whole * 2) * 1000).tensor()));
  // of expressions of handles each is run: nothing says that they are the same
  kernel_calls = 0;
  auto const d = evaluate<Dim<I>, Dim<J>>(
      mesh, call(Scaled<J>{2}, here, lazy(a)) + abs(call(Scaled<J>{2}, here, lazy(a))));
  CHECK(kernel_calls == 2);
  CHECK(array_equal(d, (whole * 2 + abs(whole * 2)).tensor()));
}

TEST_CASE("equal slices: what they read is sent once") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_function<Int, Dim<I, X>, Dim<J, Y>>(mesh, {6, 8}, f);
  auto const whole = reshard<Dim<I>, Dim<J>>(a);
  for (Int const from : {1, 2}) {
    auto const bytes = [&](auto const& program) {
      shim::reset();
      auto const c = evaluate<Dim<I, X>, Dim<J>>(mesh, program, a);
      Int const sent = shim::bytes();
      CHECK(array_equal(reshard<Dim<I>, Dim<J>>(c), program(whole).tensor()));
      return sent;
    };
    auto const reads_twice = [&](auto const& x) {
      return slice<J>(x, from, from + 4) + abs(slice<J>(x, from, from + 4));
    };
    auto const two = [&](auto const& x) {
      return slice<J>(x, from, from + 4) + abs(slice<J>(x, from + 1, from + 5));
    };
    Int const for_one = bytes([&](auto const& x) { return abs(slice<J>(x, from, from + 4)); });
    CHECK(bytes(reads_twice) == for_one);
    CHECK(bytes(two) == for_one);  // other rows of the same value: it is sent once
  }
}

// Types alone: one AllReduce for each statistic, though the mean is read three times.
struct P : Axis<"P", 4> {};
struct R : Index<"R", 8192> {};
struct C : Index<"C", 4096> {};
using Rows = Tensor<float, Dim<R>, Dim<C, P>>;
constexpr auto norm_of = [](auto x) {
  auto const centred = x - mean<C>(x);
  return evaluate<Rows>(centred / sqrt(mean<C>(centred * centred)));
};
static_assert(plan_traced<Rows>(norm_of).collectives() == 2);
static_assert(plan_traced<Rows>(norm_of).count(Collective::all_reduce) == 2);

// Two arguments of one type are two tensors.
struct D : Index<"D", 128> {};
using Left = Tensor<float, Dim<R, P>, Dim<C>>;
using Right = Tensor<float, Dim<C>, Dim<D>>;
using Out = Tensor<float, Dim<R, P>, Dim<D>>;
constexpr auto single =
    plan_traced<Left, Right>([](auto a, auto b) { return evaluate<Out>(matmul(a, b)); });
constexpr auto repeated = plan_traced<Left, Right>(
    [](auto a, auto b) { return evaluate<Out>(matmul(a, b) + exp(matmul(a, b))); });
constexpr auto different = plan_traced<Left, Right, Left>(
    [](auto a, auto b, auto c) { return evaluate<Out>(matmul(a, b) + exp(matmul(c, b))); });
static_assert(repeated.flops() == single.flops());
static_assert(different.flops() == 2 * single.flops());

TEST_CASE("two arguments of one type stay two") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_function<Int, Dim<I, X>, Dim<J>>(mesh, {5, 3}, f);
  auto const b = from_function<Int, Dim<I, X>, Dim<J>>(mesh, {5, 3}, g);
  auto const r = evaluate<Dim<I>>(
      mesh, [](auto const& x, auto const& y) { return sum<J>(x) * 10 + sum<J>(y) + sum<J>(x); }, a,
      b);
  CHECK(array_equal(r, reshard<Dim<I>>(sum<J>(a) * 11 + sum<J>(b))));
}

namespace {

struct S : Index<"S"> {};
struct H : Index<"H"> {};
struct G : Index<"G"> {};

// Elements that depend on their places, of a and of functions of it, in other orders of dims, once
// and again.
constexpr auto by_place = [](auto const& a) {
  RandomKey const key{7};
  auto const other = transpose<K, I, J>(nn::dropout(transpose<K, I, J>(a), key, 0.5));
  auto const same = nn::dropout(a, key.fold_in(1), 0.5);
  auto const rotated = nn::rotary<J, K>(nn::dropout(same, key, 0.25), 3);
  return nn::dropout(a * 2, key, 0.5) + transpose<I, J, K>(other) * 10 + rotated +
         exp(nn::causal_mask<I, K>(a, 1)) + cast<double>(argsort<J>(same)) * 0.5 +
         cumsum<I>(same) * 0.25 + tril<J, K>(same, 1) + where(argmax<K>(same) == 1, 0.125, 0.0);
};
// Blocks of a sum and of a number.
constexpr auto by_place_of_less = [](auto const& a) {
  return nn::dropout(sum<I, K>(a * 0.0 + 1.0), RandomKey{3}, 0.5) +
         nn::dropout(sum(a * 0.0 + 1.0), RandomKey{5}, 0.5);
};
constexpr auto attended = [](auto const& q, auto const& k, auto const& v) {
  return nn::attention(q, k, v, {.causal = true, .first = 1});
};

template <class A, class B>
double farthest(A const& a, B const& b) {
  auto const x = to_host(a);
  auto const y = to_host(b);
  double out = x.size() == y.size() ? 0 : 1e300;
  for (std::size_t k = 0; k < x.size() && k < y.size(); ++k)
    out = std::max(out, std::abs(static_cast<double>(x[k]) - static_cast<double>(y[k])));
  return out;
}

}  // namespace

TEST_CASE("elements have the places of strict mode in every sharding that a plan chooses") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<Int, 3> const n :
       {std::array<Int, 3>{3, 7, 4}, {1, 3, 6}, {9, 2, 2}, {2, 0, 4}}) {
    INFO("extents " << n[0] << " " << n[1] << " " << n[2]);
    using Whole = Tensor<double, Dim<I>, Dim<J>, Dim<K>>;
    auto const whole = normal<Whole>(mesh, n, RandomKey{1});
    auto const want = by_place(whole).tensor();
    auto const a = reshard<Dim<I, X>, Dim<J>, Dim<K, Y>>(whole);
    auto const b = reshard<Dim<I>, Dim<J, Y, X>, Dim<K>>(whole);
    CHECK(farthest(evaluate<Dim<I, X>, Dim<J, Y>, Dim<K>>(mesh, by_place(lazy(a))), want) < 1e-12);
    CHECK(farthest(evaluate<Dim<J>, Dim<K, X>, Dim<I, Y>>(mesh, by_place, b),
                   transpose<J, K, I>(want)) < 1e-12);
    CHECK(farthest(evaluate<Dim<J, X>>(mesh, by_place_of_less, a),
                   by_place_of_less(whole).tensor()) == 0);
    // bits of dropout alone
    auto const drop = [](auto const& x) { return nn::dropout(x, RandomKey{1}, 0.5); };
    CHECK(farthest(evaluate<Dim<I>, Dim<J, X>, Dim<K, Y>>(mesh, drop, b), drop(whole)) == 0);
  }
}

TEST_CASE("causal and grouped attention in automatic mode knows positions and heads") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using Queries = Tensor<double, Dim<I>, Dim<S>, Dim<H>, Dim<J>>;
  using Keys = Tensor<double, Dim<I>, Dim<K>, Dim<G>, Dim<J>>;
  for (Int const n : {Int{7}, Int{2}, Int{140}}) {
    auto const q = normal<Queries>(mesh, {2, n, 6, 3}, RandomKey{1});
    auto const k = normal<Keys>(mesh, {2, n, 2, 3}, RandomKey{2});
    auto const v = normal<Keys>(mesh, {2, n, 2, 3}, RandomKey{3});
    auto const want = attended(q, k, v);
    CHECK(farthest(evaluate<Dim<I>, Dim<S, X>, Dim<H, Y>, Dim<J>>(
                       mesh, attended(lazy(q), lazy(k), lazy(v))),
                   want) < 1e-14);
    CHECK(farthest(evaluate<Dim<I>, Dim<S>, Dim<H, X, Y>, Dim<J>>(
                       mesh, attended, reshard<Dim<I>, Dim<S, X, Y>, Dim<H>, Dim<J>>(q), k, v),
                   want) < 1e-14);
  }
}
