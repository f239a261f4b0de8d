// One matrix over a grid of ranks: its rows and columns are block-cyclic, each over a mesh axis.
// Solutions, errors, and the bytes and memory of plans.
// SOURCES: tests/shim/pmpi.cpp
// OPTIMIZE: 1
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

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
struct Z : Axis<"Z"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using Int = std::int64_t;

double number(Int i, Int j) { return linear::drawn<double>(i * 4096 + j, 9) / 2; }
double definite(Int i, Int j, Int n) {
  return i == j ? 2 * static_cast<double>(n) : number(std::max(i, j), std::min(i, j));
}
template <class Row, class A, class F>
double off(A const& x, Int n, Int rights, F f) {
  auto const v = to_host(reshard<Dim<Row>, Dim<K>>(x));
  double worst = 0;
  for (Int k = 0; k < rights; ++k)
    for (Int i = 0; i < n; ++i) {
      double s = number(i + 333, k);
      for (Int j = 0; j < n; ++j) s -= f(i, j) * v[static_cast<std::size_t>(j * rights + k)];
      worst = std::abs(s) > worst || s != s ? std::abs(s) : worst;
    }
  return worst;
}

template <int block>
void all_ways(Mesh<X, Y> const& mesh, Int n, Int rights) {
  INFO("n " << n << ", blocks of " << block << ", " << rights << " right-hand sides");
  using Rows = Dim<I, Cyclic<X, block>>;
  using Columns = Dim<J, Cyclic<Y, block>>;
  auto const right = [](Int i, Int k) { return number(i + 333, k); };
  auto const turned = [](Int i, Int j) { return number(j, i); };
  auto const spd = [n](Int i, Int j) { return definite(i, j, n); };
  auto const a = from_function<double, Rows, Columns>(mesh, {n, n}, &number);
  auto const h = from_function<double, Rows, Columns>(mesh, {n, n}, spd);
  auto const b = from_function<double, Rows, Dim<K>>(mesh, {n, rights}, right);
  auto const b_columns = from_function<double, Columns, Dim<K>>(mesh, {n, rights}, right);
  CHECK(off<J>(linalg::solve<I, J>(a, b), n, rights, &number) < 1e-9);
  auto const lu = linalg::lu_factor<I, J>(a);
  CHECK(off<J>(linalg::lu_solve<I, J>(lu, b), n, rights, &number) < 1e-9);
  CHECK(off<I>(linalg::lu_solve<J, I>(lu, b_columns), n, rights, turned) < 1e-9);
  auto const one = linalg::lu_factor<I, J>(reshard<Dim<I>, Columns>(a));
  CHECK((to_host(lu.pivots) == to_host(one.pivots)));
  auto const l = linalg::cholesky<I, J>(h);
  CHECK(off<J>(linalg::cholesky_solve<I, J>(l, b), n, rights, spd) < 1e-9);
}

