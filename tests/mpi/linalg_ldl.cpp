// L D L^H of one matrix over many ranks, by columns and over a grid: against a dense reference and
// Cholesky, d with the same bits on all ranks, solutions, errors, bytes, messages and memory as
// planned, with panels in windows and by messages, in place, recorded, and plans from types.
// SOURCES: tests/shim/pmpi.cpp
// OPTIMIZE: 1
// TIMEOUT: 400
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/linalg.hpp"
#include "harness/recorded_calls.hpp"

using namespace shardtype;
using recorded::Bytes;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using Int = std::int64_t;
using C128 = Kokkos::complex<double>;
using Ldl = op::CyclicLdl<I, J>;
using LdlSolve = op::CyclicLdlSolve<I, J>;

// Types, refusals, and plans from types alone.
namespace proofs {
struct A2 : Axis<"A2", 2> {};
struct A4 : Axis<"A4", 4> {};
struct R : Index<"R", 150> {};
struct C : Index<"C", 150> {};
template <class T>
using Columns = Tensor<T, Dim<R>, Dim<C, Cyclic<A4, 16>>>;
template <class T>
using Grid = Tensor<T, Dim<R, Cyclic<A4, 16>>, Dim<C, Cyclic<A2, 16>>>;
using Factor = op::CyclicLdl<R, C>;
using Cholesky = op::CyclicCholesky<R, C>;
using Solve = op::CyclicLdlSolve<R, C>;
using D = Tensor<double, Dim<C>>;
using Right = Tensor<double, Dim<R>, Dim<K>>;
template <class A>
using factors_t = decltype(linalg::ldl_factor<R, C>(std::declval<A const&>()));
static_assert(std::is_same_v<factors_t<Columns<float>>,
                             linalg::LDL<R, C, Columns<float>, Tensor<float, Dim<C>>>>);
static_assert(std::is_same_v<factors_t<Grid<C128>>, linalg::LDL<R, C, Grid<C128>, D>>);
static_assert(std::is_same_v<result_t<Solve, Columns<C128>, D, Tensor<C128, Dim<R>>>,
                             Tensor<C128, Dim<C, Cyclic<A4, 16>>>>);
using rules::Code;
template <class Op, class... As>
constexpr Code code = checking::Resolve<Op, As...>::verdict.code;
static_assert(code<Factor, Tensor<double, Dim<R, Cyclic<A4, 16>>, Dim<C>>> ==
              Code::Q04_rows_cyclic);
static_assert(code<Factor, Tensor<double, Dim<R>, Dim<C>>> == Code::Q05_one_matrix);
static_assert(code<Factor, Tensor<std::int32_t, Dim<R>, Dim<C, Cyclic<A4, 16>>>> ==
              Code::P12_not_floating);
static_assert(code<Solve, Columns<double>, Tensor<double, Dim<C, A2>>, Right> ==
              Code::Q05_one_matrix);
static_assert(code<Solve, Columns<double>, Tensor<float, Dim<C>>, Right> ==
              Code::C10_element_types_differ);
static_assert(code<Solve, Columns<C128>, Tensor<C128, Dim<C>>, Tensor<C128, Dim<R>>> ==
              Code::C10_element_types_differ);

// of split columns the panels are those of Cholesky
constexpr Plan columns = plan(Factor{}, type<Columns<double>>);
constexpr Plan of_cholesky = plan(Cholesky{}, type<Columns<double>>);
static_assert(columns.count(Collective::broadcast) == 10);
static_assert(columns.count(Collective::all_gather) == 0);
static_assert(columns.bytes_per_rank() == of_cholesky.bytes_per_rank());
static_assert(columns.messages() == of_cholesky.messages());
static_assert(columns.flops() == of_cholesky.flops());
static_assert(columns.peak_bytes() == of_cholesky.peak_bytes() + 150 * 8);
static_assert(plan(Factor{true}, type<Columns<double>>).peak_bytes() + 150 * 48 * 8 ==
              columns.peak_bytes());
// over a grid the triangle and an empty tail go along too, in place of whether it failed: of rank
// (0, 0), which receives the panels of the other process column, 9 x 16 or 6 columns
constexpr Plan grid = plan(Factor{}, type<Grid<double>>);
constexpr Plan grid_cholesky = plan(Cholesky{}, type<Grid<double>>);
static_assert(grid.messages() == grid_cholesky.messages());
static_assert(grid.count(Collective::all_to_all) == 0);
static_assert(grid.count(Collective::broadcast) == 4 * 10);
static_assert(grid.flops() == grid_cholesky.flops());
static_assert(grid.peak_bytes() == grid_cholesky.peak_bytes() + 150 * 8);
constexpr Int tail(Int width) { return (4 * (width + 1) + 7) / 8 - 1; }
constexpr Int along = 4 * (16 * 16 + tail(16)) + 6 * 6 + tail(6);  // panels 1, 3, 5, 7, 9
constexpr Int down = 5 * tail(16);                                 // panels 0, 2, 4, 6, 8
static_assert(grid.bytes({{1, 0}}) == grid_cholesky.bytes({{1, 0}}) + 8 * (along + down) ||
              grid.bytes({{0, 1}}) == grid_cholesky.bytes({{0, 1}}) + 8 * (along + down));

constexpr auto factors = [](auto const& a) {
  return evaluate<Dim<R>, Dim<C, Cyclic<A4, 16>>>(linalg::ldl_factor<R, C>(a).l);
};
static_assert(recorded::same_plan(
    plan_traced<automatic_mode::Axes<A2, A4>, Columns<double>>(factors), columns));

// no gradient: X03
static_assert(!autodiff::Vjp<Factor>::exists && !autodiff::Vjp<Solve>::exists);
}  // namespace proofs

