// Gradients of reductions and normalizations against central differences in double; of ties, zeros
// and zero norms against their exact values. Values beside the loss.
// RANKS: 1 2 4 8
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/gradients.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using gradients::check;
using gradients::make;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
struct J : Index<"J"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

using A = T<Dim<B, X>, Dim<D>, Dim<H, Y>>;

// `reduce` over a whole dim, over split ones to a replicated, a scattered and a Reduced result, and
// the same of a Reduced operand.
template <class M, class F>
void everywhere(std::string const& name, M const& mesh, F const& reduce, double low, double high) {
  for (std::int64_t const b : {5, 1, 0})
    for (std::int64_t const h : {7, 1}) {
      auto const a = make<A>(mesh, {b, 3, h}, 1, low, high);
      check<0>(name + ", strict", mesh, reduce.strict, a);
      if (b == 0) continue;  // of no elements
      check<0>(name + ", named", mesh, reduce.named, a);
      check<0>(name + ", scattered", mesh, reduce.scattered, a);
      check<0>(name + ", Reduced", mesh, reduce.reduced, a);
      check<0>(name + ", of a Reduced operand", mesh, reduce.strict,
               make<T<Dim<B>, Dim<D>, Reduced<X>>>(mesh, {b, 3}, 2, low, high));
    }
}
template <class S, class N, class C, class R>
struct Reductions {
  S strict;
  N named;
  C scattered;
  R reduced;
};
template <class S, class N, class C, class R>
Reductions(S, N, C, R) -> Reductions<S, N, C, R>;

// All forms of one function.
#define FORMS(reduce)                                                         \
  Reductions {                                                                \
    [](auto v) { return sum(square(reduce<D>(v))); },                         \
        [](auto v) { return sum(square(reduce<Dim<D>>(v))); },                \
        [](auto v) { return sum(exp(reduce<Dim<D>, Dim<B, X>>(v))); },        \
        [](auto v) { return sum(sin(v - reduce<Dim<B, X>, Reduced<Y>>(v))); } \
  }

std::vector<double> values(auto const& a) { return gradients::whole(a); }

}  // namespace

TEST_CASE("maxima and minima") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  everywhere("max", mesh, FORMS(max), -1, 1);
  everywhere("min", mesh, FORMS(min), -1, 1);
  everywhere("norm_inf", mesh, FORMS(norm_inf), -1, 1);
}

TEST_CASE("products") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  everywhere("prod", mesh, FORMS(prod), 0.5, 1.5);
}

TEST_CASE("norms") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  everywhere("norm", mesh, FORMS(norm), -1, 1);
  everywhere("norm_1", mesh, FORMS(norm_1), 0.3, 1);
  auto const a = make<A>(mesh, {5, 3, 7}, 1);
  check<0>(
      "norm_1 of split dims", mesh, [](auto v) { return sum(square(norm_1<Dim<D>>(-v))); },
      make<A>(mesh, {5, 3, 7}, 1, 0.3, 1));
  check<0>(
      "reproducible", mesh,
      [](auto v) {
        return sum(square(norm<Dim<D>>(v, reproducible))) +
               sum(square(sum<Dim<D>>(v, reproducible)));
      },
      a);
}

TEST_CASE("variances") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  everywhere("var", mesh, FORMS(var), -1, 1);
  auto const a = make<A>(mesh, {5, 3, 7}, 1);
  check<0>("stddev", mesh, [](auto v) { return sum(square(stddev<D>(v) + 1)); }, a);
  check<0>("stddev, named", mesh, [](auto v) { return sum(exp(stddev<Dim<D>, Dim<B, X>>(v))); }, a);
  check<0>(
      "stddev of all but one", mesh, [](auto v) { return stddev<>(v, 1); },
      make<T<Dim<B>, Dim<D>>>(mesh, {5, 3}, 1));
}

