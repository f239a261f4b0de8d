// The estimated condition of one matrix over a grid of ranks beside that of the same matrix on one;
// what is sent and held is at most what the plan has; singular matrices and NaN are an error on all
// ranks.
// RANKS: 1 2 3 4 6 8
// SOURCES: tests/shim/pmpi.cpp
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/linalg.hpp"
#include "harness/on_ranks.hpp"
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
void check(Mesh<X, Y> const& mesh, Int n) {
  for (Int kind = 0; kind < linear::conditioned_kinds; ++kind) {
    INFO("n " << n << ", kind " << kind);
    auto const a = from_function<T, Dim<I, Cyclic<X, 4>>, Dim<J, Cyclic<Y, 4>>>(
        mesh, {n, n}, [kind](Int i, Int j) { return linear::conditioned<T>(kind, i, j); });
    auto const turned = reshard<Dim<J, Cyclic<Y, 4>>, Dim<I, Cyclic<X, 4>>>(a);
    double const alone = static_cast<double>(item(linalg::rcond<I, J>(reshard<Dim<I>, Dim<J>>(a))));
    auto const estimate = linalg::rcond<I, J>(a);
    static_assert(std::is_same_v<std::remove_const_t<decltype(estimate)>, Tensor<lk::real_t<T>>>);
    CHECK(std::abs(static_cast<double>(item(estimate)) - alone) <= 1e-2 * alone);
    CHECK(std::abs(static_cast<double>(item(linalg::rcond<I, J>(turned))) - alone) <= 1e-2 * alone);
    auto const lu = linalg::lu_factor<I, J>(a);
    auto const norm = reshard<>(norm_inf<J>(all_reduce<X>(norm_1<I>(a))));
    using Op = op::CyclicLuRcond<I, J>;
    Plan const plan = plan_at(Op{}, lu.factors, lu.pivots, norm);
    CHECK(plan.count(Collective::all_gather) == 0);
    auto& memory = runtime::run_time.memory;
    Int const before = memory.now();
    memory.reset();
    shim::reset();
    auto const again = linalg::rcond<I, J>(lu, norm);
    Int mine[2] = {shim::bytes(), plan.bytes(coords_in(Op{}, lu.factors, lu.pivots, norm))};
    Int const held = memory.most() - before;
    Int all[2];
    MPI_Allreduce(mine, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all[0] <= all[1]);
    // an estimate takes at least 3 of the 11 solutions that the plan has
    if (n > 1) CHECK(4 * all[0] >= all[1]);
    CHECK(held <= plan.peak_bytes());
    CHECK(std::abs(static_cast<double>(item(again)) - alone) <= 1e-2 * alone);
  }
}

}  // namespace

TEST_CASE("the condition of one matrix over a grid of ranks, estimated") {
  linear::on_grids<X, Y>([](Mesh<X, Y> const& mesh) {
    for (Int const n : {0, 1, 3, 22}) check<double>(mesh, n);
    check<Z>(mesh, 9);
    check<float>(mesh, 9);
  });
}

TEST_CASE("the condition of a matrix over a grid that has none is an error on all ranks") {
  linear::on_grids<X, Y>([](Mesh<X, Y> const& mesh) {
    using A = Tensor<double, Dim<I, Cyclic<X, 4>>, Dim<J, Cyclic<Y, 4>>>;
    auto const zeros = from_function<A>(mesh, {9, 9}, [](Int i, Int j) {
      return j == 6 ? 0. : linear::conditioned<double>(linear::drawn_entries, i, j);
    });
    auto const bad = from_function<A>(mesh, {9, 9}, [](Int i, Int j) {
      return i == 2 && j == 7 ? std::nan("")
                              : linear::conditioned<double>(linear::drawn_entries, i, j);
    });
    auto const good = from_function<A>(mesh, {9, 9}, [](Int i, Int j) {
      return linear::conditioned<double>(linear::drawn_entries, i, j);
    });
    CHECK(on_ranks::code_of([&] { (void)linalg::rcond<I, J>(zeros); }) == "E80");
    CHECK(on_ranks::code_of([&] { (void)linalg::rcond<I, J>(bad); }) == "E82");
    CHECK(on_ranks::code_of([&] { (void)linalg::rcond<I, J>(good); }) == "none");
  });
}
