// Gradients of linear algebra against central differences: real and complex matrices, in lanes and
// alone, stacks that are uneven and empty, right-hand sides that are split, second order; a
// backward pass sends what the types say.
// RANKS: 1 2 4
#include <cmath>
#include <cstdint>
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
struct A4 : Axis<"A4", 4> {};
using Z = Kokkos::complex<double>;

// The passes send nothing, and factor once.
namespace proofs {
struct P : Index<"P", 12> {};
struct N : Index<"N", 16> {};
struct M : Index<"M", 16> {};
using Mats = Tensor<double, Dim<P, A4>, Dim<N>, Dim<M>>;
using Right = Tensor<double, Dim<P, A4>, Dim<N>>;
inline constexpr auto loss = [](auto const& a, auto const& b) {
  return sum<Tensor<double>>(square(linalg::solve<N, M>(a, b)));
};
inline constexpr auto passes = plan(value_and_grad<0, 1>(loss), type<Mats>, type<Right>);
static_assert(passes.forward.collectives() == 1);
static_assert(passes.backward.collectives() == 0);
}  // namespace proofs

// Well conditioned matrices, [B, rows, columns], and right-hand sides.
template <class T, class Row, class Col>
auto matrices(auto const& mesh, std::int64_t count, std::int64_t n) {
  return from_function<T, Dim<B, Y>, Dim<Row>, Dim<Col>>(
      mesh, {count, n, n}, [n](auto t, auto i, auto j) {
        T const x = linear::drawn<T>((t * 40 + i) * 40 + j, 2);
        return i == j ? x + T(2 + 0.5 * double(n)) : x;
      });
}
template <class T>
void all_gradients(std::int64_t count, std::int64_t n) {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = matrices<T, I, J>(mesh, count, n);
  auto const turned =
      from_function<T, Dim<J>, Dim<B, Y>, Dim<I>>(mesh, {n, count, n}, [n](auto j, auto t, auto i) {
        T const x = linear::drawn<T>((t * 40 + i) * 40 + j, 2);
        return i == j ? x + T(2 + 0.5 * double(n)) : x;
      });
  auto const b = from_function<T, Dim<B, Y>, Dim<I>, Dim<K>>(
      mesh, {count, n, 2},
      [](auto t, auto i, auto k) { return linear::drawn<T>((t * 40 + i) * 40 + k, 4); });
  auto const v = from_function<T, Dim<I>, Dim<B, Y>>(
      mesh, {n, count}, [](auto i, auto t) { return linear::drawn<T>(t * 40 + i, 4); });
  auto const solve = [](auto const& m, auto const& r) { return linalg::solve<I, J>(m, r); };
  check_grads(solve, a, b);
  check_grads(solve, turned, v);
  auto const lu = linalg::lu_factor<I, J>(a);
  check_grads([&](auto const& r) { return linalg::lu_solve<I, J>(lu, r); }, v);
  for (bool const upper : {false, true})
    for (bool const unit : {false, true})
      check_grads(
          [&](auto const& m, auto const& r) {
            return linalg::triangular_solve<I, J>(m, r, {upper, unit});
          },
          unit ? (a / T(double(n + 2))).tensor() : a, v);
  // of m m^H, which is positive definite
  auto const product = [](auto const& m) {
    return einsum<B, I, K>(m, linalg::detail::conjugate(relabel<I, K>(m)));
  };
  check_grads([&](auto const& m) { return linalg::cholesky<I, K>(product(m)); }, turned);
  check_grads(
      [&](auto const& m, auto const& r) {
        return linalg::cholesky_solve<I, K>(linalg::cholesky<I, K>(product(m)), r);
      },
      a, v);
  check_grads([](auto const& m) { return linalg::inv<I, J>(m); }, turned);
  check_grads([](auto const& m) { return linalg::slogdet<I, J>(m).logdet; }, turned);
  if constexpr (linalg::kernels::is_complex<T>)
    check_grads([](auto const& m) { return linalg::slogdet<I, J>(m).sign; }, a);
  if (n < 5) check_grads([](auto const& m) { return linalg::det<I, J>(m); }, a);
}

}  // namespace

TEST_CASE("real matrices") {
  all_gradients<double>(5, 1);
  all_gradients<double>(3, 4);
  all_gradients<double>(1, 33);
}
TEST_CASE("complex matrices") {
  all_gradients<Z>(5, 1);
  all_gradients<Z>(3, 3);
}

