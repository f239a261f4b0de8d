// Norms, conditions, ranks, powers and pseudo-inverses of stacks of matrices, and upper Cholesky
// factors, beside plain loops over the same numbers; singular matrices, NaN, matrices without
// elements; gradients against differences.
// RANKS: 1 2 4 8
// NEEDS: LAPACK
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/linalg.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using linalg::Norm;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct C : Index<"C"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
using Z = Kokkos::complex<double>;
using Int = std::int64_t;

template <class T>
T number(Int t, Int i, Int j) {
  return linear::drawn<T>((t * 70 + i) * 70 + j, 11);
}
// With two dims of matrices, one of them split over both axes, rows and columns not last.
template <class T>
auto stack(auto const& mesh, Int count, Int m, Int n) {
  return from_function<T, Dim<J>, Dim<B, X, Y>, Dim<I>, Dim<C>>(
      mesh, {n, count, m, 2},
      [](auto j, auto t, auto i, auto c) { return number<T>(2 * t + c, i, j); });
}
double size(auto const& x) { return static_cast<double>(linalg::kernels::modulus(x)); }

// The values of a result [B, C] beside those of `expected(matrix)`.
template <class A, class F>
void beside(A const& result, Int count, double tolerance, F const& expected) {
  auto const values = to_host(result);
  REQUIRE(values.size() == static_cast<std::size_t>(2 * count));
  bool fits = true;
  for (Int t = 0; t < 2 * count; ++t) {
    double const e = expected(t), v = static_cast<double>(values[static_cast<std::size_t>(t)]);
    fits = fits && std::abs(e - v) <= tolerance * (1 + std::abs(e));
  }
  CHECK(fits);
}

template <class T>
void norms(Int count, Int m, Int n, double tolerance) {
  INFO(count << " matrices of " << m << " x " << n);
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = stack<T>(mesh, count, m, n);
  auto const sizes = [](Int t, Int i, Int j) { return size(number<T>(t, i, j)); };
  beside(linalg::norm<I, J>(a), count, tolerance, [&](Int t) {
    double s = 0;
    for (Int i = 0; i < m; ++i)
      for (Int j = 0; j < n; ++j) s += sizes(t, i, j) * sizes(t, i, j);
    return std::sqrt(s);
  });
  auto const column = [&](Int t) {
    double most = 0;
    for (Int j = 0; j < n; ++j) {
      double s = 0;
      for (Int i = 0; i < m; ++i) s += sizes(t, i, j);
      most = std::max(most, s);
    }
    return most;
  };
  auto const row = [&](Int t) {
    double most = 0;
    for (Int i = 0; i < m; ++i) {
      double s = 0;
      for (Int j = 0; j < n; ++j) s += sizes(t, i, j);
      most = std::max(most, s);
    }
    return most;
  };
  beside(linalg::norm<I, J, Norm::one>(a), count, tolerance, column);
  beside(linalg::norm<I, J, Norm::infinity>(a), count, tolerance, row);
  beside(linalg::norm<J, I, Norm::infinity>(a), count, tolerance, column);
  // the largest singular value squared is the largest eigenvalue of a^H a
  auto const gram = einsum<B, C, J, K>(linalg::detail::conjugate(a), relabel<J, K>(a));
  auto const w = to_host(linalg::eigvalsh<J, K, L>(gram));
  beside(linalg::norm<I, J, Norm::two>(a), count, tolerance, [&](Int t) {
    return n == 0 ? 0 : std::sqrt(std::abs(double(w[static_cast<std::size_t>(t * n + n - 1)])));
  });
}

// A matrix of rank r: the product of m x r and r x n.
template <class T>
auto of_rank(auto const& mesh, Int count, Int m, Int n, Int r) {
  auto const left = from_function<T, Dim<B, Y>, Dim<I>, Dim<L>>(
      mesh, {count, m, r}, [](auto t, auto i, auto l) { return number<T>(t, i, l); });
  auto const right = from_function<T, Dim<B, Y>, Dim<L>, Dim<J>>(
      mesh, {count, r, n}, [](auto t, auto l, auto j) { return number<T>(t + 9, l, j); });
  return einsum<I, B, J>(left, right);
}

