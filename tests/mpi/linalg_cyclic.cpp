// One matrix over many ranks by types: values in every order of the dims, real and complex, with
// right-hand sides that another axis splits; the bytes and memory of plans; errors, which all ranks
// throw alike. With panels in the window and by messages, with look-ahead and without: the same
// bits.
// SOURCES: tests/shim/pmpi.cpp
// OPTIMIZE: 1
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/measured_plan.hpp"
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

using Int = std::int64_t;
using C128 = Kokkos::complex<double>;

double number(Int i, Int j) {
  std::uint64_t h = (static_cast<std::uint64_t>(i) << 32U | static_cast<std::uint64_t>(j)) *
                    0x9E3779B97F4A7C15ULL;
  h ^= h >> 29U;
  h *= 0xBF58476D1CE4E5B9ULL;
  return static_cast<double>((h ^ h >> 32U) >> 11U) * 0x1p-53 - .5;
}
template <class T>
T element(Int i, Int j) {
  if constexpr (detail::is_complex<T>) {
    return T(number(i, j), number(j + 900, i));
  } else {
    return static_cast<T>(number(i, j));
  }
}
template <class T>
T conjugate(T const& x) {
  return linalg::kernels::conjugate(x);
}
// Hermitian, positive definite.
template <class T>
T definite(Int i, Int j, Int n) {
  if (i == j) return T(2 * static_cast<double>(n));
  return i > j ? element<T>(i, j) : conjugate(element<T>(j, i));
}

template <class T>
T right(Int i, Int k) {
  return element<T>(i + 333, k);
}

// The largest |b - A x| over all right-hand sides, for x(j, k) on each rank.
template <class T, class Matrix, class Solution>
double residual(Int n, Int rights, Matrix const& a, Solution const& x) {
  double worst = 0;
  for (Int k = 0; k < rights; ++k)
    for (Int i = 0; i < n; ++i) {
      T s = right<T>(i, k);
      for (Int j = 0; j < n; ++j) s -= a(i, j) * x(j, k);
      double const size = static_cast<double>(linalg::kernels::size_of(s));
      worst = size > worst || size != size ? size : worst;
    }
  return worst;
}

// `solution[J, K]` as a function; `first`: its label of the rows.
template <class T, class Row, class A>
auto on_all(A const& solution, Int rights) {
  auto const whole = reshard<Dim<Row>, Dim<K>>(solution);
  return [values = to_host(whole), rights](Int j, Int k) {
    return values[static_cast<std::size_t>(j * rights + k)];
  };
}

constexpr double bound = 1e-9;