// Hermitian; the diagonal decides: definite, quasi-definite [H, A^H; A, -C], negative definite.
enum class Sign { positive, mixed, negative };
constexpr Sign signs[] = {Sign::positive, Sign::mixed, Sign::negative};
template <class T>
T entry(Sign sign, Int n, Int i, Int j) {
  auto const drawn = [](Int a, Int b) { return linear::drawn<T>(a * 500 + b, 3); };
  bool const second = i >= n / 2;
  bool const minus = sign == Sign::negative || (sign == Sign::mixed && second);
  double const size = 2. * static_cast<double>(n) + static_cast<double>(i % 7);
  if (i == j) return T(static_cast<linalg::kernels::real_t<T>>(minus ? -size : size));
  return i > j ? drawn(i, j) : linalg::kernels::conjugate(drawn(j, i));
}
template <class T>
double size_of(T const& x) {
  return static_cast<double>(linalg::kernels::modulus(x));
}
template <class T>
constexpr double bound = sizeof(linalg::kernels::real_t<T>) == 4 ? 2e-3 : 1e-10;

// On all ranks the same bits.
template <class T>
bool same_on_ranks(std::vector<T> const& mine) {
  std::vector<T> first = mine;
  auto const bytes = static_cast<int>(mine.size() * sizeof(T));
  MPI_Bcast(first.data(), bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  int same =
      bytes == 0 || std::memcmp(first.data(), mine.data(), static_cast<std::size_t>(bytes)) == 0;
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return same == 1;
}
template <class A>
auto values(A const& a) {
  auto const v = to_host(a);
  return std::vector<typename A::element>(v.begin(), v.end());
}

// Factors of a matrix typed as `A` against the definition: L with ones and zeros above, the signs
// of d, L D L^H = a, and, of a definite one, L D^1/2 is that of Cholesky. What is above the
// diagonal is not read. Solutions by their residual.
template <bool rows_first, class A, class Right>
void check_factors(auto const& mesh, Sign sign, Int n, Int rights) {
  using T = typename A::element;
  INFO("n " << n << ", kind " << static_cast<int>(sign));
  auto const at = [n, sign](Int i, Int j) { return entry<T>(sign, n, i, j); };
  auto const lower = [at](Int a, Int b) {
    Int const i = rows_first ? a : b, j = rows_first ? b : a;
    return j > i ? T(std::numeric_limits<linalg::kernels::real_t<T>>::quiet_NaN()) : at(i, j);
  };
  auto const a = from_function<A>(mesh, {n, n}, lower);
  auto const ldl = linalg::ldl_factor<I, J>(a);
  static_assert(std::is_same_v<decltype(ldl.l), A>);
  auto const d = values(ldl.d);
  CHECK(static_cast<Int>(d.size()) == n);
  CHECK(same_on_ranks(d));
  auto const l = values(reshard<Dim<I>, Dim<J>>(ldl.l));
  auto const element = [&](Int i, Int j) { return l[static_cast<std::size_t>(i * n + j)]; };
  auto const pivot = [&](Int j) { return d[static_cast<std::size_t>(j)]; };
  double worst = 0;
  int odd = 0;
  for (Int i = 0; i < n; ++i) {
    odd += (pivot(i) > 0) != (linalg::kernels::real_part(at(i, i)) > 0);
    for (Int j = 0; j < n; ++j) {
      if (j >= i) odd += element(i, j) != T(i == j ? 1 : 0);
      if (j > i) continue;
      T s = at(i, j);
      for (Int k = 0; k <= j; ++k)
        s -= element(i, k) * pivot(k) * linalg::kernels::conjugate(element(j, k));
      worst = size_of(s) > worst || s != s ? size_of(s) : worst;
    }
  }
  CHECK(odd == 0);
  CHECK(worst < bound<T>);
  if (sign == Sign::positive) {
    auto const c = values(reshard<Dim<I>, Dim<J>>(linalg::cholesky<I, J>(a)));
    double off = 0;
    for (Int i = 0; i < n; ++i)
      for (Int j = 0; j <= i; ++j)
        off = std::max(off, size_of(T(element(i, j) * std::sqrt(pivot(j)) -
                                      c[static_cast<std::size_t>(i * n + j)])));
    CHECK(off < bound<T>);
  }
  auto const right = [](Int i, Int k) { return linear::drawn<T>(i * 400 + k, 6); };
  auto const b = from_function<Right>(mesh, {n, rights}, right);
  auto const solution = linalg::ldl_solve<I, J>(ldl, b);
  if (sign == Sign::positive) {
    auto const of_cholesky = linalg::cholesky_solve<I, J>(linalg::cholesky<I, J>(a), b);
    CHECK(allclose(solution, of_cholesky, bound<T>, bound<T>));
  }
  // on ranks that repeat the solution too
  CHECK(same_on_ranks(values(reshard<Dim<J>, Dim<K>>(solution))));
  auto const x = values(reshard<Dim<J>, Dim<K>>(solution));
  double off = 0;
  for (Int k = 0; k < rights; ++k)
    for (Int i = 0; i < n; ++i) {
      T s = right(i, k);
      for (Int j = 0; j < n; ++j) s -= at(i, j) * x[static_cast<std::size_t>(j * rights + k)];
      off = size_of(s) > off || s != s ? size_of(s) : off;
    }
  CHECK(off < bound<T>);
}

template <class T, int block>
void by_columns(Mesh<X, Y> const& mesh, Int n, Int rights) {
  using Columns = Dim<J, Cyclic<Y, block>>;
  INFO("columns, blocks of " << block);
  for (Sign const sign : signs) {
    check_factors<true, Tensor<T, Dim<I>, Columns>, Tensor<T, Dim<I>, Dim<K>>>(mesh, sign, n,
                                                                               rights);
    check_factors<false, Tensor<T, Columns, Dim<I>>, Tensor<T, Dim<I>, Dim<K, X>>>(mesh, sign, n,
                                                                                   rights);
  }
}
template <class T, int block>
void on_grid(Mesh<X, Y> const& mesh, Int n, Int rights) {
  using Rows = Dim<I, Cyclic<X, block>>;
  using Columns = Dim<J, Cyclic<Y, block>>;
  INFO("a grid, blocks of " << block);
  for (Sign const sign : signs) {
    check_factors<true, Tensor<T, Rows, Columns>, Tensor<T, Rows, Dim<K>>>(mesh, sign, n, rights);
    check_factors<false, Tensor<T, Columns, Rows>, Tensor<T, Rows, Dim<K>>>(mesh, sign, n, rights);
  }
}

template <class A>
A mixed(auto const& mesh, Int n) {
  return from_function<A>(
      mesh, {n, n}, [n](Int i, Int j) { return entry<typename A::element>(Sign::mixed, n, i, j); });
}

}  // namespace

