// ScaLAPACK on our tensors' own memory, by their descriptors: local sizes, LU and solutions beside
// ours; on columns, rows or both over the ranks, uneven and empty, in the pool's memory and in the
// user's.
// RANKS: 1 2 4 8
// NEEDS: ScaLAPACK
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/linalg.hpp"
#include "harness/on_ranks.hpp"

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, char const* order, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* my_row, int* my_col);
void Cblacs_gridexit(int context);
int numroc_(int const* n, int const* block, int const* me, int const* first, int const* parts);
void pdgetrf_(int const* m, int const* n, double* a, int const* ia, int const* ja, int const* desc,
              int* pivots, int* info);
void pdgesv_(int const* n, int const* right, double* a, int const* ia, int const* ja,
             int const* desc_a, int* pivots, double* b, int const* ib, int const* jb,
             int const* desc_b, int* info);
void pzgetrf_(int const* m, int const* n, void* a, int const* ia, int const* ja, int const* desc,
              int* pivots, int* info);
}

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using Int = std::int64_t;
using Z = Kokkos::complex<double>;
int const one = 1;

struct Grid {
  int context = 0, rows = 0, columns = 0, row = 0, column = 0;
  Grid(Int r, Int c) {
    Cblacs_get(0, 0, &context);
    Cblacs_gridinit(&context, "Row", static_cast<int>(r), static_cast<int>(c));
    Cblacs_gridinfo(context, &rows, &columns, &row, &column);
  }
  Grid(Grid const&) = delete;
  Grid& operator=(Grid const&) = delete;
  ~Grid() { Cblacs_gridexit(context); }
};

template <class T>
T entry(Int i, Int j) {
  return linear::drawn<T>(i * 97 + j, 5) + (i == j ? T(2) : T(0));
}

// The descriptor of a matrix, whose sizes are checked by ScaLAPACK's own function.
template <class Row, class Column, class A>
std::array<int, 9> described(A const& a, Grid const& grid) {
  auto const d = linalg::scalapack_descriptor<Row, Column>(a, grid.context);
  CHECK(d[0] == 1);
  CHECK(d[1] == grid.context);
  CHECK(d[2] == a.template extent<Row>());
  CHECK(d[3] == a.template extent<Column>());
  int const zero = 0;
  CHECK(a.template local_extent<Row>() == numroc_(&d[2], &d[4], &grid.row, &zero, &grid.rows));
  CHECK(a.template local_extent<Column>() ==
        numroc_(&d[3], &d[5], &grid.column, &zero, &grid.columns));
  CHECK(d[8] == std::max<Int>(1, a.template local_extent<Row>()));
  return d;
}

void factor(double* a, int n, std::array<int, 9> const& d, int* pivots, int* info) {
  pdgetrf_(&n, &n, a, &one, &one, d.data(), pivots, info);
}
void factor(Z* a, int n, std::array<int, 9> const& d, int* pivots, int* info) {
  pzgetrf_(&n, &n, a, &one, &one, d.data(), pivots, info);
}

// LU of columns over the ranks, in the user's memory.
template <class T>
void check_lu(Mesh<X> const& mesh, int n) {
  INFO("n " << n);
  using A = Tensor<T, Dim<J, Cyclic<X, 4>>, Dim<I>>;
  Grid const grid(1, mesh.size_of<X>());
  auto const given = from_function<A>(mesh, {n, n}, [](Int j, Int i) { return entry<T>(i, j); });
  auto const ours = linalg::lu_factor<I, J>(given);
  std::vector<T> mine(given.local().data(), given.local().data() + given.local_size());
  auto a = wrap<A>(mesh, {n, n}, std::span(mine));
  auto const d = described<I, J>(a, grid);
  CHECK(d[4] == 4);
  CHECK(d[5] == 4);
  int info = -1;
  std::vector<int> pivots(static_cast<std::size_t>(n + 4));
  {
    auto const view = a.mutable_local();
    factor(view.data(), n, d, pivots.data(), &info);
  }
  CHECK(info == 0);
  auto const rows = to_host(ours.pivots);
  for (std::size_t k = 0; k < rows.size(); ++k) CHECK(pivots[k] == rows[k] + 1);
  double worst = 0;
  for (std::size_t k = 0; k < mine.size(); ++k)
    worst = std::max(worst, linalg::kernels::modulus(mine[k] - ours.factors.local().data()[k]));
  CHECK(worst <= 1e-11);
}

