// Gradients in automatic mode: both passes as one program. Each is compared with the strict
// gradient of replicated tensors.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using on_ranks::code_of;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct S : Index<"S"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
struct E : Index<"E"> {};
struct T : Index<"T"> {};

using Int = std::int64_t;
using Grid = Mesh<X, Y>;

double number(Int i, Int j, int seed) {
  return std::sin(static_cast<double>(i * 31 + j * 17 + seed * 7 + 1));
}
template <class A>
A drawn(Grid const& mesh, std::array<Int, A::rank> const& n, int seed) {
  if constexpr (A::rank == 1) {
    return from_function<A>(mesh, n, [=](Int i) { return number(i, 3, seed); });
  } else {
    return from_function<A>(mesh, n, [=](Int i, Int j) { return number(i, j, seed); });
  }
}
template <class A>
auto whole(A const& a) {
  return reshard<automatic_mode::whole_t<A>>(a);
}
/// The largest difference of two tensors, relative to numbers above 1.
template <class A, class B>
double difference(A const& a, B const& b) {
  auto const x = to_host(a);
  auto const y = to_host(b);
  REQUIRE(x.size() == y.size());
  double most = 0;
  for (std::size_t k = 0; k < x.size(); ++k)
    most = std::max(most, std::abs(x[k] - y[k]) / std::max(1.0, std::abs(y[k])));
  return most;
}
template <class... As, class... Bs, std::size_t... K>
double differences(std::tuple<As...> const& a, std::tuple<Bs...> const& b,
                   std::index_sequence<K...>) {
  return std::max({0.0, difference(std::get<K>(a), std::get<K>(b))...});
}
/// The gradients of `f` in automatic mode beside those in strict mode of unsplit tensors.
template <class F, class... As, int... K>
void compare_with(Grid const& mesh, F const& f, std::integer_sequence<int, K...>, As const&... as) {
  auto const got = evaluate(mesh, value_and_grad<K...>(f), as...);
  auto const want = value_and_grad<K...>(f)(whole(as)...);
  CHECK(std::abs(item(got.value) - item(want.value)) <=
        1e-12 * std::max(1.0, std::abs(item(want.value))));
  if constexpr (sizeof...(As) == 1) {
    static_assert(std::is_same_v<decltype(got.grad), cotangent_t<As>...>);
    CHECK(difference(got.grad, want.grad) <= 1e-12);
  } else {
    static_assert(std::is_same_v<decltype(got.grad), std::tuple<cotangent_t<As>...>>);
    CHECK(differences(got.grad, want.grad, std::index_sequence_for<As...>{}) <= 1e-12);
  }
}
template <class F, class... As>
void compare(Grid const& mesh, F const& f, As const&... as) {
  compare_with(mesh, f, std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{}, as...);
}

}  // namespace

TEST_CASE("gradients of a network of two layers, both passes in one program") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<Int, 4> const n : {std::array<Int, 4>{8, 4, 6, 4}, {7, 5, 3, 2}, {1, 3, 2, 1}}) {
    INFO("extents " << n[0] << " " << n[1] << " " << n[2] << " " << n[3]);
    auto const f = [](auto const& x, auto const& up, auto const& down) {
      auto const h = tanh(matmul(x, up));
      auto const y = matmul(h, down);
      return sum<S, E>(y * y + exp(y)) * 0.5;
    };
    compare(mesh, f, drawn<Tensor<double, Dim<S, X>, Dim<D>>>(mesh, {n[0], n[1]}, 1),
            drawn<Tensor<double, Dim<D>, Dim<H, Y>>>(mesh, {n[1], n[2]}, 2),
            drawn<Tensor<double, Dim<H, Y>, Dim<E>>>(mesh, {n[2], n[3]}, 3));
    compare(mesh, f, drawn<Tensor<double, Dim<S, X, Y>, Dim<D>>>(mesh, {n[0], n[1]}, 1),
            drawn<Tensor<double, Dim<D, X>, Dim<H>>>(mesh, {n[1], n[2]}, 2),
            drawn<Tensor<double, Dim<H>, Dim<E, Y>>>(mesh, {n[2], n[3]}, 3));
  }
}

