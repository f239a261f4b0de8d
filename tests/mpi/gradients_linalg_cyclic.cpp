// Gradients of solves with one matrix over many ranks, and of its determinant, against central
// differences; plans of both passes gather no matrix.
// RANKS: 1 2 4 6
#include <cmath>
#include <cstdint>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/linalg.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using Columns = Dim<J, Cyclic<Y, 2>>;

namespace proofs {
struct P : Axis<"P", 4> {};
struct N : Index<"N", 256> {};
struct M : Index<"M", 256> {};
using A = Tensor<double, Dim<N>, Dim<M, Cyclic<P, 32>>>;
using Right = Tensor<double, Dim<N>>;
inline constexpr auto loss = [](auto const& a, auto const& b) {
  return sum<Tensor<double>>(square(linalg::solve<N, M>(a, b)));
};
inline constexpr auto passes = plan(value_and_grad<0, 1>(loss), type<A>, type<Right>);
static_assert(passes.forward.count(Collective::all_gather) == 0);
static_assert(passes.backward.count(Collective::all_gather) == 0);
// the factorization is that of the forward pass: backward only the parts of the solution, twice
static_assert(passes.forward.count(Collective::broadcast) == 8);
static_assert(passes.backward.count(Collective::broadcast) == 16);
// of a logarithm of the determinant the factors come by once more, each block column of both
inline constexpr auto logdet = [](auto const& a) { return linalg::slogdet<N, M>(a).logdet; };
inline constexpr auto of_logdet = plan(value_and_grad(logdet), type<A>);
static_assert(of_logdet.forward.count(Collective::all_gather) == 0);
static_assert(of_logdet.backward.count(Collective::all_gather) == 0);
static_assert(of_logdet.forward.count(Collective::broadcast) == 8);
static_assert(of_logdet.backward.count(Collective::broadcast) == 16);
}  // namespace proofs

double matrix(std::int64_t i, std::int64_t j) {
  return linear::drawn<double>(i * 40 + j, 2) + (i == j ? 6. : 0.);
}
double right(std::int64_t i, std::int64_t k) { return linear::drawn<double>(i * 40 + k, 4); }

}  // namespace

TEST_CASE("gradients of solves with one matrix") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  std::int64_t const n = 7;
  auto const a = from_function<double, Dim<I>, Columns>(mesh, {n, n}, &matrix);
  auto const turned = from_function<double, Columns, Dim<I>>(
      mesh, {n, n}, [](auto j, auto i) { return matrix(i, j); });
  auto const b = from_function<double, Dim<I>, Dim<K>>(mesh, {n, 2}, &right);
  auto const b_split = from_function<double, Dim<K, X>, Dim<I>>(
      mesh, {3, n}, [](auto k, auto i) { return right(i, k); });
  auto const b_own = from_function<double, Columns, Dim<K>>(mesh, {n, 2}, &right);

  auto const solve = [](auto const& m, auto const& r) { return linalg::solve<I, J>(m, r); };
  check_grads(solve, a, b);
  check_grads(solve, turned, b_split);
  check_grads([](auto const& m, auto const& r) { return linalg::solve<J, I>(m, r); }, a, b_own);
  auto const lu = linalg::lu_factor<I, J>(a);
  check_grads([&](auto const& r) { return linalg::lu_solve<I, J>(lu, r); }, b);
  for (bool const upper : {false, true}) {
    check_grads(
        [&](auto const& m, auto const& r) {
          return linalg::triangular_solve<I, J>(m, r, {.upper = upper});
        },
        a, b);
    check_grads(
        [&](auto const& m, auto const& r) {
          return linalg::triangular_solve<J, I>(m, r, {.upper = upper, .unit = true});
        },
        a, b_own);
  }
}

TEST_CASE("gradients of the determinant of one matrix") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using C128 = Kokkos::complex<double>;
  std::int64_t const n = 7;
  auto const a = from_function<double, Dim<I>, Columns>(mesh, {n, n}, &matrix);
  auto const turned = from_function<double, Columns, Dim<I>>(
      mesh, {n, n}, [](auto j, auto i) { return matrix(i, j); });
  auto const by_rows = from_function<double, Dim<I, Cyclic<Y, 3>>, Dim<J>>(mesh, {n, n}, &matrix);
  auto const complex = from_function<C128, Dim<I>, Columns>(mesh, {n, n}, [](auto i, auto j) {
    return linear::drawn<C128>(i * 40 + j, 2) + (i == j ? 3. : 0.);
  });
  auto const logdet = [](auto const& m) { return linalg::slogdet<I, J>(m).logdet; };
  check_grads(logdet, a);
  check_grads(logdet, turned);
  check_grads(logdet, by_rows);
  check_grads(logdet, complex);
  auto const det = [](auto const& m) { return linalg::det<I, J>(m) * 1e-3; };
  check_grads(det, a);
  check_grads(det, by_rows);
  // of singular matrices the cofactors, of rank n - 1 and less
  for (std::int64_t const low : {6, 5}) {
    auto const singular = [=](auto i, auto j) { return matrix(i, j < low ? j : j - low); };
    check_grads(det, from_function<double, Dim<I>, Columns>(mesh, {n, n}, singular));
    check_grads(det, from_function<double, Dim<I, Cyclic<Y, 3>>, Dim<J>>(mesh, {n, n}, singular));
  }
  auto const sign = [](auto const& m) { return real(linalg::slogdet<I, J>(m).sign); };
  check_grads(sign, complex);
  // as that of the whole matrix, also of one element
  auto const whole = reshard<Dim<I>, Dim<J>>(a);
  CHECK(item(max<Tensor<double>>(
            abs(reshard<Dim<I>, Dim<J>>(grad(logdet)(a)) - grad(logdet)(whole)))) < 1e-12);
  auto const one = from_function<double, Dim<I>, Columns>(mesh, {1, 1}, &matrix);
  CHECK(std::abs(item(sum<Tensor<double>>(grad(logdet)(one))) - 1 / matrix(0, 0)) < 1e-14);
}
