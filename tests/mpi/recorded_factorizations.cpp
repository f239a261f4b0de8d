// LU over ranks, by columns and over a grid, its solves, determinants and inverses, and Cholesky in
// automatic mode: as in strict mode, of uneven sizes, as expressions, as functions and planned from
// types; bytes, messages and memory as planned, with panels in windows and by messages.
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 400
#include <array>
#include <cstdint>
#include <string>
#include <tuple>

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
using Number = Tensor<double>;
using Pivots = Tensor<std::int32_t, Dim<J>>;

// Plans from types alone are those of strict mode, in any order of the axes.
namespace proofs {
struct A2 : Axis<"A2", 2> {};
struct A4 : Axis<"A4", 4> {};
struct R : Index<"R", 150> {};
struct C : Index<"C", 150> {};
using Columns = Tensor<double, Dim<R>, Dim<C, Cyclic<A4, 16>>>;
using Grid = Tensor<double, Dim<R, Cyclic<A4, 16>>, Dim<C, Cyclic<A2, 16>>>;
constexpr auto factors = [](auto const& a) {
  return evaluate<Dim<R>, Dim<C, Cyclic<A4, 16>>>(linalg::lu_factor<R, C>(a).factors);
};
constexpr Plan strict = plan(op::CyclicLu<R, C>{}, type<Columns>);
constexpr auto by_columns = plan_traced<automatic_mode::Axes<A2, A4>, Columns>(factors);
static_assert(recorded::same_plan(by_columns, strict));
static_assert(by_columns.count(Collective::broadcast) == 10);
static_assert(by_columns.count(Collective::all_gather) == 0);
static_assert(by_columns.bytes({{1, 2}}) == strict.bytes({{2}}));
static_assert(by_columns.bytes({{0, 1}}) != by_columns.bytes({{0, 3}}));
constexpr Plan strict_grid = plan(op::CyclicLu<R, C>{}, type<Grid>);
constexpr auto on_grid = plan_traced<automatic_mode::Axes<A2, A4>, Grid>(
    [](auto const& a) { return evaluate<Grid>(linalg::lu_factor<R, C>(a).factors); });
static_assert(recorded::same_plan(on_grid, strict_grid));
static_assert(on_grid.bytes({{1, 2}}) == strict_grid.bytes({{2, 1}}));
// a determinant factorizes once, and reads both results
constexpr auto determinant = plan_traced<Columns>(
    [](auto const& a) { return evaluate<Tensor<double>>(linalg::det<R, C>(a)); });
static_assert(determinant.collectives() == strict.collectives() + 1);
}  // namespace proofs

double element(Int i, Int j) { return linear::drawn<double>(i * 300 + j, 5); }
double definite(Int i, Int j, Int n) {
  return i == j ? 2. * double(n) : element(std::max(i, j), std::min(i, j));
}

template <class M>
auto sizes_for(M const& mesh, Int n, Int rights) {
  return [&mesh, n, rights](auto& d) {
    d.template extent<I>(n).template extent<J>(n);
    if (rights > 0) d.template extent<K>(rights);
    d.template ranks<Y>(mesh.template size_of<Y>());
  };
}

void by_columns(Mesh<X, Y> const& mesh, Int n) {
  INFO("n " << n);
  constexpr Int rights = 3;
  using A = Tensor<double, Dim<I>, Dim<J, Cyclic<Y, 4>>>;
  using Right = Tensor<double, Dim<I>, Dim<K>>;
  using Solution = Tensor<double, Dim<J, Cyclic<Y, 4>>, Dim<K>>;
  auto const a = from_function<A>(mesh, {n, n}, element);
  auto const h = from_function<A>(mesh, {n, n}, [n](Int i, Int j) { return definite(i, j, n); });
  auto const b = from_function<Right>(mesh, {n, rights}, element);
  auto const alone = sizes_for(mesh, n, 0);
  auto const both = sizes_for(mesh, n, rights);
  auto const p = recorded::check<A>(
      mesh, Bytes::exact, [](auto const& m) { return linalg::lu_factor<I, J>(m).factors; }, alone,
      a);
  CHECK(recorded::same_plan(p.plan, plan_at(op::CyclicLu<I, J>{}, a)));
  recorded::check<Solution>(
      mesh, Bytes::exact,
      [](auto const& m, auto const& r) {
        return linalg::lu_solve<I, J>(linalg::lu_factor<I, J>(m), r);
      },
      both, a, b);
  recorded::check<Solution>(
      mesh, Bytes::exact, [](auto const& m, auto const& r) { return linalg::solve<I, J>(m, r); },
      both, a, b);
  recorded::check<A>(
      mesh, Bytes::exact, [](auto const& m) { return linalg::cholesky<I, J>(m); }, alone, h);
  recorded::check<Number>(
      mesh, Bytes::exact, [](auto const& m) { return linalg::det<I, J>(m); }, alone, a);
}

}  // namespace

TEST_CASE("LU by columns, its solves and its determinant are recorded") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  panel_ways::prepare(mesh);
  for (bool const window : {true, false}) {
    INFO((window ? "in the window" : "by messages"));
    panel_ways::Travel const travel({window, true});
    for (Int const n : {19, 2, 8, 40}) by_columns(mesh, n);
  }
}