TEST_CASE("gradients of elementwise expressions, sums, means and other names") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using A = Tensor<double, Dim<S, X>, Dim<D, Y>>;
  using B = Tensor<double, Dim<D>>;
  using C = Tensor<double, Dim<S>, Dim<D>>;
  for (std::array<Int, 2> const n : {std::array<Int, 2>{6, 8}, {5, 3}, {1, 2}}) {
    INFO("extents " << n[0] << " " << n[1]);
    auto const a = drawn<A>(mesh, n, 1);
    auto const b = drawn<B>(mesh, {n[1]}, 2);
    auto const c = drawn<C>(mesh, n, 3);
    compare(
        mesh, [](auto const& x, auto const& y, auto const& z) { return sum(x * y + z); }, a, b, c);
    compare(
        mesh,
        [](auto const& x, auto const& y, auto const& z) {
          auto const h = where(x < z, sin(x) * y, exp(x * z) / (2 + y * y));
          return mean(h * h) + sum(max(x, z)) + sum(sum<S>(h) * y);
        },
        a, b, c);
    compare(mesh, [](auto const& x) { return sum(sqrt(x * x + 1)); }, a);
    compare(
        mesh,
        [](auto const& x, auto const& y) {
          auto const m = mean<D>(x);
          auto const centred = x - m;
          auto const spread = mean<D>(centred * centred);
          return sum(centred / sqrt(spread + 0.1) * y * x);
        },
        a, b);
    compare(
        mesh,
        [](auto const& x, auto const& z) {
          auto const other = relabel<S, T>(x);
          return sum(exp(0.1 * matmul(z, transpose<D, T>(other))));
        },
        a, c);
  }
}

TEST_CASE("a value that the loss does not read has gradient zero, and constants have none") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = drawn<Tensor<double, Dim<S, X>, Dim<D>>>(mesh, {6, 4}, 1);
  auto const b = drawn<Tensor<double, Dim<D, Y>>>(mesh, {4}, 2);
  compare(mesh, [](auto const& x, auto const&) { return sum(x * x); }, a, b);
  // read, but through comparisons only
  compare(mesh, [](auto const& x, auto const& y) { return sum(where(y < 0, x, x * x)); }, a, b);
  auto const [value, only] = evaluate(
      mesh, value_and_grad<1>([](auto const& x, auto const& y) { return sum(x * y); }), a, b);
  static_assert(std::is_same_v<decltype(only), Tensor<double, Dim<D, Y>> const>);
  CHECK(difference(only, sum<S>(whole(a))) <= 1e-12);
  auto const one = evaluate(mesh, grad<0>([](auto const& x) { return sum(x); }), b);
  CHECK(difference(one, full_like(whole(b), 1.0)) <= 1e-12);
}

TEST_CASE("chains of products, read several times") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  compare(
      mesh,
      [](auto const& a, auto const& b, auto const& c) {
        auto const abc = matmul(matmul(a, b), c);
        return sum(tanh(abc)) + sum(abc * abc);
      },
      drawn<Tensor<double, Dim<S, X>, Dim<D>>>(mesh, {7, 4}, 1),
      drawn<Tensor<double, Dim<D>, Dim<H, Y>>>(mesh, {4, 9}, 2),
      drawn<Tensor<double, Dim<H>, Dim<E, X>>>(mesh, {9, 2}, 3));
}

TEST_CASE("gradients of operations, on blocks in which the dims that they work on are whole") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using A = Tensor<double, Dim<S, X>, Dim<D, Y>>;
  for (std::array<Int, 2> const n : {std::array<Int, 2>{6, 8}, {5, 4}, {1, 2}}) {
    INFO("extents " << n[0] << " " << n[1]);
    auto const a = drawn<A>(mesh, n, 1);
    auto const b = drawn<Tensor<double, Dim<D>>>(mesh, {n[1]}, 2);
    auto const c = drawn<Tensor<double, Dim<S, Y>, Dim<D, X>>>(mesh, n, 3);
    compare(
        mesh, [](auto const& x, auto const& y) { return sum(softmax<D>(x * 2.0) * y * y); }, a, c);
    compare(
        mesh, [](auto const& x, auto const& y) { return sum(max<D>(x) * sum<D>(x * y)); }, a, b);
    compare(mesh, [](auto const& x) { return sum(logsumexp<S>(x) + norm<S>(x)); }, a);
    compare(
        mesh,
        [](auto const& x, auto const& gain) {
          auto const h = nn::rms_norm<D>(x, gain);
          return sum(h * h * h);
        },
        a, b);
    compare(
        mesh,
        [](auto const& x, auto const& y) {
          return sum(flip<S>(x) * tril<S, D>(y)) + sum(cumsum<D>(x * y) * x);
        },
        a, c);
    compare(
        mesh,
        [](auto const& x, auto const& y) {
          auto const both = concat<S>(x, y);
          return sum(slice<S>(both, 1, 2) * 3.0) + sum(both * both);
        },
        a, c);
  }
}

