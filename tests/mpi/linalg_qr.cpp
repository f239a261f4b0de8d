// QR of one matrix whose columns are block-cyclic: beside LAPACK's on the whole matrix, tall,
// square and wide, in both orders of the dims, real and complex, with ranks that hold nothing;
// least squares; what is sent and held, as planned.
// SOURCES: tests/shim/pmpi.cpp
// NEEDS: LAPACK
// OPTIMIZE: 1
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <source_location>
#include <string>
#include <type_traits>
#include <vector>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/random/random.hpp>
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
struct K : Index<"K"> {};
struct L : Index<"L"> {};
struct N : Index<"N"> {};
using Int = std::int64_t;
using C128 = Kokkos::complex<double>;

template <class T, int block, bool turned>
using Matrix = std::conditional_t<turned, Tensor<T, Dim<J, Cyclic<X, block>>, Dim<I>>,
                                  Tensor<T, Dim<I>, Dim<J, Cyclic<X, block>>>>;

template <class T, int block, bool turned>
void factorize(Mesh<X> const& mesh, Int m, Int n) {
  INFO(m << " x " << n << ", blocks of " << block << (turned ? ", columns first" : ""));
  double const bound =
      1e3 * static_cast<double>(std::numeric_limits<detail::real_of<T>>::epsilon());
  auto const extents = turned ? std::array{n, m} : std::array{m, n};
  auto const a = normal<Matrix<T, block, turned>>(mesh, extents, RandomKey{7});
  auto const made = linalg::qr<I, J, K>(a);
  using Columns = Dim<K, Cyclic<X, block>>;
  using Q = std::conditional_t<turned, Tensor<T, Columns, Dim<I>>, Tensor<T, Dim<I>, Columns>>;
  using R = std::conditional_t<turned, Tensor<T, Dim<J, Cyclic<X, block>>, Dim<K>>,
                               Tensor<T, Dim<K>, Dim<J, Cyclic<X, block>>>>;
  static_assert(std::is_same_v<decltype(made.q), Q> && std::is_same_v<decltype(made.r), R>);
  auto const whole = reshard<Dim<I>, Dim<J>>(a);
  auto const q = reshard<Dim<I>, Dim<K>>(made.q);
  auto const r = reshard<Dim<K>, Dim<J>>(made.r);
  Int const k = std::min(m, n);
  CHECK(q.template extent<K>() == k);
  CHECK(r.template extent<K>() == k);
  if (m == 0 || n == 0) return;
  CHECK(linear::distance(einsum<I, J>(q, r), whole) < bound);
  auto const unit = eye<T, Dim<K>, Dim<L>>(mesh, {k, k});
  CHECK(linear::distance(einsum<K, L>(conj(q), relabel<K, L>(q)), unit) < bound);
  CHECK(array_equal(triu<K, J>(r), r));
  // the reflectors are LAPACK's, so that the factors are, but for rounding
  auto const expected = linalg::qr<I, J, K>(whole);
  CHECK(linear::distance(q, expected.q) < 10 * bound);
  CHECK(linear::distance(r, expected.r) < 10 * bound);
}

template <class T, int block>
void factorize(Mesh<X> const& mesh, Int m, Int n) {
  panel_ways::in_each([&](panel_ways::Way const&) {
    factorize<T, block, false>(mesh, m, n);
    factorize<T, block, true>(mesh, m, n);
  });
}

// Plans of functions: q and r are values of their own. Least squares send each panel once, and
// gather several right-hand sides alone.
struct Four : Axis<"Four", 4> {};
struct Rows : Index<"Rows", 96> {};
struct Columns : Index<"Columns", 64> {};
using Data = Tensor<double, Dim<Rows>, Dim<Columns, Cyclic<Four, 8>>>;
constexpr auto triangle =
    plan([](auto const& a) { return linalg::qr<Rows, Columns, K>(a).r; }, type<Data>);
static_assert(triangle.count(Collective::all_gather) == 0 &&
              triangle.count(Collective::broadcast) == 16);
constexpr auto fit =
    plan([](auto const& a, auto const& b) { return linalg::lstsq<Rows, Columns>(a, b); },
         type<Data>, type<Tensor<double, Dim<Rows>>>);
static_assert(fit.count(Collective::all_gather) == 0 && fit.count(Collective::broadcast) == 8);
static_assert(fit.bytes_per_rank() <= triangle.bytes_per_rank() / 2 + 8 * (64 + 1));
struct Six : Index<"Six", 6> {};
constexpr auto several =
    plan([](auto const& a, auto const& b) { return linalg::lstsq<Rows, Columns>(a, b); },
         type<Data>, type<Tensor<double, Dim<Six>, Dim<Rows>>>);
