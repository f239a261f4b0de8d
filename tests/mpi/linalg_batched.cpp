// Linear algebra of stacks of whole matrices beside LAPACK on one rank, or residuals: solve,
// factors, Cholesky, inverses and determinants, of matrices in every storage, of uneven and empty
// stacks; singular members; automatic and manual mode.
// RANKS: 1 2 4 8
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/linalg.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using linear::drawn;
using linear::Kind;
using linear::kinds;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct C : Index<"C"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using Z = Kokkos::complex<double>;

// Matrix t of a stack, with its size and right-hand sides, by global index: the same on all ranks.
template <class T>
struct Problem {
  std::int64_t count, n, width;
  Kind kind;
  T a(std::int64_t t, std::int64_t i, std::int64_t j) const {
    return linear::element<T>(kind, n, t, i, j);
  }
  T b(std::int64_t t, std::int64_t i, std::int64_t k) const {
    return drawn<T>(1000 * t + 40 * i + k, 17);
  }
  std::vector<T> matrix(std::int64_t t) const {
    std::vector<T> out;
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) out.push_back(a(t, i, j));
    return out;
  }
  std::vector<T> right(std::int64_t t) const {
    std::vector<T> out;
    for (std::int64_t k = 0; k < width; ++k)
      for (std::int64_t i = 0; i < n; ++i) out.push_back(b(t, i, k));
    return out;
  }
};

// Our backward errors of all members are at most ten times those of LAPACK, or of the precision.
// x[t, j, k] is at place(t, j, k) of `all`.
template <class T, class Place>
bool accurate(Problem<T> const& p, std::vector<T> const& all, Place place) {
  if (on_ranks::my_rank() != 0) return true;  // all ranks have the same numbers
  for (std::int64_t t = 0; t < p.count; ++t) {
    std::vector<T> ours;
    for (std::int64_t k = 0; k < p.width; ++k)
      for (std::int64_t j = 0; j < p.n; ++j)
        ours.push_back(all[static_cast<std::size_t>(place(t, j, k))]);
    auto const a = p.matrix(t), b = p.right(t);
    double const eps = std::numeric_limits<linalg::kernels::real_t<T>>::epsilon();
    double const bound =
        10 * std::max(eps, linear::backward_error(p.n, p.width, a, b,
                                                  linear::reference_solution(p.n, p.width, a, b)));
    double const error = linear::backward_error(p.n, p.width, a, b, ours);
    if (!(error <= bound)) {
      UNSCOPED_INFO(linear::name(p.kind) << " n " << p.n << " member " << t << " of " << p.count
                                         << ": " << error << ", bound " << bound);
      return false;
    }
  }
  return true;
}

template <class T>
void solutions(std::int64_t n, std::int64_t count, std::int64_t width, Kind kind) {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Problem<T> const p{count, n, width, kind};
  auto const a = from_function<T, Dim<B, Y>, Dim<I>, Dim<J>>(
      mesh, {count, n, n}, [p](auto t, auto i, auto j) { return p.a(t, i, j); });
  auto const b = from_function<T, Dim<B, Y>, Dim<I>, Dim<K>>(
      mesh, {count, n, width}, [p](auto t, auto i, auto k) { return p.b(t, i, k); });
  CHECK(accurate(p, to_host(linalg::solve<I, J>(a, b)),
                 [&](auto t, auto j, auto k) { return (t * n + j) * width + k; }));
  // columns before rows, the stack between them; right-hand sides before all, and split
  auto const turned = from_function<T, Dim<J>, Dim<B, Y>, Dim<I>>(
      mesh, {n, count, n}, [p](auto j, auto t, auto i) { return p.a(t, i, j); });
  auto const split = from_function<T, Dim<K, X>, Dim<I>, Dim<B, Y>>(
      mesh, {width, n, count}, [p](auto k, auto i, auto t) { return p.b(t, i, k); });
  CHECK(accurate(p, to_host(linalg::solve<I, J>(turned, split)),
                 [&](auto t, auto j, auto k) { return (k * n + j) * count + t; }));
  auto const lu = linalg::lu_factor<I, J>(turned);
  CHECK(accurate(p, to_host(linalg::lu_solve<I, J>(lu, b)),
                 [&](auto t, auto j, auto k) { return (t * n + j) * width + k; }));
}

constexpr std::int64_t orders[] = {0, 1, 2, 3, 8, 16, 31, 32, 33, 65};

}  // namespace