TEST_CASE("gradients in shardings that are named") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = drawn<Tensor<double, Dim<S, X>, Dim<D>>>(mesh, {7, 5}, 1);
  auto const b = drawn<Tensor<double, Dim<D, Y>, Dim<H>>>(mesh, {5, 3}, 2);
  auto const f = [](auto const& x, auto const& w) { return sum(exp(0.1 * matmul(x, w))); };
  using L = Tensor<double>;
  using A = Tensor<double, Dim<D, Y>, Dim<S, X>>;
  using B = Tensor<double, Dim<D>, Dim<H>, Unreduced<X>>;
  auto const [loss, grads] = evaluate<Outs<L, A, B>>(mesh, value_and_grad<0, 1>(f), a, b);
  static_assert(std::is_same_v<decltype(grads), std::tuple<A, B> const>);
  auto const want = value_and_grad<0, 1>(f)(whole(a), whole(b));
  CHECK(std::abs(item(loss) - item(want.value)) <= 1e-12);
  CHECK(difference(transpose<S, D>(std::get<0>(grads)), std::get<0>(want.grad)) <= 1e-12);
  CHECK(difference(all_reduce<X>(std::get<1>(grads)), std::get<1>(want.grad)) <= 1e-12);
}

TEST_CASE("the plan of both passes, without running it") {
  using In = Tensor<float, Dim<S, X>, Dim<D>>;
  using Up = Tensor<float, Dim<D>, Dim<H, Y>>;
  using Down = Tensor<float, Dim<H, Y>, Dim<E>>;
  auto const f = [](auto const& x, auto const& up, auto const& down) {
    return sum(matmul(max(matmul(x, up), 0.0F), down));
  };
  PlannedProgram const p = dry_run<In, Up, Down>(value_and_grad<1, 2>(f))
                               .extent<S>(8192)
                               .extent<D>(2048)
                               .extent<H>(8192)
                               .extent<E>(2048)
                               .ranks<X>(2)
                               .ranks<Y>(4)
                               .planned();
  CHECK(p.plan.gap().value_or(1) <= 1e-9);
  // an AllReduce of each gradient over x: 2 (p - 1) / p of a block of 16.8 MB; the loss
  CHECK(p.plan.bytes_per_rank() <= 2 * 16'777'216 + 16);
  CHECK(p.plan.count(planning::Collective::all_reduce) == 4);
  std::string const text = explain(p);
  CHECK(text.find(" pull ") != std::string::npos);
  CHECK(text.find(" ones ") != std::string::npos);
}

TEST_CASE("no gradient flows through stop_gradient; remat and prefetch_layers keep values") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = drawn<Tensor<double, Dim<S, X>, Dim<D, Y>>>(mesh, {6, 5}, 1);
  auto const b = drawn<Tensor<double, Dim<S>, Dim<D, X>>>(mesh, {6, 5}, 2);
  compare(
      mesh,
      [](auto const& x, auto const& y) {
        auto const m = stop_gradient(max<D>(x));
        auto const e = exp(x - m);
        return sum(log(sum<D>(e)) + m) + sum(stop_gradient(x) * y);
      },
      a, b);
  compare(
      mesh,
      [](auto const& x, auto const& y) {
        auto const h = remat([](auto const& u, auto const& v) { return tanh(u * v); })(x, y);
        return sum(h * h);
      },
      a, b);
  // what strict mode writes with gathers of its own
  auto const layer = [](auto const& u, auto const& v) { return tanh(u * v); };
  auto const in_turn = [=]<class A, class B>(A const& x, B const& y, B const& z, auto... keep) {
    if constexpr (autodiff::is_automatic<A, B>())
      return prefetch_layers<Reduced<X>>(layer, keep...)(x, std::array{y, z});
    else
      return layer(layer(x, y), z);
  };
  compare(
      mesh,
      [=](auto const& x, auto const& y, auto const& z) {
        return sum(in_turn(x, y, z) * in_turn(x, z, y, keep_gathered));
      },
      a, b, drawn<Tensor<double, Dim<S>, Dim<D, X>>>(mesh, {6, 5}, 3));
}