template <class T>
void inverses(Int count, Int m, Int n, Int r, double tolerance) {
  INFO(count << " matrices of " << m << " x " << n << " of rank " << r);
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = of_rank<T>(mesh, count, m, n, r);
  bool right = true;
  for (std::int32_t const rank : to_host(linalg::matrix_rank<I, J>(a))) right = right && rank == r;
  CHECK(right);
  // the four conditions of Penrose
  auto const p = linalg::pinv<I, J>(a);
  static_assert(
      std::is_same_v<std::remove_const_t<decltype(p)>, Tensor<T, Dim<J>, Dim<B, Y>, Dim<I>>>);
  auto const on_rows = einsum<B, I, K>(a, relabel<I, K>(p));
  auto const on_columns = einsum<B, J, K>(p, relabel<J, K>(a));
  CHECK(linear::distance((einsum<I, B, J>(on_rows, relabel<I, K>(a)) - a).tensor()) <= tolerance);
  CHECK(linear::distance((einsum<J, B, I>(on_columns, relabel<J, K>(p)) - p).tensor()) <=
        tolerance);
  CHECK(linear::distance(
            (on_rows - linalg::detail::conjugate(relabel<I, K, K, I>(on_rows))).tensor()) <=
        tolerance);
  CHECK(linear::distance(
            (on_columns - linalg::detail::conjugate(relabel<J, K, K, J>(on_columns))).tensor()) <=
        tolerance);
}

}  // namespace

TEST_CASE("norms of matrices and of vectors") {
  norms<double>(3, 4, 4, 1e-13);
  norms<double>(5, 7, 2, 1e-13);
  norms<double>(1, 1, 1, 1e-13);
  norms<double>(2, 0, 3, 0);
  norms<double>(2, 3, 0, 0);
  norms<double>(0, 3, 3, 0);
  norms<float>(3, 2, 5, 1e-5);
  norms<Z>(3, 3, 4, 1e-13);
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const v = from_function<double, Dim<B, X, Y>, Dim<I>>(mesh, {5, 3}, [](auto t, auto i) {
    return double(i == 0 ? 3 * t : i == 1 ? -4 * t : 0);
  });
  auto const two = to_host(linalg::norm<I>(v)), one = to_host(linalg::norm<I, Norm::one>(v)),
             most = to_host(linalg::norm<I, Norm::infinity>(v));
  bool fits = true;
  for (std::size_t t = 0; t < 5; ++t)
    fits = fits && two[t] == 5.0 * double(t) && one[t] == 7.0 * double(t) &&
           most[t] == 4.0 * double(t);
  CHECK(fits);
  // columns split over ranks: the largest of their sums is left unreduced, which a named reduction
  // ends
  auto const wide = from_function<double, Dim<I>, Dim<J, X, Y>>(
      mesh, {3, 9}, [](auto i, auto j) { return number<double>(0, i, j); });
  auto const part = linalg::norm<I, J, Norm::one>(wide);
  static_assert(
      std::is_same_v<std::remove_const_t<decltype(part)>, Tensor<double, Unreduced<Max, X, Y>>>);
  double expected = 0;
  for (Int j = 0; j < 9; ++j) {
    double s = 0;
    for (Int i = 0; i < 3; ++i) s += std::abs(number<double>(0, i, j));
    expected = std::max(expected, s);
  }
  CHECK(std::abs(item(reshard<>(part)) - expected) < 1e-14);
}

TEST_CASE("pseudo-inverses and ranks") {
  inverses<double>(5, 4, 4, 4, 1e-10);
  inverses<double>(3, 7, 4, 4, 1e-10);
  inverses<double>(3, 4, 7, 4, 1e-10);
  inverses<double>(3, 6, 5, 2, 1e-10);
  inverses<double>(1, 1, 1, 1, 1e-10);
  inverses<double>(2, 5, 4, 0, 0);
  inverses<double>(3, 0, 4, 0, 0);
  inverses<double>(0, 4, 4, 0, 0);
  inverses<Z>(3, 5, 4, 3, 1e-10);
  inverses<float>(3, 5, 3, 3, 1e-3);
  auto const mesh = on_ranks::two_axes<X, Y>();
  // diagonal 1, 1e-3, 1e-6: the cutoff says which of them are 0
  auto const d = from_function<double, Dim<B, Y>, Dim<I>, Dim<J>>(
      mesh, {2, 3, 3},
      [](auto, auto i, auto j) { return i == j ? std::pow(1e-3, double(i)) : 0.0; });
  for (int const rank : {1, 2, 3}) {
    linalg::Cutoff const cutoff{std::pow(1e-3, rank) * 2};
    for (std::int32_t const r : to_host(linalg::matrix_rank<I, J>(d, cutoff))) CHECK(r == rank);
    auto const p = to_host(linalg::pinv<I, J>(d, cutoff));
    for (std::size_t k = 0; k < 3; ++k)
      CHECK(std::abs(p[k * 4] - (int(k) < rank ? std::pow(1e3, double(k)) : 0)) <=
            1e-9 * p[0] * 1e6);
  }
}

