#pragma once
/// The memory that the steps of a plan need besides the operands, on the busiest rank.

#include <algorithm>
#include <cstdint>

#include <shardtype/core/layout.hpp>
#include <shardtype/core/saturating.hpp>
#include <shardtype/plan/product_layout.hpp>
#include <shardtype/plan/step.hpp>

namespace shardtype::planning {

/// The contiguous layout of the largest block of sharding `s`.
constexpr core::Layout packed_layout(Spec const& s, Sizing const& z) {
  core::Layout l;
  l.rank = s.rank;
  for (int d = 0; d < s.rank; ++d)
    l.extent[d] = largest_block(z.extents[s.dims[d].label], s.dims[d].axes, z.sizes);
  return l.packed();
}

/// Number of rows of a dim that rank `me` of the group puts into its messages, and receives, when
/// each rank fetches its window.
constexpr std::int64_t rows_exchanged(Step const& s, Sizing const& z, std::int64_t me) {
  std::int64_t const extent = z.extents[s.before.dims[s.from].label];
  auto const block = [&](std::int64_t g) {
    return block_of(s.before, s.from, z, member(s.axes, z.sizes, {}, g));
  };
  auto const needs = [&](std::int64_t g) {
    return window_block(s.before, s.from, z, member(s.axes, z.sizes, {}, g), s.window);
  };
  Range const mine = block(me);
  if (mine.size() == 0 && needs(me).size() == 0) return 0;
  std::int64_t rows = 0;
  for_pieces(needs(me), extent, s.window, [&](WindowPiece const& p) {
    rows += p.source.size() - intersect(p.source, mine).size();
  });
  // counts the neighbours in both directions as far as their windows reach, each once
  bool const wraps = s.window.edge == shardtype::op::Edge::wrap;
  std::int64_t const ranks = z.sizes.product(s.axes);
  std::int64_t left = ranks - 1;
  for (int way = 0; way < 2; ++way) {
    bool const up = way == 0;
    for (std::int64_t k = 1; left > 0; ++k, --left) {
      std::int64_t const g = up ? me + k : me - k;
      bool const beyond = g < 0 || g >= ranks;
      if (beyond && !wraps) break;
      Range const theirs = needs((g + ranks) % ranks);
      Range const window = s.window.needed(theirs);
      std::int64_t const round = !beyond ? 0 : up ? extent : -extent;
      bool const reaches = up ? window.begin + round < mine.end : window.end + round > mine.begin;
      if (!reaches && theirs.size() > 0) break;
      rows += wanted_rows(theirs, mine, extent, s.window);
    }
  }
  return rows;
}

/// Bytes of the messages of the busiest rank in the exchange `s` of rows of `block`.
constexpr std::int64_t window_messages(Step const& s, Sizing const& z, core::Layout block) {
  std::int64_t const ranks = z.sizes.product(s.axes);
  if (ranks == 1) return 0;
  std::int64_t rows = 0;
  for (std::int64_t g = 0; g < ranks; ++g) rows = std::max(rows, rows_exchanged(s, z, g));
  for (int k = 0; k < s.wide.size; ++k)
    block.extent[s.wide.dim[k]] = most_window_rows(s.before, s.wide.dim[k], z, s.wide.window[k]);
  return mul_sat(mul_sat(rows, core::cross_section(block, s.from)), z.element_bytes);
}

/// Follows the blocks of one plan through its steps, as the executor moves them
/// (execute/executor.hpp, execute/collective_step.hpp). Slices and transposes are views, which are
/// packed where a collective or an operation needs it. Every block counts as the largest of its
/// sharding.
class LocalMemory {
 public:
  /// Adds an operand, whose own memory is not counted.
  constexpr void hold(Slot slot, Spec const& s, Sizing const& z) {
    Value& v = at(slot);
    v.layout = packed_layout(s, z);
    v.is_operand = true;
  }

  /// A slice, a transpose or a collective of the value in its slot.
  constexpr void move(Step const& s, Sizing const& z) {
    Value& v = at(s.slot);
    v.element_bytes = z.element_bytes;
    if (kind_of(s).is(move_rows::beside)) return fetch(s, z);
    if (!v.is_operand && !v.is_made) return exchange(s, z);
    v.is_moved = true;
    if (s.move == Move::slice) return slice(s, z);
    if (s.move == Move::transpose) return transpose(s);
    if (z.sizes.product(s.axes) > 1) return communicate(s, z);
    if (s.move == Move::resplit) replace(v, packed_layout(s.after, z));
  }

