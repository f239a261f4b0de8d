#pragma once
/// Solves of one matrix over a grid of ranks by factors of half the precision, as an operation: its
/// rule, and its plan.

#include <cstdint>
#include <string_view>

#include <shardtype/linalg/types_cyclic_refined.hpp>
#include <shardtype/linalg/types_grid.hpp>

namespace shardtype {

namespace planning {

namespace grid_rounds {

/// A product with the matrix, the sum over a process row, and norms, once more at the beginning.
/// The computation has all memory that a refinement needs.
constexpr void residual(Step const& s, Round& r) {
  if (r.step == 2) {
    r.times = r.number == 0 ? 2 : 1;
    return cyclic_rounds::norms(s, r);
  }
  if (r.step == 1) return;
  GridCall const c = call_of(s, r);
  Sizes const& sizes = r.sizing.sizes;
  std::int64_t right = 1;
  for (int d = 0; d < s.after.rank; ++d)
    if (int const l = s.after.dims[d].label; l != c.rows && l != c.columns)
      right = largest_block(r.sizing.extents[l], s.after.dims[d].axes, sizes);
  std::int64_t const rows = c.most_rows(0, sizes);
  std::int64_t const columns = c.most_columns(0, sizes);
  std::int64_t const half = c.element_bytes / 2;
  cyclic_rounds::computes(r, mul_sat(2 * mul_sat(rows, columns), right));
  GridRoom const room(c.of_rows, rows, columns, half);
  std::int64_t const vectors = add_sat(grid_vectors(c.of_rows, rows, columns, right), rows * right);
  std::int64_t const halves = add_sat(add_sat(mul_sat(rows, columns), room.all()),
                                      add_sat(vectors, 2 * grid_indices(c.of_rows.n, half)));
  std::int64_t const wholes = mul_sat(rows + 4, 2 * right + 1);
  r.work.workspace = add_sat(mul_sat(halves, half), mul_sat(wholes, c.element_bytes));
}

}  // namespace grid_rounds

/// LU in half the precision, solutions by it, each with its residual, and norms of both on which
/// all ranks agree.
constexpr void append_grid_refined(Plan& p, CallSizing const& c) {
  constexpr int solutions = linalg::corrections + 1;
  GridPlan const plan(p, c);
  GridCall const& call = plan.call();
  plan.lu_of_half();
  Step sum = cyclic_move(c, Move::reduce, call.along);
  sum.after.add(call.rows, call.down);
  sum.before = sum.after;
  sum.before.unreduced.insert(call.along[0]);
  p.push(sum);  // of the rows' numbers
  plan.solutions_of_half<solutions>();
  Spec right = c.operands[1];
  right.unreduced = right.reduced = {};
  sum.before = sum.after = right;
  sum.before.unreduced.insert(call.along[0]);
  plan.compute();
  p.push(sum);
  AxisList const all = matrix_axes(c);
  Step norms = cyclic_move(c, Move::reduce, all);
  int const rows = right.find(call.rows);
  right.dims[rows].axes = {};
  norms.before = norms.after = right;
  norms.before.kind = ReduceKind::max;
  for (int k = 0; k < all.size; ++k) norms.before.unreduced.insert(all[k]);
  norms.to = static_cast<std::int8_t>(call.rows);
  p.push(norms);
  p.repeat(3, solutions, 1, &grid_rounds::residual);
}

}  // namespace planning

namespace op {

/// CyclicRefinedSolve of `a[I@X%n, J@Y%n]`.
template <class I, class J>
struct GridRefinedSolve : detail::OnOneMatrix<I, J, rules::Over::grid> {
  using operation = GridRefinedSolve;
  static constexpr std::string_view name = "solve";
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_grid_refined(p, c);
    GridSolve<I, J>{}.steps(p, c, 0);
  }
};

}  // namespace op

}  // namespace shardtype