TEST_CASE("softmax") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::int64_t const b : {5, 1, 0})
    for (std::int64_t const h : {7, 1, 0}) {
      auto const a = make<A>(mesh, {b, 3, h}, 1);
      auto const w = make<A>(mesh, {b, 3, h}, 2);
      auto whole = [](auto v, auto u) {
        return sum(softmax<D>(v) * u) + sum(exp(log_softmax<D>(v)) * u * u);
      };
      check<0, 1>("whole dims", mesh, whole, a, w);
      auto split = [](auto v, auto u) {
        return sum(softmax<H, Dim<B, X>, Dim<D>, Dim<H, Y>>(v) * u);
      };
      check<0, 1>("a split dim", mesh, split, a, w);
      auto logs = [](auto v, auto u) {
        return sum(square(log_softmax<H, D, Dim<B, X>, Dim<D>, Dim<H, Y>>(v)) * u);
      };
      check<0, 1>("logarithm, a split dim", mesh, logs, a, w);
      auto moved = [](auto v) { return sum(square(softmax<H, Dim<B, Y>, Dim<D, X>, Dim<H>>(v))); };
      check<0>("moved", mesh, moved, a);
      auto of_reduced = [](auto v) { return sum(square(softmax<D>(v))); };
      check<0>("Reduced", mesh, of_reduced,
               make<T<Dim<B, Y>, Dim<D>, Reduced<X>>>(mesh, {b, 3}, 3));
    }
}

TEST_CASE("products of several operands") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto three = [](auto a, auto b, auto c) { return sum(square(einsum<B, J>(a, b, c))); };
  auto const a = make<T<Dim<B, X>, Dim<D>>>(mesh, {5, 3}, 1);
  auto const b = make<T<Dim<D>, Dim<H>, Reduced<X>>>(mesh, {3, 4}, 2);
  auto const c = make<T<Dim<H>, Dim<J>, Reduced<X>>>(mesh, {4, 2}, 3);
  check<0, 1, 2>("three", mesh, three, a, b, c);
  check<2>("the last of three", mesh, three, a, b, c);
  auto four = [](auto p, auto q, auto r, auto s) { return sum(square(einsum<B>(p, q, r, s))); };
  auto const d = make<T<Dim<J>, Reduced<X>>>(mesh, {2}, 4);
  check<0, 1, 2, 3>("four", mesh, four, a, b, c, d);
  auto named = [](auto p, auto q, auto r) {
    return sum(square(einsum<Dim<B, X>, Dim<J>>(p, q, r)));
  };
  check<0, 1, 2>("three, named", mesh, named, make<T<Dim<B, X>, Dim<D, Y>>>(mesh, {5, 3}, 1),
                 make<T<Dim<D, Y>, Dim<H>, Reduced<X>>>(mesh, {3, 4}, 2),
                 make<T<Dim<H, Y>, Dim<J>, Reduced<X>>>(mesh, {4, 2}, 3));
  auto all_named = [](auto p, auto q, auto r, auto s) {
    return sum(exp(einsum<Dim<B>, Reduced<Y>>(p, q, r, s)));
  };
  check<0, 1, 2, 3>("four, named", mesh, all_named, a, b, c, d);
  auto own_index = [](auto p, auto q, auto r) { return sum(exp(einsum<Dim<H>>(p, q, r))); };
  check<0, 1, 2>("an index of one operand alone", mesh, own_index,
                 make<T<Dim<B, X>, Dim<D>>>(mesh, {5, 3}, 1),
                 make<T<Dim<D>, Dim<H>, Reduced<X>>>(mesh, {3, 4}, 2),
                 make<T<Dim<H>, Reduced<X>>>(mesh, {4}, 3));
}

TEST_CASE("named products whose strict form is refused") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto product = [](auto p, auto q) { return sum(exp(einsum<Dim<H>>(p, q))); };
  check<0>("an index of the operand alone", mesh, product,
           make<T<Dim<B, X>, Dim<D, Y>>>(mesh, {5, 3}, 1),
           make<T<Dim<D>, Dim<H, X>>>(mesh, {3, 4}, 2));
  auto elements = [](auto p, auto q) { return sum(exp(einsum<Dim<D, X, Y>>(p, q))); };
  check<1>("nothing is summed that a reduced operand could keep", mesh, elements,
           make<T<Dim<B, X, Y>, Dim<D>>>(mesh, {5, 3}, 1),
           make<T<Dim<B, X>, Dim<D>, Reduced<Y>>>(mesh, {5, 3}, 2));
}