template <class T, int block>
void solve_all_ways(Mesh<X, Y> const& mesh, Int n, Int rights) {
  INFO("n " << n << ", blocks of " << block << ", " << rights << " right-hand sides");
  using Columns = Dim<J, Cyclic<Y, block>>;
  auto const general = [](Int i, Int j) { return element<T>(i, j); };
  auto const hermitian = [n](Int i, Int j) { return definite<T>(i, j, n); };
  auto const a = from_function<T, Dim<I>, Columns>(mesh, {n, n}, general);
  auto const turned = from_function<T, Columns, Dim<I>>(
      mesh, {n, n}, [](Int j, Int i) { return element<T>(i, j); });
  auto const h = from_function<T, Dim<I>, Columns>(mesh, {n, n}, hermitian);
  auto const b = from_function<T, Dim<I>, Dim<K>>(mesh, {n, rights}, &right<T>);
  auto const b_split = from_function<T, Dim<K, X>, Dim<I>>(
      mesh, {rights, n}, [](Int k, Int i) { return right<T>(i, k); });
  auto const b_own = from_function<T, Columns, Dim<K>>(mesh, {n, rights}, &right<T>);

  CHECK(residual<T>(n, rights, general, on_all<T, J>(linalg::solve<I, J>(a, b), rights)) < bound);
  CHECK(residual<T>(n, rights, general,
                    on_all<T, J>(linalg::solve<I, J>(turned, b_split), rights)) < bound);

  auto const lu = linalg::lu_factor<I, J>(turned);
  static_assert(std::is_same_v<decltype(lu.pivots), Tensor<std::int32_t, Dim<J>>>);
  auto const x = linalg::lu_solve<I, J>(lu, b_split);
  static_assert(std::is_same_v<std::remove_const_t<decltype(x)>, Tensor<T, Dim<K, X>, Columns>>);
  CHECK(residual<T>(n, rights, general, on_all<T, J>(x, rights)) < bound);
  auto const z = linalg::lu_solve<J, I>(lu, b_own);
  static_assert(std::is_same_v<std::remove_const_t<decltype(z)>, Tensor<T, Dim<I>, Dim<K>>>);
  CHECK(residual<T>(
            n, rights, [&](Int j, Int i) { return general(i, j); }, on_all<T, I>(z, rights)) <
        bound);

  // the transposed matrix, with its rows block-cyclic
  auto const turned_x = linalg::solve<J, I>(turned, b_own);
  static_assert(std::is_same_v<std::remove_const_t<decltype(turned_x)>, Tensor<T, Dim<I>, Dim<K>>>);
  CHECK(residual<T>(
            n, rights, [&](Int j, Int i) { return general(i, j); },
            on_all<T, I>(turned_x, rights)) < bound);

  auto const l = linalg::cholesky<I, J>(h);
  CHECK(residual<T>(n, rights, hermitian,
                    on_all<T, J>(linalg::cholesky_solve<I, J>(l, b), rights)) < bound);
  // L is a triangle, and L L^H the matrix
  auto const whole = to_host(reshard<Dim<I>, Dim<J>>(l));
  auto const entry = [&](Int i, Int j) { return whole[static_cast<std::size_t>(i * n + j)]; };
  double worst = 0;
  for (Int i = 0; i < n; ++i)
    for (Int j = 0; j < n; ++j) {
      if (j > i && entry(i, j) != T(0)) worst = 1;
      T s = hermitian(i, j);
      for (Int k = 0; k <= std::min(i, j); ++k) s -= entry(i, k) * conjugate(entry(j, k));
      worst = std::max(worst, static_cast<double>(linalg::kernels::size_of(s)));
    }
  CHECK(worst < bound);
  auto const lower = linalg::triangular_solve<I, J>(l, b);
  CHECK(residual<T>(n, rights, entry, on_all<T, J>(lower, rights)) < bound);
  auto const back = linalg::triangular_solve<J, I>(l, b_own, {.upper = true});
  CHECK(residual<T>(
            n, rights, [&](Int i, Int j) { return entry(j, i); }, on_all<T, I>(back, rights)) <
        bound);
}

// The code of the Error that `call` throws, or "".
template <class Call>
std::string code_of(Call call, std::string* text = nullptr) {
  try {
    call();
  } catch (Error const& e) {
    CHECK(e.where() == FailedOn::every_rank);
    if (text != nullptr) *text = e.what();
    return e.code();
  }
  return "";
}