TEST_CASE("solutions of stacks, of every kind of matrix, in float, double and complex") {
  int const every = on_ranks::rank_total() > 2 ? 5 : 1;  // of many ranks, a fifth of the cases
  int round = 0;
  for (std::int64_t const n : orders)
    for (std::int64_t const width : {0, 1, 5}) {
      if (round++ % every != 0) continue;
      std::int64_t const counts[] = {9, 1, 0, 13};
      std::int64_t const count = n > 32 ? 3 : counts[round % 4];
      Kind const kind = kinds[static_cast<std::size_t>(round) % std::size(kinds)];
      solutions<double>(n, count, width, kind);
      if (round % 4 == 1) solutions<float>(n, count, width, linear::fits_float(kind));
      if (round % 4 == 2) solutions<Z>(n, count, width, kind);
    }
}

TEST_CASE("every kind of matrix, in lanes and alone") {
  std::int64_t round = 0;
  for (Kind const kind : kinds)
    for (std::int64_t const n : {7, 32, 40})
      if (round++ % (on_ranks::rank_total() == 1 ? 1 : 7) == 0) solutions<double>(n, 5, 2, kind);
}

TEST_CASE("factors and pivots are those of LAPACK, in lanes as alone") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::int64_t const n : {1, 5, 32, 40}) {
    // small integers: ties, and sums without rounding at first
    Problem<double> const p{7, n, 1, Kind::integers};
    auto const a = from_function<double, Dim<B, Y>, Dim<I>, Dim<J>>(
        mesh, {7, n, n}, [p](auto t, auto i, auto j) { return p.a(t, i, j); });
    auto const lu = linalg::lu_factor<I, J>(a);
    static_assert(std::is_same_v<decltype(lu.pivots), Tensor<std::int32_t, Dim<B, Y>, Dim<J>>>);
    auto const factors = to_host(lu.factors);
    auto const pivots = to_host(lu.pivots);
    bool fits = true;
    for (std::int64_t t = 0; t < 7; ++t) {
      auto m = p.matrix(t);
      std::vector<std::int32_t> expected(static_cast<std::size_t>(n));
      shardtype::linalg::kernels::factor_lu(n, m.data(), n, expected.data());
      for (std::int64_t k = 0; k < n; ++k)
        fits = fits &&
               pivots[static_cast<std::size_t>(t * n + k)] == expected[static_cast<std::size_t>(k)];
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          fits = fits && std::abs(factors[static_cast<std::size_t>((t * n + i) * n + j)] -
                                  m[static_cast<std::size_t>(i + j * n)]) < 1e-9 * double(n);
    }
    CHECK(fits);
  }
}

TEST_CASE("the transposed matrix, unreduced right-hand sides, and none at all") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::int64_t const n : {1, 4, 40}) {
    Problem<double> const p{5, n, 1, Kind::dominant};
    auto const a = from_function<double, Dim<B, Y>, Dim<I>, Dim<J>>(
        mesh, {5, n, n}, [p](auto t, auto i, auto j) { return p.a(t, i, j); });
    auto const v = from_function<double, Dim<B, Y>, Dim<J>>(
        mesh, {5, n}, [](auto t, auto j) { return drawn<double>(9 * t + j, 3); });
    auto const x = linalg::solve<J, I>(a, v);  // [B@Y, I]
    CHECK(linear::distance((einsum<B, J>(a, x) - v).tensor()) < 1e-12);
    auto const lu = linalg::lu_factor<I, J>(a);
    CHECK(linear::distance((linalg::lu_solve<J, I>(lu, v) - x).tensor()) < 1e-12);
    // one summand per rank along X
    auto const parts = from_function<double, Dim<B, Y>, Dim<C, X>, Dim<I>>(
        mesh, {5, 3, n},
        [](auto t, auto c, auto i) { return drawn<double>(90 * t + 9 * i + c, 3); });
    auto const sums = sum<C>(parts);
    auto const y = linalg::solve<I, J>(a, sums);
    static_assert(
        std::is_same_v<decltype(y), Tensor<double, Dim<B, Y>, Dim<J>, Unreduced<X>> const>);
    CHECK(linear::distance(
              (all_reduce<X>(y) - linalg::solve<I, J>(a, all_reduce<X>(sums))).tensor()) < 1e-12);
  }
}