TEST_CASE("factors and pivots of one factorization, which several readers have") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  panel_ways::prepare(mesh);
  using A = Tensor<double, Dim<I>, Dim<J, Cyclic<Y, 4>>>;
  auto const a = from_function<A>(mesh, {21, 21}, element);
  auto const strict = linalg::lu_factor<I, J>(a);
  Int const once =
      recorded::of_all(plan_at(op::CyclicLu<I, J>{}, a).bytes(coords_in(op::CyclicLu<I, J>{}, a)));
  panel_ways::Counted const counted;
  auto const [factors, pivots] = evaluate<Outs<A, Pivots>>(
      mesh,
      [](auto const& m) {
        auto const lu = linalg::lu_factor<I, J>(m);
        return std::tuple(lu.factors, lu.pivots);
      },
      a);
  CHECK(recorded::of_all(counted.bytes()) == once);
  CHECK((array_equal(factors, strict.factors) && array_equal(pivots, strict.pivots)));
  // the pivots, and the solution of the transposed matrix, which is whole, go on in expressions
  auto const right = from_function<double, Dim<J, Cyclic<Y, 4>>, Dim<K>>(mesh, {21, 2}, element);
  auto const lu = linalg::lu_factor<I, J>(lazy(a));
  auto const x = linalg::lu_solve<J, I>(lu, lazy(right)) * 2.0;
  using Out = Tensor<double, Dim<I, X>, Dim<K>>;
  CHECK(array_equal(evaluate<Out>(mesh, x),
                    reshard<Out>((linalg::lu_solve<J, I>(strict, right) * 2.0).tensor())));
  CHECK(array_equal(evaluate<Tensor<std::int32_t, Dim<J, X>>>(mesh, lu.pivots + 1),
                    reshard<Dim<J, X>>((strict.pivots + 1).tensor())));
  // right-hand sides that are computed, and moved to where the solve has them
  using Right = Tensor<double, Dim<I>, Dim<K>>;
  using Solution = Tensor<double, Dim<J, Cyclic<Y, 4>>, Dim<K>>;
  auto const b = from_function<double, Dim<I, X>, Dim<K>>(mesh, {21, 3}, element);
  auto const solution = linalg::lu_solve<I, J>(lu, constrain<Right>(lazy(b) * 2.0));
  auto const p = planned(evaluate_to<Solution>, mesh, solution);
  auto const got =
      recorded::measured(p, mesh, Bytes::exact, [&] { return evaluate<Solution>(mesh, solution); });
  CHECK(array_equal(got, linalg::lu_solve<I, J>(strict, reshard<Right>((b * 2.0).tensor()))));
  if (mesh.size_of<Y>() > 1) {
    CHECK(explain(p).find("lu_factor Y ") != std::string::npos);
    CHECK(explain(p).find("[I, J@Y%4] = lu_factor(") != std::string::npos);
  }
}

TEST_CASE("LU over a grid, its determinants and its inverse are recorded") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  panel_ways::prepare(mesh);
  using A = Tensor<double, Dim<I, Cyclic<X, 4>>, Dim<J, Cyclic<Y, 4>>>;
  for (Int const n : {22, 3}) {
    INFO("n " << n);
    auto const sizes = [&, n](auto& d) {
      d.template extent<I>(n).template extent<J>(n);
      d.template ranks<X>(mesh.size_of<X>()).template ranks<Y>(mesh.size_of<Y>());
    };
    auto const a = from_function<A>(mesh, {n, n}, element);
    auto const p = recorded::check<A>(
        mesh, Bytes::at_most, [](auto const& m) { return linalg::lu_factor<I, J>(m).factors; },
        sizes, a);
    CHECK(recorded::same_plan(p.plan, plan_at(op::CyclicLu<I, J>{}, a)));
    recorded::check<Number>(
        mesh, Bytes::at_most, [](auto const& m) { return linalg::slogdet<I, J>(m).logdet; }, sizes,
        a);
    using Inverse = Tensor<double, Dim<J, Cyclic<X, 4>>, Dim<I, Cyclic<Y, 4>>>;
    recorded::check<Inverse>(
        mesh, Bytes::at_most, [](auto const& m) { return linalg::inv<I, J>(m); }, sizes, a);
  }
}

TEST_CASE("errors of recorded factorizations are those of strict mode, on all ranks") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using A = Tensor<double, Dim<I>, Dim<J, Cyclic<Y, 4>>>;
  auto const zeros = from_function<A>(mesh, {9, 9}, [](Int, Int) { return 0.; });
  auto const wide = from_function<A>(mesh, {9, 8}, element);
  auto const factors = [&](A const& a) {
    return on_ranks::code_of([&] { evaluate<A>(mesh, linalg::lu_factor<I, J>(lazy(a)).factors); });
  };
  CHECK(factors(zeros) == "E80");
  CHECK(factors(wide) == "E41");
  CHECK(item(evaluate<Number>(mesh, linalg::det<I, J>(lazy(zeros)))) == 0);
}