TEST_CASE("powers of matrices") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const check = [&]<class T>(T, Int count, Int n) {
    auto const a = from_function<T, Dim<J>, Dim<B, Y>, Dim<I>>(
        mesh, {n, count, n},
        [](auto j, auto t, auto i) { return number<T>(t, i, j) + T(i == j ? 3 : 0); });
    auto const times = [](auto const& x, auto const& y) {
      return einsum<J, B, I>(relabel<J, K>(x), relabel<I, K>(y));
    };
    auto const near = [](auto const& x, auto const& y) {
      return linear::distance((x - y).tensor()) < 1e-9;
    };
    CHECK(linear::distance((linalg::matrix_power<I, J, 1>(a) - a).tensor()) == 0);
    auto const second = times(a, a);
    CHECK(near(linalg::matrix_power<I, J, 2>(a), second));
    CHECK(near(linalg::matrix_power<I, J, 5>(a), times(times(second, second), a)));
    auto const identity = linalg::matrix_power<I, J, 0>(a);
    CHECK(near(times(identity, a), a));
    CHECK(near(times(linalg::matrix_power<I, J, -1>(a), a), identity));
    CHECK(near(times(linalg::matrix_power<I, J, -3>(a), times(second, a)), identity));
    check_grads([](auto const& m) { return linalg::matrix_power<I, J, 3>(m); }, a);
    check_grads([](auto const& m) { return linalg::matrix_power<I, J, -2>(m); }, a);
  };
  check(1.0, 3, 3);
  check(1.0, 2, 1);
  check(1.0, 2, 0);
  check(1.0, 0, 2);
  check(Z(1), 3, 2);
}

TEST_CASE("conditions") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  // t = 0, 1: diagonal 1 to 10^-t; 2: singular; 3: zeros; 4: with a NaN
  auto const a =
      from_function<double, Dim<B, Y>, Dim<I>, Dim<J>>(mesh, {5, 3, 3}, [](auto t, auto i, auto j) {
        if (t == 4) return i == 0 && j == 2 ? std::nan("") : 1.0;
        return i != j || t == 3 ? 0.0 : i == 0 ? 1.0 : t == 2 ? 0.0 : std::pow(0.1, double(t));
      });
  auto const check = [](auto const& result, double second) {
    auto const v = to_host(result);
    CHECK(std::abs(v[0] - second * 1) < 1e-12);
    CHECK((std::isinf(v[2]) && std::isinf(v[3]) && v[2] > 0 && v[3] > 0));
    CHECK(std::isnan(v[4]));
    return v[1];
  };
  CHECK(std::abs(check(linalg::cond<I, J>(a), 1) - 10) < 1e-10);
  CHECK(std::abs(check(linalg::cond<I, J, Norm::one>(a), 1) - 10) < 1e-10);
  CHECK(std::abs(check(linalg::cond<I, J, Norm::infinity>(a), 1) - 10) < 1e-10);
  CHECK(std::abs(check(linalg::cond<I, J, Norm::frobenius>(a), 3) - std::sqrt(1.02 * 201)) < 1e-10);
  auto const n0 = from_function<double, Dim<B, Y>, Dim<I>, Dim<J>>(
      mesh, {2, 0, 0}, [](auto, auto, auto) { return 0.; });
  for (double const v : to_host(linalg::cond<I, J>(n0))) CHECK(v == 0);
  for (double const v : to_host(linalg::cond<I, J, Norm::one>(n0))) CHECK(v == 0);
  for (double const v : to_host(linalg::det<I, J>(n0))) CHECK(v == 1);
  for (double const v : to_host(linalg::slogdet<I, J>(n0).logdet)) CHECK(v == 0);
}

