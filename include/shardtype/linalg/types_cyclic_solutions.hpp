#pragma once
/// What takes several solutions with the factors of one matrix over many ranks, as operations: its
/// estimated condition, and solves by factors of half the precision. Their rules, and their plans.

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <shardtype/check/functions.hpp>
#include <shardtype/linalg/types_cyclic.hpp>
#include <shardtype/linalg/types_loops.hpp>

namespace shardtype {

namespace planning {

/// `times` sums of parts of a whole vector over the process columns of a grid.
constexpr void append_vector_sums(Plan& p, CallSizing const& c, std::int64_t times) {
  MatrixCall const call(c);
  Spec x;
  x.add(call.rows);
  Step s = cyclic_move(c, Move::reduce, call.down, x);
  s.before.unreduced.insert(call.down[0]);
  p.push(s);
  p.repeat(1, times, 1, [](Step const&, Round&) {});
}

}  // namespace planning

namespace op {

/// 1 / (|a|_1 |a^-1|_1), estimated by factors and pivots of CyclicLu and |a|_1, a number. How many
/// solutions it takes depends on the values; plans have the most.
template <class I, class J>
struct CyclicLuRcond : detail::OnOneMatrix<I, J> {
  using operation = CyclicLuRcond;
  static constexpr int results_from = 0, results_to = 2;
  static constexpr std::string_view name = "rcond";
  template <class A, class P, class N>
  static constexpr Code elements() {
    using R = detail::real_of<element_t<A>>;
    return std::is_same_v<element_t<N>, R> && std::is_same_v<element_t<P>, std::int32_t>
               ? detail::factorized_elements<A>()
               : Code::C10_element_types_differ;
  }
  template <class A, class P, class N>
  using element = detail::real_of<element_t<A>>;
  constexpr void extents(ResultExtents const& c) const {
    if (c.given[0][0] != c.given[0][1]) ResultExtents::fail("the matrix is not square");
  }
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::lu_number(q, rules::one_matrix(q));
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    constexpr int rounds = linalg::condition_rounds;
    planning::MatrixCall const call(c);
    Spec x, b;
    x.add(call.columns, call.along);
    b.add(call.rows, call.down);
    planning::append_cyclic_start(p, c);
    if (call.grid()) {
      planning::append_solutions<false, rounds + 1, 3>(p, c, x, b);
      planning::append_solutions<true, rounds, 3>(p, c, x, b);
      planning::append_vector_sums(p, c, rounds);
    } else {
      planning::append_passes<false, true>(p, c, x, rounds + 1);
      planning::append_passes<false, false>(p, c, x, rounds + 1);
      planning::append_passes<true, true>(p, c, x, rounds);
      planning::append_passes<true, false>(p, c, x, rounds);
    }
    planning::append_cyclic_sums(p, c, rounds + 1, 2);
  }
};

}  // namespace op

namespace linalg {

/// The most corrections of a solution by factors of half the precision, as LAPACK's dsgesv.
inline constexpr int corrections = 30;

}  // namespace linalg

