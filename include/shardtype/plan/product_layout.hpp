#pragma once
/// Layouts of the blocks of a local product, and the copies needed so that one gemm can compute it.

#include <cstdint>

#include <shardtype/core/layout.hpp>
#include <shardtype/rules/contraction.hpp>

namespace shardtype::planning {

/// A block with a label on each dim.
struct LabelledLayout {
  core::Layout layout{};
  std::int8_t label[max_dims]{};

  /// Index of the dim with this label, or -1.
  constexpr int find(int l) const {
    for (int d = 0; d < layout.rank; ++d)
      if (label[d] == l) return d;
    return -1;
  }
};

/// Several dims seen as one.
struct Folded {
  bool possible = true;
  std::int64_t extent = 1;
  std::int64_t stride = 0;  ///< 0 when the extent is 1
};

/// The dims with these labels, first slowest, as one dim of a single stride, if their strides allow
/// it.
constexpr Folded fold(LabelledLayout const& x, Labels const& labels) {
  Folded out;
  for (int k = labels.size - 1; k >= 0; --k) {
    int const d = x.find(labels.at[k]);
    std::int64_t const n = x.layout.extent[d];
    if (n == 1) continue;
    if (out.extent == 1) {
      out.stride = x.layout.stride[d];
    } else if (x.layout.stride[d] != out.stride * out.extent) {
      out.possible = false;
    }
    out.extent *= n;
  }
  return out;
}
constexpr bool folds(LabelledLayout const& x, Labels const& batch, Labels const& rows,
                     Labels const& cols) {
  return fold(x, batch).possible && fold(x, rows).possible && fold(x, cols).possible;
}

constexpr Labels joined(Labels a, Labels const& b) {
  for (int k = 0; k < b.size; ++k) a.push(b.at[k]);
  return a;
}

/// The labels of both operands that `out` lacks, in the order of `first`.
constexpr Labels inner_labels(LabelledLayout const& first, LabelledLayout const& second,
                              Labels const& out) {
  Labels inner;
  for (int d = 0; d < first.layout.rank; ++d)
    if (second.find(first.label[d]) >= 0 && !out.contains(first.label[d]))
      inner.push(first.label[d]);
  return inner;
}

/// The role of each label in the product.
struct ProductRoles {
  Labels batch{}, rows{}, cols{}, inner{};
  constexpr ProductRoles(LabelledLayout const& a, LabelledLayout const& b, Labels const& out)
      : inner(inner_labels(a, b, out)) {
    for (int k = 0; k < out.size; ++k) {
      int const l = out.at[k];
      bool const in_a = a.find(l) >= 0;
      (in_a && b.find(l) >= 0 ? batch : in_a ? rows : cols).push(l);
    }
    if (folds(a, batch, rows, inner) && folds(b, batch, inner, cols)) return;
    // the other operand's order of the contracted labels may avoid a copy
    Labels const other = inner_labels(b, a, out);
    if (folds(a, batch, rows, other) && folds(b, batch, other, cols)) inner = other;
  }
  /// The order in which an operand is packed, or the result written, if its dims do not fold.
  constexpr Labels order_of_a() const { return joined(joined(batch, rows), inner); }
  constexpr Labels order_of_b() const { return joined(joined(batch, inner), cols); }
  constexpr Labels order_of_result() const { return joined(joined(batch, rows), cols); }
};

/// A block as a batch of matrices: numbers of rows and columns, and strides.
struct MatrixLayout {
  std::int64_t rows = 0, cols = 0;
  std::int64_t row_stride = 0, col_stride = 0, batch_stride = 0;
  constexpr MatrixLayout(LabelledLayout const& x, Labels const& of_batch, Labels const& of_rows,
                         Labels const& of_cols) {
    Folded const t = fold(x, of_batch);
    Folded const r = fold(x, of_rows);
    Folded const c = fold(x, of_cols);
    rows = r.extent;
    cols = c.extent;
    batch_stride = t.stride;
    // a single row or column may have any stride: choose one that BLAS accepts
    row_stride = r.stride;
    col_stride = c.stride;
    if (r.extent <= 1) row_stride = col_stride == 1 ? c.extent : 1;
    if (c.extent <= 1) col_stride = row_stride == 1 ? r.extent : 1;
  }
};

/// The largest dimension that a BLAS call accepts, with 32-bit integers.
inline constexpr std::int64_t blas_max_dim = (std::int64_t{1} << 31) - 1;

/// Whether a matrix is column-major for BLAS. The stride of a dimension of extent 1 is never used,
/// so it may have any value; the same holds for empty matrices.
constexpr bool is_column_major(std::int64_t rows, std::int64_t cols, std::int64_t row_stride,
                               std::int64_t col_stride) {
  return rows <= 0 || cols <= 0 ||
         ((row_stride == 1 || rows == 1) &&
          (cols == 1 || (col_stride >= rows && col_stride <= blas_max_dim)));
}
/// Whether BLAS accepts the matrix without a copy.
constexpr bool has_unit_stride(MatrixLayout const& x) {
  return is_column_major(x.rows, x.cols, x.row_stride, x.col_stride) ||
         is_column_major(x.cols, x.rows, x.col_stride, x.row_stride);
}

/// A view of `x` with its dims in this order.
constexpr LabelledLayout view_in_order(LabelledLayout const& x, Labels const& order) {
  LabelledLayout out = x;
  for (int k = 0; k < order.size; ++k) {
    int const d = x.find(order.at[k]);
    out.layout.extent[k] = x.layout.extent[d];
    out.layout.stride[k] = x.layout.stride[d];
    out.label[k] = x.label[d];
  }
  return out;
}

/// The packed layout of `x` summed over the labels that neither `other` nor `out` has.
constexpr LabelledLayout summed(LabelledLayout const& x, LabelledLayout const& other,
                                Labels const& out) {
  LabelledLayout less;
  for (int d = 0; d < x.layout.rank; ++d) {
    if (!out.contains(x.label[d]) && other.find(x.label[d]) < 0) continue;
    less.label[less.layout.rank] = x.label[d];
    less.layout.extent[less.layout.rank++] = x.layout.extent[d];
  }
  if (less.layout.rank == x.layout.rank) return x;
  less.layout = less.layout.packed();
  return less;
}

/// Properties of the element type in a local product.
struct ProductElements {
  std::int64_t total_bytes = 8;  ///< of the accumulator of a long sum
  bool any_strides = false;      ///< whether the kernel accepts operands without a unit stride
  std::int64_t copy_bytes = 0;   ///< of an element of operands and result as BLAS gets them; 0: as
                                 ///< they are
  int work = 1;                  ///< of a multiply-add, relative to one of float
};

/// The size of one gemm, and whether our own kernel runs it instead of BLAS.
struct GemmSize {
  std::int64_t batch = 0, rows = 0, cols = 0, inner = 0;
  bool own_kernel = false;
};

/// The steps of the product of two blocks as one gemm, after sums over labels of one operand.
struct ProductSteps {
  ProductRoles roles;
  bool packs_a = false;     ///< a is copied in the order batch, rows, inner
  bool packs_b = false;     ///< b is copied in the order batch, inner, columns
  bool turns = false;       ///< the result is first written in the order batch, rows, columns
  LabelledLayout result{};  ///< as gemm writes it
  GemmSize size{};

