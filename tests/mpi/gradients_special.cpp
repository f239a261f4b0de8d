// Gradients at special values: zeros, infinities, NaN, ties, numbers whose products or exponentials
// overflow or underflow. Expected are the values of docs/gradients.md; where JAX has others, it
// says so.
// RANKS: 1 2 4 8
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/gradients.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct K : Index<"K"> {};

constexpr double inf = std::numeric_limits<double>::infinity();
double const none = std::numeric_limits<double>::quiet_NaN();
using Numbers = std::vector<double>;

template <class T>
std::vector<T> elements(Numbers const& x) {
  std::vector<T> out;
  for (double const v : x) out.push_back(static_cast<T>(v));
  return out;
}
template <class A>
A tensor(auto const& mesh, Numbers const& x) {
  return from_host<A>(mesh, {static_cast<std::int64_t>(x.size())},
                      elements<typename A::element>(x));
}
template <class G>
void same(std::string const& name, G const& gradient, Numbers const& expected,
          double tolerance = 1e-14) {
  auto const got = gradients::whole(gradient);
  REQUIRE(got.size() == expected.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    auto const g = static_cast<double>(got[k]);
    INFO(name << ", element " << k << ": " << g << ", expected " << expected[k]);
    CHECK((std::isnan(expected[k]) ? std::isnan(g)
                                   : g == expected[k] || std::abs(g - expected[k]) <=
                                                             tolerance * std::abs(expected[k])));
  }
}

// The gradient of `reduce.whole` of a dim that is not split, and of `reduce.named` of split ones.
template <class T = double, class M, class R>
void reduced(std::string const& name, M const& mesh, R const& reduce, Numbers const& x,
             Numbers const& expected, double tolerance = 1e-14) {
  same(name, grad<0>(reduce.whole)(tensor<Tensor<T, Dim<B>>>(mesh, x)), expected, tolerance);
  same(name + ", split", grad<0>(reduce.named)(tensor<Tensor<T, Dim<B, X>>>(mesh, x)), expected,
       tolerance);
  same(name + ", split over two axes",
       grad<0>(reduce.named)(tensor<Tensor<T, Dim<B, Y, X>>>(mesh, x)), expected, tolerance);
}
template <class W, class N>
struct Forms {
  W whole;
  N named;
};
template <class W, class N>
Forms(W, N) -> Forms<W, N>;
#define FORMS_OF(reduce)                              \
  Forms {                                             \
    [](auto v) { return reduce<B>(v); }, [](auto v) { \
      using T = typename decltype(v)::element;        \
      return reduce<Tensor<T>>(v);                    \
    }                                                 \
  }

// The cotangents of `f(x)` for those of the result, 1, 10, 100, 1000, 10000, 1 and so on.
template <class A, class M, class F>
auto pulled(M const& mesh, F const& f, Numbers const& x) {
  auto const both = vjp(f, tensor<A>(mesh, x));
  Numbers ct;
  for (std::size_t k = 0; k < x.size(); ++k)
    ct.push_back(std::pow(10.0, static_cast<double>(k % 5)));
  return both.pullback(tensor<A>(mesh, ct));
}

}  // namespace

TEST_CASE("logsumexp shares exactly where its result is rounded") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const f = FORMS_OF(logsumexp);
  for (double const v : {0.0, 100.0, 1e4, -1e4}) {
    reduced<bfloat16>("bfloat16", mesh, f, {v, v}, {0.5, 0.5});
    reduced<float>("float", mesh, f, {v, v}, {0.5, 0.5});
    reduced("double", mesh, f, {v, v}, {0.5, 0.5});
  }
  reduced<float>("float, 1e6", mesh, f, {1e6, 1e6}, {0.5, 0.5});
  reduced<float>("float, 1e30", mesh, f, {1e30, -1e30, 1e30}, {0.5, 0, 0.5});
  reduced("1e300", mesh, f, {1e300, -1e300, 1e300}, {0.5, 0, 0.5});
  double const below = std::exp(-0.25);
  reduced<bfloat16>("bfloat16, apart", mesh, f, {64, 63.75, 64},
                    {1 / (2 + below), below / (2 + below), 1 / (2 + below)}, 0.005);
  reduced("none", mesh, f, {-inf, -inf}, {0, 0});  // JAX: NaN
  reduced("infinite", mesh, f, {inf, 1}, {none, 0});
  reduced("one", mesh, f, {-inf, 1, -inf}, {0, 1, 0});
  reduced("NaN", mesh, f, {none, 1, inf, -inf}, {none, none, none, none});
}