TEST_CASE("NaN stays in its own matrix") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a =
      from_function<double, Dim<B, Y>, Dim<I>, Dim<J>>(mesh, {6, 3, 2}, [](auto t, auto i, auto j) {
        return t == 2 && i == 1 ? std::nan("") : number<double>(t, i, j);
      });
  auto const p = to_host(linalg::pinv<I, J>(a));
  auto const rank = to_host(linalg::matrix_rank<I, J>(a));
  auto const two = to_host(linalg::norm<I, J, Norm::two>(a)),
             sums = to_host(linalg::norm<I, J, Norm::one>(a));
  bool fits = true;
  for (std::size_t t = 0; t < 6; ++t) {
    for (std::size_t k = 0; k < 6; ++k) fits = fits && std::isnan(p[t * 6 + k]) == (t == 2);
    fits = fits && rank[t] == (t == 2 ? 0 : 2) && std::isnan(two[t]) == (t == 2) &&
           std::isnan(sums[t]) == (t == 2);
  }
  CHECK(fits);
}

TEST_CASE("upper Cholesky factors") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const check = [&]<class T>(T, Int count, Int n) {
    auto const g = stack<T>(mesh, count, n, n);
    auto const a =
        einsum<I, B, C, J>(linalg::detail::conjugate(relabel<J, I, I, K>(g)), relabel<I, K>(g));
    auto const definite = (a + linalg::matrix_power<I, J, 0>(a)).tensor();
    // below the diagonal nothing is read
    auto const half = triu<I, J>(definite);
    auto const u = linalg::cholesky<I, J>(half, linalg::upper);
    CHECK(linear::distance((triu<I, J>(u) - u).tensor()) == 0);
    auto const made =
        einsum<I, B, C, J>(linalg::detail::conjugate(relabel<J, I, I, K>(u)), relabel<I, K>(u));
    CHECK(linear::distance((made - definite).tensor()) < 1e-12 * double(n + 1) * double(n + 1));
    auto const b = from_function<T, Dim<B, X, Y>, Dim<C>, Dim<I>, Dim<L>>(
        mesh, {count, 2, n, 3},
        [](auto t, auto c, auto i, auto l) { return number<T>(t + c, i, l); });
    auto const x = linalg::cholesky_solve<I, J>(u, b, linalg::upper);
    CHECK(linear::distance((einsum<B, C, I, L>(definite, x) - b).tensor()) < 1e-9);
    check_grads(
        [](auto const& m) {
          return linalg::cholesky<I, J>(
              einsum<I, B, C, J>(linalg::detail::conjugate(relabel<J, I, I, K>(m)),
                                 relabel<I, K>(m)),
              linalg::upper);
        },
        g);
  };
  check(1.0, 3, 4);
  check(1.0, 1, 1);
  check(1.0, 0, 2);
  check(Z(1), 2, 3);
  auto const big = stack<double>(mesh, 2, 40, 40);
  auto const a = (einsum<I, B, C, J>(relabel<J, I, I, K>(big), relabel<I, K>(big)) +
                  linalg::matrix_power<I, J, 0>(big))
                     .tensor();
  auto const u = linalg::cholesky<I, J>(a, linalg::upper);
  CHECK(linear::distance(
            (einsum<I, B, C, J>(relabel<J, I, I, K>(u), relabel<I, K>(u)) - a).tensor()) < 1e-9);
}