  /// The product of the first two operands, with the layouts that their blocks have.
  constexpr void multiply(LabelledLayout a, LabelledLayout b, Spec const& made, Sizing const& z,
                          ProductElements const& e, std::int64_t workspace) {
    Labels const out = labels_of(made);
    a.layout = at(Slot::a).layout;
    b.layout = at(Slot::b).layout;
    Value& c = at(Slot::result);
    c.element_bytes = z.element_bytes;
    c.layout = packed_layout(made, z);
    c.bytes = bytes_of(c);
    note(0);
    std::int64_t sums[2]{};
    for (int k = 0; k < 2; ++k) {
      LabelledLayout& x = k == 0 ? a : b;
      LabelledLayout const less = summed(x, k == 0 ? b : a, out);
      if (less.layout.rank == x.layout.rank) continue;
      x = less;
      std::int64_t const n = x.layout.elements();
      sums[k] = mul_sat(n, z.element_bytes);
      note(add_sat(add_sat(sums[0], sums[1]), mul_sat(n, e.total_bytes)));
    }
    ProductSteps const steps(a, b, out, e.any_strides);
    gemm_ = steps.size;
    std::int64_t more = steps.turns ? c.bytes : 0;
    std::int64_t const copies[2] = {
        steps.packs_a ? mul_sat(a.layout.elements(), z.element_bytes) : 0,
        steps.packs_b ? mul_sat(b.layout.elements(), z.element_bytes) : 0};
    for (int k = 0; k < 2; ++k) {
      more = add_sat(more, copies[k]);
      note(add_sat(more, add_sat(sums[0], sums[1])));
      if (copies[k] > 0) sums[k] = 0;
    }
    std::int64_t const elements[] = {a.layout.elements(), b.layout.elements(), c.layout.elements()};
    for (std::int64_t const n : elements) more = add_sat(more, mul_sat(n, e.copy_bytes));
    note(add_sat(add_sat(more, workspace), add_sat(sums[0], sums[1])));
    c.is_made = true;
    release_others(Slot::result);
  }

  /// The result of any other operation, from packed operands, in the slot of step `s`: new memory,
  /// or memory that it `shares` with an existing value.
  constexpr void compute(Step const& s, Sizing const& z, std::int64_t workspace, bool shares) {
    for (int k = 0; k <= max_plan_operands; ++k)
      if (k != static_cast<int>(s.slot)) leave(static_cast<Slot>(k));
    Value& v = at(s.slot);
    v.element_bytes = z.element_bytes;
    if (!shares || !v.is_made) {
      v = {};
      v.element_bytes = z.element_bytes;
      v.layout = packed_layout(s.after, z);
      v.bytes = shares ? 0 : bytes_of(v);
    }
    v.is_made = true;
    note(workspace);
    release_others(s.slot);
  }

  /// The value in `slot` leaves the plan, so it needs memory of its own and must begin there.
  constexpr void leave(Slot slot) {
    Value& v = at(slot);
    if (v.is_moved && (v.bytes == 0 || v.is_part || !v.layout.contiguous()))
      replace(v, v.layout.packed());
  }

  /// Peak of the bytes so far.
  constexpr std::int64_t most() const { return most_; }
  /// Peak of the bytes that one step sends from and receives in the host's memory, if MPI cannot
  /// access that of the blocks.
  constexpr std::int64_t staged() const { return staged_; }
  /// The size of the local product, if there was one.
  constexpr GemmSize const& gemm() const { return gemm_; }

 private:
  struct Value {
    core::Layout layout{};
    std::int64_t element_bytes = 1;
    std::int64_t bytes = 0;  ///< of memory that does not belong to an operand
    bool is_operand = false;
    bool is_made = false;  ///< whether a computation produced it
    bool is_moved = false;
    bool is_part = false;  ///< whether it begins inside its memory, on some rank
  };

  constexpr Value& at(Slot slot) { return values_[static_cast<int>(slot)]; }
  static constexpr std::int64_t bytes_of(Value const& v) {
    return mul_sat(v.layout.elements(), v.element_bytes);
  }

  /// Records the bytes held plus `more`.
  constexpr void note(std::int64_t more) {
    std::int64_t now = add_sat(more, wires_);
    for (Value const& v : values_) now = add_sat(now, v.bytes);
    most_ = std::max(most_, now);
  }
  constexpr void stage(std::int64_t bytes) { staged_ = std::max(staged_, bytes); }
  /// `v` gets new memory, while `more` bytes are in use as well.
  constexpr void replace(Value& v, core::Layout const& l, std::int64_t more = 0) {
    std::int64_t const fresh = mul_sat(l.elements(), v.element_bytes);
    note(add_sat(fresh, more));
    v.layout = l;
    v.bytes = fresh;
    v.is_part = false;
  }
  constexpr void pack(Value& v) {
    if (!v.layout.contiguous()) replace(v, v.layout.packed());
  }
  constexpr void release_others(Slot slot) {
    for (int k = 0; k <= max_plan_operands; ++k)
      if (k != static_cast<int>(slot)) values_[k] = {};
    wires_ = 0;
  }

