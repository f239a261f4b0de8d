// Gradients of elementwise functions, of expressions of several, through fan-out, loops, structures
// of parameters and second order, against central differences in double.
// RANKS: 1 2 4 8
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/gradients.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using gradients::check;
using gradients::check_one;
using gradients::make;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
using Int = std::int64_t;
template <class... Parts>
using T = Tensor<double, Parts...>;
using A = T<Dim<B, X>, Dim<D>>;

template <template <class> class As>
struct Layers {
  std::vector<As<T<Dim<D>, Reduced<X>>>> scales;
  As<T<Dim<D>, Reduced<X>>> bias;
};

}  // namespace

TEST_CASE("functions of one operand") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = make<A>(mesh, {5, 3}, 1, 0.2, 0.9);
  auto one = [&](std::string const& name, auto const& f) {
    check<0>(name, mesh, [&](auto v) { return sum(f(v) * f(v)); }, a);
  };
  one("negate", [](auto v) { return -v; });
  one("square", [](auto v) { return square(v); });
  one("sqrt", [](auto v) { return sqrt(v); });
  one("rsqrt", [](auto v) { return rsqrt(v); });
  one("exp", [](auto v) { return exp(v); });
  one("exp2", [](auto v) { return exp2(v); });
  one("expm1", [](auto v) { return expm1(v); });
  one("log", [](auto v) { return log(v); });
  one("log1p", [](auto v) { return log1p(v); });
  one("log2", [](auto v) { return log2(v); });
  one("log10", [](auto v) { return log10(v); });
  one("sin", [](auto v) { return sin(v); });
  one("cos", [](auto v) { return cos(v); });
  one("tan", [](auto v) { return tan(v); });
  one("asin", [](auto v) { return asin(v); });
  one("acos", [](auto v) { return acos(v); });
  one("atan", [](auto v) { return atan(v); });
  one("sinh", [](auto v) { return sinh(v); });
  one("cosh", [](auto v) { return cosh(v); });
  one("tanh", [](auto v) { return tanh(v); });
  one("cbrt", [](auto v) { return cbrt(v); });
  one("erf", [](auto v) { return erf(v); });
  one("erfc", [](auto v) { return erfc(v); });
  one("erfinv", [](auto v) { return erfinv(v - 0.3); });
  one("lgamma", [](auto v) { return lgamma(v) - lgamma(v - 3); });
  one("digamma", [](auto v) { return digamma(v) - digamma(v - 3); });
  one("elu", [](auto v) { return elu(v - 0.5); });
  one("leaky_relu", [](auto v) { return leaky_relu(v - 0.5); });
  one("relu", [](auto v) { return relu(v - 0.5); });
  one("sigmoid", [](auto v) { return sigmoid(v); });
  one("silu", [](auto v) { return silu(v); });
  one("softplus", [](auto v) { return softplus(v); });
  one("gelu", [](auto v) { return gelu(v); });
  one("gelu_tanh", [](auto v) { return gelu_tanh(v); });
  one("abs", [](auto v) { return abs(v - 0.5); });
  one("floor", [](auto v) { return floor(v * 3) * v; });
  one("power", [](auto v) { return pow(v, 3.5); });
  one("exponent", [](auto v) { return pow(2.5, v); });
  one("remainder", [](auto v) { return v % 0.3; });
  one("clip", [](auto v) { return clip(v, 0.3, 0.7); });
  one("cast", [](auto v) { return cast<double>(v); });
  one("where", [](auto v) { return where(v > 0.5, v * v, 2 / v); });
}

TEST_CASE("functions of two operands, of other shardings and dims") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = make<A>(mesh, {5, 3}, 1, 0.2, 0.9);
  auto const b = make<A>(mesh, {5, 3}, 2, 0.2, 0.9);
  auto const row = make<T<Dim<D>, Reduced<X>>>(mesh, {3}, 3, 0.2, 0.9);
  auto const column = make<T<Dim<B, X>>>(mesh, {5}, 4, 0.2, 0.9);
  auto const number = make<T<Reduced<X>>>(mesh, {}, 5, 0.2, 0.9);
  auto two = [&](std::string const& name, auto const& f) {
    auto loss = [&](auto v, auto w) { return sum(exp(f(v, w))); };
    check<0, 1>(name, mesh, loss, a, b);
    check<0, 1>(name + ", a row", mesh, loss, a, row);
    check<0, 1>(name + ", a column", mesh, loss, column, a);
    check<0, 1>(name + ", a number", mesh, loss, number, a);
  };
  two("add", [](auto v, auto w) { return v + w; });
  two("subtract", [](auto v, auto w) { return v - w; });
  two("multiply", [](auto v, auto w) { return v * w; });
  two("divide", [](auto v, auto w) { return v / w; });
  two("power", [](auto v, auto w) { return pow(v, w); });
  two("atan2", [](auto v, auto w) { return atan2(v, w); });
  two("logaddexp", [](auto v, auto w) { return logaddexp(v, w); });
  two("hypot", [](auto v, auto w) { return hypot(v - 0.5, w); });
  two("maximum", [](auto v, auto w) { return max(v, w); });
  two("minimum", [](auto v, auto w) { return min(v, w); });
  check<0, 1>(
      "elu and leaky_relu, a row", mesh,
      [](auto v, auto w) { return sum(exp(elu(v - 0.5, w) * leaky_relu(v - 0.6, w))); }, a, row);
}