static_assert(several.count(Collective::all_gather) == 1 &&
              several.count(Collective::broadcast) == 8);
static_assert(several.bytes_per_rank() <= triangle.bytes_per_rank() / 2 + 8 * (2 * 6 * 64 + 1));

}  // namespace

TEST_CASE("q and r of one matrix in blocks of columns") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  for (auto const& [m, n] : {std::array<Int, 2>{0, 0},
                             {0, 3},
                             {3, 0},
                             {1, 1},
                             {1, 6},
                             {6, 1},
                             {7, 7},
                             {33, 33},
                             {40, 17},
                             {17, 40},
                             {30, 64},
                             {64, 30}})
    factorize<double, 4>(mesh, m, n);
  for (auto const& [m, n] : {std::array<Int, 2>{1, 1}, {9, 21}, {21, 9}, {24, 24}})
    factorize<C128, 4>(mesh, m, n);
  factorize<double, 1>(mesh, 13, 11);
  factorize<double, 300>(mesh, 40, 30);
  factorize<float, 8>(mesh, 50, 34);
  factorize<Kokkos::complex<float>, 8>(mesh, 34, 50);
  factorize<double, 32>(mesh, 1100, 70);  // more rows than a product takes at a time
}

TEST_CASE("columns that depend on others, and a NaN") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  // rank 1
  auto const a = from_function<double, Dim<I>, Dim<J, Cyclic<X, 2>>>(
      mesh, {9, 7}, [](Int i, Int j) { return static_cast<double>((i + 1) * (j + 2)); });
  auto const [q, r] = linalg::qr<I, J, K>(a);
  auto const all_q = reshard<Dim<I>, Dim<K>>(q);
  CHECK(linear::distance(einsum<I, J>(all_q, reshard<Dim<K>, Dim<J>>(r)),
                         reshard<Dim<I>, Dim<J>>(a)) < 1e-11);
  auto const unit = eye<double, Dim<K>, Dim<L>>(mesh, {7, 7});
  CHECK(linear::distance(einsum<K, L>(all_q, relabel<K, L>(all_q)), unit) < 1e-12);
  // the columns before the NaN are numbers, those from it on are none
  auto const b =
      from_function<double, Dim<I>, Dim<J, Cyclic<X, 2>>>(mesh, {9, 7}, [](Int i, Int j) {
        return i == 4 && j == 3 ? std::numeric_limits<double>::quiet_NaN()
                                : std::cos(static_cast<double>(i * 7 + j * j));
      });
  auto const values = to_host(reshard<Dim<K>, Dim<J>>(linalg::qr<I, J, K>(b).r));
  CHECK(std::isfinite(values[1]));
  CHECK(std::isnan(values[3]));
  // and the next call works
  factorize<double, 4>(mesh, 12, 12);
}

TEST_CASE("any matrix, over many ranks and in stacks") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  auto const fits = [](auto const& parts, int kind, Int m, Int n) {
    auto const q = to_host(reshard<Dim<I>, Dim<K>>(parts.q));
    return linear::qr_error(kind, m, n, q, to_host(reshard<Dim<K>, Dim<J>>(parts.r))) <= 1;
  };
  for (auto const& [m, n] : {std::array<Int, 2>{10, 7}, {6, 9}}) {
    INFO(m << " x " << n);
    std::vector<int> bad;
    for (int kind = 0; kind < linear::qr_kinds; ++kind) {
      auto const whole = from_function<double, Dim<I>, Dim<J>>(
          mesh, {m, n}, [=](Int i, Int j) { return linear::qr_element<double>(kind, m, n, i, j); });
      auto const cyclic = reshard<Dim<I>, Dim<J, Cyclic<X, 2>>>(whole);
      if (!fits(linalg::qr<I, J, K>(cyclic), kind, m, n)) bad.push_back(kind);
      if (!fits(linalg::qr<I, J, K>(whole), kind, m, n)) bad.push_back(100 + kind);
    }
    CHECK(bad == std::vector<int>{});
  }
}

