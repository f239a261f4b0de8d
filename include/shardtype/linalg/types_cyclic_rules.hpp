#pragma once
/// Rules of the factorizations and solves of one matrix whose columns are block-cyclic over a mesh axis.

#include <shardtype/rules/along.hpp>

namespace shardtype::rules {

/// The first operand as one matrix `a[I, J@X%n]`, dims in any order; `from` has the labels I and J.
constexpr Verdict cyclic_matrix(Question const& q) {
  Spec const& a = q.a();
  if (Verdict v = has_all(a, q.from); !v) return v;
  for (int x = 0; x < max_axes; ++x)
    if (a.unreduced.contains(x)) return refuse(Code::Q02_not_linear, -1, -1, x);
  DimSpec const& rows = a.dims[a.find(q.from.dims[0].label)];
  DimSpec const& columns = a.dims[a.find(q.from.dims[1].label)];
  for (DimSpec const* d : {&rows, &columns})
    if (d->axes.size > 0 && d->axes.cyclic == 0)
      return refuse(Code::Q01_matrix_split, d->label, -1, d->axes[0]);
  if (rows.axes.size > 0 && columns.axes.size > 0)
    return refuse(Code::Q03_both_cyclic, rows.label, columns.label);
  if (rows.axes.size > 0)
    return refuse(Code::Q04_rows_cyclic, rows.label, columns.label, rows.axes[0]);
  for (int d = 0; d < a.rank; ++d)
    if (a.dims[d].label != rows.label && a.dims[d].label != columns.label)
      return refuse(Code::Q05_one_matrix, a.dims[d].label);
  if (columns.axes.size == 0 || a.local) return refuse(Code::Q05_one_matrix, columns.label);
  if (contradict(q.extent(q.from, 0), q.extent(q.from, 1)))
    return refuse(Code::D06_extents_contradict, rows.label, columns.label);
  return accept(a);
}

/// A solve with such a matrix: right-hand sides `b[I]` or `b[I, K]` give `[J@X%n]` or `[J@X%n, K]`; `transposed`: `b[J@X%n]`
/// gives `[I]`. K may be split over other axes, and b may be an unreduced sum over others: each group of ranks then solves
/// with its part. The right-hand sides are the last operand.
constexpr Verdict cyclic_solve(Question const& q, bool transposed) {
  Verdict const matrix = cyclic_matrix(q);
  if (!matrix) return matrix;
  Spec const& a = q.a();
  Spec const& b = q.operands[q.count - 1];
  int const to = q.from.dims[transposed ? 0 : 1].label;
  int const from = q.from.dims[transposed ? 1 : 0].label;
  AxisList const& axes = a.dims[a.find(q.from.dims[1].label)].axes;
  int const along = b.find(from);
  if (along < 0) return refuse(Code::D01_no_such_index, from);
  if (b.find(to) >= 0) return refuse(Code::D02_index_taken, to);
  if (b.rank > 2) return refuse(Code::Q05_one_matrix, b.dims[b.rank - 1].label);
  if (!(b.dims[along].axes == (transposed ? axes : AxisList{})))
    return refuse(Code::Q05_one_matrix, from);
  for (int d = 0; d < b.rank; ++d)
    if (d != along && b.dims[d].axes.contains(axes[0]))
      return refuse(Code::Q05_one_matrix, b.dims[d].label, -1, axes[0]);
  for (int x = 0; x < max_axes; ++x)
    if (b.unreduced.contains(x) && (x == axes[0] || b.kind != ReduceKind::sum))
      return refuse(x == axes[0] ? Code::Q05_one_matrix : Code::Q02_not_linear, -1, -1, x);
  Spec out = b;
  out.dims[along] = {static_cast<std::int8_t>(to), transposed ? AxisList{} : axes};
  out.reduced.erase(axes[0]);
  for (int x = 0; x < max_axes; ++x)
    if (a.reduced.contains(x) && out.state(x) == AxisState::replicated) out.reduced.insert(x);
  return accept(out);
}

/// Whether the second operand is the pivots of `lu_factor`: `i32[J]`, whole on each rank.
constexpr Verdict cyclic_pivots(Question const& q) {
  Spec const& p = q.operands[1];
  bool const whole = p.rank == 1 && p.dims[0].label == q.from.dims[1].label &&
                     p.dims[0].axes.size == 0 && p.unreduced.empty();
  return whole ? Verdict{} : refuse(Code::Q05_one_matrix, q.from.dims[1].label);
}
/// A solve with the factors of `lu_factor`.
constexpr Verdict cyclic_lu_solve(Question const& q, bool transposed) {
  Verdict const v = cyclic_solve(q, transposed);
  if (!v) return v;
  Verdict const p = cyclic_pivots(q);
  return p ? v : p;
}
/// A number of the factored matrix, from factors, pivots and another number.
constexpr Verdict cyclic_lu_number(Question const& q) {
  if (Verdict const v = cyclic_matrix(q); !v) return v;
  if (Verdict const p = cyclic_pivots(q); !p) return p;
  if (Spec const& n = q.operands[2]; n.rank > 0 || !n.unreduced.empty())
    return refuse(Code::Q05_one_matrix, n.rank > 0 ? n.dims[0].label : q.from.dims[1].label);
  return accept(Spec{});
}

}  // namespace shardtype::rules