TEST_CASE("Cholesky factors, triangular systems, inverses and determinants") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::int64_t const n : {0, 1, 2, 8, 31, 33}) {
    if (on_ranks::rank_total() > 2 && n != 2 && n != 33) continue;
    std::int64_t const count = n % 2 == 0 ? 5 : 11;
    Problem<double> const p{count, n, 2, Kind::random};
    auto const m = from_function<double, Dim<B, Y>, Dim<I>, Dim<K>>(
        mesh, {count, n, n + 3},
        [](auto t, auto i, auto k) { return drawn<double>(700 * t + 70 * i + k, 5); });
    auto const a = einsum<B, I, J>(m, relabel<I, J>(m));
    auto const l = linalg::cholesky<I, J>(a);
    auto const turned = transpose<J, B, I>(a);
    CHECK(linear::distance((transpose<B, I, J>(linalg::cholesky<I, J>(turned)) - l).tensor()) <
          1e-12);
    CHECK(linear::distance((tril<I, J>(l) - l).tensor()) == 0);
    auto const again = einsum<B, I, K>(l, relabel<I, K>(l));
    CHECK(linear::distance((relabel<K, J>(again) - a).tensor()) < 1e-12 * double(n + 1));
    auto const b = from_function<double, Dim<B, Y>, Dim<I>, Dim<C>>(
        mesh, {count, n, 2}, [p](auto t, auto i, auto k) { return p.b(t, i, k); });
    auto const x = linalg::cholesky_solve<I, J>(l, b);
    CHECK(linear::distance((einsum<B, I, C>(a, x) - b).tensor()) < 1e-9);
    auto const unit = linalg::triangular_solve<I, J>(l, b, {.upper = false, .unit = true});
    auto const below = tril<I, J>(l, -1);
    CHECK(linear::distance((einsum<B, I, C>(below, unit) + relabel<J, I>(unit) - b).tensor()) <
          1e-9);
    auto const upper = linalg::triangular_solve<J, I>(l, relabel<I, J>(b), {.upper = true});
    CHECK(linear::distance((einsum<B, J, C>(l, upper) - relabel<I, J>(b)).tensor()) < 1e-9);
    auto const y = linalg::inv<I, J>(a);  // [B@Y, J, I]
    CHECK(linear::distance((einsum<B, J, C>(y, b) - x).tensor()) < 1e-8);
    auto const both = linalg::slogdet<I, J>(a);
    auto const det = linalg::det<I, J>(a);
    auto const signs = to_host(both.sign), logs = to_host(both.logdet), dets = to_host(det);
    auto const factor = to_host(l);
    bool fits = signs.size() == static_cast<std::size_t>(count);
    for (std::size_t t = 0; t < static_cast<std::size_t>(count); ++t) {
      double expected = 0;
      for (std::int64_t k = 0; k < n; ++k)
        expected += 2 * std::log(factor[t * static_cast<std::size_t>(n * n) +
                                        static_cast<std::size_t>(k * (n + 1))]);
      fits =
          fits && signs[t] == 1 && std::abs(logs[t] - expected) < 1e-9 * (1 + std::abs(expected));
      fits = fits && std::abs(std::log(dets[t]) - expected) < 1e-9 * (1 + std::abs(expected));
    }
    CHECK(fits);
  }
}

TEST_CASE("a singular matrix gives NaN in its own result, and determinant 0") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::int64_t const n : {2, 8, 40}) {
    auto const a = from_function<double, Dim<B, Y>, Dim<I>, Dim<J>>(
        mesh, {11, n, n}, [n](auto t, auto i, auto j) {
          if (t == 4 && j == 1) return 0.0;
          return linear::element<double>(Kind::dominant, n, t, i, j);
        });
    auto const b = full<double, Dim<B, Y>, Dim<I>>(mesh, {11, n}, 1.0);
    auto const nans = [&](auto const& values, std::int64_t each) {
      auto const all = to_host(values);
      bool fits = true;
      for (std::size_t k = 0; k < all.size(); ++k)
        fits = fits && std::isnan(all[k]) == (static_cast<std::int64_t>(k) / each == 4);
      return fits;
    };
    CHECK(nans(linalg::solve<I, J>(a, b), n));
    CHECK(nans(linalg::inv<I, J>(a), n * n));
    CHECK(nans(linalg::lu_solve<I, J>(linalg::lu_factor<I, J>(a), b), n));
    CHECK(nans(linalg::triangular_solve<I, J>(a, b), n));
    CHECK(to_host(linalg::det<I, J>(a))[4] == 0);
    auto const both = linalg::slogdet<I, J>(a);
    CHECK(to_host(both.logdet)[4] == -std::numeric_limits<double>::infinity());
    auto const negative = from_function<double, Dim<B, Y>, Dim<I>, Dim<J>>(
        mesh, {11, n, n}, [n](auto t, auto i, auto j) {
          return i != j ? 0.0 : t == 4 && i == n - 1 ? -1.0 : 2.0;
        });
    CHECK(nans(linalg::cholesky<I, J>(negative), n * n));
  }
}

