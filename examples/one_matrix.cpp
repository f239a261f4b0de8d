// One matrix over all ranks, which never has to fit into one: LU, Cholesky and QR, with columns
// dealt out over one mesh axis, and with rows and columns over a grid of ranks. What is sent and
// held is known before anything runs, and asserted.
// RANKS: 4
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct All : Axis<"All", 4> {};
struct X : Axis<"X", 2> {};  // a grid of two by two
struct Y : Axis<"Y", 2> {};
struct I : Index<"I", 384> {};
struct J : Index<"J", 384> {};
struct K : Index<"K", 384> {};

// docs: types
using Columns = Tensor<double, Dim<I>, Dim<J, Cyclic<All, 32>>>;  // block k is on rank k mod 4
using Grid = Tensor<double, Dim<I, Cyclic<X, 32>>, Dim<J, Cyclic<Y, 32>>>;
using Down = Tensor<double, Dim<I, Cyclic<X, 32>>>;  // right-hand sides of Grid
// docs: end

// The numbers that a rank receives at most, by the formulas of docs/linalg_cyclic.md: n rows in
// blocks of b, on p ranks or a grid of p by q.
// docs: formulas
constexpr std::int64_t columns_formula(std::int64_t n, std::int64_t b, std::int64_t p) {
  return n * (n + 2 * b) / 2 * (p - 1) / p + n;
}
constexpr std::int64_t qr_formula(std::int64_t n, std::int64_t b, std::int64_t p) {
  return n * (n + 4 * b) * (p - 1) / p;
}
constexpr std::int64_t grid_formula(std::int64_t n, std::int64_t b, std::int64_t p,
                                    std::int64_t q) {
  std::int64_t const panels = n * n / 2 * (q - 1) / (q * p);  // of L, along the rows of the grid
  std::int64_t const rows =
      n * n / 2 * (p + 1) / (p * q);  // of U and for pivots, along its columns
  return panels + rows + n * b * (p + q) / q + 2 * n;
}
// docs: end

// docs: plans
constexpr auto lu_plan = plan(op::CyclicLu<I, J>{}, type<Columns>);
static_assert(lu_plan.count(Collective::all_gather) == 0);
static_assert(lu_plan.bytes_per_rank() <= 8 * columns_formula(384, 32, 4));
constexpr auto cholesky_plan = plan(op::CyclicCholesky<I, J>{}, type<Columns>);
static_assert(cholesky_plan.count(Collective::all_gather) == 0);
static_assert(cholesky_plan.bytes_per_rank() <= 8 * columns_formula(384, 32, 4));
constexpr auto grid_plan = plan(op::CyclicLu<I, J>{}, type<Grid>);
static_assert(grid_plan.count(Collective::all_gather) == 0);
static_assert(grid_plan.bytes_per_rank() <= 8 * grid_formula(384, 32, 2, 2));
constexpr auto qr_plan = plan(op::CyclicQr<I, J, K>{}, type<Columns>);
static_assert(qr_plan.count(Collective::all_gather) == 0);
static_assert(qr_plan.bytes_per_rank() <= 8 * qr_formula(384, 32, 4));

// A matrix that is given away is factorized in its own memory: beside it are three panels and the
// pivots.
constexpr auto in_place = plan(op::CyclicLu<I, J>{true}, type<Columns>);
constexpr std::int64_t panel_bytes = 8 * 384 * (32 + 1);
static_assert(in_place.peak_bytes() <= bytes_per_rank<Columns> + 3 * panel_bytes + 4 * 384);
// docs: end

// The largest element of a x - b.
template <class A, class V, class B>
double residual(A const& a, V const& x, B const& b) {
  return item(max<Tensor<double>>(abs(einsum<Dim<I>>(a, x) - reshard<Dim<I>>(b))));
}

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<All> const row(env.world());
  Mesh<X, Y> const square(env.world());

  // docs: columns
  Columns a = normal<Columns>(row, RandomKey{1});
  auto const b = normal<double, Dim<I>>(row, RandomKey{2});
  auto const x = linalg::solve<I, J>(a, b);  // f64[J@All%32]
  double const by_columns = residual(a, x, b);
  auto const lu = linalg::lu_factor<I, J>(std::move(a));  // in the memory of a
  auto const y = linalg::lu_solve<I, J>(lu, 2.0 * b);     // as often as needed
  // docs: end
  double const twice = item(max<Tensor<double>>(abs(y - 2.0 * x)));

  // docs: qr
  Columns const e = normal<Columns>(row, RandomKey{1});
  auto const [q, r] = linalg::qr<I, J, K>(e);  // f64[I, K@All%32], f64[K, J@All%32]
  auto const w = linalg::lstsq<I, J>(e, b);    // f64[J@All%32]
  // docs: end
  double const off = item(max<Tensor<double>>(abs(tril<K, J>(r, -1))));
  double const by_qr = residual(e, w, b);

  // docs: grid
  Grid const c = normal<Grid>(square, RandomKey{1});  // the same numbers, other blocks
  auto const d = normal<Down>(square, RandomKey{2});
  auto const z = linalg::solve<I, J>(c, d);  // f64[J@Y%32]
  // docs: end
  double const by_grid = residual(c, z, d);

  if (!(off == 0 && by_columns < 1e-9 && twice < 1e-9 && by_qr < 1e-9 && by_grid < 1e-9))
    throw Error("example", "a solution is wrong");
  if (env.rank() == 0)
    std::printf(
        "384 rows on 4 ranks: LU sends each rank at most %.0f kB over columns, %.0f kB over a "
        "grid\n",
        double(lu_plan.bytes_per_rank()) / 1e3, double(grid_plan.bytes_per_rank()) / 1e3);
}