// One kernel writes the cotangents of all operands; that of one operand alone has a kernel of its
// own, and the tape adds what several functions give.
TEST_CASE("cotangents of several operands have the bits that they have alone") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Int const rows : {Int{5}, Int{1}, Int{0}, Int{1403}}) {
    auto const a = make<A>(mesh, {rows, 3}, 1, 0.2, 0.9);
    auto const b = make<A>(mesh, {rows, 3}, 2, 0.2, 0.9);
    auto const row = make<T<Dim<D>, Reduced<X>>>(mesh, {3}, 3, 0.2, 0.9);
    auto const ct = make<A>(mesh, {rows, 3}, 4, -0.7, 0.9);
    auto const same = [](auto const& got, auto const& want) {
      REQUIRE(got.local_size() == want.local_size());
      auto const bytes = static_cast<std::size_t>(got.local_size()) * sizeof(double);
      CHECK((bytes == 0 || std::memcmp(got.buffer().data(), want.buffer().data(), bytes) == 0));
    };
    auto const alone = [&](auto const& f, auto const& v, auto const& w) {
      auto const both = vjp(f, v, w).pullback(ct);
      same(std::get<0>(both), vjp([&](auto x) { return f(x, w); }, v).pullback(ct));
      same(std::get<1>(both), vjp([&](auto x) { return f(v, x); }, w).pullback(ct));
    };
    auto const two = [&](auto const& f) {
      alone(f, a, b);
      alone(f, a, row);
    };
    two([](auto v, auto w) { return (v * w).tensor(); });
    two([](auto v, auto w) { return (v / w).tensor(); });
    two([](auto v, auto w) { return pow(v, w).tensor(); });
    two([](auto v, auto w) { return max(v, w).tensor(); });
    two([](auto v, auto w) { return where(v > w, exp(v), w / 3).tensor(); });
    two([](auto v, auto w) { return (tanh(v * w) + log(w)).tensor(); });

    // several places of one value: summands in the order of the text
    auto const each = [](auto u, auto v, auto w, auto z) { return (u * v / w - exp(z)).tensor(); };
    auto const four = vjp(each, a, a, a, a).pullback(ct);
    same(vjp([&](auto v) { return each(v, v, v, v); }, a).pullback(ct),
         (((std::get<0>(four) + std::get<1>(four)).tensor() + std::get<2>(four)).tensor() +
          std::get<3>(four))
             .tensor());
    // the place of `w` passes the cotangent on
    auto const passes = [&](auto u, auto v, auto w, auto z) {
      return (u * v + w + z * b).tensor();
    };
    auto const parts = vjp(passes, a, a, a, a).pullback(ct);
    same(vjp([&](auto v) { return passes(v, v, v, v); }, a).pullback(ct),
         (((std::get<0>(parts) + std::get<1>(parts)).tensor() + std::get<2>(parts)).tensor() +
          std::get<3>(parts))
             .tensor());
    // after another function's, of which the cotangent is the one that is passed on
    auto const after = [](auto v, auto w) {
      auto const sum = (v + w).tensor();
      return (sum + v * w).tensor();
    };
    auto const [of_v, of_w] = vjp(after, a, b).pullback(ct);
    same(of_v, (ct + (ct * b).tensor()).tensor());
    same(of_w, (ct + (ct * a).tensor()).tensor());
  }
}

TEST_CASE("unreduced operands and results") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const u = make<T<Dim<D>, Unreduced<X>>>(mesh, {4}, 1);
  auto const r = make<T<Dim<D>, Reduced<X>>>(mesh, {4}, 2);
  check<0, 1>(
      "a sum times a factor", mesh, [](auto v, auto w) { return sum(exp(all_reduce<X>(v * w))); },
      u, r);
  check<0>(
      "a sum of sums", mesh, [](auto v) { return sum(exp(all_reduce<X>(v + v * 2 - v / 3.0))); },
      u);
}

