#pragma once
/// Solves of one matrix over many ranks by factors of half the precision, as an operation: its
/// rule, and its plan.

#include <cstdint>
#include <string_view>

#include <shardtype/linalg/types_cyclic.hpp>

namespace shardtype {

namespace linalg {

/// The most corrections of a solution by factors of half the precision, as LAPACK's dsgesv.
inline constexpr int corrections = 30;

}  // namespace linalg

namespace planning {

namespace cyclic_rounds {

/// A product with the matrix, and the sum of all ranks' parts. Its computation has all memory that
/// a refinement needs.
constexpr void residual(Step const& s, Round& r) {
  if (r.step != 0) return;
  CyclicCall const c = call_of(s, r);
  CyclicBlocks const& b = c.blocks;
  std::int64_t const columns = c.most_columns(0, r.sizing.sizes);
  std::int64_t const half = c.element_bytes / 2;
  computes(r, mul_sat(2 * mul_sat(b.n, columns), c.right));
  std::int64_t const rows = add_sat(columns, c.right);
  std::int64_t const wires = 2 * std::min(b.n, b.ranks * b.block);
  std::int64_t const halves = add_sat(mul_sat(b.n, rows), mul_sat(wires, c.right));
  std::int64_t const wholes = mul_sat(b.n + 2, 2 * c.right + 1);
  r.work.workspace =
      add_sat(add_sat(mul_sat(halves, half), mul_sat(wholes, c.element_bytes)),
              add_sat(panel_memory(b, half), mul_sat(pivot_elements(b.n, half), half)));
}
/// Two norms of each right-hand side.
constexpr void norms(Step const& s, Round& r) {
  r.sizing.extents.at[s.to] = 2;
  r.sizing.element_bytes = sizeof(double);
}

}  // namespace cyclic_rounds

/// LU in half the precision, solutions by it, each with its residual, and norms of both on which
/// all ranks agree.
constexpr void append_cyclic_refined(Plan& p, CallSizing const& c, std::int64_t solutions) {
  CyclicCall const call(c.operands[0], c.from.dims[0].label, c.from.dims[1].label, c.common);
  append_compute(p, {});
  append_cyclic_panels(
      p, c, &cyclic_rounds::halved<&cyclic_rounds::factor<CyclicFactor::lu_before_solve, false>>);
  Step sum = cyclic_move(c, Move::reduce, call.axes);
  sum.after.add(call.rows);
  sum.before = sum.after;
  sum.before.unreduced.insert(call.axes[0]);
  p.push(sum);  // of the rows' numbers
  for (bool const forward : {true, false})
    append_cyclic_ring(p, c, forward, {solutions, nullptr, true});
  Spec right = c.operands[1];
  right.unreduced = right.reduced = {};
  sum.before = sum.after = right;
  sum.before.unreduced.insert(call.axes[0]);
  p.push(cyclic_compute(c));
  p.push(sum);
  p.repeat(2, solutions, 1, &cyclic_rounds::residual);
  sum.before.kind = ReduceKind::max;
  sum.to = static_cast<std::int8_t>(call.rows);
  p.push(sum);
  p.repeat(1, solutions + 1, 1, &cyclic_rounds::norms);
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
    planning::append_cyclic_refined(p, c, linalg::corrections + 1);
    planning::append_cyclic_panels(
        p, c, planning::cyclic_factor_round<false>(planning::CyclicFactor::lu_and_solve));
    planning::append_cyclic_ring(p, c, false);
  }
};

}  // namespace op

}  // namespace shardtype