TEST_CASE("named results of operands that are reduced over another axis") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = make<T<Dim<B>, Dim<D, Y>, Reduced<X>>>(mesh, {5, 3}, 1, 0.5, 1.5);
  auto both = [](auto v) {
    return sum(exp(logsumexp<Dim<B>, Reduced<X>>(v)) + norm<Dim<B>, Reduced<X>>(v));
  };
  check<0>("logsumexp, norm", mesh, both, a);
  auto extremes = [](auto v) {
    return sum(exp(max<Dim<B>, Reduced<X>>(v)) +
               min<Dim<B>, Reduced<X>>(v) * norm_inf<Dim<B>, Reduced<X>>(v));
  };
  check<0>("max, min, norm_inf", mesh, extremes, a);
  auto moments = [](auto v) {
    return sum(exp(var<Dim<B>, Reduced<X>>(v)) + stddev<Dim<B>, Reduced<X>>(v) +
               prod<Dim<B>, Reduced<X>>(v));
  };
  check<0>("var, stddev, prod", mesh, moments, a);
}

TEST_CASE("ties share equally") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using V = T<Dim<B, X>>;
  auto const a = from_host<V>(mesh, {6}, std::vector<double>{2, 3, 1, 3, -3, 3});
  auto const third = 1.0 / 3;
  CHECK(values(grad<0>([](auto v) { return max<>(reshard<Dim<B>, Reduced<X>>(v)); })(a)) ==
        std::vector<double>{0, third, 0, third, 0, third});
  auto most = [](auto v) { return sum(max<Dim<D>>(v)); };
  using M = T<Dim<B, X>, Dim<D>>;
  auto const m = from_host<M>(mesh, {4, 2}, std::vector<double>{1, 0, 5, 0, 5, 0, 2, -1});
  CHECK(values(grad<0>(most)(m)) == std::vector<double>{0, third, 0.5, third, 0.5, third, 0, 0});
  auto least = [](auto v) { return sum(min<Dim<D>>(-v)); };
  CHECK(values(grad<0>(least)(m)) ==
        std::vector<double>{0, -third, -0.5, -third, -0.5, -third, 0, 0});
  auto size = [](auto v) { return sum(norm_inf<Dim<D>>(v)); };
  auto const s = from_host<M>(mesh, {4, 2}, std::vector<double>{1, 0, 5, 0, -5, 0, 2, 0});
  CHECK(values(grad<0>(size)(s)) == std::vector<double>{0, 0, 0.5, 0, -0.5, 0, 0, 0});
}

TEST_CASE("products with zeros") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using M = T<Dim<B, X>, Dim<D>>;
  auto product = [](auto v) { return sum(prod<Dim<D>>(v)); };
  auto const m = from_host<M>(mesh, {3, 3}, std::vector<double>{2, 0, 0, 3, 5, 0, 4, 7, 9});
  auto const got = value_and_grad<0>(product)(m);
  CHECK(values(got.value) == std::vector<double>{24});
  CHECK(values(got.grad) == std::vector<double>{12, 35, 0, 8, 0, 0, 6, 0, 0});
}

TEST_CASE("zero norms") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using M = T<Dim<B, X>, Dim<D>>;
  auto const m = from_host<M>(mesh, {4, 2}, std::vector<double>{0, 2, 0, 2, 0, -2, 0, 2});
  auto lengths = [](auto v) { return sum(norm<Dim<D>>(v)); };
  CHECK(values(grad<0>(lengths)(m)) == std::vector<double>{0, 0.5, 0, 0.5, 0, -0.5, 0, 0.5});
  auto sizes = [](auto v) { return sum(norm_1<Dim<D>>(v)); };
  CHECK(values(grad<0>(sizes)(m)) == std::vector<double>{0, 1, 0, 1, 0, -1, 0, 1});
  auto spread = [](auto v) { return sum(stddev<Dim<D>>(v)); };
  CHECK(values(grad<0>(spread)(from_host<M>(mesh, {2, 2}, std::vector<double>{1, 3, 1, 4}))) ==
        std::vector<double>{0, -0.5, 0, 0.5});
}