  constexpr void slice(Step const& s, Sizing const& z) {
    Value& v = at(s.slot);
    if (!rows_of(s.after, s.to, z, {}).contiguous()) return replace(v, packed_layout(s.after, z));
    v.layout.extent[s.to] =
        largest_block(z.extents[s.after.dims[s.to].label], s.after.dims[s.to].axes, z.sizes);
    v.is_part = v.is_part || z.sizes.product(s.axes) > 1;
  }
  constexpr void transpose(Step const& s) {
    Value& v = at(s.slot);
    core::Layout const old = v.layout;
    for (int d = 0; d < s.after.rank; ++d) {
      int const from = s.before.find(s.after.dims[d].label);
      v.layout.extent[d] = old.extent[from];
      v.layout.stride[d] = old.stride[from];
    }
  }
  constexpr void communicate(Step const& s, Sizing const& z) {
    Value& v = at(s.slot);
    core::Layout const after = packed_layout(s.after, z);
    std::int64_t const in = mul_sat(after.elements(), z.element_bytes);
    MoveKind const& kind = kind_of(s);
    if (kind.is(move_rows::packs)) pack(v);
    std::int64_t const out = bytes_of(v);
    std::int64_t wires = 0;
    bool const whole = s.move == Move::reorder && moves_whole_blocks(s, z);
    if (whole ? !v.layout.contiguous()
              : kind.cuts == Parts::segments && !core::lies_in_segments(v.layout, s.to))
      wires = out;
    if (kind.cuts == Parts::rows) wires = s.move == Move::resplit ? parts_sent(s, z) : out;
    stage(add_sat(std::max(out, wires), in));
    if (kind.is(move_rows::releases) && wires > 0) {
      note(wires);
      v.bytes = 0;
    }
    if (kind.joins == Parts::rows ||
        (kind.joins == Parts::segments && !whole && !core::lies_in_segments(after, s.from)))
      wires = add_sat(wires, in);
    if (kind.is(move_rows::in_place) && v.bytes > 0 && !v.is_part) return;
    replace(v, after, wires);
  }
  /// Whether all ranks exchange whole blocks.
  static constexpr bool moves_whole_blocks(Step const& s, Sizing const& z) {
    AxisList outer = s.before.dims[s.from].axes;
    for (int k = 0; k < s.axes.size; ++k) outer = outer.without(s.axes[k]);
    for (std::int64_t r = 0; r < z.sizes.product(outer); ++r)
      if (!has_equal_blocks(s, z, member(outer, z.sizes, {}, r))) return false;
    return true;
  }
  /// Bytes of the messages of the rank that sends the most when a dim is split in another way;
  /// several ranks may need the same part.
  constexpr std::int64_t parts_sent(Step const& s, Sizing const& z) {
    core::Layout const& l = at(s.slot).layout;
    AxisList all = s.axes;
    for (Spec const* spec : {&s.before, &s.after})
      for (int k = 0; k < spec->dims[s.to].axes.size; ++k)
        if (!all.contains(spec->dims[s.to].axes[k])) all.push(spec->dims[s.to].axes[k]);
    bool const each_row_once =
        all.size == s.axes.size && s.after.dims[s.to].axes.size == s.axes.size;
    if (each_row_once) return mul_sat(l.elements(), z.element_bytes);
    std::int64_t most = 0;
    for (std::int64_t r = 0; r < z.sizes.product(all); ++r) {
      Coords const me = member(all, z.sizes, {}, r);
      Rows const mine = rows_of(s.before, s.to, z, me);
      std::int64_t rows = 0;
      for (std::int64_t g = 0; g < z.sizes.product(s.axes); ++g)
        rows += common(mine, rows_of(s.after, s.to, z, member(s.axes, z.sizes, me, g)));
      most = std::max(most, rows);
    }
    return mul_sat(mul_sat(most, core::cross_section(l, s.to)), z.element_bytes);
  }

  /// Rows of other ranks, which are kept in messages until the operation has its result.
  constexpr void fetch(Step const& s, Sizing const& z) {
    std::int64_t const bytes = window_messages(s, z, at(s.slot).layout);
    stage(bytes);
    wires_ = add_sat(wires_, bytes);
  }
  /// A part of a block that the operation sends itself: first the outgoing data, then the received
  /// data, which stay until the computation.
  constexpr void exchange(Step const& s, Sizing const& z) {
    Value& v = at(s.slot);
    std::int64_t const out = mul_sat(packed_layout(s.before, z).elements(), z.element_bytes);
    core::Layout const after = packed_layout(s.after, z);
    stage(add_sat(out, mul_sat(after.elements(), z.element_bytes)));
    replace(v, after, out);
  }

  Value values_[max_plan_operands + 1]{};
  std::int64_t wires_ = 0;
  std::int64_t most_ = 0;
  std::int64_t staged_ = 0;
  GemmSize gemm_{};
};

}  // namespace shardtype::planning
