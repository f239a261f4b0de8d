// The inverse and the determinant of one matrix over a grid of ranks: beside the same of whole
// matrices, in both orders of the dims; bytes and memory of plans; singular matrices and NaN, after
// which the next call works.
// RANKS: 1 2 3 4 6 8
// SOURCES: tests/shim/pmpi.cpp
// OPTIMIZE: 1
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/linalg.hpp"
#include "harness/on_ranks.hpp"
#include "harness/panel_ways.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using Int = std::int64_t;
using Z = Kokkos::complex<double>;
namespace lk = linalg::kernels;

template <class T>
T entry(Int i, Int j) {
  return linear::drawn<T>(i * 400 + j, 5);
}
template <class T, int block>
void check(Mesh<X, Y> const& mesh, Int n) {
  INFO("n " << n << ", blocks of " << block);
  using Rows = Dim<I, Cyclic<X, block>>;
  using Columns = Dim<J, Cyclic<Y, block>>;
  double const bound = 1e-9;
  auto const a = from_function<T, Rows, Columns>(mesh, {n, n}, &entry<T>);
  auto const turned =
      from_function<T, Columns, Rows>(mesh, {n, n}, [](Int j, Int i) { return entry<T>(i, j); });
  auto const whole = reshard<Dim<I>, Dim<J>>(a);

  auto const inverse = linalg::inv<I, J>(whole);
  auto const y = linalg::inv<I, J>(a);
  static_assert(std::is_same_v<std::remove_const_t<decltype(y)>,
                               Tensor<T, Dim<J, Cyclic<X, block>>, Dim<I, Cyclic<Y, block>>>>);
  CHECK(linear::distance(y, inverse) < bound);
  auto const of_turned = linalg::inv<I, J>(turned);
  static_assert(std::is_same_v<std::remove_const_t<decltype(of_turned)>,
                               Tensor<T, Dim<I, Cyclic<Y, block>>, Dim<J, Cyclic<X, block>>>>);
  CHECK(linear::distance(reshard<Dim<J>, Dim<I>>(of_turned), inverse) < bound);

  auto const [sign, logdet] = linalg::slogdet<I, J>(a);
  static_assert(std::is_same_v<std::remove_const_t<decltype(sign)>, Tensor<T>>);
  auto const expected = linalg::slogdet<I, J>(whole);
  CHECK(lk::modulus(item(sign) - item(expected.sign)) < 1e-11);
  CHECK(std::abs(item(logdet) - item(expected.logdet)) <
        1e-10 * (1 + std::abs(item(expected.logdet))));
  auto const product = item(linalg::det<I, J>(turned));
  auto const once = item(linalg::det<I, J>(whole));
  CHECK(lk::modulus(product - once) <= 1e-9 * lk::modulus(once));

  auto const lu = linalg::lu_factor<I, J>(a);
  panel_ways::measured(op::CyclicInverse<I, J>{}, lu.factors, lu.pivots);
  panel_ways::measured(op::CyclicLuProduct<I, J, linalg::detail::Product::whole>{}, lu.factors,
                       lu.pivots);
  panel_ways::measured(op::CyclicLuProduct<I, J, linalg::detail::Product::logarithm>{}, lu.factors,
                       lu.pivots);
}

}  // namespace

TEST_CASE("inverses and determinants over grids of ranks") {
  linear::on_grids<X, Y>([](Mesh<X, Y> const& mesh) {
    for (Int const n : {0, 1, 2, 7, 33}) {
      check<double, 1>(mesh, n);
      check<double, 8>(mesh, n);
    }
    check<double, 64>(mesh, 50);
    check<Z, 4>(mesh, 21);
  });
}

TEST_CASE("determinants beyond the range of a number over grids of ranks") {
  linear::on_grids<X, Y>([](Mesh<X, Y> const& mesh) {
    using A = Tensor<double, Dim<I, Cyclic<X, 4>>, Dim<J, Cyclic<Y, 4>>>;
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
  });
}

TEST_CASE("matrices over grids without an inverse are an error on all ranks") {
  linear::on_grids<X, Y>([](Mesh<X, Y> const& mesh) {
    using A = Tensor<double, Dim<I, Cyclic<X, 4>>, Dim<J, Cyclic<Y, 4>>>;
    auto const message = [](auto run) {
      try {
        run();
      } catch (Error const& e) {
        return std::string(e.what());
      }
      return std::string("none");
    };
    auto const zeros = from_function<A>(
        mesh, {9, 9}, [](Int i, Int j) { return j == 6 ? 0. : entry<double>(i, j); });
    auto const bad = from_function<A>(mesh, {9, 9}, [](Int i, Int j) {
      return i == 8 && j == 5 ? std::nan("") : entry<double>(i, j);
    });
    auto const good = from_function<A>(mesh, {9, 9}, &entry<double>);
    auto const fails = [&](auto function) {
      auto s = message([&] { (void)function(zeros); });
      CHECK(s.find("E80") != std::string::npos);
      CHECK(s.find("column 6 of J") != std::string::npos);
      s = message([&] { (void)function(bad); });
      CHECK(s.find("E82") != std::string::npos);
      CHECK(s.find("column 5 of J") != std::string::npos);
      CHECK(message([&] { (void)function(good); }) == "none");
    };
    fails([](auto const& a) { return linalg::inv<I, J>(a); });
    CHECK(item(linalg::det<I, J>(zeros)) == 0);
    CHECK(item(linalg::slogdet<I, J>(zeros).sign) == 0);
    CHECK(item(linalg::slogdet<I, J>(zeros).logdet) == -std::numeric_limits<double>::infinity());
    CHECK(message([&] { (void)linalg::det<I, J>(bad); }).find("E82") != std::string::npos);
    CHECK(message([&] { (void)linalg::slogdet<I, J>(good); }) == "none");
  });
}