std::int64_t sum_of_ranks(std::int64_t mine) {
  std::int64_t all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

// What all ranks send is what their plans say: of a broadcast a plan counts what arrives, the shim
// what leaves. Memory is that of the plan at most, and by messages just that.
template <class Op, class Run, class... As>
void check_plan(char const* what, Op const& op, Run run, As const&... as) {
  INFO(what);
  Plan const plan = plan_at(op, as...);
  CHECK(plan.count(Collective::all_gather) == 0);
  CHECK(plan.count(Collective::all_reduce) == 0);
  std::int64_t const planned = plan.bytes(coords_in(op, as...));
  CHECK(planned <= plan.bytes_per_rank());
  auto& memory = runtime::run_time.memory;
  std::int64_t const before = memory.now();
  std::int64_t given = 0;
  ((given += measured_plan::block_bytes(as)), ...);
  memory.reset();
  panel_ways::Counted const counted;
  {
    auto const result = run();
    std::int64_t const messages = counted.messages();
    std::int64_t const windows = counted.windows();
    std::int64_t const held = memory.most() - before + given;
    CHECK(sum_of_ranks(messages + windows) == sum_of_ranks(planned));
    bool const window = runtime::run_time.settings.linalg.window;
    constexpr bool factors =
        std::is_same_v<Op, op::CyclicLu<I, J>> || std::is_same_v<Op, op::CyclicCholesky<I, J>>;
    if (factors) CHECK((window ? messages : windows) == 0);
    INFO("held " << held << ", planned " << plan.peak_bytes());
    CHECK(held <= plan.peak_bytes());
    if (plan.peak_bytes() >= measured_plan::large && !window)
      CHECK(static_cast<double>(plan.peak_bytes()) <=
            1.1 * static_cast<double>(measured_plan::most_of_ranks(held)));
  }
}

// The elements of a tensor and whether they are those that `first` holds, bit by bit; the first
// time they are put there.
template <class A>
bool same_bits(std::vector<typename A::element>& first, A const& a) {
  auto const now = to_host(a);
  if (first.empty()) first.assign(now.begin(), now.end());
  return first.size() == now.size() &&
         (now.empty() ||
          std::memcmp(first.data(), now.data(), now.size() * sizeof(typename A::element)) == 0);
}

// Factors, pivots and solutions of one matrix in each order of its dims, a copy or in place, in
// every way.
template <class T, class Rows, class Columns, int order>
void same_in_every_way(Mesh<X, Y> const& mesh, Int n, Int rights) {
  INFO("n " << n << ", order " << order << ", right-hand sides " << rights);
  auto const matrix = [&](auto f) {
    if constexpr (order == 0) {
      return from_function<T, Rows, Columns>(mesh, {n, n}, f);
    } else {
      return from_function<T, Columns, Rows>(mesh, {n, n}, [f](Int j, Int i) { return f(i, j); });
    }
  };
  auto const a = matrix([](Int i, Int j) { return element<T>(i, j); });
  auto const h = matrix([n](Int i, Int j) { return definite<T>(i, j, n); });
  auto const b = from_function<T, Rows, Dim<K>>(mesh, {n, rights}, &right<T>);
  std::vector<T> lu, l, x, y;
  std::vector<std::int32_t> pivots;
  panel_ways::in_each([&](panel_ways::Way const&) {
    for (bool const in_place : {false, true}) {
      INFO((in_place ? "in place" : "of a copy"));
      auto const factors =
          in_place ? linalg::lu_factor<I, J>(a.clone()) : linalg::lu_factor<I, J>(a);
      CHECK(same_bits(lu, reshard<Dim<I>, Dim<J>>(factors.factors)));
      CHECK(same_bits(pivots, factors.pivots));
      auto const lower = in_place ? linalg::cholesky<I, J>(h.clone()) : linalg::cholesky<I, J>(h);
      CHECK(same_bits(l, reshard<Dim<I>, Dim<J>>(lower)));
      auto const solved = in_place ? linalg::solve<I, J>(a.clone(), b) : linalg::solve<I, J>(a, b);
      CHECK(same_bits(x, reshard<Dim<J>, Dim<K>>(solved)));
      CHECK(same_bits(y, reshard<Dim<J>, Dim<K>>(linalg::solve<I, J>(a, b, linalg::refined))));
    }
  });
}

}  // namespace

TEST_CASE("factors and solutions in every order of the dims") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Int const n : {0, 1, 19, 40}) solve_all_ways<double, 8>(mesh, n, 3);
  solve_all_ways<double, 8>(mesh, 17, 0);
  for (Int const n : {1, 21}) solve_all_ways<C128, 4>(mesh, n, 2);
}

TEST_CASE("right-hand sides of one dim, and float") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  Int const n = 37;
  auto const a = from_function<float, Dim<I>, Dim<J, Cyclic<X, 5>>>(
      mesh, {n, n}, [](Int i, Int j) { return element<float>(i, j) + (i == j ? 4.F : 0.F); });
  auto const b = from_function<float, Dim<I>>(mesh, {n}, [](Int i) { return right<float>(i, 0); });
  auto const x = linalg::solve<I, J>(a, b);
  static_assert(
      std::is_same_v<std::remove_const_t<decltype(x)>, Tensor<float, Dim<J, Cyclic<X, 5>>>>);
  auto const values = to_host(reshard<Dim<J>>(x));
  CHECK(residual<float>(
            n, 1, [](Int i, Int j) { return element<float>(i, j) + (i == j ? 4.F : 0.F); },
            [&](Int j, Int) { return values[static_cast<std::size_t>(j)]; }) < 1e-4);
}

TEST_CASE("Cholesky with more blocks than are updated together") {
  if (on_ranks::rank_total() > 2) return;  // they would need too large a matrix
  Mesh<X> const mesh(MPI_COMM_WORLD);
  Int const n = 2100;
  static_assert(planning::cholesky_group(400) == 2);
  auto const entry = [](Int i, Int j) { return definite<double>(i, j, n); };
  auto const a = from_function<double, Dim<I>, Dim<J, Cyclic<X, 400>>>(mesh, {n, n}, entry);
  auto const b = from_function<double, Dim<I>, Dim<K>>(mesh, {n, 1}, &right<double>);
  auto const x = linalg::cholesky_solve<I, J>(linalg::cholesky<I, J>(a), b);
  CHECK(residual<double>(n, 1, entry, on_all<double, J>(x, 1)) < bound);
}