TEST_CASE("L D L^H and its solutions by columns") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Int const n : {0, 1, 2, 19, 40}) by_columns<double, 8>(mesh, n, 3);
  by_columns<double, 64>(mesh, 150, 1);  // a block by halves
  by_columns<C128, 4>(mesh, 21, 2);
  by_columns<C128, 40>(mesh, 63, 0);
  by_columns<float, 4>(mesh, 21, 2);
  by_columns<Kokkos::complex<float>, 4>(mesh, 9, 2);
}

TEST_CASE("L D L^H and its solutions over grids of ranks") {
  for (auto const& sizes : on_ranks::grids())
    for (bool const turn : {false, true}) {
      Mesh<X, Y> const mesh(MPI_COMM_WORLD, {sizes[turn ? 1 : 0], sizes[turn ? 0 : 1]});
      for (Int const n : {0, 1, 2, 19, 40}) on_grid<double, 8>(mesh, n, 3);
      on_grid<double, 40>(mesh, 130, 1);
      on_grid<C128, 4>(mesh, 21, 2);
      on_grid<float, 1>(mesh, 13, 2);
    }
}

TEST_CASE("right-hand sides of one dim, and a matrix that is given away") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using A = Tensor<double, Dim<I>, Dim<J, Cyclic<Y, 4>>>;
  Int const n = 23;
  auto a = mixed<A>(mesh, n);
  auto const b =
      from_function<double, Dim<I>>(mesh, {n}, [](Int i) { return linear::drawn<double>(i, 2); });
  auto const first = linalg::ldl_factor<I, J>(a);
  auto const x = linalg::ldl_solve<I, J>(first, b);
  static_assert(
      std::is_same_v<std::remove_const_t<decltype(x)>, Tensor<double, Dim<J, Cyclic<Y, 4>>>>);
  CHECK(allclose(x, linalg::solve<I, J>(a, b), 1e-10, 1e-12));
  // what another tensor holds is not overwritten
  auto const kept = a;
  auto const shared = linalg::ldl_factor<I, J>(std::move(a));
  CHECK(array_equal(kept, mixed<A>(mesh, n)));
  CHECK(array_equal(shared.l, first.l));
  auto taken = kept.clone();
  auto const* const memory = taken.buffer().data();
  auto const given = linalg::ldl_factor<I, J>(std::move(taken));
  CHECK(given.l.buffer().data() == memory);
  CHECK((array_equal(given.l, first.l) && array_equal(given.d, first.d)));
}