TEST_CASE("determinants do not overflow on the way, and say what is infinite") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  double const infinite = std::numeric_limits<double>::infinity(), nan = std::nan("");
  auto const of = [&]<class T>(T, std::vector<double> const& diagonal) {
    auto const n = static_cast<std::int64_t>(diagonal.size());
    auto const a =
        from_function<T, Dim<B, Y>, Dim<I>, Dim<J>>(mesh, {1, n, n}, [=](auto, auto i, auto j) {
          using R = linalg::kernels::real_t<T>;
          return T(i == j ? static_cast<R>(diagonal[static_cast<std::size_t>(i)]) : R(0));
        });
    auto const both = linalg::slogdet<I, J>(a);
    auto const real = [](auto const& x) {
      return static_cast<double>(linalg::kernels::real_part(to_host(x)[0]));
    };
    return std::array{real(linalg::det<I, J>(a)), real(both.sign), real(both.logdet)};
  };
  auto const all = [&]<class T>(T number, double large) {
    for (std::int64_t const n : {4, 40}) {
      std::vector<double> up, down;
      for (std::int64_t k = 0; k < n; ++k) {
        up.push_back(k < n / 2 ? large : 1 / large);
        down.push_back(k < n / 2 ? 1 / large : -large);
      }
      CHECK(of(number, up)[0] == Approx(1).epsilon(1e-5));
      CHECK(of(number, down)[0] == Approx(1).epsilon(1e-5));
    }
    CHECK(of(number, {2, infinite, -infinite}) == std::array{-infinite, -1., infinite});
    CHECK(of(number, {2, 0, infinite}) == std::array{0., 0., -infinite});
    CHECK(of(number, {0, nan}) == std::array{0., 0., -infinite});
    CHECK(std::isnan(of(number, {2, nan})[0]));
    CHECK(std::isnan(of(number, {2, nan})[2]));
  };
  all(1., 1e200);
  all(1.F, 1e30);
  all(Z(1), 1e200);
  CHECK(of(1., {nan, 1})[1] == 1);
}

// Results of matrices of integers times 2^e are those of the integers.
template <class T>
void subnormal(int least, int most) {
  using R = linalg::kernels::real_t<T>;
  auto const mesh = on_ranks::two_axes<X, Y>();
  double const eps = static_cast<double>(std::numeric_limits<R>::epsilon());
  for (std::int64_t const n : {1, 3, 36}) {
    auto const shift = static_cast<int>(4 * n);
    auto const stack = [&]<class... Dims>(detail::Pack<Dims...>, auto const& extents, int e) {
      return from_function<T, Dim<B, Y>, Dims...>(mesh, extents, [=](auto t, auto i, auto j) {
        T const x = drawn<T>(t * 4000 + i * 40 + j, 9);
        R const re = std::ldexp(
            std::round(4 * linalg::kernels::real_part(x)) + (i == j ? R(shift) : R(0)), e);
        if constexpr (linalg::kernels::is_complex<T>) {
          return T(re, std::ldexp(std::round(4 * x.imag()), e));
        } else {
          return re;
        }
      });
    };
    auto const matrices = [&](int e) {
      return stack(detail::Pack<Dim<I>, Dim<J>>{}, std::array{std::int64_t{3}, n, n}, e);
    };
    auto const rights = [&](int e) {
      return stack(detail::Pack<Dim<I>, Dim<K>>{}, std::array{std::int64_t{3}, n, std::int64_t{2}},
                   e);
    };
    auto const a = matrices(0);
    auto const b = rights(0);
    auto const x = linalg::solve<I, J>(a, b);
    auto const near = [&](auto const& got, auto const& want, double bound) {
      CHECK(linear::distance(got, want) < bound);
    };
    for (int const e : {least, most}) {
      INFO("n " << n << ", 2^" << e);
      auto const m = matrices(e);
      auto const r = rights(e);
      near(linalg::solve<I, J>(m, r), x, 100 * eps);
      near(linalg::rcond<I, J>(m), linalg::rcond<I, J>(a), 100 * eps);
      near(linalg::slogdet<I, J>(m).logdet,
           (linalg::slogdet<I, J>(a).logdet + R(double(e * n) * std::log(2.))).tensor(), 100 * eps);
      // U of lu_factor has the digits that subnormal numbers have
      double const digits = 100 * eps + (e < 0 ? 1000 * std::ldexp(1., -30) : 0);
      auto const lu = linalg::lu_factor<I, J>(m);
      near(linalg::lu_solve<I, J>(lu, r), x, digits);
      near(linalg::rcond<I, J>(lu, linalg::norm<I, J, linalg::Norm::one>(m)),
           linalg::rcond<I, J>(a), digits);
      near(linalg::lstsq<I, J>(m, r), x, digits);
    }
    // as small as has an inverse
    int const e = std::numeric_limits<R>::min_exponent + 2;
    auto const y = linalg::inv<I, J>(matrices(e));
    near(map(linear::TimesPower{e}, y), linalg::inv<I, J>(a), 100 * eps);
    near(linalg::triangular_solve<I, J>(matrices(e), rights(e)),
         linalg::triangular_solve<I, J>(a, b), 1e4 * eps);
  }
}
TEST_CASE("matrices of subnormal and of very large numbers are scaled") {
  subnormal<double>(-1044, 1010);
  subnormal<Z>(-1044, 1010);
  subnormal<Kokkos::complex<float>>(-119, 115);
  subnormal<float>(-119, 115);
}

