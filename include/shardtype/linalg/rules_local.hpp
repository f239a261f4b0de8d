#pragma once
/// Rules of linear algebra on whole matrices, which each rank has: batches of them are split as the
/// types say.

#include <shardtype/rules/along.hpp>

namespace shardtype::linalg::rule {

using namespace shardtype::rules;

/// Whether `rows` and `cols` are two dims of `a` that no axis splits, and `a` is no unreduced
/// value.
constexpr Verdict whole_matrix(Spec const& a, int rows, int cols) {
  if (rows == cols) return refuse(Code::Q06_shapes, rows);
  for (int const label : {rows, cols}) {
    int const d = a.find(label);
    if (d < 0) return refuse(Code::D01_no_such_index, label);
    if (a.dims[d].axes.size > 0)
      return refuse(Code::Q01_matrix_split, label, -1, a.dims[d].axes[0]);
  }
  for (int x = 0; x < max_axes; ++x)
    if (a.unreduced.contains(x)) return refuse(Code::Q02_not_linear, -1, -1, x);
  return {};
}
/// The same check of the first operand. `square` also compares its extents, as far as types tell.
constexpr Verdict whole_matrix(Question const& q) {
  return whole_matrix(q.a(), q.from.dims[0].label, q.from.dims[1].label);
}
constexpr Verdict square(Question const& q) {
  Verdict const v = whole_matrix(q);
  if (!v) return v;
  int const rows = q.from.dims[0].label, cols = q.from.dims[1].label;
  return contradict(q.extents[rows], q.extents[cols]) ? refuse(Code::Q06_shapes, rows, cols) : v;
}
/// A result typed as the matrix.
constexpr Verdict as_matrix(Question const& q) {
  Verdict const v = square(q);
  return v ? accept(q.a()) : v;
}

/// The sharding of op(a)^-1 b, where op(a) has the rows `rows` and the columns `cols`: b has the
/// rows, each batch dim of a split alike, and any right-hand sides. b may be an unreduced sum.
constexpr Verdict solved(Spec const& a, Spec const& b, int rows, int cols) {
  int const at = b.find(rows);
  if (at < 0) return refuse(Code::Q06_shapes, rows);
  if (b.find(cols) >= 0) return refuse(Code::Q06_shapes, cols);
  if (b.dims[at].axes.size > 0) return refuse(Code::Q01_matrix_split, rows, -1, b.dims[at].axes[0]);
  for (int d = 0; d < a.rank; ++d) {
    int const label = a.dims[d].label;
    if (label == rows || label == cols) continue;
    int const e = b.find(label);
    if (e < 0 || !(b.dims[e].axes == a.dims[d].axes)) return refuse(Code::Q06_shapes, label);
  }
  Spec out = b;
  out.dims[at].label = static_cast<std::int8_t>(cols);
  for (int x = 0; x < max_axes; ++x) {
    if (b.unreduced.contains(x) && b.kind != ReduceKind::sum)
      return refuse(Code::Q02_not_linear, -1, -1, x);
    if (a.reduced.contains(x) && out.dim_of(x) < 0 && !out.unreduced.contains(x))
      out.reduced.insert(x);
  }
  return accept(out);
}
/// `solve<I, J>(a, b)`, and with the operand `b` at another place.
constexpr Verdict solve(Question const& q, int b = 1, bool transposed = false) {
  Verdict const v = square(q);
  if (!v) return v;
  return solved(q.a(), q.operands[b], q.from.dims[transposed ? 1 : 0].label,
                q.from.dims[transposed ? 0 : 1].label);
}

/// `a` without rows and columns, then the dims of `q.to`.
constexpr Spec per_matrix(Question const& q) {
  Spec out = q.a();
  out.rank = 0;
  for (int d = 0; d < q.a().rank; ++d)
    if (q.from.find(q.a().dims[d].label) < 0) out.add(q.a().dims[d].label, q.a().dims[d].axes);
  for (int d = 0; d < q.to.rank; ++d) out.add(q.to.dims[d].label);
  return out;
}
/// `per_matrix` of square matrices.
constexpr Verdict per_square(Question const& q) {
  Verdict const v = square(q);
  return v ? accept(per_matrix(q)) : v;
}
/// Whether `x` has the dims of `expected`, split alike, in any order.
constexpr Verdict same_dims(Spec const& x, Spec const& expected) {
  for (int d = 0; d < expected.rank; ++d) {
    int const label = expected.dims[d].label;
    if (int const e = x.find(label);
        x.rank != expected.rank || e < 0 || !(x.dims[e].axes == expected.dims[d].axes))
      return refuse(Code::Q06_shapes, label);
  }
  return x.rank == expected.rank ? Verdict{} : refuse(Code::Q06_shapes, x.dims[0].label);
}
/// Whether the second operand is the pivots of the first one's factors.
constexpr Verdict pivots_of_matrices(Question const& q) {
  Spec expected = per_matrix(q);
  expected.add(q.from.dims[1].label);
  return same_dims(q.operands[1], expected);
}
/// `per_matrix`, where `v` accepts the matrices, and they lack the first dim of `q.to`.
constexpr Verdict per_matrix_along_new(Question const& q, Verdict const& v) {
  if (!v) return v;
  int const label = q.to.dims[0].label;
  return q.a().find(label) >= 0 ? refuse(Code::D02_index_taken, label) : accept(per_matrix(q));
}
/// The matrix with the first dim of `q.to`, whole, in the place of its rows, 0, or columns, 1,
/// where `v` accepts it.
constexpr Verdict with_new(Question const& q, Verdict const& v, int place) {
  if (!v) return v;
  Spec out = q.a();
  out.dims[out.find(q.from.dims[place].label)] = {q.to.dims[0].label, {}};
  return accept(out);
}
/// The matrix's dims with the labels of rows and columns exchanged, where `v` accepts the matrices.
constexpr Verdict exchanged(Question const& q, Verdict const& v) {
  if (!v) return v;
  Spec out = q.a();
  int const rows = out.find(q.from.dims[0].label), cols = out.find(q.from.dims[1].label);
  out.dims[rows].label = q.from.dims[1].label;
  out.dims[cols].label = q.from.dims[0].label;
  return accept(out);
}

}  // namespace shardtype::linalg::rule