TEST_CASE("second derivatives of logsumexp") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  // the gradient of the sum of squares of the shares p is 2 p (p - sum p^2)
  auto second = [&](auto const& reduce, auto const& a) {
    return grad<0>([&](auto v) { return sum<Tensor<double>>(square(grad<0>(reduce)(v))); })(a);
  };
  Numbers const x{1, 3, 2, 3, -inf};
  double total = 0;
  Numbers p;
  for (double const v : x) total += std::exp(v);
  for (double const v : x) p.push_back(std::exp(v) / total);
  double squares = 0;
  for (double const v : p) squares += v * v;
  Numbers expected;
  for (double const v : p) expected.push_back(2 * v * (v - squares));
  same("split",
       second([](auto v) { return logsumexp<Tensor<double>>(v); },
              tensor<Tensor<double, Dim<B, X>>>(mesh, x)),
       expected, 1e-12);
}

TEST_CASE("products of numbers whose products overflow and underflow") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const f = FORMS_OF(prod);
  reduced("small, small, large", mesh, f, {1e-200, 1e-200, 1e200}, {1, 1, 0});
  reduced("large, large, small", mesh, f, {1e200, 1e200, 1e-300}, {1e-100, 1e-100, inf});
  reduced("small first", mesh, f, {1e-200, 1e-200, 3, 1e200, 1e200},
          {3e200, 3e200, 1, 3e-200, 3e-200});
  reduced("large first", mesh, f, {1e200, 1e200, 3, 1e-200, 1e-200},
          {3e-200, 3e-200, 1, 3e200, 3e200});
  reduced("of the least numbers", mesh, f, {1e-310, -1e-310, 5}, {-5e-310, 5e-310, 0}, 1e-12);
  reduced<float>("float", mesh, f, {1e-30, 1e-30, 1e30}, {1, 1, 0}, 1e-6);
  reduced<bfloat16>("bfloat16", mesh, f, {1e-30, 1e-30, 1e30}, {1, 1, 0}, 0.01);
  reduced("a zero", mesh, f, {2, 0, 3, 1e-200, 1e200}, {0, 6, 0, 0, 0});
  reduced("a zero, large", mesh, f, {1e200, 0, 1e200, 1e-200}, {0, 1e200, 0, 0});
  reduced("zeros", mesh, f, {2, 0, 3, 0}, {0, 0, 0, 0});
  reduced("infinite", mesh, f, {inf, 2, -3}, {-6, -inf, inf});
  reduced("two infinite", mesh, f, {-inf, 2, inf}, {inf, -inf, -inf});
  reduced("infinite and zero", mesh, f, {inf, 0, 2}, {0, inf, none});
  reduced("NaN", mesh, f, {none, 2}, {2, none});
  reduced("NaN and zero", mesh, f, {0, none, 2}, {none, 0, none});
  reduced("one element", mesh, f, {inf}, {1});
  Numbers many;
  Numbers expected;
  for (int k = 0; k < 40; ++k) many.push_back(k % 2 == 0 ? 1e-30 : 1e30);
  for (double const v : many) expected.push_back(1 / v);
  reduced("40 factors", mesh, f, many, expected, 1e-12);
  using Z = Kokkos::complex<double>;
  using C = Tensor<Z, Dim<B, X>>;
  auto const c =
      from_host<C>(mesh, {4}, std::vector<Z>{{0, 1e-200}, {1e-200, 0}, {0, 2e200}, {3, 0}});
  auto const g = gradients::whole(grad<0>([](auto v) { return real(prod<Tensor<Z>>(v)); })(c));
  CHECK(std::abs(g[0].imag() - 6) < 1e-12);
  CHECK(std::abs(g[1].real() + 6) < 1e-12);
  CHECK(std::abs(g[3].real() * 1e200 + 2) < 1e-12);
}