  /// `any_strides`: whether the kernel accepts operands without a unit stride.
  constexpr ProductSteps(LabelledLayout const& a, LabelledLayout const& b, Labels const& out,
                         bool any_strides)
      : roles(a, b, out) {
    auto const& [batch, rows, cols, inner] = roles;
    result = target(a, b, out);
    turns = !folds(result, batch, rows, cols);
    if (turns) result = target(a, b, roles.order_of_result());
    bool const gathers_a = !folds(a, batch, rows, inner);
    bool const gathers_b = !folds(b, batch, inner, cols);
    bool const a_takes = gathers_a || has_unit_stride({a, batch, rows, inner});
    bool const b_takes = gathers_b || has_unit_stride({b, batch, inner, cols});
    MatrixLayout const c(result, batch, rows, cols);
    bool const direct = any_strides || (a_takes && b_takes && has_unit_stride(c));
    size = {fold(result, batch).extent, c.rows, c.cols, fold(a, inner).extent,
            any_strides || !has_unit_stride(c)};
    packs_a = (gathers_a || !direct) && !lies_as(a, roles.order_of_a());
    packs_b = (gathers_b || !direct) && !lies_as(b, roles.order_of_b());
  }

 private:
  static constexpr bool lies_as(LabelledLayout const& x, Labels const& order) {
    return view_in_order(x, order).layout.contiguous();
  }
  /// The contiguous layout of the result.
  static constexpr LabelledLayout target(LabelledLayout const& a, LabelledLayout const& b,
                                         Labels const& out) {
    LabelledLayout c;
    c.layout.rank = out.size;
    for (int k = 0; k < out.size; ++k) {
      int const in_a = a.find(out.at[k]);
      c.label[k] = static_cast<std::int8_t>(out.at[k]);
      c.layout.extent[k] = in_a >= 0 ? a.layout.extent[in_a] : b.layout.extent[b.find(out.at[k])];
    }
    c.layout = c.layout.packed();
    return c;
  }
};

}  // namespace shardtype::planning
