// Orthogonal factors, eigenvalues and singular values of stacks of matrices: the products give the
// matrix back, the vectors are orthonormal, the values are those of matrices that are made with
// them; gradients against differences.
// RANKS: 1 2 4
// NEEDS: LAPACK
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

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
using Z = Kokkos::complex<double>;

template <class T>
auto stack(auto const& mesh, std::int64_t count, std::int64_t m, std::int64_t n) {
  return from_function<T, Dim<I>, Dim<B, Y>, Dim<J>>(
      mesh, {m, count, n},
      [](auto i, auto t, auto j) { return linear::drawn<T>((t * 70 + i) * 70 + j, 6); });
}
template <class A>
auto hermitian(A const& a) {
  return (a + linalg::detail::conjugate(relabel<I, J, J, I>(a))).tensor();
}

template <class T>
void spectra(std::int64_t count, std::int64_t m, std::int64_t n, double tolerance) {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = stack<T>(mesh, count, m, n);
  auto const parts = linalg::svd<I, J, K>(a);
  auto const made = einsum<I, B, J>((parts.u * cast<T>(parts.s)).tensor(), parts.vh);
  CHECK(linear::distance((made - a).tensor()) < tolerance);
  auto const orthonormal =
      einsum<B, K, L>(linalg::detail::conjugate(parts.u), relabel<K, L>(parts.u));
  auto const identity = from_function<T, Dim<B, Y>, Dim<K>, Dim<L>>(
      mesh, {count, std::min(m, n), std::min(m, n)},
      [](auto, auto k, auto l) { return T(k == l ? 1 : 0); });
  CHECK(linear::distance((orthonormal - identity).tensor()) < tolerance);
  CHECK(linear::distance((linalg::svdvals<I, J, K>(a) - parts.s).tensor()) < tolerance);
  if (m != n) return;
  auto const h = hermitian(a);
  auto const eigen = linalg::eigh<I, J, K>(h);
  auto const left = (eigen.v * cast<T>(eigen.w)).tensor();
  auto const right = linalg::detail::conjugate(relabel<I, J>(eigen.v));
  CHECK(linear::distance((einsum<I, B, J>(left, right) - h).tensor()) < tolerance);
  CHECK(linear::distance((linalg::eigvalsh<I, J, K>(h) - eigen.w).tensor()) < tolerance);
  auto const values = to_host(eigen.w);
  bool rising = true;
  for (std::size_t k = 1; k < values.size(); ++k)
    rising = rising && (static_cast<std::int64_t>(k) % n == 0 || values[k - 1] <= values[k]);
  CHECK(rising);
}

}  // namespace

TEST_CASE("singular values and eigenvalues of stacks") {
  for (std::int64_t const n : {0, 1, 3, 33}) spectra<double>(5, n, n, 1e-12);
  spectra<double>(3, 7, 4, 1e-12);
  spectra<double>(1, 4, 7, 1e-12);
  spectra<Z>(5, 6, 6, 1e-12);
  spectra<Z>(0, 3, 5, 1e-12);
  spectra<float>(4, 8, 8, 1e-4);
}

TEST_CASE("a matrix with a NaN gives NaN in its own results") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a =
      from_function<double, Dim<B, Y>, Dim<I>, Dim<J>>(mesh, {6, 3, 3}, [](auto t, auto i, auto j) {
        return t == 2 && i == 1 ? std::nan("") : linear::drawn<double>(t * 9 + 3 * i + j, 8);
      });
  auto const w = to_host(linalg::eigvalsh<I, J, K>(a)), s = to_host(linalg::svdvals<I, J, K>(a));
  bool fits = true;
  for (std::size_t k = 0; k < w.size(); ++k)
    fits = fits && std::isnan(w[k]) == (k / 3 == 2) && std::isnan(s[k]) == (k / 3 == 2);
  CHECK(fits);
}