TEST_CASE("a named solve, from and to any sharding") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const n = 70;
  auto const general = [](Int i, Int j) { return element<double>(i, j); };
  auto const a = from_function<double, Dim<I, Y>, Dim<J, X>>(mesh, {n, n}, general);
  auto const b = from_function<double, Dim<I, X>, Dim<K, Y>>(mesh, {n, 3}, &right<double>);
  auto const x = linalg::solve<I, J, Dim<J, Y>, Dim<K, X>>(a, b);
  static_assert(
      std::is_same_v<std::remove_const_t<decltype(x)>, Tensor<double, Dim<J, Y>, Dim<K, X>>>);
  CHECK(residual<double>(n, 3, general, on_all<double, J>(x, 3)) < bound);
  auto const y = linalg::solve<I, J, Dim<K>, Dim<J, Cyclic<Y, 8>>>(a, b);
  CHECK(residual<double>(n, 3, general, on_all<double, J>(y, 3)) < bound);
}

TEST_CASE("factors do not depend on how panels travel") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using Few = Dim<J, Cyclic<Y, 8>>;
  using Many = Dim<J, Cyclic<Y, 64>>;
  for (Int const n : {0, 1, 7, 65, 130}) {
    same_in_every_way<double, Dim<I>, Few, 0>(mesh, n, 1);
    same_in_every_way<double, Dim<I>, Few, 1>(mesh, n, 5);
  }
  same_in_every_way<C128, Dim<I>, Few, 0>(mesh, 63, 0);
  same_in_every_way<float, Dim<I>, Many, 0>(mesh, 257, 1);
}

namespace {

void check_plans(Mesh<X> const& mesh) {
  // the peak is looked at closely from a megabyte on, which few ranks reach
  Int const largest = on_ranks::rank_total() > 3 ? 120 : 350;
  for (Int const n : {Int{0}, Int{5}, Int{64}, largest}) {
    INFO("n " << n);
    auto const a = from_function<double, Dim<I>, Dim<J, Cyclic<X, 16>>>(
        mesh, {n, n}, [n](Int i, Int j) { return definite<double>(i, j, n); });
    auto const b = from_function<double, Dim<I>, Dim<K>>(mesh, {n, 3}, &right<double>);
    auto const b_own =
        from_function<double, Dim<J, Cyclic<X, 16>>, Dim<K>>(mesh, {n, 3}, &right<double>);
    using Factor = op::CyclicLu<I, J>;
    check_plan("LU", Factor{}, [&] { return linalg::lu_factor<I, J>(a); }, a);
    check_plan("solve", op::CyclicSolve<I, J>{}, [&] { return linalg::solve<I, J>(a, b); }, a, b);
    check_plan(
        "Cholesky", op::CyclicCholesky<I, J>{}, [&] { return linalg::cholesky<I, J>(a); }, a);
    check_plan(
        "upper", op::CyclicTriangle<I, J>(false, false),
        [&] { return linalg::triangular_solve<I, J>(a, b, {.upper = true}); }, a, b);
    check_plan(
        "its transpose", op::CyclicTriangle<I, J, true>(false, false),
        [&] { return linalg::triangular_solve<J, I>(a, b_own); }, a, b_own);
    check_plan(
        "by Cholesky", op::CyclicCholeskySolve<I, J>{},
        [&] { return linalg::cholesky_solve<I, J>(a, b); }, a, b);
    CHECK(plan_at(Factor{}, a).count(Collective::broadcast) == (n + 15) / 16);
    // a matrix that is given away is factorized in its own memory: a block less
    auto given = a.clone();
    check_plan(
        "LU in place", Factor{true}, [&] { return linalg::lu_factor<I, J>(std::move(given)); },
        given);
    given = a.clone();
    check_plan(
        "solve in place", op::CyclicSolve<I, J>{true},
        [&] { return linalg::solve<I, J>(std::move(given), b); }, given, b);
    given = a.clone();
    check_plan(
        "Cholesky in place", op::CyclicCholesky<I, J>{true},
        [&] { return linalg::cholesky<I, J>(std::move(given)); }, given);
    std::int64_t const block = measured_plan::most_of_ranks(measured_plan::block_bytes(a));
    CHECK(plan_at(Factor{true}, a).peak_bytes() + block == plan_at(Factor{}, a).peak_bytes());
    CHECK(plan_at(op::CyclicSolve<I, J>{true}, a, b).peak_bytes() + block ==
          plan_at(op::CyclicSolve<I, J>{}, a, b).peak_bytes());
  }
}

}  // namespace