// n = 65536 in blocks of 64 on 16 x 16, as a constant. With half of n^2 / 16 elements below and as
// many right of the panels of a rank, 15 of 16 of the former come from others: 2.08e9 bytes; the
// rest are exchanged rows of L, triangles and candidates.
template <Int n, Int rows, Int columns>
struct OnTypes {
  struct P : Axis<"P", rows> {};
  struct Q : Axis<"Q", columns> {};
  struct R : Index<"R", n> {};
  struct C : Index<"C", n> {};
  using A = Tensor<double, Dim<R, Cyclic<P, 64>>, Dim<C, Cyclic<Q, 64>>>;
  static constexpr Plan lu = plan(op::CyclicLu<R, C>{}, type<A>);
  static constexpr Plan cholesky = plan(op::CyclicCholesky<R, C>{}, type<A>);
};
static_assert(OnTypes<65536, 16, 16>::lu.bytes_per_rank() == 2'243'583'488);
static_assert(OnTypes<65536, 16, 16>::cholesky.bytes_per_rank() == 2'110'792'192);
static_assert(OnTypes<65536, 8, 8>::cholesky.bytes_per_rank() == 4'053'804'032);
// a search for each column, and the rows of 8 panels that 4 process columns exchange
static_assert(OnTypes<512, 2, 4>::lu.count(Collective::all_to_all) == 512 + 2);
static_assert(OnTypes<512, 2, 4>::lu.count(Collective::all_gather) == 0);
static_assert(OnTypes<512, 2, 4>::cholesky.count(Collective::broadcast) == 4 * 8);

template <class T, int block>
void plans(Mesh<X, Y> const& mesh, Int n, Int rights) {
  INFO("n " << n << ", blocks of " << block << ", " << rights << " right-hand sides");
  using Rows = Dim<I, Cyclic<X, block>>;
  using Columns = Dim<J, Cyclic<Y, block>>;
  auto const a = from_function<T, Rows, Columns>(
      mesh, {n, n}, [](Int i, Int j) { return linear::drawn<T>(i * 400 + j, 5); });
  auto const h = from_function<T, Rows, Columns>(
      mesh, {n, n}, [n](Int i, Int j) { return T(definite(i, j, n)); });
  auto const right = [](Int i, Int k) { return linear::drawn<T>(i * 400 + k, 6); };
  auto const b = from_function<T, Rows, Dim<K>>(mesh, {n, rights}, right);
  auto const b_columns = from_function<T, Columns, Dim<K>>(mesh, {n, rights}, right);
  panel_ways::measured(false, op::CyclicSolve<I, J>{}, a, b);
  auto const [factors, pivots] = panel_ways::measured(false, op::CyclicLu<I, J>{}, a);
  panel_ways::measured(false, op::CyclicLuSolve<I, J>{}, factors, pivots, b);
  panel_ways::measured(false, op::CyclicLuSolve<I, J, true>{}, factors, pivots, b_columns);
  auto const l = panel_ways::measured(true, op::CyclicCholesky<I, J>{}, h);
  panel_ways::measured(true, op::CyclicCholeskySolve<I, J>{}, l, b);
  panel_ways::measured(true, op::CyclicTriangle<I, J>{}, l, b);
  panel_ways::measured(true, op::CyclicTriangle<I, J, true>{}, l, b_columns);
}

// A matrix [J@Y, I@X], whose rows lie along the second dim, and one that is given away.
template <class T, int block>
void by_columns(Mesh<X, Y> const& mesh, Int n, Int rights, double bound) {
  INFO("n " << n << ", " << rights << " right-hand sides");
  using Rows = Dim<I, Cyclic<X, block>>;
  using Columns = Dim<J, Cyclic<Y, block>>;
  // diagonal elements of any size, so that rows are exchanged, and a Hermitian matrix
  auto const entry = [](Int i, Int j) { return linear::drawn<T>(i * 400 + j, 5); };
  auto const hermitian = [&](Int i, Int j) {
    if (i == j) return T(static_cast<double>(2 * n));
    return i > j ? entry(i, j) : linalg::kernels::conjugate(entry(j, i));
  };
  auto const a =
      from_function<T, Columns, Rows>(mesh, {n, n}, [&](Int j, Int i) { return entry(i, j); });
  auto const h =
      from_function<T, Columns, Rows>(mesh, {n, n}, [&](Int j, Int i) { return hermitian(i, j); });
  auto const right = [](Int i, Int k) { return linear::drawn<T>(i * 400 + k, 6); };
  auto const b = from_function<T, Rows, Dim<K>>(mesh, {n, rights}, right);
  auto const residual = [&](auto const& x, auto element) {
    auto const v = to_host(reshard<Dim<J>, Dim<K>>(x));
    double worst = 0;
    for (Int k = 0; k < rights; ++k)
      for (Int i = 0; i < n; ++i) {
        T s = right(i, k);
        for (Int j = 0; j < n; ++j)
          s -= element(i, j) * v[static_cast<std::size_t>(j * rights + k)];
        double const size = static_cast<double>(linalg::kernels::modulus(s));
        worst = size > worst || size != size ? size : worst;
      }
    return worst;
  };
  CHECK(residual(linalg::solve<I, J>(a, b), entry) < bound);
  auto given = a.clone();
  CHECK(residual(linalg::solve<I, J>(std::move(given), b), entry) < bound);
  auto taken = a.clone();
  auto const* const memory = taken.buffer().data();
  auto const lu = linalg::lu_factor<I, J>(std::move(taken));
  CHECK(lu.factors.buffer().data() == memory);
  CHECK(residual(linalg::lu_solve<I, J>(lu, b), entry) < bound);
  auto const l = linalg::cholesky<I, J>(h.clone());
  static_assert(std::is_same_v<std::remove_const_t<decltype(l)>, Tensor<T, Columns, Rows>>);
  CHECK(residual(linalg::cholesky_solve<I, J>(l, b), hermitian) < bound);
}

}  // namespace

TEST_CASE("factors and solutions over grids of ranks") {
  for (auto const& sizes : on_ranks::grids())
    for (bool const turn : {false, true}) {
      Mesh<X, Y> const mesh(MPI_COMM_WORLD, {sizes[turn ? 1 : 0], sizes[turn ? 0 : 1]});
      for (Int const n : {0, 1, 2, 7, 63, 65}) all_ways<8>(mesh, n, 3);
      all_ways<32>(mesh, 130, 1);
      all_ways<300>(mesh, 64, 5);
      all_ways<1>(mesh, 19, 0);
    }
}

TEST_CASE("columns before rows, other elements, matrices that are given away") {
  for (auto const& sizes : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, {sizes[1], sizes[0]});
    for (Int const n : {1, 21, 40}) {
      by_columns<double, 4>(mesh, n, 3, 1e-9);
      by_columns<float, 4>(mesh, n, 3, 1e-3);
      by_columns<Kokkos::complex<double>, 4>(mesh, n, 3, 1e-9);
    }
  }
}

TEST_CASE("kinds of matrices over grids of ranks") {
  Int const n = 33, rights = 2;
  using Rows = Dim<I, Cyclic<X, 8>>;
  for (auto const& sizes : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, {sizes[0], sizes[1]});
    for (linear::Kind const kind : linear::kinds) {
      INFO(linear::name(kind) << " on " << sizes[0] << " x " << sizes[1]);
      auto const entry = [kind](Int i, Int j) { return linear::element<double>(kind, n, 0, i, j); };
      auto const of_right = [](Int i, Int k) { return linear::drawn<double>(i * 5 + k, 2); };
      auto const a = from_function<double, Rows, Dim<J, Cyclic<Y, 8>>>(mesh, {n, n}, entry);
      auto const b = from_function<double, Rows, Dim<K>>(mesh, {n, rights}, of_right);
      std::vector<double> whole, right;
      for (Int j = 0; j < n; ++j)
        for (Int i = 0; i < n; ++i) whole.push_back(entry(i, j));
      for (Int k = 0; k < rights; ++k)
        for (Int i = 0; i < n; ++i) right.push_back(of_right(i, k));
      auto const alone = linear::reference_solution(n, rights, whole, right);
      double const of_one = linear::backward_error(n, rights, whole, right, alone);
      auto const x = to_host(reshard<Dim<K>, Dim<J>>(linalg::solve<I, J>(a, b)));
      CHECK(linear::backward_error(n, rights, whole, right, x) <= 10 * std::max(of_one, 0x1p-53));
    }
  }
}

