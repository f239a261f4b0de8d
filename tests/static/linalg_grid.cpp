// One matrix over a grid of ranks on types: results, refusals, and plans, which gather nothing.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <shardtype/linalg/types_cyclic.hpp>
#include <shardtype/linalg/types_cyclic_inverse.hpp>
#include <shardtype/linalg/types_cyclic_solutions.hpp>
#include <shardtype/types.hpp>

using namespace shardtype;
using namespace shardtype::rules;

namespace {

struct X : Axis<"X", 4> {};
struct Y : Axis<"Y", 2> {};
struct Z : Axis<"Z", 3> {};
struct P : Axis<"P"> {};
struct Q : Axis<"Q"> {};
struct I : Index<"I", 2048> {};
struct J : Index<"J", 2048> {};
struct U : Index<"U", 2050> {};
struct V : Index<"V", 2050> {};
struct K : Index<"K", 3> {};
struct B : Index<"B", 5> {};
struct M : Index<"M"> {};
struct N : Index<"N"> {};

template <class L, class Axis, int n = 64>
using Split = Dim<L, Cyclic<Axis, n>>;

template <class Op, class... As>
constexpr Code code = checking::Resolve<Op, As...>::verdict.code;
template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

using A = Tensor<double, Split<I, X>, Split<J, Y>>;
using Turned = Tensor<float, Split<J, Y, 8>, Split<I, X, 8>>;
using Pivots = Tensor<std::int32_t, Dim<J>>;
using Right = Tensor<double, Split<I, X>, Dim<K>>;
using Solution = Tensor<double, Split<J, Y>, Dim<K>>;
using Lu = op::CyclicLu<I, J>;
using Cholesky = op::CyclicCholesky<I, J>;
using Solve = op::CyclicSolve<I, J>;
using LuSolve = op::CyclicLuSolve<I, J>;
using LuSolveTurned = op::CyclicLuSolve<I, J, true>;
using CholeskySolve = op::CyclicCholeskySolve<I, J>;
using Triangle = op::CyclicTriangle<I, J>;
using TriangleTurned = op::CyclicTriangle<I, J, true>;

// Factors are typed as the matrix, in any order of its dims.
static_assert(same<result_t<Lu, A>, A> && same<result_t<Lu, Turned>, Turned>);
static_assert(same<result_t<Cholesky, A>, A> && same<result_t<Cholesky, Turned>, Turned>);
// the labels exchanged: the same tensor is the transposed matrix
static_assert(same<result_t<op::CyclicLu<J, I>, A>, A>);

// Solutions: the label and the axis of the rows become those of the columns; other dims stay.
static_assert(same<result_t<Solve, A, Tensor<double, Split<I, X>>>, Tensor<double, Split<J, Y>>>);
static_assert(same<result_t<Solve, A, Right>, Solution>);
static_assert(same<result_t<Solve, Turned, Tensor<float, Dim<K>, Split<I, X, 8>>>,
                   Tensor<float, Dim<K>, Split<J, Y, 8>>>);
static_assert(same<result_t<op::CyclicSolve<J, I>, A, Tensor<double, Split<J, Y>>>,
                   Tensor<double, Split<I, X>>>);
static_assert(same<result_t<Solve, A, Tensor<double, Dim<K, Z>, Split<I, X>>>,
                   Tensor<double, Dim<K, Z>, Split<J, Y>>>);
static_assert(same<result_t<Solve, A, Tensor<double, Split<I, X>, Unreduced<Z>>>,
                   Tensor<double, Split<J, Y>, Unreduced<Z>>>);
static_assert(same<result_t<LuSolve, A, Pivots, Right>, Solution>);
static_assert(same<result_t<LuSolveTurned, A, Pivots, Solution>, Right>);
static_assert(same<result_t<LuSolve, Turned, Pivots, Tensor<float, Split<I, X, 8>, Dim<K>>>,
                   Tensor<float, Split<J, Y, 8>, Dim<K>>>);
static_assert(same<result_t<LuSolveTurned, Turned, Pivots, Tensor<float, Dim<K>, Split<J, Y, 8>>>,
                   Tensor<float, Dim<K>, Split<I, X, 8>>>);
static_assert(same<result_t<CholeskySolve, A, Right>, Solution>);
static_assert(same<result_t<CholeskySolve, Turned, Tensor<float, Split<I, X, 8>>>,
                   Tensor<float, Split<J, Y, 8>>>);
static_assert(same<result_t<Triangle, A, Right>, Solution>);
static_assert(same<result_t<TriangleTurned, A, Solution>, Right>);
static_assert(
    same<result_t<Triangle, Turned, Tensor<float, Split<I, X, 8>>>, Tensor<float, Split<J, Y, 8>>>);
static_assert(same<result_t<TriangleTurned, Turned, Tensor<float, Split<J, Y, 8>>>,
                   Tensor<float, Split<I, X, 8>>>);

using Refined = op::CyclicRefinedSolve<I, J>;
static_assert(same<result_t<Refined, A, Right>, Solution>);
static_assert(code<Refined, A, Tensor<double, Dim<I>>> == Code::Q05_one_matrix);

// An inverse lies as the matrix, with the labels exchanged; determinants are numbers on all ranks.
using Inverse = op::CyclicInverse<I, J>;
using linalg::detail::Product;
using Det = op::CyclicLuProduct<I, J, Product::whole>;
using Logdet = op::CyclicLuProduct<I, J, Product::logarithm>;
static_assert(same<result_t<Inverse, A, Pivots>, Tensor<double, Split<J, X>, Split<I, Y>>>);
static_assert(
    same<result_t<Inverse, Turned, Pivots>, Tensor<float, Split<I, Y, 8>, Split<J, X, 8>>>);
static_assert(same<result_t<Det, A, Pivots>, Tensor<double>>);
static_assert(same<result_t<Logdet, Turned, Pivots>, Tensor<float>>);

// So is the condition, by factors, pivots and the norm.
using Rcond = op::CyclicLuRcond<I, J>;
static_assert(same<result_t<Rcond, A, Pivots, Tensor<double>>, Tensor<double>>);
static_assert(same<result_t<Rcond, Turned, Pivots, Tensor<float>>, Tensor<float>>);
static_assert(code<Rcond, A, Pivots, Tensor<float>> == Code::C10_element_types_differ);
static_assert(code<Rcond, A, Pivots, Tensor<double, Dim<K>>> == Code::Q05_one_matrix);
static_assert(code<Rcond, A, Tensor<std::int32_t, Dim<I>>, Tensor<double>> == Code::Q05_one_matrix);

// Refusals of the matrix.
using TwoSizes = Tensor<double, Split<I, X, 32>, Split<J, Y, 64>>;
static_assert(code<Lu, TwoSizes> == Code::Q03_both_cyclic);
static_assert(code<Cholesky, TwoSizes> == Code::Q03_both_cyclic);
static_assert(code<Solve, TwoSizes, Right> == Code::Q03_both_cyclic);
static_assert(code<LuSolve, TwoSizes, Pivots, Right> == Code::Q03_both_cyclic);
static_assert(code<CholeskySolve, TwoSizes, Right> == Code::Q03_both_cyclic);
static_assert(code<Triangle, TwoSizes, Right> == Code::Q03_both_cyclic);
static_assert(code<Inverse, TwoSizes, Pivots> == Code::Q03_both_cyclic);
static_assert(code<Det, TwoSizes, Pivots> == Code::Q03_both_cyclic);
static_assert(code<Rcond, TwoSizes, Pivots, Tensor<double>> == Code::Q03_both_cyclic);
static_assert(code<Refined, TwoSizes, Right> == Code::Q03_both_cyclic);
static_assert(code<Inverse, A, Tensor<std::int32_t, Split<J, Y>>> == Code::Q05_one_matrix);
static_assert(code<Det, A, Tensor<std::int32_t, Dim<I>>> == Code::Q05_one_matrix);
static_assert(code<Inverse, A, Tensor<double, Dim<J>>> == Code::C10_element_types_differ);
// calls that take whole rows only, whatever the block sizes
static_assert(code<op::CyclicInverse<I, J, true>, A, Pivots> == Code::Q03_both_cyclic);
static_assert(code<op::CyclicSolve<I, J, true>, A, Solution> == Code::Q03_both_cyclic);
static_assert(code<op::CyclicCofactors<I, J>, A, Pivots, Tensor<double>> == Code::Q03_both_cyclic);
static_assert(code<op::CyclicLuSolveOwn<I, J>, A, Pivots, Tensor<double, Dim<I>, Dim<K, Y>>> ==
              Code::Q03_both_cyclic);
static_assert(code<Lu, Tensor<double, Dim<I, X>, Split<J, Y>>> == Code::Q01_matrix_split);
static_assert(code<Lu, Tensor<double, Split<I, X>, Dim<J, Y>>> == Code::Q01_matrix_split);
static_assert(code<Cholesky, Tensor<double, Dim<I, X>, Dim<J, Y>>> == Code::Q01_matrix_split);
static_assert(code<Lu, Tensor<double, Split<I, X>, Split<J, Y>, Unreduced<Z>>> ==
              Code::Q02_not_linear);
static_assert(code<Solve, Tensor<double, Split<I, X>, Split<J, Y>, Unreduced<Z>>, Right> ==
              Code::Q02_not_linear);
static_assert(code<Lu, Tensor<double, Dim<B>, Split<I, X>, Split<J, Y>>> == Code::Q05_one_matrix);
static_assert(code<Cholesky, Tensor<double, Split<I, X>, Dim<B, Z>, Split<J, Y>>> ==
              Code::Q05_one_matrix);
static_assert(code<Lu, Tensor<double, Dim<I>, Dim<J>>> == Code::Q05_one_matrix);
static_assert(code<Lu, Tensor<double, Split<I, X>, Dim<J>>> == Code::Q04_rows_cyclic);
static_assert(code<Lu, Tensor<double, Split<K, X>, Split<J, Y>>> == Code::D01_no_such_index);
static_assert(code<op::CyclicLu<K, J>, Tensor<double, Split<K, X>, Split<J, Y>>> ==
              Code::D06_extents_contradict);
static_assert(code<Lu, Tensor<std::int32_t, Split<I, X>, Split<J, Y>>> == Code::P12_not_floating);
static_assert(code<Cholesky, Tensor<std::int32_t, Split<I, X>, Split<J, Y>>> ==
              Code::P12_not_floating);
static_assert(code<Solve, Tensor<std::int32_t, Split<I, X>, Split<J, Y>>,
                   Tensor<std::int32_t, Split<I, X>>> == Code::P12_not_floating);

// Refusals of the right-hand sides.
static_assert(code<Solve, A, Tensor<double, Dim<K>>> == Code::D01_no_such_index);
static_assert(code<Solve, A, Tensor<double, Split<J, Y>>> == Code::D01_no_such_index);
static_assert(code<Solve, A, Tensor<double, Split<I, X>, Dim<J>>> == Code::D02_index_taken);
static_assert(code<Solve, A, Tensor<double, Dim<I>>> == Code::Q05_one_matrix);
static_assert(code<Solve, A, Tensor<double, Dim<I, X>>> == Code::Q05_one_matrix);
static_assert(code<Solve, A, Tensor<double, Split<I, X, 32>>> == Code::Q05_one_matrix);
static_assert(code<Solve, A, Tensor<double, Split<I, Y>>> == Code::Q05_one_matrix);
static_assert(code<Solve, A, Tensor<double, Split<I, X>, Dim<K, Y>>> == Code::Q05_one_matrix);
static_assert(code<Solve, A, Tensor<double, Split<I, X>, Dim<K>, Dim<B>>> == Code::Q05_one_matrix);
static_assert(code<Solve, A, Tensor<double, Split<I, X>, Unreduced<Y>>> == Code::Q05_one_matrix);
static_assert(code<Solve, A, Tensor<double, Split<I, X>, Unreduced<Max, Z>>> ==
              Code::Q02_not_linear);
static_assert(code<Solve, A, Tensor<float, Split<I, X>>> == Code::C10_element_types_differ);
static_assert(code<LuSolveTurned, A, Pivots, Tensor<double, Dim<J>>> == Code::Q05_one_matrix);
static_assert(code<LuSolveTurned, A, Pivots, Right> == Code::D01_no_such_index);
static_assert(code<LuSolve, A, Tensor<std::int32_t, Split<J, Y>>, Right> == Code::Q05_one_matrix);
static_assert(code<LuSolve, A, Tensor<std::int32_t, Dim<I>>, Right> == Code::Q05_one_matrix);
static_assert(code<LuSolve, A, Tensor<double, Dim<J>>, Right> == Code::C10_element_types_differ);
static_assert(code<CholeskySolve, A, Tensor<double, Dim<I>>> == Code::Q05_one_matrix);
static_assert(code<TriangleTurned, A, Right> == Code::D01_no_such_index);

// Process columns take turns with panels, which they factorize and send ahead of the rest of an
// update.
static_assert(plan(Lu{}, type<A>).repeats[0].ahead == planning::LookAhead{5, 2});
static_assert(plan(Cholesky{}, type<A>).repeats[0].ahead == planning::LookAhead{4, 2});
static_assert(plan(LuSolve{}, type<A>, type<Pivots>, type<Right>).repeats[0].ahead ==
              planning::LookAhead{0, 2});

// Plans: nothing is gathered.
template <class Op, class... As>
constexpr std::int64_t gathers = plan(Op{}, type<As>...).count(Collective::all_gather);
static_assert(gathers<Lu, A> == 0 && gathers<Lu, Turned> == 0);
static_assert(gathers<Cholesky, A> == 0 && gathers<Cholesky, Turned> == 0);
static_assert(gathers<Solve, A, Right> == 0);
static_assert(gathers<LuSolve, A, Pivots, Right> == 0);
static_assert(gathers<LuSolveTurned, A, Pivots, Solution> == 0);
static_assert(gathers<CholeskySolve, A, Right> == 0);
static_assert(gathers<Triangle, A, Right> == 0 && gathers<TriangleTurned, A, Solution> == 0);
static_assert(gathers<Inverse, A, Pivots> == 0 && gathers<Det, A, Pivots> == 0);
static_assert(gathers<Rcond, A, Pivots, Tensor<double>> == 0);
static_assert(gathers<Refined, A, Right> == 0);
static_assert(gathers<op::CyclicLu<U, V>, Tensor<double, Split<U, X>, Split<V, Y>>> == 0);
static_assert(gathers<op::CyclicSolve<M, N>, Tensor<double, Split<M, P>, Split<N, Q>>,
                      Tensor<double, Split<M, P>>> == 0);

// The rank that gets the most, compared with all of them: what a rank has itself of the rows of its
// columns, which Cholesky sends, depends on both coordinates; ranks with nothing of that count once
// for each process column.
template <int p, int q, int n>
constexpr bool busiest() {
  struct Down : Axis<"Down", p> {};
  struct Along : Axis<"Along", q> {};
  struct R : Index<"R", n> {};
  struct C : Index<"C", n> {};
  constexpr Plan plan_of =
      plan(op::CyclicCholesky<R, C>{}, type<Tensor<double, Split<R, Down, 4>, Split<C, Along, 4>>>);
  std::int64_t most = 0;
  for (int x = 0; x < p; ++x)
    for (int y = 0; y < q; ++y) most = std::max(most, plan_of.bytes(Coords{{x, y}}));
  return plan_of.bytes_per_rank() == most;
}
static_assert(busiest<4, 4, 70>());
static_assert(busiest<2, 4, 45>());
static_assert(busiest<6, 4, 37>());
static_assert(busiest<3, 2, 30>());
static_assert(busiest<1, 5, 41>());
static_assert(busiest<5, 1, 41>());

}  // namespace