TEST_CASE("fan-out, loops and expressions") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = make<A>(mesh, {5, 3}, 1);
  auto const b = make<T<Dim<D>, Reduced<X>>>(mesh, {3}, 2);
  check<0, 1>(
      "one expression", mesh,
      [](auto v, auto w) { return sum(tanh(v * w + w) / (1 + square(v)) - sigmoid(w * 2)); }, a, b);
  check<0, 1>(
      "a residual", mesh,
      [](auto v, auto w) {
        auto h = tanh(v * w).tensor();
        for (int k = 0; k < 3; ++k) h = (h + tanh(h * w)).tensor();
        return sum(square(h) * v);
      },
      a, b);
  check<0, 1>(
      "an argument that is not used", mesh, [&](auto, auto w) { return sum(square(w) * 1.0); }, b,
      b);
}

TEST_CASE("structures of parameters") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using Row = T<Dim<D>, Reduced<X>>;
  auto const x = make<A>(mesh, {5, 3}, 1);
  auto net = [](auto const& p, auto rows) {
    auto h = (rows + p.bias).tensor();
    for (auto const& s : p.scales) h = tanh(h * s).tensor();
    return sum(square(h));
  };
  Layers<value_t> const p{{make<Row>(mesh, {3}, 2), make<Row>(mesh, {3}, 3)},
                          make<Row>(mesh, {3}, 4)};
  auto const [loss, g] = value_and_grad<0>(net)(p, x);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(g)>, Layers<gradient_t>>);
  auto with_bias = [&](auto v) {
    Layers<value_t> q = p;
    q.bias = v;
    return net(q, x);
  };
  check_one<0>("bias", mesh, with_bias, g.bias, 1e-7, p.bias);
  auto with_scale = [&](auto v) {
    Layers<value_t> q = p;
    q.scales[1] = v;
    return net(q, x);
  };
  check_one<0>("scale", mesh, with_scale, g.scales[1], 1e-7, p.scales[1]);

  auto pair = [](auto const& both, auto rows) {
    return sum(square(rows * std::get<0>(both) + std::get<1>(both)[0]));
  };
  auto const q = std::tuple(p.bias, std::array{p.scales[0]});
  auto const h = grad<0>(pair)(q, x);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(h)>,
                               std::tuple<cotangent_t<Row>, std::array<cotangent_t<Row>, 1>>>);
  check_one<0>(
      "in a tuple", mesh, [&](auto v) { return pair(std::tuple(v, std::get<1>(q)), x); },
      std::get<0>(h), 1e-7, p.bias);
}

TEST_CASE("second order") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const x = make<A>(mesh, {5, 3}, 1);
  auto const w = make<T<Dim<D>>>(mesh, {3}, 2);
  auto inner = [](auto v, auto rows) { return sum(square(tanh(rows * reduced<X>(v)))); };
  auto outer = [&](auto v) { return sum(square(grad<0>(inner)(v, x))); };
  check<0>("the squared norm of a gradient", mesh, outer, w);
}

TEST_CASE("constants and other differentiations") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const w = make<T<Dim<D>>>(mesh, {3}, 2);
  auto const g = grad<0>([](auto v) { return sum(v * stop_gradient(v)); })(w);
  CHECK(gradients::whole(g) == gradients::whole(w));
  CHECK(on_ranks::code_of([&] {
          grad<0>([&](auto v) {
            return sum(grad<0>([&](auto u) { return sum(u * v); })(stop_gradient(v)) * 1.0) +
                   sum(v);
          })(w);
        }) == "E73");
}

TEST_CASE("named maps and named operations") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::int64_t const n : {5, 1, 0}) {
    auto const a = make<T<Dim<B, X>, Dim<D>, Reduced<Y>>>(mesh, {n, 3}, 1, 0.5, 1.5);
    auto const b = make<T<Dim<B>, Dim<D, Y>, Reduced<X>>>(mesh, {n, 3}, 2, 0.5, 1.5);
    check<0, 1>(
        "fits", mesh,
        [](auto p, auto q) {
          return sum(exp(map<Dim<B>, Dim<D, Y>, Reduced<X>>(functions::Multiply{}, p, q)));
        },
        a, b);
    auto const c = make<T<Dim<D, X>, Dim<B>>>(mesh, {3, n}, 3, 0.5, 1.5);
    check<0, 1>(
        "does not fit", mesh,
        [](auto p, auto q) {
          return sum(exp(map<Dim<B, X>, Dim<D, Y>>(functions::Divide{}, p, q)));
        },
        a, c);
    check<0>(
        "with a number", mesh,
        [](auto p) { return sum(exp(map<Dim<B>, Dim<D, X>>(functions::Multiply{}, p, 3.0))); }, a);
    auto const here = std::source_location::current();
    check<0>(
        "flip", mesh,
        [&](auto p) {
          return sum(exp(call(op::Named<op::Flip<B>, Dim<B>, Dim<D, X>>{}, here, p)));
        },
        a);
    check<0>(
        "cumsum", mesh,
        [&](auto p) {
          return sum(exp(call(op::Named<op::Roll<B>, Dim<B, Y>, Dim<D>>{{2}}, here, p)));
        },
        a);
  }
}