TEST_CASE("right-hand sides over a third axis") {
  for (auto const& sizes : on_ranks::grids()) {
    Int const across = sizes[0] % 2 == 0 ? sizes[0] / 2 : sizes[0];
    Int const deep = sizes[0] / across;
    Mesh<X, Y, Z> const mesh(MPI_COMM_WORLD, {across, sizes[1], deep});
    Int const n = 30, rights = 5;
    using Rows = Dim<I, Cyclic<X, 4>>;
    using Columns = Dim<J, Cyclic<Y, 4>>;
    auto const a = from_function<double, Rows, Columns>(mesh, {n, n}, &number);
    auto const b = from_function<double, Rows, Dim<K, Z>>(
        mesh, {n, rights}, [](Int i, Int k) { return number(i + 333, k); });
    auto const x = linalg::solve<I, J>(a, b);
    static_assert(
        std::is_same_v<std::remove_const_t<decltype(x)>, Tensor<double, Columns, Dim<K, Z>>>);
    CHECK(off<J>(x, n, rights, &number) < 1e-9);
    auto const lu = linalg::lu_factor<I, J>(a);
    CHECK(off<J>(linalg::lu_solve<I, J>(lu, b), n, rights, &number) < 1e-9);
  }
}

TEST_CASE("what is sent and held over grids of ranks is in the plan") {
  for (auto const& sizes : on_ranks::grids())
    for (bool const turn : {false, true}) {
      Mesh<X, Y> const mesh(MPI_COMM_WORLD, {sizes[turn ? 1 : 0], sizes[turn ? 0 : 1]});
      for (Int const n : {0, 1, 2, 31, 65}) plans<double, 8>(mesh, n, 3);
      plans<Kokkos::complex<double>, 4>(mesh, 37, 2);
    }
}

TEST_CASE("a matrix over a grid without factors is an error on all ranks") {
  for (auto const& sizes : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, {sizes[0], sizes[1]});
    Int const n = 29;
    using Rows = Dim<I, Cyclic<X, 4>>;
    using Columns = Dim<J, Cyclic<Y, 4>>;
    auto const code = [](auto run) {
      try {
        run();
      } catch (Error const& e) {
        return std::string(e.what());
      }
      return std::string("none");
    };
    for (Int const bad : {Int{0}, Int{5}, n - 1}) {
      auto const col = "column " + std::to_string(bad) + " of J";
      auto const z = from_function<double, Rows, Columns>(
          mesh, {n, n}, [bad](Int i, Int j) { return j == bad ? 0. : number(i, j); });
      auto s = code([&] { linalg::lu_factor<I, J>(z); });
      CHECK(s.find("E80") != std::string::npos);
      CHECK(s.find(col) != std::string::npos);
      auto const q = from_function<double, Rows, Columns>(mesh, {n, n}, [bad](Int i, Int j) {
        return i == n - 1 && j == bad ? std::nan("") : definite(i, j, n);
      });
      s = code([&] { linalg::lu_factor<I, J>(q); });
      CHECK(s.find("E82") != std::string::npos);
      CHECK(s.find(col) != std::string::npos);
      s = code([&] { linalg::cholesky<I, J>(q); });
      CHECK(s.find("E82") != std::string::npos);
      CHECK(s.find(col) != std::string::npos);
      auto const m = from_function<double, Rows, Columns>(mesh, {n, n}, [bad](Int i, Int j) {
        return i == j && i == bad ? -1. : definite(i, j, n);
      });
      s = code([&] { linalg::cholesky<I, J>(m); });
      CHECK(s.find("E81") != std::string::npos);
      CHECK(s.find(col) != std::string::npos);
      auto const g = from_function<double, Rows, Columns>(
          mesh, {n, n}, [](Int i, Int j) { return definite(i, j, n); });
      CHECK(code([&] {
              linalg::lu_factor<I, J>(g);
              linalg::cholesky<I, J>(g.clone());
            }) == "none");
    }
  }
}
