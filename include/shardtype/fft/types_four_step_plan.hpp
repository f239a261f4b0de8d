#pragma once
/// Plans of long Fourier transforms along a split dim, by the four-step algorithm (Bailey 1990):
/// the n = n1 n2 rows are a matrix, row by row. Its columns come together (an exchange), are
/// transformed and multiplied by roots of unity; then its rows come together (an all_to_all) and
/// are transformed. Without good factors the transform is a convolution with a chirp (Bluestein
/// 1970), by such transforms of at least 2 n - 1 rows.

#include <cstdint>
#include <string_view>

#include <shardtype/fft/types_four_step_lengths.hpp>
#include <shardtype/fft/types_four_step_rules.hpp>
#include <shardtype/fft/types_plan.hpp>

namespace shardtype::planning {

/// One long transform, as values.
struct FourStepCall {
  FourStepOrder order{};
  Spec given{};
  Spec result{};
  int dim = 0;  ///< the split dim in `blocks_before`, and in `blocks_after`
  int dim_after = 0;
  int rows = -1;  ///< labels of the matrix
  int columns = -1;
  AxisList axes{};
  std::int64_t n = 0;
  std::int64_t ranks = 1;
  FourStepLengths lengths{};  ///< of the matrix, which a convolution makes longer
  bool convolves = false;
  Sizing sizing{};  ///< of the labels; those of the matrix have its lengths

  /// `from`: the labels that the operation works on; natural orders have those of the matrix there.
  /// `z` has the extents of operand and result.
  constexpr FourStepCall(FourStepOrder its_order, Spec const& a, Spec const& from, Spec const& out,
                         Sizing const& z)
      : order(its_order), given(a), result(out), sizing(z) {
    bool const from_matrix = order == FourStepOrder::transposed_operand;
    int const at = a.find(from.dims[0].label);
    axes = a.dims[at].axes;
    for (int k = 0; k < axes.size; ++k)
      ranks = ranks < 0 || z.sizes[axes[k]] < 0 ? dynamic : ranks * z.sizes[axes[k]];
    dim = dim_after = at;
    if (from_matrix) {
      rows = from.dims[0].label;
      columns = from.dims[1].label;
      if (a.find(columns) < at) --dim, --dim_after;
      n = known(z.extents[rows], z.extents[columns]);
    } else {
      n = z.extents[from.dims[0].label];
      rows = order == FourStepOrder::natural ? from.dims[1].label : out.dims[at].label;
      columns = order == FourStepOrder::natural ? from.dims[2].label : out.dims[at + 1].label;
    }
    if (n < 0 || ranks < 0) return;
    lengths = order == FourStepOrder::natural
                  ? four_step_lengths(n, ranks)
                  : FourStepLengths{z.extents[rows], z.extents[columns]};
    convolves = is_convolution(lengths, ranks);
    if (convolves) lengths = convolution_lengths(n, ranks);
    sizing.extents.at[rows] = lengths.rows;
    sizing.extents.at[columns] = lengths.columns;
    sizing.extents.at[blocks_before().dims[dim].label] = n;
    sizing.extents.at[blocks_after().dims[dim_after].label] = n;
  }

  /// Whether the extents and the number of ranks are known.
  constexpr bool is_sized() const { return n >= 0 && ranks >= 0; }

  // The shardings of the value. In a convolution the transposed order is [K1@X, K2] of extents
  // (n, 1), whose blocks are those of [I@X].

  /// `[I@X]`, before the columns come together, and after they went back.
  constexpr Spec const& blocks_before() const {
    return order == FourStepOrder::transposed_operand ? result : given;
  }
  constexpr Spec const& blocks_after() const {
    return order == FourStepOrder::transposed_result ? given : result;
  }
  /// The matrix with whole columns, with whole rows, and the latter turned; batch dims last.
  constexpr Spec by_columns() const { return matrix(rows, {}, columns, axes); }
  constexpr Spec by_rows() const { return matrix(rows, axes, columns, {}); }
  constexpr Spec turned() const { return matrix(columns, {}, rows, axes); }
  /// The chirp's matrix, which has no batch.
  static constexpr Spec without_batch(Spec s) {
    s.rank = 2;
    s.unreduced = s.reduced = {};
    return s;
  }