// x of a[I, J@X%n] and b[I, N], in both orders of the dims, beside stacks' lstsq on whole matrices.
template <class T, int block>
void fit_beside(Mesh<X> const& mesh, Int m, Int n, Int rights) {
  INFO(m << " x " << n << ", " << rights << ", blocks of " << block);
  double const bound =
      1e4 * static_cast<double>(std::numeric_limits<detail::real_of<T>>::epsilon());
  auto const a = normal<Matrix<T, block, false>>(mesh, {m, n}, RandomKey{1});
  auto const turned = normal<Matrix<T, block, true>>(mesh, {n, m}, RandomKey{1});
  auto const b = normal<T, Dim<I>, Dim<N>>(mesh, {m, rights}, RandomKey{2});
  auto const across = normal<T, Dim<N>, Dim<I>>(mesh, {rights, m}, RandomKey{2});
  auto const x = linalg::lstsq<I, J>(a, b);
  auto const y = linalg::lstsq<I, J>(turned, across);
  using Solution = Dim<J, Cyclic<X, block>>;
  static_assert(std::is_same_v<decltype(x), Tensor<T, Solution, Dim<N>> const>);
  static_assert(std::is_same_v<decltype(y), Tensor<T, Dim<N>, Solution> const>);
  if (rights == 0) return;
  CHECK(linear::distance(reshard<Dim<J>, Dim<N>>(x),
                         linalg::lstsq<I, J>(reshard<Dim<I>, Dim<J>>(a), b)) < bound);
  CHECK(linear::distance(reshard<Dim<N>, Dim<J>>(y),
                         linalg::lstsq<I, J>(reshard<Dim<J>, Dim<I>>(turned), across)) < bound);
}

TEST_CASE("least squares") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  panel_ways::in_each([&](panel_ways::Way const&) {
    for (auto const& [m, n, rights] : {std::array<Int, 3>{30, 11, 3},
                                       {11, 11, 1},
                                       {30, 1, 2},
                                       {20, 6, 0},
                                       {40, 23, 19},
                                       {70, 35, 8}})
      fit_beside<double, 4>(mesh, m, n, rights);
    fit_beside<C128, 2>(mesh, 25, 9, 5);
  });
  fit_beside<float, 300>(mesh, 40, 30, 4);
  fit_beside<Kokkos::complex<float>, 1>(mesh, 14, 6, 2);
  // a single right-hand side, the same on all ranks
  auto const z = normal<Matrix<C128, 4, true>>(mesh, {5, 9}, RandomKey{3});
  auto const one = normal<C128, Dim<I>>(mesh, {9}, RandomKey{4});
  CHECK(linear::distance(reshard<Dim<J>>(linalg::lstsq<I, J>(z, one)),
                         linalg::lstsq<I, J>(reshard<Dim<I>, Dim<J>>(z), one)) < 1e-11);
  auto const none = normal<Matrix<double, 4, false>>(mesh, {6, 0}, RandomKey{3});
  CHECK(linalg::lstsq<I, J>(none, normal<double, Dim<I>>(mesh, {6}, RandomKey{4}))
            .template extent<J>() == 0);
}

TEST_CASE("right-hand sides of least squares over a second axis") {
  int const ranks = on_ranks::rank_total();
  Mesh<Y, X> const mesh(MPI_COMM_WORLD,
                        {ranks % 2 == 0 ? 2 : 1, ranks % 2 == 0 ? ranks / 2 : ranks});
  auto const a = normal<Matrix<double, 3, false>>(mesh, {26, 13}, RandomKey{1});
  auto const whole = reshard<Dim<I>, Dim<J>>(a);
  auto const b = normal<double, Dim<I>, Dim<N>>(mesh, {26, 7}, RandomKey{2});
  auto const expected = linalg::lstsq<I, J>(whole, b);
  auto const near = [&](auto const& x) {
    return linear::distance(reshard<Dim<J>, Dim<N>>(x), expected) < 1e-11;
  };
  using Solution = Dim<J, Cyclic<X, 3>>;
  // split columns, in blocks or in turn
  auto const split = linalg::lstsq<I, J>(a, reshard<Dim<I>, Dim<N, Y>>(b));
  static_assert(std::is_same_v<decltype(split), Tensor<double, Solution, Dim<N, Y>> const>);
  CHECK(near(split));
  auto const cyclic = linalg::lstsq<I, J>(a, reshard<Dim<I>, Dim<N, Cyclic<Y, 2>>>(b));
  static_assert(
      std::is_same_v<decltype(cyclic), Tensor<double, Solution, Dim<N, Cyclic<Y, 2>>> const>);
  CHECK(near(cyclic));
  // a sum
  auto const part = from_function<double, Dim<N>, Dim<K, Y>>(
      mesh, {7, 7}, [](Int i, Int k) { return i == k ? 1. : 0.; });
  auto const sums =
      linalg::lstsq<I, J>(a, einsum<I, N>(part, reshard<Dim<I>, Dim<K, Y>>(relabel<N, K>(b))));
  static_assert(std::is_same_v<decltype(sums), Tensor<double, Solution, Dim<N>> const>);
  CHECK(near(sums));
}

