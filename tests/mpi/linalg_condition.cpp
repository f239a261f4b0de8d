// Estimated conditions: of stacks beside LAPACK's gecon and the norms of inverses, of one matrix
// over many ranks beside those of the same matrix on one; singular matrices, NaN, matrices without
// elements; what is sent is at most what the plan has.
// RANKS: 1 2 4 8
// NEEDS: LAPACK
// SOURCES: tests/shim/pmpi.cpp
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/linalg.hpp"
#include "harness/on_ranks.hpp"
#include "harness/panel_ways.hpp"

using namespace shardtype;
using linalg::Norm;

namespace {

struct X : Axis<"X"> {};
struct B : Index<"B"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using Int = std::int64_t;
using Z = Kokkos::complex<double>;
namespace lk = linalg::kernels;

template <class T>
lk::real_t<T> by_lapack(Int kind, Int n) {
  using R = lk::real_t<T>;
  std::vector<T> a;
  for (Int j = 0; j < n; ++j)
    for (Int i = 0; i < n; ++i) a.push_back(linear::conditioned<T>(kind, i, j));
  R norm(0);
  for (Int j = 0; j < n; ++j) {
    R sum(0);
    for (Int i = 0; i < n; ++i) sum += lk::modulus(a[static_cast<std::size_t>(i + j * n)]);
    norm = std::max(norm, sum);
  }
  std::vector<std::int32_t> pivots(static_cast<std::size_t>(n + 1));
  lk::getrf(n, n, a.data(), n, pivots.data());
  return lk::gecon(n, a.data(), n, norm);
}

// Not below the true value, and close to LAPACK's estimate, which is not above it where ours goes
// on from a lower one.
template <class T>
void check_stack(Mesh<X> const& mesh, Int n) {
  INFO("n " << n);
  using R = lk::real_t<T>;
  auto const a = from_function<T, Dim<J>, Dim<B, X>, Dim<I>>(
      mesh, {n, linear::conditioned_kinds, n},
      [](Int j, Int t, Int i) { return linear::conditioned<T>(t, i, j); });
  auto const estimate = linalg::rcond<I, J>(a);
  static_assert(std::is_same_v<std::remove_const_t<decltype(estimate)>, Tensor<R, Dim<B, X>>>);
  auto const values = to_host(estimate);
  auto const again =
      to_host(linalg::rcond<I, J>(linalg::lu_factor<I, J>(a), linalg::norm<I, J, Norm::one>(a)));
  auto const exact = to_host(linalg::cond<I, J, Norm::one>(a));
  for (Int t = 0; t < linear::conditioned_kinds; ++t) {
    INFO("kind " << t);
    auto const k = static_cast<std::size_t>(t);
    double const lapack = static_cast<double>(by_lapack<T>(t, n));
    CHECK(std::abs(static_cast<double>(values[k]) - lapack) <= 1e-3 * lapack);
    CHECK(std::abs(static_cast<double>(values[k] - again[k])) <= 1e-3 * lapack);
    if (t == linear::drawn_entries) {
      double const truth = 1 / static_cast<double>(exact[k]);
      CHECK(static_cast<double>(values[k]) >= (1 - 1e-3) * truth);
      CHECK(static_cast<double>(values[k]) <= 3 * truth);
    }
  }
}

template <class T>
void check_one(Mesh<X> const& mesh, Int n) {
  for (Int kind = 0; kind < linear::conditioned_kinds; ++kind) {
    INFO("n " << n << ", kind " << kind);
    auto const a = from_function<T, Dim<I>, Dim<J, Cyclic<X, 4>>>(
        mesh, {n, n}, [kind](Int i, Int j) { return linear::conditioned<T>(kind, i, j); });
    auto const whole = reshard<Dim<I>, Dim<J>>(a);
    double const alone = static_cast<double>(item(linalg::rcond<I, J>(whole)));
    auto const estimate = linalg::rcond<I, J>(a);
    static_assert(std::is_same_v<std::remove_const_t<decltype(estimate)>, Tensor<lk::real_t<T>>>);
    CHECK(std::abs(static_cast<double>(item(estimate)) - alone) <= 1e-2 * alone);
    auto const lu = linalg::lu_factor<I, J>(a);
    auto const norm = reshard<>(linalg::norm<I, J, Norm::one>(a));
    Plan const plan = plan_at(op::CyclicLuRcond<I, J>{}, lu.factors, lu.pivots, norm);
    CHECK(plan.count(Collective::all_gather) == 0);
    auto& memory = runtime::run_time.memory;
    Int const before = memory.now();
    memory.reset();
    panel_ways::Counted const counted;
    auto const again = linalg::rcond<I, J>(lu, norm);
    Int mine[2] = {counted.bytes(),
                   plan.bytes(coords_in(op::CyclicLuRcond<I, J>{}, lu.factors, lu.pivots, norm))};
    Int const held = memory.most() - before;
    Int all[2];
    MPI_Allreduce(mine, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all[0] <= all[1]);
    CHECK(held <= plan.peak_bytes());
    CHECK(std::abs(static_cast<double>(item(again)) - alone) <= 1e-2 * alone);
  }
}

}  // namespace

TEST_CASE("conditions of stacks, estimated") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  for (Int const n : {1, 2, 7, 33}) check_stack<double>(mesh, n);
  check_stack<Z>(mesh, 6);
}

TEST_CASE("singular matrices, NaN, and matrices without elements") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  Int const n = 5;
  double const nan = std::numeric_limits<double>::quiet_NaN();
  auto const a =
      from_function<double, Dim<B, X>, Dim<I>, Dim<J>>(mesh, {4, n, n}, [nan](Int t, Int i, Int j) {
        if (t == 1 && j == 3) return 0.;
        if (t == 2 && i == 4 && j == 1) return nan;
        if (t == 3) return i == j ? 1e-300 : 0.;
        return i == j ? 1. : 0.;
      });
  auto const values = to_host(linalg::rcond<I, J>(a));
  CHECK(values[0] == 1);
  CHECK(values[1] == 0);
  CHECK(std::isnan(values[2]));
  CHECK(std::abs(values[3] - 1) < 1e-12);
  auto const none = from_function<double, Dim<B, X>, Dim<I>, Dim<J>>(
      mesh, {2, 0, 0}, [](Int, Int, Int) { return 0.; });
  CHECK(to_host(linalg::rcond<I, J>(none)) == std::vector<double>{1, 1});
}

TEST_CASE("the condition of one matrix over many ranks, estimated") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  for (Int const n : {0, 1, 3, 22}) check_one<double>(mesh, n);
  check_one<Z>(mesh, 9);
  auto const zeros =
      from_function<double, Dim<I>, Dim<J, Cyclic<X, 4>>>(mesh, {9, 9}, [](Int i, Int j) {
        return j == 6 ? 0. : linear::conditioned<double>(linear::drawn_entries, i, j);
      });
  std::string code;
  try {
    static_cast<void>(linalg::rcond<I, J>(zeros));
  } catch (Error const& e) {
    code = e.code();
  }
  CHECK(code == "E80");
}