TEST_CASE("a kernel of eight operands, whose derivative reads all of them and the cotangent") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using A = Tensor<double, Dim<S, X>, Dim<D>>;
  using B = Tensor<double, Dim<S>, Dim<D, Y>>;
  std::array<Int, 2> const n{5, 3};
  compare(
      mesh,
      [](auto const& a, auto const& b, auto const& c, auto const& d, auto const& e, auto const& f,
         auto const& g, auto const& h) { return sum(sin(a * b * c * d * e * f * g * h)); },
      drawn<A>(mesh, n, 1), drawn<B>(mesh, n, 2), drawn<A>(mesh, n, 3), drawn<B>(mesh, n, 4),
      drawn<A>(mesh, n, 5), drawn<B>(mesh, n, 6), drawn<A>(mesh, n, 7), drawn<B>(mesh, n, 8));
}

TEST_CASE("what carries no gradient may have none") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = drawn<Tensor<double, Dim<S, X>, Dim<D>>>(mesh, {6, 5}, 1);
  compare(
      mesh,
      [](auto const& x) {
        auto const [values, places] = top_k<D, T>(stop_gradient(x), 2);
        return sum(x * max<T>(values));
      },
      a);
}

TEST_CASE("a chain of products within a memory limit that its forward pass exceeds") {
  using A = Tensor<float, Dim<S, X>, Dim<D>>;
  using B = Tensor<float, Dim<D>, Dim<H, Y>>;
  using C = Tensor<float, Dim<H>, Dim<E, X>>;
  PlannedProgram const p =
      dry_run<A, B, C>(value_and_grad<0, 1, 2>([](auto const& a, auto const& b, auto const& c) {
        return sum(matmul(matmul(a, b), c));
      }))
          .extent<S>(64)
          .extent<D>(64)
          .extent<H>(64)
          .extent<E>(64)
          .ranks<X>(2)
          .ranks<Y>(2)
          .within(1)
          .planned();
  CHECK_FALSE(p.plan.possible);
}

namespace {

/// The loss of a function by hand in automatic mode beside strict mode.
template <class F, class... As>
void compare_by_hand(Grid const& mesh, F const& f, As const&... as) {
  constexpr auto gradient = [](auto const& g) {
    if constexpr (sizeof...(As) == 1) return value_and_grad<0>(g);
    if constexpr (sizeof...(As) == 2) return value_and_grad<0, 1>(g);
  };
  auto const got = evaluate(mesh, gradient(f), as...);
  auto const want = gradient(f)(whole(as)...);
  CHECK(std::abs(item(got.value) - item(want.value)) <= 1e-12);
  if constexpr (sizeof...(As) == 1) {
    CHECK(difference(got.grad, want.grad) <= 1e-12);
  } else {
    CHECK(difference(std::get<0>(got.grad), std::get<0>(want.grad)) <= 1e-12);
    CHECK(difference(std::get<1>(got.grad), std::get<1>(want.grad)) <= 1e-12);
  }
}

}  // namespace

