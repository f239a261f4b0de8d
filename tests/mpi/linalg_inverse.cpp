// The inverse and the determinant of one matrix over many ranks, and right-hand sides that its axis
// splits: beside the same of whole matrices, in both orders of the dims, of both triangles'
// transposes; bytes and memory of plans; singular matrices.
// RANKS: 1 2 3 4 8
// SOURCES: tests/shim/pmpi.cpp
// OPTIMIZE: 1
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/linalg.hpp"
#include "harness/measured_plan.hpp"
#include "harness/on_ranks.hpp"
#include "harness/panel_ways.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using Int = std::int64_t;
using Z = Kokkos::complex<double>;
namespace lk = linalg::kernels;

template <class T>
T entry(Int i, Int j) {
  return linear::drawn<T>(i * 400 + j, 5);
}
template <class T, int block>
void check(Mesh<X> const& mesh, Int n, Int rights) {
  INFO("n " << n << ", blocks of " << block << ", " << rights << " right-hand sides");
  using Columns = Dim<J, Cyclic<X, block>>;
  using Rows = Dim<I, Cyclic<X, block>>;
  double const bound = 1e-9;
  auto const a = from_function<T, Dim<I>, Columns>(mesh, {n, n}, &entry<T>);
  auto const turned =
      from_function<T, Columns, Dim<I>>(mesh, {n, n}, [](Int j, Int i) { return entry<T>(i, j); });
  auto const by_rows = from_function<T, Rows, Dim<J>>(mesh, {n, n}, &entry<T>);
  auto const whole = reshard<Dim<I>, Dim<J>>(a);

  auto const inverse = linalg::inv<I, J>(whole);
  auto const y = linalg::inv<I, J>(a);
  static_assert(std::is_same_v<std::remove_const_t<decltype(y)>, Tensor<T, Dim<J>, Rows>>);
  CHECK(linear::distance(y, inverse) < bound);
  auto const of_turned = linalg::inv<I, J>(turned);
  static_assert(std::is_same_v<std::remove_const_t<decltype(of_turned)>, Tensor<T, Rows, Dim<J>>>);
  CHECK(linear::distance(reshard<Dim<J>, Dim<I>>(of_turned), inverse) < bound);
  auto const of_rows = linalg::inv<I, J>(by_rows);
  static_assert(std::is_same_v<std::remove_const_t<decltype(of_rows)>, Tensor<T, Columns, Dim<I>>>);
  CHECK(linear::distance(reshard<Dim<J>, Dim<I>>(of_rows), inverse) < bound);

  auto const [sign, logdet] = linalg::slogdet<I, J>(a);
  auto const expected = linalg::slogdet<I, J>(whole);
  CHECK(lk::modulus(item(sign) - item(expected.sign)) < 1e-11);
  CHECK(std::abs(item(logdet) - item(expected.logdet)) <
        1e-10 * (1 + std::abs(item(expected.logdet))));
  auto const product = item(linalg::det<I, J>(by_rows));
  auto const once = item(linalg::det<I, J>(whole));
  if (std::isfinite(static_cast<double>(lk::modulus(once))))
    CHECK(lk::modulus(product - once) <= 1e-9 * lk::modulus(once));

  // right-hand sides of each rank
  auto const b = from_function<T, Dim<I>, Dim<K>>(
      mesh, {n, rights}, [](Int i, Int k) { return entry<T>(i + 300, k); });
  auto const x = linalg::solve<I, J>(whole, b);
  auto const own = reshard<Dim<I>, Dim<K, X>>(b);
  auto const own_turned = reshard<Dim<K, Cyclic<X, 2>>, Dim<I>>(b);
  auto const one = linalg::solve<I, J>(a, own);
  static_assert(std::is_same_v<std::remove_const_t<decltype(one)>, Tensor<T, Dim<J>, Dim<K, X>>>);
  CHECK(linear::distance(one, x) < bound);
  CHECK(linear::distance(linalg::solve<I, J>(by_rows, own), x) < bound);
  CHECK(linear::distance(reshard<Dim<J>, Dim<K>>(linalg::solve<I, J>(turned, own_turned)), x) <
        bound);
  auto given = a.clone();
  CHECK(linear::distance(linalg::solve<I, J>(std::move(given), own), x) < bound);
  // of the transposed matrix
  auto const right = relabel<I, J>(b);
  auto const z = linalg::solve<J, I>(whole, right);
  auto const lu = linalg::lu_factor<I, J>(turned);
  auto const back = linalg::lu_solve<J, I>(lu, reshard<Dim<J>, Dim<K, X>>(right));
  static_assert(std::is_same_v<std::remove_const_t<decltype(back)>, Tensor<T, Dim<I>, Dim<K, X>>>);
  CHECK(linear::distance(back, z) < bound);

  auto const by_plan = panel_ways::measured(op::CyclicInverse<I, J>{}, lu.factors, lu.pivots);
  CHECK(linear::distance(reshard<Dim<J>, Dim<I>>(by_plan), inverse) < bound);
  panel_ways::measured(op::CyclicLuSolveOwn<I, J>{}, lu.factors, lu.pivots, own);
  panel_ways::measured(op::CyclicLuSolveOwn<I, J, true>{}, lu.factors, lu.pivots,
                       relabel<I, J>(own_turned));
  panel_ways::measured(op::CyclicLuProduct<I, J, linalg::detail::Product::whole>{}, lu.factors,
                       lu.pivots);
}

}  // namespace