TEST_CASE("plans count what is sent, and gather nothing") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  panel_ways::prepare(mesh);
  panel_ways::in_each([&](panel_ways::Way const&) { check_plans(mesh); });
}

TEST_CASE("a matrix that is given away") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  Int const n = 41;
  auto const definite_at = [](Int i, Int j) { return definite<double>(i, j, n); };
  auto const a = from_function<double, Dim<I>, Dim<J, Cyclic<X, 4>>>(mesh, {n, n}, definite_at);
  auto const b = from_function<double, Dim<I>, Dim<K>>(mesh, {n, 2}, &right<double>);
  auto const b_own =
      from_function<double, Dim<J, Cyclic<X, 4>>, Dim<K>>(mesh, {n, 2}, &right<double>);
  auto const off = [&](auto const& x) {
    return residual<double>(n, 2, definite_at, on_all<double, J>(x, 2));
  };
  CHECK(off(linalg::lu_solve<I, J>(linalg::lu_factor<I, J>(a.clone()), b)) < bound);
  CHECK(off(linalg::solve<I, J>(a.clone(), b)) < bound);
  CHECK(residual<double>(n, 2, definite_at,
                         on_all<double, I>(linalg::solve<J, I>(a.clone(), b_own), 2)) < bound);
  CHECK(off(linalg::cholesky_solve<I, J>(linalg::cholesky<I, J>(a.clone()), b)) < bound);
  // what another tensor holds is not overwritten
  auto kept = a;
  CHECK(off(linalg::solve<I, J>(std::move(kept), b)) < bound);
  bool same = true;
  for (Int i = 0; auto const& x : to_host(reshard<Dim<I>, Dim<J>>(a))) {
    same = same && x == definite_at(i / n, i % n);
    ++i;
  }
  CHECK(same);
}

namespace {

void check_errors(Mesh<X> const& mesh) {
  Int const n = 29;
  auto const b = from_function<double, Dim<I>>(mesh, {n}, [](Int i) { return number(i, 9); });
  auto const matrix = [&](auto f) {
    return from_function<double, Dim<I>, Dim<J, Cyclic<X, 4>>>(mesh, {n, n}, f);
  };
  auto const good = matrix([](Int i, Int j) { return definite<double>(i, j, n); });
  std::string text;
  for (Int const bad : {Int{0}, Int{4}, Int{14}, n - 1}) {
    INFO("column " << bad);
    std::string const column = "column " + std::to_string(bad) + " of J";
    auto const zeros = matrix([bad](Int i, Int j) { return j == bad ? 0. : number(i, j); });
    CHECK(code_of([&] { linalg::solve<I, J>(zeros, b); }, &text) == "E80");
    CHECK(text.find(column) != std::string::npos);
    CHECK(code_of([&] { linalg::lu_factor<I, J>(zeros); }) == "E80");
    auto const nan = matrix([bad](Int i, Int j) {
      return i == n - 1 && j == bad ? std::numeric_limits<double>::quiet_NaN()
                                    : definite<double>(i, j, n);
    });
    CHECK(code_of([&] { linalg::solve<I, J>(nan, b); }, &text) == "E82");
    CHECK(text.find(column) != std::string::npos);
    CHECK(code_of([&] { linalg::cholesky<I, J>(nan); }, &text) == "E82");
    CHECK(text.find(column) != std::string::npos);
    auto const negative = matrix(
        [bad](Int i, Int j) { return i == j && i == bad ? -1. : definite<double>(i, j, n); });
    CHECK(code_of([&] { linalg::cholesky<I, J>(negative); }, &text) == "E81");
    CHECK(text.find(column) != std::string::npos);
    // and the next call works
    CHECK(code_of([&] { linalg::solve<I, J>(good, b); }) == "");
    CHECK(code_of([&] { linalg::cholesky<I, J>(good); }) == "");
  }
  auto const wide = from_function<double, Dim<I>, Dim<J, Cyclic<X, 4>>>(mesh, {n, n + 1}, &number);
  CHECK(code_of([&] { linalg::solve<I, J>(wide, b); }, &text) == "E41");
  CHECK(text.find("I has extent 29, and J 30") != std::string::npos);
  auto const longer = from_function<double, Dim<I>>(mesh, {n + 1}, [](Int) { return 1.; });
  CHECK(code_of([&] { linalg::solve<I, J>(good, longer); }) == "E24");
}

}  // namespace

TEST_CASE("a matrix without a solution is an error on all ranks") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  panel_ways::in_each([&](panel_ways::Way const&) { check_errors(mesh); });
}