TEST_CASE("gradients of eigenvalues, of eigenvectors up to their phase, and of singular values") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = stack<double>(mesh, 3, 4, 4);
  check_grads([](auto const& m) { return linalg::eigvalsh<I, J, K>(hermitian(m)); }, a);
  check_grads([](auto const& m) { return square(linalg::eigh<I, J, K>(hermitian(m)).v).tensor(); },
              a);
  check_grads([](auto const& m) { return linalg::svdvals<I, J, K>(m); },
              stack<double>(mesh, 3, 5, 3));
  auto const z = stack<Z>(mesh, 2, 3, 3);
  check_grads([](auto const& m) { return linalg::eigvalsh<I, J, K>(hermitian(m)); }, z);
  check_grads([](auto const& m) { return linalg::svdvals<I, J, K>(m); }, z);
  check_grads(
      [](auto const& m) {
        auto const v = linalg::eigh<I, J, K>(hermitian(m)).v;
        return real(v * conj(v)).tensor();
      },
      z);
}

TEST_CASE("orthogonal factors and least squares") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const check = [&]<class T>(T, std::int64_t count, std::int64_t m, std::int64_t n) {
    auto const a = stack<T>(mesh, count, m, n);
    auto const parts = linalg::qr<I, J, K>(a);
    CHECK(linear::distance((einsum<I, B, J>(parts.q, parts.r) - a).tensor()) <
          1e-13 * double(m + 1));
    auto const gram = einsum<B, K, L>(linalg::detail::conjugate(parts.q), relabel<K, L>(parts.q));
    auto const identity = from_function<T, Dim<B, Y>, Dim<K>, Dim<L>>(
        mesh, {count, std::min(m, n), std::min(m, n)},
        [](auto, auto k, auto l) { return T(k == l ? 1 : 0); });
    CHECK(linear::distance((gram - identity).tensor()) < 1e-13 * double(m + 1));
    CHECK(linear::distance((triu<K, J>(parts.r) - parts.r).tensor()) == 0);
    if (m < n) return;
    // the residual is orthogonal to the columns
    auto const b = from_function<T, Dim<B, Y>, Dim<I>, Dim<L>>(
        mesh, {count, m, 2},
        [](auto t, auto i, auto l) { return linear::drawn<T>((t * 70 + i) * 70 + l, 9); });
    auto const x = linalg::lstsq<I, J>(a, b);
    auto const residual = (b - einsum<B, I, L>(a, x)).tensor();
    CHECK(linear::distance(einsum<B, J, L>(linalg::detail::conjugate(a), residual)) <
          1e-11 * double(m + 1));
  };
  for (std::int64_t const m : {0, 1, 5, 40}) check(1.0, 5, m, m);
  check(1.0, 3, 40, 4);
  check(1.0, 1, 3, 6);
  check(Z(1), 3, 6, 4);
  auto const a = stack<double>(mesh, 3, 5, 3);
  auto const z = stack<Z>(mesh, 2, 4, 3);
  check_grads([](auto const& m) { return linalg::qr<I, J, K>(m).q; }, a);
  check_grads([](auto const& m) { return linalg::qr<I, J, K>(m).r; }, a);
  auto const b = from_function<double, Dim<B, Y>, Dim<I>>(
      mesh, {3, 5}, [](auto t, auto i) { return linear::drawn<double>(t * 70 + i, 9); });
  check_grads([](auto const& m, auto const& v) { return linalg::lstsq<I, J>(m, v); }, a, b);
  check_grads([](auto const& m) { return real(linalg::qr<I, J, K>(m).r).tensor(); }, z);
}