namespace planning {

namespace cyclic_rounds {

/// A product with the matrix and the sum of all ranks' parts, over a grid of those of a process
/// row, and norms, once more at the beginning. The computation has all memory that a refinement
/// needs.
constexpr void residual(Step const& s, Round& r) {
  if (r.step == 2) {
    // two of each right-hand side
    r.times = r.number == 0 ? 2 : 1;
    r.sizing.extents.at[s.to] = 2;
    r.sizing.element_bytes = sizeof(double);
  }
  if (r.step > 0) return;
  MatrixCall const c = call_of(s, r);
  CyclicBlocks const& b = c.of_columns;
  Sizes const& sizes = r.sizing.sizes;
  std::int64_t const right = right_of(s, r, c);
  std::int64_t const rows = c.most_rows(0, sizes);
  std::int64_t const columns = c.most_columns(0, sizes);
  std::int64_t const half = c.element_bytes / 2;
  computes(r, mul_sat(2 * mul_sat(rows, columns), right));
  if (c.grid()) {
    GridRoom const room(c.of_rows, rows, columns, half);
    std::int64_t const vectors =
        add_sat(grid_vectors(c.of_rows, rows, columns, right), rows * right);
    std::int64_t const halves = add_sat(add_sat(mul_sat(rows, columns), room.all()),
                                        add_sat(vectors, 2 * grid_indices(b.n, half)));
    std::int64_t const wholes = mul_sat(rows + 4, 2 * right + 1);
    r.work.workspace = add_sat(mul_sat(halves, half), mul_sat(wholes, c.element_bytes));
  } else {
    std::int64_t const wires = 2 * std::min(b.n, b.ranks * b.block);
    std::int64_t const halves =
        add_sat(mul_sat(b.n, add_sat(columns, right)), mul_sat(wires, right));
    std::int64_t const wholes = mul_sat(b.n + 2, 2 * right + 1);
    r.work.workspace =
        add_sat(add_sat(mul_sat(halves, half), mul_sat(wholes, c.element_bytes)),
                add_sat(panel_memory(b, half), mul_sat(pivot_elements(b.n, half), half)));
  }
}
/// Two norms of each right-hand side.
constexpr void norms(Step const& s, Round& r) {
  r.sizing.extents.at[s.to] = 2;
  r.sizing.element_bytes = sizeof(double);
}

}  // namespace cyclic_rounds

/// LU in half the precision, solutions by it, each with its residual, and norms of both on which
/// all ranks agree.
constexpr void append_cyclic_refined(Plan& p, CallSizing const& c) {
  using cyclic_rounds::halved;
  constexpr int solutions = linalg::corrections + 1;
  MatrixCall const call(c);
  bool const grid = call.grid();
  append_compute(p, {});
  if (grid) {
    using Lu = FactorSteps<true, Factor::lu_before_solve, false>;
    append_rounds<Lu, &halved<&planning::sized_round<Lu>>>(p, c);
    append_exchanges_of_left<&halved<&cyclic_rounds::left>>(p, c);
  } else {
    using Lu = FactorSteps<false, Factor::lu_before_solve, false>;
    append_rounds<Lu, &halved<&planning::sized_round<Lu>>>(p, c);
  }
  Spec own;
  own.add(call.rows, call.down);
  Step sum = cyclic_move(c, Move::reduce, call.along, own);
  sum.before.unreduced.insert(call.along[0]);
  p.push(sum);  // of the rows' numbers
  Spec right = whole_sums(c.operands[1]);
  if (grid) {
    append_solutions<false, solutions, 0, true>(p, c, c.result, right);
  } else {
    append_passes<false, true, true>(p, c, c.result, solutions);
    append_passes<false, false, true>(p, c, c.result, solutions);
  }
  sum.before = sum.after = right;
  sum.before.unreduced.insert(call.along[0]);
  p.push(cyclic_compute(c, call));
  p.push(sum);
  Step norms = sum;
  if (grid) {
    AxisList const all = matrix_axes(c);
    right.dims[right.find(call.rows)].axes = {};
    norms = cyclic_move(c, Move::reduce, all, right);
    for (int k = 0; k < all.size; ++k) norms.before.unreduced.insert(all[k]);
  }
  norms.before.kind = ReduceKind::max;
  norms.to = static_cast<std::int8_t>(call.rows);
  if (!grid) p.repeat(2, solutions, 1, &cyclic_rounds::residual);
  p.push(norms);
  if (grid) {
    p.repeat(3, solutions, 1, &cyclic_rounds::residual);
  } else {
    p.repeat(1, solutions + 1, 1, &cyclic_rounds::norms);
  }
}

}  // namespace planning

namespace op {

/// a x = b by LU of a in half the precision, and residuals; by CyclicSolve where that does not
/// converge. How many solutions it takes depends on the values: the plan has the most, and
/// CyclicSolve's steps.
template <class I, class J>
struct CyclicRefinedSolve : detail::OnOneMatrix<I, J> {
  using operation = CyclicRefinedSolve;
  static constexpr std::string_view name = "solve";
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_cyclic_refined(p, c);
    if (planning::MatrixCall(c).grid()) return CyclicSolve<I, J>{}.steps(p, c, 0);
    planning::append_panels<planning::Factor::lu_and_solve, false>(p, c);
    planning::append_triangle<false, false>(p, c);
  }
};

}  // namespace op

}  // namespace shardtype