TEST_CASE("the gradient of least squares with respect to the right-hand sides") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  auto const a = normal<Matrix<double, 3, false>>(mesh, {17, 10}, RandomKey{1});
  auto const b = normal<double, Dim<I>, Dim<N>>(mesh, {17, 4}, RandomKey{2});
  auto const [loss, of_b] = value_and_grad<1>([](auto const& m, auto const& r) {
    auto const x = linalg::lstsq<I, J>(m, used_as<Dim<I>, Dim<N>, Reduced<X>>(r));
    return all_reduce<X>(sum(square(x)));
  })(a, b);
  auto const [expected, of_whole] = value_and_grad<1>([](auto const& m, auto const& r) {
    return sum(square(linalg::lstsq<I, J>(m, r)));
  })(reshard<Dim<I>, Dim<J>>(a), b);
  CHECK(item(loss) == Approx(item(expected)));
  CHECK(linear::distance(of_b, of_whole) < 1e-11);
}

TEST_CASE("least squares of lower rank, or of a wide matrix, are an error on all ranks") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  auto const message = [&](Int m, Int n, Int rank) {
    auto const a = from_function<double, Dim<I>, Dim<J, Cyclic<X, 2>>>(
        mesh, {m, n}, [=](Int i, Int j) { return linear::drawn<double>(i * 100 + j % rank, 4); });
    auto const b = normal<double, Dim<I>>(mesh, {m}, RandomKey{2});
    try {
      (void)linalg::lstsq<I, J>(a, b);
    } catch (Error const& e) {
      CHECK(e.where() == FailedOn::every_rank);
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(message(20, 7, 7).empty());
  CHECK(message(20, 7, 5).find("E83] column 5 of J is zero or depends") != std::string::npos);
  CHECK(message(5, 7, 7).find("E41] index I has extent 5 and J 7") != std::string::npos);
  CHECK(message(20, 7, 7).empty());
  auto const a = normal<Matrix<double, 2, false>>(mesh, {20, 7}, RandomKey{1});
  auto const r = linalg::qr<I, J, K>(a).r;
  Plan const plan = plan_at(op::CyclicFullRank<I, J, K>{}, a, r);
  shim::reset();
  (void)call(op::CyclicFullRank<I, J, K>{}, std::source_location::current(), a, r);
  Int sent[2] = {shim::bytes(), plan.bytes(coords_in(op::CyclicFullRank<I, J, K>{}, a, r))}, all[2];
  MPI_Allreduce(sent, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all[0] == all[1]);
}

TEST_CASE("what qr sends and holds is what its plan says") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  panel_ways::prepare(mesh);
  // the peak is looked at closely from a megabyte on, which few ranks reach
  Int const largest = on_ranks::rank_total() > 3 ? 130 : 350;
  for (auto const& [m, n] : {std::array<Int, 2>{0, 5},
                             {5, 5},
                             {64, 40},
                             {40, 64},
                             {largest, largest},
                             {largest, largest / 2},
                             {largest / 2, largest}}) {
    INFO(m << " x " << n);
    auto const a = normal<Matrix<double, 16, false>>(mesh, {m, n}, RandomKey{5});
    panel_ways::in_each(
        [&](panel_ways::Way const&) { panel_ways::measured(op::CyclicQr<I, J, K>{}, a); });
    CHECK(plan_at(op::CyclicQr<I, J, K>{}, a).count(Collective::all_gather) == 0);
    CHECK(plan_at(op::CyclicQr<I, J, K>{}, a).count(Collective::broadcast) ==
          2 * core::ceil_div(std::min(m, n), 16));
  }
}

TEST_CASE("what least squares send and hold is what their plan says") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  panel_ways::prepare(mesh);
  Int const largest = on_ranks::rank_total() > 3 ? 130 : 350;
  for (auto const& [m, n, rights] : {std::array<Int, 3>{5, 0, 3},
                                     {5, 5, 1},
                                     {64, 40, 20},
                                     {largest, largest, 9},
                                     {largest, largest / 2, 3 * largest}}) {
    INFO(m << " x " << n << ", " << rights);
    auto const a = normal<Matrix<double, 16, false>>(mesh, {m, n}, RandomKey{5});
    auto const b = normal<double, Dim<N>, Dim<I>>(mesh, {rights, m}, RandomKey{6});
    auto const one = normal<double, Dim<I>>(mesh, {m}, RandomKey{6});
    op::CyclicQrWithRight<I, J, K> const op;
    panel_ways::in_each([&](panel_ways::Way const&) {
      panel_ways::measured(op, a, b);
      panel_ways::measured(op, a, one);
    });
    CHECK(plan_at(op, a, b).count(Collective::broadcast) == core::ceil_div(n, 16));
    CHECK(plan_at(op, a, b).collectives() == core::ceil_div(n, 16));
    CHECK(plan_at(op, a, b).flops() <= plan_at(op::CyclicQr<I, J, K>{}, a).flops() +
                                           (4 * m + 32) * core::ceil_div(n, 16) * 16 *
                                               core::ceil_div(rights, on_ranks::rank_total()));
  }
}