TEST_CASE("what L D L^H sends and holds is in the plan, the same bits in every way") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  panel_ways::prepare(mesh);
  using A = Tensor<double, Dim<I>, Dim<J, Cyclic<X, 16>>>;
  Int const largest = on_ranks::rank_total() > 3 ? 120 : 350;
  for (Int const n : {Int{0}, Int{5}, Int{64}, largest}) {
    INFO("n " << n);
    auto const a = mixed<A>(mesh, n);
    auto const b = from_function<double, Dim<I>, Dim<K>>(
        mesh, {n, 3}, [](Int i, Int k) { return linear::drawn<double>(i * 9 + k, 4); });
    auto const first = linalg::ldl_factor<I, J>(a);
    panel_ways::in_each([&](panel_ways::Way const& way) {
      panel_ways::Counted const counted;
      auto const [l, d] = panel_ways::measured(Ldl{}, a);
      if (!way.window) CHECK(counted.windows() == 0);
      if (way.window && n > 16 && on_ranks::rank_total() > 1) CHECK(counted.windows() > 0);
      CHECK((array_equal(l, first.l) && array_equal(d, first.d)));
      auto given = a.clone();
      auto const [l_given, d_given] = panel_ways::measured(Ldl{true}, given);
      CHECK((array_equal(l_given, first.l) && array_equal(d_given, first.d)));
      panel_ways::measured(LdlSolve{}, l, d, b);
    });
  }
  auto const z = mixed<Tensor<C128, Dim<I>, Dim<J, Cyclic<X, 8>>>>(mesh, 150);
  panel_ways::in_each([&](panel_ways::Way const&) { panel_ways::measured(Ldl{}, z); });
}