TEST_CASE("running products of such numbers") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto run = [&](std::string const& name, auto const& f, Numbers const& x,
                 Numbers const& expected) {
    same(name, pulled<Tensor<double, Dim<B>>>(mesh, f, x), expected, 1e-13);
    same(name + ", split", pulled<Tensor<double, Dim<B, X>>>(mesh, f, x), expected, 1e-13);
    same(name + ", split over two axes", pulled<Tensor<double, Dim<B, Y, X>>>(mesh, f, x), expected,
         1e-13);
  };
  auto forward = [](auto v) { return cumprod<B>(v); };
  run("ordinary", forward, {1, 2, 2}, {421, 210, 200});
  run("small, small, large", forward, {1e-200, 1e-200, 1e200}, {101, 100, 0});
  run("large, large, small", forward, {1e200, 1e200, 1e-300}, {1e201, 1e201, inf});
  // JAX: inf, inf, 0, 0, 0
  run("small first", forward, {1e-200, 1e-200, 3, 1e200, 1e200},
      {3e204, 3e204, 1e4, 3e-196, 3e-196});
  run("overflows", forward, {1e300, -1e300, 1e300}, {-inf, inf, -inf});
  run("zero", forward, {0, 2, 3}, {621, 0, 0});
  run("zeros", forward, {0, 0, 3}, {1, 0, 0});
  run("a zero between", forward, {5, 0, 2, 3}, {1, 5 * (10 + 200 + 6000), 0, 0});
  run("infinite", forward, {inf, 2, 3}, {621, inf, inf});
  run("infinite and zero", forward, {inf, 0, 2}, {1, inf, none});
  run("NaN", forward, {none, 1}, {11, none});
  run("zero and NaN", forward, {0, none, 2}, {none, 0, none});
  run("negative infinities", forward, {-inf, -inf}, {-inf, -inf});
  auto back = [](auto v) { return cumprod<B>(v, op::Cumulate::inclusive, op::Direction::reverse); };
  run("reverse", back, {1e200, 1e-200, 1e-200}, {0, 1, 101});
  auto without = [](auto v) { return cumprod<B>(v, op::Cumulate::exclusive); };
  run("exclusive", without, {3, none, 5, none}, {none, 15300, none, 0});
  run("exclusive, infinite", without, {inf, -inf}, {10, 0});
  run("exclusive, small first", without, {1e-200, 1e-200, 3, 1e200, 1e200},
      {30010, 30000, 1e-196, 0, 0});
}

TEST_CASE("NaN in maxima, minima and infinity norms") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const most = FORMS_OF(max);
  auto const least = FORMS_OF(min);
  auto const size = FORMS_OF(norm_inf);
  Numbers const x{3, none, 5, none, 1};
  Numbers const all(5, none);
  reduced("max", mesh, most, x, all);
  reduced("min", mesh, least, x, all);
  reduced("norm_inf", mesh, size, x, all);
  reduced("max of bfloat16", mesh, most, x, all);
  reduced("infinite ties", mesh, most, {inf, 1, inf}, {0.5, 0, 0.5});
  reduced("infinite norm", mesh, size, {inf, 1, -inf}, {0.5, 0, -0.5});
  reduced("norm_inf of zeros", mesh, size, {0, 0}, {0, 0});  // JAX: 1/4
}

TEST_CASE("variances that overflow, and norms of zeros") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const spread = FORMS_OF(stddev);
  reduced("stddev", mesh, spread, {1e300, -1e300, 1e300}, {0, 0, 0});
  reduced("stddev of equal elements", mesh, spread, {3, 3}, {0, 0});  // JAX: NaN
  auto const squares = FORMS_OF(var);
  reduced("var", mesh, squares, {1e300, -1e300, 1e300},
          {4 / 9.0 * 1e300, -8 / 9.0 * 1e300, 4 / 9.0 * 1e300});
  auto const length = FORMS_OF(norm);
  reduced("norm of zeros", mesh, length, {0, 0}, {0, 0});  // JAX: NaN
  reduced("norm", mesh, length, {inf, 1}, {none, 0});
}