// Solutions, with rows over X and columns over Y.
template <class A, class B>
void check_solve(Mesh<X, Y> const& mesh, Grid const& grid, int n, int right) {
  INFO("n " << n << ", right-hand sides " << right);
  auto a = from_function<A>(mesh, {n, n}, [](Int j, Int i) { return entry<double>(i, j); });
  auto b = from_function<B>(mesh, {right, n}, [](Int k, Int i) { return entry<double>(i, k + 3); });
  auto const expected =
      to_host(linalg::solve<I, J>(reshard<Dim<J>, Dim<I>>(a), reshard<Dim<K>, Dim<I>>(b)));
  described<I, J>(a, grid);
  described<I, K>(b, grid);
  std::vector<int> pivots(static_cast<std::size_t>(n + 3));
  int info = -1;
  // docs: descriptors
  auto const of_a = linalg::scalapack_descriptor<I, J>(a, grid.context);  // f64[J@Y%3, I@X%3]
  auto const of_b = linalg::scalapack_descriptor<I, K>(b, grid.context);  // f64[K@Y%3, I@X%3]
  pdgesv_(&n, &right, a.mutable_local().data(), &one, &one, of_a.data(), pivots.data(),
          b.mutable_local().data(), &one, &one, of_b.data(), &info);
  // docs: end
  CHECK(info == 0);
  auto const values = to_host(b);
  double worst = 0;
  for (std::size_t k = 0; k < values.size(); ++k)
    worst = std::max(worst, std::abs(values[k] - expected[k]));
  CHECK(worst <= 1e-10);
}

}  // namespace

TEST_CASE("LU by ScaLAPACK in the memory of a tensor") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  for (int const n : {1, 3, 8, 30, 67}) {
    check_lu<double>(mesh, n);
    check_lu<Z>(mesh, n);
  }
}

TEST_CASE("solutions by ScaLAPACK in the memory of tensors") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using A = Tensor<double, Dim<J, Cyclic<Y, 3>>, Dim<I, Cyclic<X, 3>>>;
  using B = Tensor<double, Dim<K, Cyclic<Y, 3>>, Dim<I, Cyclic<X, 3>>>;
  Grid const grid(mesh.size_of<X>(), mesh.size_of<Y>());
  for (int const n : {1, 2, 9, 25, 50})
    for (int const right : {1, 7}) check_solve<A, B>(mesh, grid, n, right);
}

TEST_CASE("rows over the ranks, and whole matrices") {
  Mesh<X, Y> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total(), 1});
  using A = Tensor<double, Dim<J>, Dim<I, Cyclic<X, 2>>>;
  using B = Tensor<double, Dim<K>, Dim<I, Cyclic<X, 2>>>;
  Grid const grid(mesh.size_of<X>(), 1);
  for (int const n : {1, 5, 26}) check_solve<A, B>(mesh, grid, n, 2);
  auto const whole = zeros<float, Dim<J>, Dim<I>>(mesh, {5, 7});
  CHECK(linalg::scalapack_descriptor<I, J>(whole, 3) ==
        std::array<int, 9>{1, 3, 7, 5, 64, 64, 0, 0, 7});
  auto const blocks = zeros<float, Dim<J, Cyclic<Y, 6>>, Dim<I, Cyclic<X, 5>>>(mesh, {5, 0});
  CHECK(linalg::scalapack_descriptor<I, J>(blocks, -1) ==
        std::array<int, 9>{1, -1, 0, 5, 5, 6, 0, 0, 1});
}