TEST_CASE("what L D L^H sends and holds over grids is in the plan") {
  for (auto const& sizes : on_ranks::grids())
    for (bool const turn : {false, true}) {
      Mesh<X, Y> const mesh(MPI_COMM_WORLD, {sizes[turn ? 1 : 0], sizes[turn ? 0 : 1]});
      for (Int const n : {0, 1, 2, 31, 65}) {
        INFO("n " << n);
        auto const a = mixed<Tensor<double, Dim<I, Cyclic<X, 8>>, Dim<J, Cyclic<Y, 8>>>>(mesh, n);
        auto const b = from_function<double, Dim<I, Cyclic<X, 8>>, Dim<K>>(
            mesh, {n, 2}, [](Int i, Int k) { return linear::drawn<double>(i * 9 + k, 4); });
        auto const [l, d] = panel_ways::measured(Ldl{}, a);
        panel_ways::measured(LdlSolve{}, l, d, b);
      }
      panel_ways::measured(
          Ldl{}, mixed<Tensor<C128, Dim<I, Cyclic<X, 4>>, Dim<J, Cyclic<Y, 4>>>>(mesh, 37));
    }
}

namespace {

// The code and the text of the Error that all ranks throw, or "".
template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (Error const& e) {
    CHECK(e.where() == FailedOn::every_rank);
    return e.what();
  }
  return "";
}
bool has(std::string const& text, char const* code, Int column) {
  return text.find(code) != std::string::npos &&
         text.find("column " + std::to_string(column) + " of J") != std::string::npos;
}
template <class A>
void check_errors(auto const& mesh) {
  Int const n = 29;
  auto const factor = [&](auto f) {
    auto const a = from_function<A>(mesh, {n, n}, f);
    return error_of([&] { linalg::ldl_factor<I, J>(a); });
  };
  auto const good = [](Int i, Int j) { return entry<double>(Sign::mixed, n, i, j); };
  for (Int const bad : {Int{0}, Int{4}, Int{14}, n - 1}) {
    INFO("column " << bad);
    // zeros in its row and column: a pivot of 0 that no other column changes
    std::string const zero =
        factor([=](Int i, Int j) { return i == bad || j == bad ? 0. : good(i, j); });
    CHECK(has(zero, "E80", bad));
    CHECK(zero.find("lu_factor") != std::string::npos);
    CHECK(has(
        factor([=](Int i, Int j) { return i == n - 1 && j == bad ? std::nan("") : good(i, j); }),
        "E82", bad));
    CHECK(has(factor([=](Int i, Int j) {
                return i == bad && j == bad ? std::numeric_limits<double>::infinity() : good(i, j);
              }),
              "E82", bad));
    // and the next call works
    CHECK(factor(good) == "");
  }
  // not singular, but without factors
  CHECK(has(factor([](Int i, Int j) { return i == j ? 0. : 1.; }), "E80", 0));
  auto const wide = from_function<A>(mesh, {n, n + 1}, good);
  CHECK(error_of([&] { linalg::ldl_factor<I, J>(wide); }).find("E41") != std::string::npos);
}

}  // namespace