TEST_CASE("functions whose gradient is written by hand") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using A = Tensor<double, Dim<S, X>, Dim<D>>;
  using W = Tensor<double, Dim<D>, Dim<H, Y>>;
  using U = Tensor<double, Dim<D, Y>, Dim<H, X>>;
  auto const n = GENERATE(values<std::array<Int, 3>>({{6, 4, 5}, {3, 1, 7}, {1, 5, 0}}));
  auto const a = drawn<A>(mesh, {n[0], n[1]}, 1);
  auto const w = drawn<W>(mesh, {n[1], n[2]}, 2);
  auto const u = drawn<U>(mesh, {n[1], n[2]}, 3);
  SECTION("the cotangent is clipped") {
    auto const clipped = custom_vjp(
        [](auto const& x) { return x; }, [](auto const& x) { return std::pair(x, std::tuple()); },
        [](auto const&, auto const& ct) { return clip(ct, -0.3, 0.3); });
    compare_by_hand(
        mesh,
        [&](auto const& x, auto const& y) {
          return sum(square(matmul(clipped((x * x).tensor()), clipped(y))));
        },
        a, w);
  }
  SECTION("a product, whose backward function is products") {
    auto const product =
        custom_vjp([](auto const& x, auto const& y) { return tanh(matmul(x, y)).tensor(); },
                   [](auto const& x, auto const& y) {
                     auto const h = tanh(matmul(x, y)).tensor();
                     return std::pair(h, std::tuple(x, y, h));
                   },
                   [](auto const& saved, auto const& ct) {
                     auto const& [x, y, h] = saved;
                     auto const inner = (ct * (1.0 - h * h)).tensor();
                     return std::tuple(einsum<S, D>(inner, y), einsum<D, H>(x, inner));
                   });
    auto const loss = [&](auto const& x, auto const& y) {
      auto const h = product(x, y);
      return sum(h * h) + sum(exp(h));
    };
    compare_by_hand(mesh, loss, a, w);
    compare_by_hand(mesh, loss, a, u);
    // the same as without
    auto const got = evaluate(mesh, value_and_grad<0, 1>(loss), a, w);
    auto const plain = evaluate(mesh, value_and_grad<0, 1>([](auto const& x, auto const& y) {
                                  auto const h = tanh(matmul(x, y)).tensor();
                                  return sum(h * h) + sum(exp(h));
                                }),
                                a, w);
    CHECK(differences(got.grad, plain.grad, std::index_sequence<0, 1>{}) <= 1e-12);
  }
  SECTION("a step function, straight through; an argument that forward does not read") {
    auto const step =
        custom_vjp([](auto const& x, auto const&) { return floor(x * 4.0).tensor(); },
                   [](auto const& x, auto const& y) {
                     return std::pair(floor(x * 4.0).tensor(), std::tuple(x, y));
                   },
                   [](auto const& saved, auto const& ct) {
                     auto const& [x, y] = saved;
                     return std::tuple((ct * 4.0).tensor(), (y * sum(ct * x)).tensor());
                   });
    compare_by_hand(
        mesh, [&](auto const& x, auto const& y) { return sum(square(step(x, y))); }, a, w);
  }
  SECTION("no gradient to one argument") {
    auto const part = custom_vjp(
        [](auto const& x, auto const& y) { return matmul(x, y); },
        [](auto const& x, auto const& y) { return std::pair(matmul(x, y), y); },
        [](auto const& y, auto const& ct) { return std::tuple(einsum<S, D>(ct, y), no_gradient); });
    compare_by_hand(
        mesh, [&](auto const& x, auto const& y) { return sum(square(part(x, y))) + sum(y * y); }, a,
        w);
  }
  SECTION("several results, of which one is not read") {
    auto const both = custom_vjp(
        [](auto const& x) {
          return std::tuple((x * x).tensor(), sin(x).tensor(), exp(x).tensor());
        },
        [](auto const& x) {
          return std::pair(std::tuple((x * x).tensor(), sin(x).tensor(), exp(x).tensor()), x);
        },
        [](auto const& x, auto const& cts) {
          auto const& [one, two, three] = cts;
          return (one * x * 3.0 + two * cos(x) + three).tensor();
        });
    compare_by_hand(
        mesh,
        [&](auto const& x) {
          auto const [one, two, three] = both(x);
          static_cast<void>(two);
          return sum(one * three) + sum(one);
        },
        a);
    compare_by_hand(mesh, [&](auto const& x) { return sum(std::get<1>(both(x))); }, a);
  }
  SECTION("within layers that are computed again") {
    auto const own =
        custom_vjp([](auto const& x) { return tanh(x).tensor(); },
                   [](auto const& x) {
                     auto const h = tanh(x).tensor();
                     return std::pair(h, h);
                   },
                   [](auto const& h, auto const& ct) { return (ct * (1.0 - h * h)).tensor(); });
    auto const loss = [&](auto const& x, auto const& y) {
      auto const layer = remat([&](auto const& v, auto const& weights) {
        return einsum<S, D>(own(matmul(v, weights)), weights);
      });
      return sum(square(layer(layer(x, y), y)));
    };
    auto const deep = [&](auto const& x, auto const& y) {
      auto const layer = remat([&](auto const& v, auto const& weights) {
        return einsum<S, D>(own(own(matmul(v, weights))), weights);
      });
      return mean(square(layer(layer(layer(layer(x, y), y), y), y)));
    };
    compare_by_hand(mesh, loss, a, w);
    // large enough that a limit demands it
    auto const x = drawn<A>(mesh, {640, 16}, 5);
    auto const y = drawn<W>(mesh, {16, 96}, 6);
    constexpr std::int64_t limit = 4'000'000;  // on one rank less than what is kept
    auto& memory = runtime::run_time.memory;
    std::int64_t const before = memory.now();
    memory.reset();
    evaluate(mesh, value_and_grad<0, 1>(deep), x, y);
    if (on_ranks::rank_total() == 1) CHECK(memory.most() - before > limit);
    memory.reset();
    auto const got = evaluate(mesh, value_and_grad<0, 1>(deep), x, y, MemoryLimit<limit>{});
    CHECK(memory.most() - before <= limit);
    auto const want = value_and_grad<0, 1>(deep)(whole(x), whole(y));
    CHECK(differences(got.grad, want.grad, std::index_sequence<0, 1>{}) <= 1e-12);
  }
}