TEST_CASE("ties of running maxima and minima, as JAX") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto run = [&](std::string const& name, auto const& f, Numbers const& x,
                 Numbers const& expected) {
    same(name, pulled<Tensor<double, Dim<B>>>(mesh, f, x), expected);
    same(name + ", float", pulled<Tensor<float, Dim<B>>>(mesh, f, x), expected, 1e-6);
  };
  auto most = [](auto v) { return cummax<B>(v); };
  auto least = [](auto v) { return cummin<B>(v); };
  run("two", most, {7, 7}, {6, 5});
  run("three", most, {1, 1, 1}, {31, 30, 50});
  run("the last two", most, {1, 2, 2}, {1, 60, 50});
  run("nine", most, Numbers(9, 1.0),
      {1606.75, 1605.75, 1625.75, 1575.75, 5076.5, 76.5, 80, 75, 500});
  run("runs", most, {2, 1, 2, 2, 1, 2, 2, 2, 3, 3, 1, 3, 3, 3, 3, 3, 4, 4, 4},
      {5587.5, 0, 2813.25, 2763.25, 0, 28, 17.5, 12.5, 6765.625, 5765.625, 0, 1530.25, 1550.125,
       1500.125, 5000.125, 0.125, 310, 300, 500});
  run("NaN", most, {3, none, 5, none}, {1, 0, 0, 0});
  run("infinite", most, {-inf, -inf}, {6, 5});
  run("minima", least, {1e-200, 1e-200, 1e200}, {56, 55, 0});
  auto back = [](auto v) { return cummax<B>(v, op::Cumulate::inclusive, op::Direction::reverse); };
  run("reverse", back, {2, 2, 1}, {0.5, 10.5, 100});
  auto without = [](auto v) { return cummax<B>(v, op::Cumulate::exclusive); };
  run("exclusive", without, {2, 2, 1}, {60, 50, 0});
  // a dim between others, of more columns than one; second order
  using M = Tensor<double, Dim<D, X>, Dim<B>, Dim<K>>;
  auto const a = from_host<M>(mesh, {2, 2, 2}, Numbers{1, 2, 1, 3, 4, 4, 3, 4});
  auto const g = grad<0>([](auto v) { return sum<Tensor<double>>(cummax<B>(v)); })(a);
  same("columns", g, {1.5, 1, 0.5, 1, 2, 1.5, 0, 0.5});
  auto const twice = grad<0>([&](auto v) {
    return sum<Tensor<double>>(
        square(grad<0>([](auto u) { return sum<Tensor<double>>(square(cummax<B>(u))); })(v)));
  })(a);
  gradients::check<0>(
      "second order", mesh,
      [](auto v) {
        return sum<Tensor<double>>(
            square(grad<0>([](auto u) { return sum<Tensor<double>>(exp(cummax<B>(u))); })(v)));
      },
      from_host<M>(mesh, {2, 2, 2}, Numbers{1, 0.2, 0.5, 0.3, 0.4, 0.7, 0.3, 0.9}));
  CHECK(twice.extents() == a.extents());
}

TEST_CASE("functions that are constant around each point have gradient 0, as JAX") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = tensor<Tensor<double, Dim<B, X>>>(mesh, {-1.5, 0, 2.5, 3});
  Numbers const zeros{0, 0, 0, 0};
  auto flat = [&](std::string const& name, auto const& f, double value) {
    auto const both = value_and_grad<0>(f)(a);
    CHECK(gradients::whole(both.value) == Numbers{value});
    same(name, both.grad, zeros);
  };
  flat("sign", [](auto v) { return sum(sign(v)); }, 1);
  flat("floor", [](auto v) { return sum(floor(v)); }, 3);
  flat("ceil", [](auto v) { return sum(ceil(v)); }, 5);
  flat("round", [](auto v) { return sum<Tensor<double>>(round(v)); }, 3);
  flat("floor_divide", [](auto v) { return sum(floor_divide(v, 2.0)) * 2; }, 2);
  flat("a comparison", [](auto v) { return sum(cast<double>(v > 0.0)); }, 2);
  flat("an integer", [](auto v) { return mean(cast<double>(cast<std::int64_t>(v))); }, 1);
  flat("full_like", [](auto v) { return sum(full_like(v, 1.0)); }, 4);
  auto const both =
      value_and_grad<0>([](auto v) { return std::pair(sum(sign(v)), v * 2.0); }, has_aux)(a);
  CHECK(gradients::whole(both.value.second) == Numbers{-3, 0, 5, 6});
  same("with metrics", both.grad, zeros);
  same("second order", grad<0>([](auto v) {
         return sum(square(grad<0>([](auto u) { return sum(floor(u)); })(v)) + v);
       })(a),
       {1, 1, 1, 1});
}