TEST_CASE("complex numbers") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using Z = Kokkos::complex<double>;
  using C = Tensor<Z, Dim<B, X>, Dim<D>>;
  auto const c = from_host<C>(mesh, {2, 1}, std::vector<Z>{{0, 3}, {4, 0}});
  auto near = [&](auto const& f, std::vector<Z> const& expected) {
    auto const g = gradients::whole(grad<0>(f)(c));
    for (std::size_t k = 0; k < 2; ++k) {
      CHECK(std::abs(g[k].real() - expected[k].real()) < 1e-15);
      CHECK(std::abs(g[k].imag() - expected[k].imag()) < 1e-15);
    }
  };
  near([](auto v) { return sum(norm<Dim<D>>(v)); }, {{0, -0.6}, {0.8, 0}});
  near([](auto v) { return sum(norm_1<Dim<D>>(v)); }, {{0, -1}, {1, 0}});
  near([](auto v) { return sum(norm_inf<Dim<D>>(v)); }, {{0, 0}, {1, 0}});
  near([](auto v) { return sum(var<Dim<D>>(v)); }, {{-2, -1.5}, {2, 1.5}});
  near([](auto v) { return sum(real(prod<Dim<D>>(v))); }, {{4, 0}, {0, 3}});
}

// Sums compute the cotangents of operands with fewer dims, and products read those of sums, which
// are not written.
TEST_CASE("operands with fewer dims, and products that are summed") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::int64_t const b : {5, 1}) {
    auto const a = make<A>(mesh, {b, 30, 7}, 1, 0.5, 1.5);
    auto const rows = make<T<Dim<B, X>, Dim<H, Y>>>(mesh, {b, 7}, 2, 0.5, 1.5);
    auto const fewer = [](auto v, auto r) { return mean(sin(v * rsqrt(r))); };
    check<0, 1>("fewer dims", mesh, fewer, a, rows);
    auto const unit = [](auto v) { return sum(cos(v * rsqrt(mean<D>(v * v)))); };
    check<0>("rows by their means", mesh, unit, a);
    auto const twice = [](auto v) {
      auto const p = (v * v).tensor();
      return sum(sin(sum<D>(p))) + sum(p * v);
    };
    check<0>("a product that is used twice", mesh, twice, a);
  }
}

TEST_CASE("of second order") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto twice = [](auto f) { return [f](auto v) { return sum(square(grad<0>(f)(v))); }; };
  auto const a = make<T<Dim<B, X>, Dim<D>>>(mesh, {5, 3}, 1);
  check<0>("max", mesh, twice([](auto v) { return sum(square(max<D>(v))); }), a);
  check<0>("norm", mesh, twice([](auto v) { return sum(norm<D>(v)); }), a);
  check<0>("norm_inf", mesh, twice([](auto v) { return sum(square(norm_inf<D>(v))); }), a);
  check<0>("var", mesh, twice([](auto v) { return sum(square(var<D>(v))); }), a);
  check<0>("softmax", mesh, twice([](auto v) { return sum(square(softmax<D>(v))); }), a);
}

TEST_CASE("values beside the loss") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_host<T<Dim<B, X>, Dim<D>>>(mesh, {2, 2}, std::vector<double>{1, 5, 4, 2});
  auto with_metrics = [](auto v) {
    auto m = max<Dim<D>>(v);
    return std::tuple(sum(square(m)), m, m * 2, 3);
  };
  auto const [both, gradient] = value_and_grad<0>(with_metrics, has_aux)(a);
  auto const& [loss, metrics] = both;
  CHECK(values(loss) == std::vector<double>{41});
  CHECK(values(gradient) == std::vector<double>{0, 10, 8, 0});
  CHECK(values(std::get<0>(metrics)) == std::vector<double>{4, 5});
  CHECK(values(std::get<1>(metrics)) == std::vector<double>{8, 10});
  CHECK(std::get<2>(metrics) == 3);
  auto with_one = [](auto v) { return std::pair(sum(max<Dim<D>>(v)), v * 3); };
  auto const [slope, one] = grad<0>(with_one, has_aux)(a);
  CHECK(values(slope) == std::vector<double>{0, 1, 1, 0});
  CHECK(values(one) == std::vector<double>{3, 15, 12, 6});
}

TEST_CASE("constants") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = make<T<Dim<B, X>, Dim<D>>>(mesh, {5, 3}, 1);
  auto with_constants = [](auto v) {
    return sum(where(any<D>(v > 0), max<D>(v), min<D>(v))) +
           sum(where(all<D>(v > 0), 1.0, cast<double>(argmax<D>(v))) * sum<D>(v));
  };
  check<0>("any, all, argmax", mesh, with_constants, a);
}