TEST_CASE("a matrix without factors is an error on all ranks, which names the column") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  panel_ways::in_each([&](panel_ways::Way const&) {
    check_errors<Tensor<double, Dim<I>, Dim<J, Cyclic<Y, 4>>>>(mesh);
  });
  check_errors<Tensor<double, Dim<I, Cyclic<X, 4>>, Dim<J, Cyclic<Y, 4>>>>(mesh);
  auto const a = mixed<Tensor<double, Dim<I>, Dim<J, Cyclic<Y, 4>>>>(mesh, 9);
  auto const longer = from_function<double, Dim<I>>(mesh, {10}, [](Int) { return 1.; });
  auto const ldl = linalg::ldl_factor<I, J>(a);
  CHECK(error_of([&] { linalg::ldl_solve<I, J>(ldl, longer); }).find("E24") != std::string::npos);
}

TEST_CASE("L D L^H is recorded, by columns and over a grid") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  panel_ways::prepare(mesh);
  using A = Tensor<double, Dim<I>, Dim<J, Cyclic<Y, 4>>>;
  using Grid = Tensor<double, Dim<I, Cyclic<X, 4>>, Dim<J, Cyclic<Y, 4>>>;
  using Right = Tensor<double, Dim<I>, Dim<K>>;
  using Solution = Tensor<double, Dim<J, Cyclic<Y, 4>>, Dim<K>>;
  for (Int const n : {19, 2}) {
    INFO("n " << n);
    auto const alone = [&, n](auto& d) {
      d.template extent<I>(n).template extent<J>(n);
      d.template ranks<Y>(mesh.size_of<Y>());
    };
    auto const both = [&](auto& d) {
      alone(d);
      d.template extent<K>(3);
    };
    auto const a = mixed<A>(mesh, n);
    auto const b = from_function<Right>(
        mesh, {n, 3}, [](Int i, Int k) { return linear::drawn<double>(i * 9 + k, 4); });
    for (bool const window : {true, false}) {
      panel_ways::Travel const travel({window, true});
      auto const p = recorded::check<A>(
          mesh, Bytes::exact, [](auto const& m) { return linalg::ldl_factor<I, J>(m).l; }, alone,
          a);
      CHECK(recorded::same_plan(p.plan, plan_at(Ldl{}, a)));
      recorded::check<Solution>(
          mesh, Bytes::exact,
          [](auto const& m, auto const& r) {
            return linalg::ldl_solve<I, J>(linalg::ldl_factor<I, J>(m), r);
          },
          both, a, b);
    }
    auto const g = mixed<Grid>(mesh, n);
    recorded::check<Grid>(
        mesh, Bytes::exact, [](auto const& m) { return linalg::ldl_factor<I, J>(m).l; },
        [&](auto& d) {
          alone(d);
          d.template ranks<X>(mesh.size_of<X>());
        },
        g);
  }
  // both results of one factorization, and d goes on in an expression
  auto const a = mixed<A>(mesh, 21);
  auto const strict = linalg::ldl_factor<I, J>(a);
  auto const [l, d] = evaluate<Outs<A, Tensor<double, Dim<J>>>>(
      mesh,
      [](auto const& m) {
        auto const ldl = linalg::ldl_factor<I, J>(m);
        return std::tuple(ldl.l, ldl.d * 2.0);
      },
      a);
  CHECK((array_equal(l, strict.l) && array_equal(d, (strict.d * 2.0).tensor())));
}
