#pragma once
/// Rules of the factorizations and solves of one matrix whose rows and columns are block-cyclic, each over a mesh axis.

#include <shardtype/linalg/types_cyclic_rules.hpp>

namespace shardtype::rules {

/// The first operand as one matrix `a[I@X%n, J@Y%n]`, dims in any order; `from` has the labels I and J.
constexpr Verdict grid_matrix(Question const& q) {
  if (Verdict v = split_matrix(q); !v) return v;
  DimSpec const& rows = q.a().dims[q.a().find(q.from.dims[0].label)];
  DimSpec const& columns = q.a().dims[q.a().find(q.from.dims[1].label)];
  if (rows.axes.size == 0) return refuse(Code::Q05_one_matrix, rows.label);
  if (columns.axes.size > 0 && rows.axes.cyclic != columns.axes.cyclic)
    return refuse(Code::Q03_both_cyclic, rows.label, columns.label);
  return alone_and_square(q);
}

/// A solve with such a matrix: right-hand sides `b[I@X%n]` or `b[I@X%n, K]` give `[J@Y%n]` or `[J@Y%n, K]`; `transposed`:
/// `b[J@Y%n, K]` gives `[I@X%n, K]`. K may be split over other axes, and b may be an unreduced sum over others.
constexpr Verdict grid_solve(Question const& q, bool transposed) {
  Verdict const matrix = grid_matrix(q);
  return matrix ? solved(q, transposed) : matrix;
}
/// A solve with the factors of `lu_factor`.
constexpr Verdict grid_lu_solve(Question const& q, bool transposed) {
  Verdict const v = grid_solve(q, transposed);
  if (!v) return v;
  Verdict const p = cyclic_pivots(q);
  return p ? v : p;
}

}  // namespace shardtype::rules