TEST_CASE("least squares of lower rank: an error, or the solution of least norm") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const stack = [&]<class T>(T, std::int64_t m, std::int64_t n, std::int64_t rank, int e) {
    return from_function<T, Dim<B, Y>, Dim<I>, Dim<J>>(
        mesh, {3, m, n}, [=](auto t, auto i, auto j) {
          T const x = linear::drawn<T>((t * 70 + i) * 70 + (j < rank ? j : j - rank), 6);
          return linalg::kernels::times_power(x, e);
        });
  };
  auto const rights = [&]<class T>(T, std::int64_t m, int e) {
    return from_function<T, Dim<B, Y>, Dim<I>, Dim<L>>(
        mesh, {3, m, 2}, [=](auto t, auto i, auto l) {
          return linalg::kernels::times_power(linear::drawn<T>((t * 70 + i) * 70 + l, 9), e);
        });
  };
  auto const check = [&]<class T>(T one, std::int64_t m, std::int64_t n, std::int64_t rank) {
    INFO(m << " x " << n << ", rank " << rank);
    auto const a = stack(one, m, n, rank, 0);
    auto const b = rights(one, m, 0);
    auto const x = linalg::lstsq<I, J>(a, b, {.rcond = 1e-10});
    auto const y = linalg::pinv<I, J>(a, {.rtol = 1e-10});
    auto const expected = einsum<B, J, L>(y, b);
    CHECK(linear::distance(x, expected) < 1e-11);
    CHECK(linear::distance(linalg::lstsq<I, J>(a, b, linalg::LeastNorm{}), expected) < 1e-11);
    CHECK(linear::distance(linalg::lstsq<I, J>(a, b, 1e-10), expected) < 1e-11);
    for (int const e : {-1010, 1010})
      CHECK(
          linear::distance(linalg::lstsq<I, J>(stack(one, m, n, rank, e), rights(one, m, e), 1e-10),
                           expected) < 1e-9);
  };
  check(1.0, 9, 4, 4);
  check(1.0, 9, 4, 3);
  check(1.0, 3, 5, 3);
  check(1.0, 5, 5, 3);
  check(Z(1), 7, 4, 2);
  check(Z(1), 2, 4, 2);
  // each rank looks at its own matrices: an extent that all have
  auto const whole = reshard<Dim<B>, Dim<I>, Dim<J>>(stack(1.0, 9, 5, 3, 0));
  auto const right = reshard<Dim<B>, Dim<I>, Dim<L>>(rights(1.0, 9, 0));
  auto const message = [&](auto const& m) {
    try {
      (void)linalg::lstsq<I, J>(m, right);
    } catch (Error const& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(message(whole).find("E83] column 3 of J at B = 0 is zero or depends") != std::string::npos);
  auto const zeros =
      from_function<double, Dim<B>, Dim<I>, Dim<J>>(mesh, {3, 9, 5}, [](auto t, auto i, auto j) {
        return t == 1 && j == 2 ? 0. : linear::drawn<double>((t * 70 + i) * 70 + j, 6);
      });
  CHECK(message(zeros).find("column 2 of J at B = 1") != std::string::npos);
  CHECK(on_ranks::code_of([&] {
          (void)grad<0>([&](auto const& m) {
            return sum<Tensor<double>>(linalg::lstsq<I, J>(m, right));
          })(whole);
        }) == "E83");
  auto const wide = reshard<Dim<B>, Dim<I>, Dim<J>>(stack(1.0, 9, 12, 9, 0));
  CHECK(message(wide).find("E41] index I has extent 9 and J 12") != std::string::npos);
  auto const nan = map(linear::TimesPower{3000}, zeros);
  for (double const v : to_host(linalg::lstsq<I, J>(nan, right, 1e-10))) CHECK(std::isnan(v));
  // none at all
  CHECK(to_host(linalg::lstsq<I, J>(stack(1.0, 0, 3, 3, 0), rights(1.0, 0, 0), 1e-10)) ==
        std::vector<double>(18, 0.));
  auto const v = from_function<double, Dim<B, Y>, Dim<I>>(
      mesh, {3, 4}, [](auto t, auto i) { return linear::drawn<double>(t * 70 + i, 9); });
  check_grads([](auto const& m, auto const& r) { return linalg::lstsq<I, J>(m, r, 1e-10); },
              stack(1.0, 4, 6, 6, 0), v);
}
