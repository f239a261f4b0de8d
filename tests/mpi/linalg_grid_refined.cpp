// Solves in mixed precision over grids of ranks: the accuracy of solves in double on matrices of
// many kinds, those that float cannot factorize or correct among them; which way was taken, by the
// bytes that are sent; errors; what is sent and held beside the plan.
// RANKS: 1 2 3 4 6 8
// SOURCES: tests/shim/pmpi.cpp
#include <algorithm>
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
#include "shim/pmpi.hpp"

using namespace shardtype;
using linear::Kind;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using Int = std::int64_t;
using Z = Kokkos::complex<double>;
template <class T>
using Grid = Tensor<T, Dim<I, Cyclic<X, 8>>, Dim<J, Cyclic<Y, 8>>>;
template <class T>
using Turned = Tensor<T, Dim<J, Cyclic<Y, 8>>, Dim<I, Cyclic<X, 8>>>;
template <class T>
using Right = Tensor<T, Dim<I, Cyclic<X, 8>>>;

// Bytes that all ranks send in `run`.
template <class Run>
Int sent(Run run) {
  shim::reset();
  run();
  Int mine = shim::bytes(), all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

// As accurate as a solve in double; sent and held is at most what the plan has.
template <class A>
void check(Mesh<X, Y> const& mesh, Kind kind, Int n, Int rights) {
  using T = typename A::element;
  INFO(linear::name(kind) << ", n " << n << ", " << rights << " right-hand sides");
  bool const by_columns = std::is_same_v<A, Turned<T>>;
  auto const a = from_function<A>(mesh, {n, n}, [&](Int p, Int q) {
    return by_columns ? linear::element<T>(kind, n, 0, q, p) : linear::element<T>(kind, n, 0, p, q);
  });
  auto const b = from_function<T, Dim<K>, Dim<I, Cyclic<X, 8>>>(
      mesh, {rights, n}, [](Int k, Int i) { return linear::right<T>(i, k); });
  auto const before = a.clone();
  Plan const plan = plan_at(op::CyclicRefinedSolve<I, J>{}, a, b);
  CHECK(plan.count(Collective::all_gather) == 0);
  auto& memory = runtime::run_time.memory;
  Int const given = memory.now();
  memory.reset();
  shim::reset();
  auto const x = linalg::solve<I, J>(a, b, linalg::refined);
  Int const held = memory.most() - given;
  Int mine[2] = {shim::bytes(), plan.bytes(coords_in(op::CyclicRefinedSolve<I, J>{}, a, b))};
  Int all[2];
  MPI_Allreduce(mine, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all[0] <= all[1]);
  CHECK(held <= plan.peak_bytes());
  static_assert(
      std::is_same_v<std::remove_const_t<decltype(x)>, Tensor<T, Dim<K>, Dim<J, Cyclic<Y, 8>>>>);
  double const ours = linear::error_of<T, J, K>(kind, n, rights, x);
  double const full = linear::error_of<T, J, K>(kind, n, rights, linalg::solve<I, J>(a, b));
  CHECK(ours <= 10 * std::max(full, std::numeric_limits<double>::epsilon()));
  CHECK(array_equal(a, before));
}

}  // namespace

TEST_CASE("matrices of many kinds") {
  linear::on_grids<X, Y>([](Mesh<X, Y> const& mesh) {
    for (Kind const kind : linear::kinds) {
      // integers are singular for some n, Hilbert and Vandermonde matrices in double for larger n
      bool const small =
          kind == Kind::hilbert || kind == Kind::vandermonde || kind == Kind::integers;
      for (Int const n : {1, 8, 40}) {
        if (small && n > 8) continue;
        check<Grid<double>>(mesh, kind, n, 3);
        check<Grid<Z>>(mesh, kind, n, 2);
      }
      check<Turned<double>>(mesh, kind, 9, 1);
    }
  });
}

TEST_CASE("which way is taken") {
  linear::on_grids<X, Y>([](Mesh<X, Y> const& mesh) {
    Int const n = 200;
    auto const b =
        from_function<Right<double>>(mesh, {n}, [](Int i) { return linear::right<double>(i, 0); });
    auto const bytes = [&](auto const& a, bool mixed) {
      return sent([&] {
        if (mixed)
          (void)linalg::solve<I, J>(a, b, linalg::refined);
        else
          (void)linalg::solve<I, J>(a, b);
      });
    };
    auto const of = [&](Kind kind) {
      return from_function<Grid<double>>(
          mesh, {n, n}, [&](Int i, Int j) { return linear::element<double>(kind, n, 0, i, j); });
    };
    if (mesh.size() == 1) return;
    // float, and few corrections
    CHECK(bytes(of(Kind::dominant), true) < bytes(of(Kind::dominant), false));
    CHECK(bytes(of(Kind::random), true) < bytes(of(Kind::random), false));
    // singular, too large or not to be corrected in float: then also as solve
    for (Kind const kind : {Kind::tiny, Kind::huge, Kind::nearly_singular})
      CHECK(bytes(of(kind), true) >= bytes(of(kind), false));
    // too large: nothing in float is sent but norms
    CHECK(bytes(of(Kind::huge), true) < bytes(of(Kind::huge), false) + 200 * n * mesh.size());
  });
}

TEST_CASE("no elements, no right-hand sides, float") {
  linear::on_grids<X, Y>([](Mesh<X, Y> const& mesh) {
    auto const none = zeros<Grid<double>>(mesh, {0, 0});
    CHECK(
        linalg::solve<I, J>(none, zeros<Right<double>>(mesh, {0}), linalg::refined).extents()[0] ==
        0);
    auto const a =
        from_function<Grid<double>>(mesh, {5, 5}, [](Int i, Int j) { return i == j ? 2. : 0.; });
    CHECK(linalg::solve<I, J>(a, zeros<double, Dim<I, Cyclic<X, 8>>, Dim<K>>(mesh, {5, 0}),
                              linalg::refined)
              .extents()[1] == 0);
    auto const f = cast<float>(a);
    auto const b = ones<Right<float>>(mesh, {5});
    CHECK(array_equal(linalg::solve<I, J>(f, b, linalg::refined), linalg::solve<I, J>(f, b)));
  });
}

TEST_CASE("errors, on all ranks alike") {
  linear::on_grids<X, Y>([](Mesh<X, Y> const& mesh) {
    Int const n = 19;
    auto const b = ones<Right<double>>(mesh, {n});
    auto const code = [&](double bad, bool row) {
      auto const a = from_function<Grid<double>>(mesh, {n, n}, [&](Int i, Int j) {
        return j == 11 && (row || i == 4) ? bad : linear::drawn<double>(i * 31 + j, 1);
      });
      try {
        (void)linalg::solve<I, J>(a, b, linalg::refined);
      } catch (Error const& e) {
        CHECK(e.where() == FailedOn::every_rank);
        return e.code();
      }
      return std::string("none");
    };
    CHECK(code(0, true) == "E80");
    CHECK(code(std::numeric_limits<double>::quiet_NaN(), false) == "E82");
    CHECK(code(1, false) == "none");
  });
}