// Functions that consist of several operations see the labels and elements of expressions.
TEST_CASE("automatic mode") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const beside = [](auto const& got, auto const& expected) {
    CHECK(linear::distance((got - expected).tensor()) < 1e-11);
  };
  for (Int const count : {0, 1, 5}) {
    Int const n = 4;
    auto const a = from_function<Z, Dim<B, Y>, Dim<I>, Dim<J>>(
        mesh, {count, n, n},
        [](Int t, Int i, Int j) { return number<Z>(t, i, j) + Z(i == j ? 3. : 0.); });
    auto const h =
        from_function<Z, Dim<B, Y>, Dim<I>, Dim<J>>(mesh, {count, n, n}, [](Int t, Int i, Int j) {
          if (i == j) return Z(9);
          return i > j ? number<Z>(t, i, j) : linalg::kernels::conjugate(number<Z>(t, j, i));
        });
    auto const b = from_function<Z, Dim<B, Y>, Dim<I>, Dim<K>>(mesh, {count, n, 2}, &number<Z>);
    auto const rows = reshard<Dim<B>, Dim<I, Y>, Dim<J, X>>(a);
    using Out = Tensor<Z, Dim<B, Y>, Dim<J>, Dim<K>>;
    auto const x = linalg::solve<I, J>(h, b);
    auto const l = linalg::cholesky<I, J>(h);
    auto const u = linalg::cholesky<I, J>(lazy(h), linalg::upper);
    beside(evaluate<Out>(mesh, linalg::cholesky_solve<I, J>(lazy(l), lazy(b))), x);
    beside(evaluate<Out>(mesh, linalg::cholesky_solve<I, J>(u, lazy(b), linalg::upper)), x);
    beside(evaluate<Out>(mesh, linalg::lstsq<I, J>(lazy(rows), lazy(b))),
           linalg::lstsq<I, J>(a, b));
    beside(evaluate<Dim<B, Y>, Dim<I>, Dim<J>>(mesh, linalg::matrix_power<I, J, 3>(lazy(rows))),
           linalg::matrix_power<I, J, 3>(a));
    beside(evaluate<Dim<B, Y>, Dim<I>, Dim<J>>(mesh, linalg::matrix_power<I, J, -2>(lazy(rows))),
           linalg::matrix_power<I, J, -2>(a));
    beside(evaluate<Dim<B, Y>>(mesh, linalg::cond<I, J>(lazy(rows))), linalg::cond<I, J>(a));
    beside(evaluate<Dim<B, Y>>(mesh, linalg::cond<I, J, Norm::one>(lazy(rows))),
           linalg::cond<I, J, Norm::one>(a));
  }
}

TEST_CASE("gradients of pseudo-inverses, norms and conditions") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const pseudo = [](auto const& m) { return linalg::pinv<I, J>(m); };
  check_grads(pseudo, stack<double>(mesh, 2, 4, 3));
  check_grads(pseudo, stack<double>(mesh, 2, 3, 4));
  check_grads(pseudo, stack<double>(mesh, 1, 3, 3));
  check_grads(pseudo, stack<Z>(mesh, 2, 3, 2));
  check_grads(pseudo, stack<Z>(mesh, 1, 2, 3));
  auto const a = stack<double>(mesh, 2, 3, 3);
  auto const z = stack<Z>(mesh, 2, 3, 2);
  check_grads([](auto const& m) { return linalg::norm<I, J>(m); }, a);
  check_grads([](auto const& m) { return linalg::norm<I, J, Norm::one>(m); }, a);
  check_grads([](auto const& m) { return linalg::norm<I, J, Norm::infinity>(m); }, z);
  check_grads([](auto const& m) { return linalg::norm<I, J, Norm::two>(m); }, z);
  check_grads([](auto const& m) { return linalg::cond<I, J>(m); }, a);
  check_grads([](auto const& m) { return linalg::cond<I, J, Norm::frobenius>(m); }, a);
  check_grads(
      [](auto const& m) {
        return grad(
            [](auto const& v) { return sum<Tensor<double>>(square(linalg::pinv<I, J>(v))); })(m);
      },
      stack<double>(mesh, 1, 3, 2));
}

TEST_CASE("gradients of singular vectors, up to their sign and phase") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const left = [](auto const& m) { return square(linalg::svd<I, J, K>(m).u).tensor(); };
  auto const right = [](auto const& m) { return square(linalg::svd<I, J, K>(m).vh).tensor(); };
  for (auto const& [m, n] : {std::pair<Int, Int>{3, 3}, {4, 2}, {2, 4}, {1, 3}}) {
    auto const a = stack<double>(mesh, 2, m, n);
    check_grads(left, a);
    check_grads(right, a);
    // the product does not depend on the phase: all three cotangents together
    auto const z = stack<Z>(mesh, 1, m, n);
    check_grads(
        [](auto const& v) {
          auto const p = linalg::svd<I, J, K>(v);
          return einsum<I, B, C, J>((p.u * cast<Z>(square(p.s))).tensor(), p.vh);
        },
        z);
    check_grads(
        [](auto const& v) {
          auto const u = linalg::svd<I, J, K>(v).u;
          return real(u * conj(u)).tensor();
        },
        z);
    check_grads(
        [](auto const& v) {
          auto const w = linalg::svd<I, J, K>(v).vh;
          return real(w * conj(w)).tensor();
        },
        z);
  }
}