  constexpr Step step(Move what, Spec const& before, int from, Spec const& after, int to) const {
    return shared_step(what, Slot::a, axes, before, after, from, to);
  }
  /// The exchanges: columns come together, rows come together, columns again, rows go back to
  /// blocks.
  constexpr Step to_columns() const {
    return step(Move::to_columns, blocks_before(), dim, by_columns(), 1);
  }
  constexpr Step to_rows() const { return step(Move::exchange, by_columns(), 1, by_rows(), 0); }
  constexpr Step back_to_columns() const {
    return step(Move::exchange, by_rows(), 0, by_columns(), 1);
  }
  constexpr Step to_blocks() const {
    bool const natural_rows = order == FourStepOrder::natural && !convolves;
    return step(Move::from_columns, natural_rows ? turned() : by_columns(), 1, blocks_after(),
                dim_after);
  }

  /// Elements of a sharding's largest block.
  constexpr std::int64_t elements(Spec const& s) const {
    return largest_elements(s, sizing.extents, sizing.sizes);
  }
  /// Flops of one transform of the matrix: of its columns, of its rows, and 6 per root of unity.
  constexpr std::int64_t flops(Spec const& columns_whole, Spec const& rows_whole) const {
    return add_sat(add_sat(fourier_flops(elements(columns_whole), lengths.rows, false),
                           fourier_flops(elements(rows_whole), lengths.columns, false)),
                   mul_sat(elements(columns_whole), 6));
  }
  constexpr std::int64_t matrix_elements() const { return mul_sat(lengths.rows, lengths.columns); }
  /// Whether roots of unity are multiplied between the short transforms.
  constexpr bool has_roots() const { return lengths.rows > 1 && lengths.columns > 1; }
  /// Bytes of the tables of roots of unity.
  constexpr std::int64_t table_bytes() const {
    std::int64_t const roots = has_roots() ? RootTables(matrix_elements()).bytes() : 0;
    return convolves ? add_sat(roots, RootTables(2 * n).bytes()) : roots;
  }