TEST_CASE("automatic and manual mode") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  std::int64_t const n = 6;
  std::int64_t const count = 2 * on_ranks::rank_total();
  Problem<double> const p{count, n, 3, Kind::dominant};
  auto const a = from_function<double, Dim<B, Y>, Dim<I>, Dim<J>>(
      mesh, {count, n, n}, [p](auto t, auto i, auto j) { return p.a(t, i, j); });
  auto const b = from_function<double, Dim<B, Y>, Dim<I>, Dim<K>>(
      mesh, {count, n, 3}, [p](auto t, auto i, auto k) { return p.b(t, i, k); });
  auto const x = linalg::solve<I, J>(a, b);
  using Out = Tensor<double, Dim<B, Y>, Dim<J>, Dim<K>>;
  auto const planned = evaluate<Out>(mesh, linalg::solve<I, J>(lazy(a), lazy(b) + lazy(b)));
  CHECK(linear::distance((planned - x - x).tensor()) < 1e-12);
  // the planner moves the axis to the stack
  auto const rows = reshard<Tensor<double, Dim<B>, Dim<I, Y>, Dim<J>>>(a);
  CHECK(linear::distance(
            (evaluate<Out>(mesh, linalg::solve<I, J>(lazy(rows), lazy(b))) - x).tensor()) < 1e-12);
  auto const determinants = evaluate<Tensor<double, Dim<B, Y>>>(mesh, linalg::det<I, J>(lazy(a)));
  CHECK(linear::distance((determinants - linalg::det<I, J>(a)).tensor()) == 0);
  auto const blocks = shard_map<Dim<B, Y>, Dim<J>, Dim<K>>(
      [](auto m, auto v) { return linalg::lu_solve<I, J>(linalg::lu_factor<I, J>(m), v); }, a, b);
  CHECK(linear::distance((blocks - x).tensor()) < 1e-12);
}

TEST_CASE("errors name what does not fit") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = full<double, Dim<B, Y>, Dim<I>, Dim<J>>(mesh, {3, 4, 5}, 1.0);
  auto const b = full<double, Dim<B, Y>, Dim<I>>(mesh, {3, 4}, 1.0);
  CHECK(on_ranks::code_of([&] { linalg::solve<I, J>(a, b); }) == "E41");
  auto const square = full<double, Dim<B, Y>, Dim<I>, Dim<J>>(mesh, {3, 5, 5}, 1.0);
  CHECK(on_ranks::code_of([&] { linalg::solve<I, J>(square, b); }) == "E24");
  // each rank checks its own matrices
  auto const singular = full<double, Dim<B>, Dim<I>, Dim<J>>(mesh, {3, 5, 5}, 0.0);
  auto const right = full<double, Dim<B>, Dim<I>>(mesh, {3, 5}, 1.0);
  runtime::run_time.settings.check_values = true;
  CHECK(on_ranks::code_of([&] { linalg::solve<I, J>(singular, right); }) == "E80");
  CHECK(on_ranks::code_of([&] { linalg::inv<I, J>(singular); }) == "E80");
  CHECK(on_ranks::code_of([&] { linalg::cholesky<I, J>(singular); }) == "E81");
  runtime::run_time.settings.check_values = false;
}