TEST_CASE("inverses, determinants and own right-hand sides of one matrix over many ranks") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  for (Int const n : {0, 1, 2, 7, 33}) {
    check<double, 1>(mesh, n, 5);
    check<double, 8>(mesh, n, 3);
  }
  check<double, 64>(mesh, 130, 0);
  check<double, 32>(mesh, 130, 17);
  check<double, 48>(mesh, 300, 2);  // more than one wide panel of a rank that has all
  check<Z, 4>(mesh, 21, 6);
}

TEST_CASE("determinants beyond the range of a number, and singular matrices") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  using A = Tensor<double, Dim<I>, Dim<J, Cyclic<X, 4>>>;
  // alternately large and small on the diagonal: the product is 1, and -1 with two columns
  // exchanged
  auto const a = from_function<A>(mesh, {40, 40}, [](Int i, Int j) {
    Int const at = j < 2 ? 1 - j : j;
    return i == at ? (i % 2 == 0 ? 1e200 : 1e-200) : 0.;
  });
  CHECK(std::abs(item(linalg::det<I, J>(a)) + 1) < 1e-12);
  CHECK(item(linalg::slogdet<I, J>(a).sign) == -1);
  auto const big =
      from_function<A>(mesh, {40, 40}, [](Int i, Int j) { return i == j ? 1e20 : 0.; });
  CHECK(std::isinf(item(linalg::det<I, J>(big))));
  CHECK(std::abs(item(linalg::slogdet<I, J>(big).logdet) - 800 * std::log(10.)) < 1e-9);
  auto const zeros = from_function<A>(
      mesh, {9, 9}, [](Int i, Int j) { return j == 6 ? 0. : entry<double>(i, j); });
  CHECK(on_ranks::code_of([&] { (void)linalg::inv<I, J>(zeros); }) == "E80");
  CHECK(item(linalg::det<I, J>(zeros)) == 0);
  CHECK(item(linalg::slogdet<I, J>(zeros).sign) == 0);
  double const infinite = std::numeric_limits<double>::infinity();
  CHECK(item(linalg::slogdet<I, J>(zeros).logdet) == -infinite);
  auto const rows = from_function<double, Dim<I, Cyclic<X, 4>>, Dim<J>>(
      mesh, {9, 9}, [](Int i, Int j) { return i == 6 ? 0. : entry<double>(i, j); });
  CHECK(item(linalg::det<I, J>(rows)) == 0);
  auto const far = from_function<A>(mesh, {9, 9}, [infinite](Int i, Int j) {
    return i != j ? 0. : i == 2 ? infinite : i == 7 ? -infinite : 2.;
  });
  CHECK(item(linalg::slogdet<I, J>(far).sign) == -1);
  CHECK(item(linalg::slogdet<I, J>(far).logdet) == infinite);
  CHECK(item(linalg::det<I, J>(far)) == -infinite);
}

TEST_CASE("one matrix of subnormal or very large numbers is scaled where it is solved with") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  Int const n = 20;
  using A = Tensor<double, Dim<I>, Dim<J, Cyclic<X, 4>>>;
  auto const given = [](Int i, Int j) {
    return i == j ? 30. : std::round(5 * linear::drawn<double>(i * 40 + j, 8));
  };
  auto const a = from_function<A>(mesh, {n, n}, given);
  auto const b = from_function<double, Dim<I>>(mesh, {n}, [](Int i) { return 1. + double(i % 3); });
  auto const x = linalg::solve<I, J>(a, b);
  double const rcond = item(linalg::rcond<I, J>(a));
  for (int const e : {-1035, 1010}) {
    INFO("2^" << e);
    double const bound = e < 0 ? 1e-8 : 1e-13;
    auto const scaled = [e](double v) { return std::ldexp(v, e); };
    auto const m =
        from_function<A>(mesh, {n, n}, [=](Int i, Int j) { return scaled(given(i, j)); });
    auto const r = map(linear::TimesPower{e}, b);
    CHECK(linear::distance((linalg::solve<I, J>(m, r) - x).tensor()) < bound);
    auto const lu = linalg::lu_factor<I, J>(m);
    CHECK(linear::distance((linalg::lu_solve<I, J>(lu, r) - x).tensor()) < bound);
    CHECK(std::abs(item(linalg::rcond<I, J>(m)) / rcond - 1) < 10 * bound);
    auto const fit = linalg::lstsq<I, J>(m, r);
    CHECK(linear::distance((fit - x).tensor()) < bound);
  }
}