 private:
  static constexpr std::int64_t known(std::int64_t n1, std::int64_t n2) {
    return n1 < 0 || n2 < 0 ? dynamic : mul_sat(n1, n2);
  }
  constexpr Spec matrix(int first, AxisList const& first_axes, int second,
                        AxisList const& second_axes) const {
    Spec s = given;
    s.rank = 0;
    s.add(first, first_axes);
    s.add(second, second_axes);
    for (int d = 0; d < given.rank; ++d) {
      int const label = given.dims[d].label;
      bool const replaced =
          order == FourStepOrder::transposed_operand ? label == rows || label == columns : d == dim;
      if (!replaced) s.add(label, given.dims[d].axes);
    }
    return s;
  }
};

/// Gives the value in `slot` the extents of the matrix.
constexpr void push_matrix(Plan& p, Slot slot, FourStepCall const& c) {
  OwnSizing own{slot, c.sizing.extents, p.sizing_of(slot).element_bytes};
  p.push_own(own);
}
constexpr void push_in(Plan& p, Slot slot, Step s) {
  s.slot = slot;
  p.push(s);
}
constexpr void push_view(Plan& p, Slot slot, Spec const& before, Spec const& after) {
  if (!(before == after)) p.push(local_step(Move::transpose, slot, before, after));
}

/// Appends the steps of a convolution: the chirp's transform, then that of the operand, their
/// product and its inverse transform. The local work between the exchanges is counted in the last
/// step.
constexpr void append_convolution(Plan& p, FourStepCall const& c) {
  Slot const chirp = operand_slot(2);
  push_matrix(p, chirp, c);
  push_matrix(p, Slot::b, c);
  Step s = c.to_rows();
  s.before = FourStepCall::without_batch(s.before);
  s.after = FourStepCall::without_batch(s.after);
  push_in(p, chirp, s);
  push_in(p, Slot::b, c.to_columns());
  push_in(p, Slot::b, c.to_rows());
  push_in(p, Slot::b, c.back_to_columns());
  push_in(p, Slot::b, c.to_blocks());
  Work work;
  if (c.is_sized()) {
    std::int64_t const batch = c.elements(c.by_columns());
    work.flops =
        add_sat(c.flops(s.before, s.after), mul_sat(2, c.flops(c.by_columns(), c.by_rows())));
    work.flops = add_sat(work.flops, mul_sat(batch, 18));  // two chirps and a product
    work.workspace = add_sat(c.table_bytes(), mul_sat(batch, p.sizing_of(Slot::b).element_bytes));
  }
  append_compute(p, work);
}

/// Bytes that the local work of a transform of n1 n2 rows needs beyond what the last step holds:
/// the tables, beside the matrix whose elements are multiplied, or a result in another order of
/// dims.
constexpr std::int64_t four_step_workspace(FourStepCall const& c, std::int64_t element_bytes) {
  auto const bytes = [&](Spec const& s) { return mul_sat(c.elements(s), element_bytes); };
  std::int64_t const rows = bytes(c.by_rows());
  std::int64_t const multiplied =
      c.order == FourStepOrder::transposed_operand ? rows : bytes(c.by_columns());
  std::int64_t needed = add_sat(multiplied, c.table_bytes());
  std::int64_t held = rows;  // also of a result in the transposed order
  if (c.order == FourStepOrder::transposed_result) {
    if (!(c.by_rows() == c.result)) needed = std::max(needed, mul_sat(2, rows));
  } else {
    if (c.order == FourStepOrder::transposed_operand) held = bytes(c.by_columns());
    held = add_sat(held, bytes(c.blocks_after()));
  }
  return std::max<std::int64_t>(0, needed - held);
}

/// Appends the steps of a transform of n1 n2 rows.
constexpr void append_four_steps(Plan& p, FourStepCall const& c) {
  Work work;
  if (c.is_sized()) {
    work.flops = c.flops(c.by_columns(), c.by_rows());
    work.workspace = c.ranks == 1 ? c.table_bytes()
                                  : four_step_workspace(c, p.sizing_of(Slot::result).element_bytes);
  }
  if (c.ranks == 1) return append_compute(p, work);
  bool const to_matrix = c.order == FourStepOrder::transposed_result;
  Slot const slot = to_matrix ? Slot::result : Slot::b;
  push_matrix(p, slot, c);
  if (!to_matrix) push_matrix(p, Slot::result, c);
  if (c.order == FourStepOrder::transposed_operand) {
    append_transform(p, slot, c.by_rows());
    push_in(p, slot, c.back_to_columns());
    append_transform(p, slot, c.by_columns());
  } else {
    push_in(p, slot, c.to_columns());
    append_transform(p, slot, c.by_columns());
    push_in(p, slot, c.to_rows());
    if (!to_matrix) {
      push_view(p, slot, c.by_rows(), c.turned());
      append_transform(p, slot, c.turned());
    }
  }
  if (to_matrix)
    push_view(p, slot, c.by_rows(), c.result);
  else
    push_in(p, Slot::result, c.to_blocks());
  append_compute(p, work);
}

/// Appends the steps of a long transform. For sizes that are not known: those of a convolution,
/// which has the most, unless only lengths with good factors are taken.
constexpr void append_long_transform(Plan& p, FourStepCall const& c, bool may_convolve) {
  if (c.is_sized() ? c.convolves : may_convolve && c.ranks != 1)
    append_convolution(p, c);
  else
    append_four_steps(p, c);
}

}  // namespace shardtype::planning