TEST_CASE("right-hand sides that are split: the gradient of the matrix is a sum over their axis") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = matrices<double, I, J>(mesh, 3, 4);
  auto const b = from_function<double, Dim<B, Y>, Dim<I>, Dim<K, X>>(
      mesh, {3, 4, 3},
      [](auto t, auto i, auto k) { return linear::drawn<double>((t * 40 + i) * 40 + k, 4); });
  check_grads(
      [](auto const& m, auto const& r) { return linalg::solve<I, J>(used_as<Reduced<X>>(m), r); },
      a, b);
}

// The gradient of det, [B, I, J], of the matrices `element(t, i, j)`.
template <class T, class Element>
std::vector<T> slope_of_det(std::int64_t count, std::int64_t n, Element element) {
  auto const a = from_function<T, Dim<B, Y>, Dim<I>, Dim<J>>(on_ranks::two_axes<X, Y>(),
                                                             {count, n, n}, element);
  return to_host(
      grad<0>([](auto const& m) { return real(sum<Tensor<T>>(linalg::det<I, J>(m))); })(a));
}
TEST_CASE("the gradient of the determinant of a singular matrix has its cofactors") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  // member t has rank n - t, its dependent columns at places of its own; without a column; a shift
  auto const low = [](auto n) {
    return [n](auto t, auto i, auto j) {
      if (t == 3) return j == n / 2 ? 0. : linear::drawn<double>(i * 40 + j, 5);
      if (t == 4) return j == i + 1 ? 1. : 0.;
      return linear::drawn<double>(i * 40 + (j < t ? j + t : j), 5);
    };
  };
  for (std::int64_t const n : {4, 5})
    check_grads([](auto const& m) { return linalg::det<I, J>(m); },
                from_function<double, Dim<B, Y>, Dim<I>, Dim<J>>(mesh, {5, n, n}, low(n)));
  check_grads(
      [](auto const& m) { return real(linalg::det<I, J>(m)); },
      from_function<Z, Dim<B, Y>, Dim<I>, Dim<J>>(mesh, {2, 3, 3}, [](auto t, auto i, auto j) {
        return linear::drawn<Z>(i * 40 + (j < t ? j + t : j), 5);
      }));
  CHECK(slope_of_det<double>(1, 2, [](auto, auto i, auto j) {
          return double((i + 1) * (j + 1));
        }) == std::vector<double>{4, -2, -2, 1});
  CHECK(slope_of_det<double>(1, 3, [](auto, auto, auto) { return 0.; }) ==
        std::vector<double>(9, 0.));
  CHECK(slope_of_det<double>(1, 1, [](auto, auto, auto) { return 0.; }) == std::vector<double>{1});
  // where the determinant or the inverse is no number
  auto const diagonal = [](double x, double y, double z) {
    return slope_of_det<double>(1, 3, [=](auto, auto i, auto j) {
      return i != j ? 0. : i == 0 ? x : i == 1 ? y : z;
    });
  };
  CHECK(diagonal(1e200, 1e200, 1e-300)[0] == Approx(1e-100).epsilon(1e-12));
  CHECK(diagonal(1e200, 1e100, 1e100)[4] == Approx(1e300).epsilon(1e-12));
  CHECK(diagonal(1e-200, 1e-200, 1)[0] == Approx(1e-200).epsilon(1e-12).scale(0));
  CHECK(diagonal(4e-310, 1, 1)[4] == Approx(4e-310).epsilon(1e-12).scale(0));
}

TEST_CASE("second order") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = matrices<double, I, J>(mesh, 3, 3);
  auto const v = from_function<double, Dim<B, Y>, Dim<I>>(
      mesh, {3, 3}, [](auto t, auto i) { return linear::drawn<double>(t * 40 + i, 4); });
  auto const slope = [](auto const& f) { return [f](auto const& m) { return grad(f)(m); }; };
  check_grads(
      slope([v](auto const& m) { return sum<Tensor<double>>(square(linalg::solve<I, J>(m, v))); }),
      a);
  check_grads(
      slope([](auto const& m) { return sum<Tensor<double>>(linalg::slogdet<I, J>(m).logdet); }), a);
  check_grads(slope([](auto const& m) {
                return sum<Tensor<double>>(
                    square(linalg::cholesky<I, K>(einsum<B, I, K>(m, relabel<I, K>(m)))));
              }),
              a);
}