TEST_CASE("elementwise functions at special values") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto one = [&](std::string const& name, auto const& f, Numbers const& x, Numbers const& expected,
                 double tolerance = 1e-12) {
    same(name, grad<0>([&](auto v) {
           return sum<Tensor<double>>(f(v));
         })(tensor<Tensor<double, Dim<B, X>>>(mesh, x)),
         expected, tolerance);
  };
  one("abs", [](auto v) { return abs(v); }, {0, -2, none, inf}, {0, -1, none, 1});
  one("sqrt", [](auto v) { return sqrt(v); }, {0, inf, -1}, {inf, 0, none});
  one("log", [](auto v) { return log(v); }, {0, inf}, {inf, 0});
  one("relu", [](auto v) { return relu(v); }, {0, none, inf}, {0, 0, 1});
  one("cbrt", [](auto v) { return cbrt(v); }, {0}, {inf});
  one(
      "gelu far below", [](auto v) { return gelu(v); }, {-10, -30},
      {-7.618400065e-22, -4.4160317e-195}, 1e-6);
  one("elu", [](auto v) { return elu(v); }, {0, -40, none, inf, -inf},
      {1, std::exp(-40.), none, 1, 0});
  one("leaky_relu", [](auto v) { return leaky_relu(v); }, {0, -1e-300, inf, -inf},
      {1, 0.01, 1, 0.01});
  one("nan_to_num", [](auto v) { return square(nan_to_num(v, 3)); }, {none, inf, -inf, 2},
      {0, 0, 0, 4});
  one("erfinv", [](auto v) { return erfinv(v); }, {0, 1, -1, 2},
      {0.88622692545275801, inf, inf, none});
  one("lgamma", [](auto v) { return lgamma(v); }, {1, 0, -1, inf},
      {-0.57721566490153286, -inf, none, inf});
  one("digamma", [](auto v) { return digamma(v); }, {1, 0, -1, inf, -0.5},
      {1.6449340668482264, inf, inf, 0, 8.9348022005446793});
  auto two = [&](std::string const& name, auto const& f, Numbers const& x, Numbers const& y,
                 Numbers const& to_x, Numbers const& to_y) {
    using A = Tensor<double, Dim<B, X>>;
    auto const [gx, gy] = grad<0, 1>([&](auto v, auto w) { return sum<Tensor<double>>(f(v, w)); })(
        tensor<A>(mesh, x), tensor<A>(mesh, y));
    same(name + ", first", gx, to_x, 1e-12);
    same(name + ", second", gy, to_y, 1e-12);
  };
  two("logaddexp", [](auto v, auto w) { return logaddexp(v, w); }, {1e300, inf, -inf, inf, 0},
      {1e300, inf, -inf, 0, none}, {0.5, 0.5, 0.5, 1, none}, {0.5, 0.5, 0.5, 0, none});
  two("hypot", [](auto v, auto w) { return hypot(v, w); }, {0, 3, 3e300, 0}, {0, -4, 4e300, none},
      {0, 0.6, 0.6, none}, {0, -0.8, 0.8, none});
  two("max", [](auto v, auto w) { return max(v, w); }, {1, none, inf, 2}, {1, 1, inf, none},
      {0.5, 0, 0.5, 0}, {0.5, 0, 0.5, 0});
  two("pow", [](auto v, auto w) { return pow(v, w); }, {0, 0, 2}, {0, 2, 0}, {0, 0, 0},
      {0, 0, std::log(2.0)});
}
