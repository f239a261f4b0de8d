#pragma once
/// Rules of the factorizations and solves of one matrix whose columns, or rows and columns, are
/// block-cyclic, each over a mesh axis.

#include <cstdint>

#include <shardtype/rules/along.hpp>

namespace shardtype::rules {

/// Rules for one matrix over many ranks, however it is split: it has both labels, it is not
/// unreduced, and neither dim is split in nested blocks.
constexpr Verdict split_matrix(Question const& q) {
  Spec const& a = q.a();
  if (Verdict v = has_all(a, q.from); !v) return v;
  for (int x = 0; x < max_axes; ++x)
    if (a.unreduced.contains(x)) return refuse(Code::Q02_not_linear, -1, -1, x);
  for (int k = 0; k < 2; ++k)
    if (DimSpec const& d = a.dims[a.find(q.from.dims[k].label)];
        d.axes.size > 0 && d.axes.cyclic == 0)
      return refuse(Code::Q01_matrix_split, d.label, -1, d.axes[0]);
  return {};
}
/// Whether it is one matrix, without batch dims, whose columns are split.
constexpr Verdict alone(Question const& q) {
  Spec const& a = q.a();
  int const rows = q.from.dims[0].label;
  int const columns = q.from.dims[1].label;
  for (int d = 0; d < a.rank; ++d)
    if (a.dims[d].label != rows && a.dims[d].label != columns)
      return refuse(Code::Q05_one_matrix, a.dims[d].label);
  if (a.dims[a.find(columns)].axes.size == 0 || a.local)
    return refuse(Code::Q05_one_matrix, columns);
  return accept(a);
}

/// The first operand as one matrix `a[I, J@X%n]` of any shape, or, where `grids`, over a grid
/// `a[I@X%n, J@Y%n]`, dims in any order; `from` has the labels I and J.
constexpr Verdict cyclic_columns(Question const& q, bool grids = false) {
  if (Verdict v = split_matrix(q); !v) return v;
  DimSpec const& rows = q.a().dims[q.a().find(q.from.dims[0].label)];
  DimSpec const& columns = q.a().dims[q.a().find(q.from.dims[1].label)];
  bool const both = rows.axes.size > 0 && columns.axes.size > 0;
  if (both && !(grids && rows.axes.cyclic == columns.axes.cyclic))
    return refuse(Code::Q03_both_cyclic, rows.label, columns.label);
  if (rows.axes.size > 0 && !both)
    return refuse(Code::Q04_rows_cyclic, rows.label, columns.label, rows.axes[0]);
  return alone(q);
}
/// ... and a square one.
constexpr Verdict one_matrix(Question const& q, bool grids = true) {
  Verdict const v = cyclic_columns(q, grids);
  if (v && contradict(q.extent(q.from, 0), q.extent(q.from, 1)))
    return refuse(Code::D06_extents_contradict, q.from.dims[0].label, q.from.dims[1].label);
  return v;
}

/// Solutions with such a matrix, or, `transposed`, with its transpose, of right-hand sides that are
/// split as the rows of it: they are split as its columns.
constexpr Verdict solved(Question const& q, bool transposed) {
  Spec const& a = q.a();
  Spec const& b = q.operands[q.count - 1];
  int const to = q.from.dims[transposed ? 0 : 1].label;
  int const from = q.from.dims[transposed ? 1 : 0].label;
  AxisList const& given = a.dims[a.find(from)].axes;
  AxisList const& made = a.dims[a.find(to)].axes;
  AxisList const own = given.plus(made);
  int const along = b.find(from);
  if (along < 0) return refuse(Code::D01_no_such_index, from);
  if (b.find(to) >= 0) return refuse(Code::D02_index_taken, to);
  if (b.rank > 2) return refuse(Code::Q05_one_matrix, b.dims[b.rank - 1].label);
  if (!(b.dims[along].axes == given)) return refuse(Code::Q05_one_matrix, from);
  for (int d = 0; d < b.rank; ++d)
    for (int k = 0; d != along && k < own.size; ++k)
      if (b.dims[d].axes.contains(own[k]))
        return refuse(Code::Q05_one_matrix, b.dims[d].label, -1, own[k]);
  for (int x = 0; x < max_axes; ++x)
    if (b.unreduced.contains(x) && (own.contains(x) || b.kind != ReduceKind::sum))
      return refuse(own.contains(x) ? Code::Q05_one_matrix : Code::Q02_not_linear, -1, -1, x);
  Spec out = b;
  out.dims[along] = {static_cast<std::int8_t>(to), made};
  for (int k = 0; k < own.size; ++k) out.reduced.erase(own[k]);
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
/// One matrix alone, or a solve with it: right-hand sides `b[I]` or `b[I, K]`, the last operand,
/// give `[J@X%n]` or `[J@X%n, K]`, over a grid `b[I@X%n, K]` gives `[J@Y%n, K]`; `transposed`: the
/// other way round. K may be split over other axes, and b may be an unreduced sum over others: each
/// group of ranks then solves with its part. Between them the pivots of `lu_factor`.
constexpr Verdict on_one_matrix(Question const& q, bool transposed, bool grids = true) {
  Verdict const matrix = one_matrix(q, grids);
  if (!matrix || q.count == 1) return matrix;
  Verdict const v = solved(q, transposed);
  if (!v || q.count == 2) return v;
  Verdict const p = cyclic_pivots(q);
  return p ? v : p;
}
/// A number of a matrix that is legal by `matrix`, from its factors, pivots and another number.
constexpr Verdict lu_number(Question const& q, Verdict const& matrix) {
  if (!matrix) return matrix;
  if (Verdict const p = cyclic_pivots(q); !p) return p;
  if (Spec const& n = q.operands[2]; n.rank > 0 || !n.unreduced.empty())
    return refuse(Code::Q05_one_matrix, n.rank > 0 ? n.dims[0].label : q.from.dims[1].label);
  return accept(Spec{});
}

}  // namespace shardtype::rules
