// Gradients of solves with one matrix over a grid of ranks, against central differences; plans of
// both passes gather nothing.
// RANKS: 1 2 3 4 6
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
struct Z : Axis<"Z"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using Rows = Dim<I, Cyclic<X, 2>>;
using Columns = Dim<J, Cyclic<Y, 2>>;

namespace proofs {
struct P : Axis<"P", 2> {};
struct Q : Axis<"Q", 2> {};
struct N : Index<"N", 256> {};
struct M : Index<"M", 256> {};
using A = Tensor<double, Dim<N, Cyclic<P, 32>>, Dim<M, Cyclic<Q, 32>>>;
using Right = Tensor<double, Dim<N, Cyclic<P, 32>>>;
inline constexpr auto loss = [](auto const& a, auto const& b) {
  return sum<Tensor<double>>(square(linalg::solve<N, M>(a, b)));
};
inline constexpr auto passes = plan(value_and_grad<0, 1>(loss), type<A>, type<Right>);
static_assert(passes.forward.count(Collective::all_gather) == 0);
static_assert(passes.backward.count(Collective::all_gather) == 0);
// The factorization is that of the forward pass: backward two triangles of 8 blocks, whose x goes
// to the process rows, and one exchange of rows of b'. The product of b' and x sends nothing.
static_assert(passes.backward.count(Collective::broadcast) == 16);
static_assert(passes.backward.count(Collective::permute) == 16);
static_assert(passes.backward.count(Collective::all_to_all) == 1);
}  // namespace proofs

double matrix(std::int64_t i, std::int64_t j) {
  return linear::drawn<double>(i * 40 + j, 2) + (i == j ? 6. : 0.);
}
double right(std::int64_t i, std::int64_t k) { return linear::drawn<double>(i * 40 + k, 4); }

void check(Mesh<X, Y, Z> const& mesh) {
  std::int64_t const n = 7;
  auto const a = from_function<double, Rows, Columns>(mesh, {n, n}, &matrix);
  auto const turned = from_function<double, Columns, Rows>(
      mesh, {n, n}, [](auto j, auto i) { return matrix(i, j); });
  auto const b = from_function<double, Rows, Dim<K>>(mesh, {n, 2}, &right);
  auto const b_split = from_function<double, Dim<K, Z>, Rows>(
      mesh, {3, n}, [](auto k, auto i) { return right(i, k); });
  auto const b_own = from_function<double, Columns, Dim<K>>(mesh, {n, 2}, &right);

  auto const solve = [](auto const& m, auto const& r) { return linalg::solve<I, J>(m, r); };
  check_grads(solve, a, b);
  check_grads(solve, turned, b_split);
  check_grads([](auto const& m, auto const& r) { return linalg::solve<J, I>(m, r); }, a, b_own);
  auto const lu = linalg::lu_factor<I, J>(a);
  check_grads([&](auto const& r) { return linalg::lu_solve<I, J>(lu, r); }, b);
  check_grads([&](auto const& r) { return linalg::lu_solve<J, I>(lu, r); }, b_own);
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

}  // namespace

TEST_CASE("gradients of solves with one matrix over a grid") {
  for (auto const& sizes : on_ranks::grids()) {
    check(Mesh<X, Y, Z>(MPI_COMM_WORLD, {sizes[0], sizes[1], 1}));
    check(Mesh<X, Y, Z>(MPI_COMM_WORLD, {sizes[1], 1, sizes[0]}));
  }
}
