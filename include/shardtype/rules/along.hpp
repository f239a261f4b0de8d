#pragma once
/// Operations along one dim: slice, pad, repeat, tile, flip, roll, concat, stack, which are local and
/// so ask for a dim that is not split; shift, halo and scan, which communicate along it.

#include <shardtype/rules/shape.hpp>

namespace shardtype::rules {

/// The dim an operation works along must not be split; `otherwise` says what to do if it is.
constexpr Verdict unsplit(ShapeQuestion const& q, Code otherwise) {
  if (Verdict v = has_all(q.a(), q.from); !v) return v;
  if (Verdict v = in_blocks(q.a(), q.from); !v) return v;
  DimSpec const& dim = q.a().dims[q.a().find(q.from.dims[0].label)];
  return dim.axes.size == 0 ? Verdict{} : refuse(otherwise, dim.label, -1, dim.axes[0]);
}

/// `a` after an operation that changes the extent of the dim it works along: the dim gets the new
/// label, or keeps its own where the type does not settle the extent.
constexpr Verdict resized(ShapeQuestion const& q) {
  if (Verdict v = unsplit(q, Code::D03_along_split); !v) return v;
  int const label = q.from.dims[0].label;
  if (q.to.rank > 1) return refuse(Code::D07_names_incomplete, label);
  if (Verdict v = has_none(q.a(), q.to); !v) return v;
  if (q.to.rank == 0 && q.extents[label] != dynamic) return refuse(Code::D05_extent_changes, label);
  Spec out = q.a();
  if (q.to.rank == 1) out.dims[q.a().find(label)].label = q.to.dims[0].label;
  return accept(out);
}

/// A pad with a value other than 0 would be counted once per summand. Of candidates for a maximum
/// or minimum every one may be padded with the same value.
constexpr Verdict pad(ShapeQuestion const& q, bool zero) {
  if (!zero && q.a().kind == ReduceKind::sum)
    for (int x = 0; x < max_axes; ++x)
      if (q.a().unreduced.contains(x)) return refuse(Code::D11_pad_unreduced, -1, -1, x);
  return resized(q);
}

/// The operands of concat and stack: the same dims, split alike, unreduced alike. A replicated one
/// next to a reduced one is taken as reduced, as in sums.
constexpr Verdict alike(ShapeQuestion const& q) {
  Spec out = q.a();
  for (int k = 1; k < q.count; ++k) {
    Spec const& b = q.operands[k];
    for (int d = 0; d < b.rank || d < out.rank; ++d)
      if (d >= b.rank || d >= out.rank || !(b.dims[d] == out.dims[d]))
        return refuse(Code::D12_dims_differ, d < out.rank ? out.dims[d].label : b.dims[d].label);
    if (b.unreduced != out.unreduced || (!b.unreduced.empty() && b.kind != out.kind))
      for (int x = 0; x < max_axes; ++x)
        if (b.unreduced.contains(x) || out.unreduced.contains(x))
          return refuse(Code::D13_unreduced_differs, -1, -1, x);
    out.reduced.bits = static_cast<std::uint8_t>(out.reduced.bits | b.reduced.bits);
  }
  return accept(out);
}

/// `concat<I>(a, b, ...)`: one behind the other along I.
constexpr Verdict concat(ShapeQuestion q) {
  Verdict v = alike(q);
  if (!v) return v;
  q.operands = &v.result;
  if (q.to.rank == 1 && q.from.rank == 1) {
    std::int64_t const one = q.extent(q.from, 0);
    if (one != dynamic && contradict(q.extent(q.to, 0), one * q.count))
      return refuse(Code::D06_extents_contradict, q.to.dims[0].label);
  }
  return resized(q);
}

/// `stack<I>(a, b, ...)`: one beside the other along a new dim I, before the others.
constexpr Verdict stack(ShapeQuestion q) {
  Verdict const v = alike(q);
  if (!v) return v;
  if (contradict(q.extent(q.to, 0), q.count))
    return refuse(Code::D06_extents_contradict, q.to.dims[0].label);
  q.operands = &v.result;
  return broadcast(q, false);
}

/// Running sums go through owed sums, running maxima through owed maxima; nothing else does.
constexpr Verdict scan(ShapeQuestion const& q, ReduceKind kind) {
  if (Verdict v = has_all(q.a(), q.from); !v) return v;
  if (Verdict v = in_blocks(q.a(), q.from); !v) return v;
  if (q.a().kind != kind)
    for (int x = 0; x < max_axes; ++x)
      if (q.a().unreduced.contains(x)) return refuse(Code::D14_scan_unreduced, -1, -1, x);
  return accept(q.a());
}

/// What `op` makes of its operands.
constexpr Verdict shape(Shape op, ShapeQuestion const& q) {
  Verdict v;
  switch (op) {
    case Shape::transpose:
      return transpose(q.a(), q.to);
    case Shape::relabel:
      return relabel(q);
    case Shape::squeeze:
      return squeeze(q);
    case Shape::expand:
      return broadcast(q, true);
    case Shape::broadcast:
      return broadcast(q, false);
    case Shape::split:
    case Shape::hand_out:
      return split(q, op == Shape::hand_out);
    case Shape::merge:
      return merge(q);
    case Shape::slice:
    case Shape::repeat:
    case Shape::tile:
      return resized(q);
    case Shape::pad_zero:
    case Shape::pad_value:
      return pad(q, op == Shape::pad_zero);
    case Shape::flip:
    case Shape::roll:
      v = unsplit(q, op == Shape::flip ? Code::D03_along_split : Code::D04_roll_along_split);
      return v ? accept(q.a()) : v;
    case Shape::concat:
      return concat(q);
    case Shape::stack:
      return stack(q);
    case Shape::shift:
    case Shape::halo:  // whose blocks are told as ranges
      v = has_all(q.a(), q.from);
      if (v) v = in_blocks(q.a(), op == Shape::shift ? q.from : q.a());
      return v ? accept(q.a()) : v;
    case Shape::scan_sum:
      return scan(q, ReduceKind::sum);
    case Shape::scan_max:
      return scan(q, ReduceKind::max);
    case Shape::scan_min:
      return scan(q, ReduceKind::min);
  }
  return v;
}

}  // namespace shardtype::rules
