#pragma once
/// Operations along one dim. slice, pad, repeat, tile, flip, roll, concat and stack are local and
/// need a dim that is not split; shift, halo_exchange and running values communicate along it.

#include <shardtype/rules/reduction.hpp>
#include <shardtype/rules/shape.hpp>

namespace shardtype::rules {

/// The dim that an operation works along must not be split; `otherwise` is the code if it is.
constexpr Verdict unsplit(Question const& q, Code otherwise) {
  if (Verdict v = has_all(q.a(), q.from); !v) return v;
  if (Verdict v = in_blocks(q.a(), q.from); !v) return v;
  DimSpec const& dim = q.a().dims[q.a().find(q.from.dims[0].label)];
  return dim.axes.size == 0 ? Verdict{} : refuse(otherwise, dim.label, -1, dim.axes[0]);
}

/// `a` after an operation that changes the extent of its dim: the dim gets the new label, or keeps
/// its own if its type does not fix the extent.
constexpr Verdict resized(Question const& q) {
  if (Verdict v = unsplit(q, Code::D03_along_split); !v) return v;
  int const label = q.from.dims[0].label;
  if (q.to.rank > 1) return refuse(Code::D07_names_incomplete, label);
  if (Verdict v = has_none(q.a(), q.to); !v) return v;
  if (q.to.rank == 0 && q.extents[label] != dynamic) return refuse(Code::D05_extent_changes, label);
  Spec out = q.a();
  if (q.to.rank == 1) out.dims[q.a().find(label)].label = q.to.dims[0].label;
  return accept(out);
}

/// The same where the dim may be split in blocks: ranks have zeros for rows that they lack, so that
/// the result is unreduced over its axes.
constexpr Verdict resized_parts(Question q, ReduceKind joining) {
  Verdict const found = has_all(q.a(), q.from);
  if (!found) return found;
  Spec whole = q.a();
  int const d = whole.find(q.from.dims[0].label);
  AxisList const axes = whole.dims[d].axes;
  if (axes.cyclic != 0) return refuse(Code::B03_through_cyclic, whole.dims[d].label, -1, axes[0]);
  if (axes.size > 0 && !whole.unreduced.empty() && whole.kind != joining)
    return refuse(Code::I07_other_kind, whole.dims[d].label, -1, axes[0]);
  whole.dims[d].axes = {};
  q.operands = &whole;
  Verdict v = resized(q);
  if (!v || axes.size == 0) return v;
  v.result.unreduced = v.result.unreduced | axes.set();
  v.result.kind = joining;
  return v;
}

/// Refuses to pad an unreduced sum with a value other than 0, which would count once per summand.
/// An unreduced maximum or minimum may be padded: every candidate gets the same value.
constexpr Verdict pad(Question const& q, bool zero) {
  if (!zero && q.a().kind == ReduceKind::sum)
    if (Verdict v = refuse_any(Code::D11_pad_unreduced, q.a().unreduced); !v) return v;
  return resized(q);
}

/// The operands of concat and stack: the same dims, the same splits, the same unreduced axes. A
/// replicated operand next to a reduced one counts as reduced, as in sums.
constexpr Verdict alike(Question const& q) {
  Spec out = q.a();
  for (int k = 1; k < q.count; ++k) {
    Spec const& b = q.operands[k];
    for (int d = 0; d < b.rank || d < out.rank; ++d)
      if (d >= b.rank || d >= out.rank || !(b.dims[d] == out.dims[d]))
        return refuse(Code::D12_dims_differ, d < out.rank ? out.dims[d].label : b.dims[d].label);
    if (b.unreduced != out.unreduced || (!b.unreduced.empty() && b.kind != out.kind))
      return refuse_any(Code::D13_unreduced_differs, b.unreduced | out.unreduced);
    out.reduced = out.reduced | b.reduced;
  }
  return accept(out);
}

/// `concat<I>(a, b, ...)`: concatenated along I.
constexpr Verdict concat(Question q) {
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

/// `stack<I>(a, b, ...)`: stacked along a new first dim I.
constexpr Verdict stack(Question q) {
  Verdict const v = alike(q);
  if (!v) return v;
  if (contradict(q.extent(q.to, 0), q.count))
    return refuse(Code::D06_extents_contradict, q.to.dims[0].label);
  q.operands = &v.result;
  return broadcast(q, false);
}

/// Running sums of an unreduced sum stay an unreduced sum, running maxima of an unreduced maximum
/// an unreduced maximum; all other combinations are refused.
constexpr Verdict running(Question const& q, ReductionKind how) {
  if (Verdict v = has_all(q.a(), q.from); !v) return v;
  if (Verdict v = in_blocks(q.a(), q.from); !v) return v;
  if (!goes_through_unreduced(how) || q.a().kind != unreduced_kind(how))
    if (Verdict v = refuse_any(Code::D14_scan_unreduced, q.a().unreduced); !v) return v;
  return accept(q.a());
}

/// `flip<I>`: the same dims.
constexpr Verdict flip(Question const& q) {
  return accept_if(unsplit(q, Code::D03_along_split), q.a());
}

/// `roll<I>`: the same dims; I must not be split (`shift` allows it).
constexpr Verdict roll(Question const& q) {
  return accept_if(unsplit(q, Code::D04_roll_along_split), q.a());
}

/// `shift<I>`: the same dims; I may be split into nested blocks.
constexpr Verdict shift(Question const& q) {
  Verdict v = has_all(q.a(), q.from);
  if (v) v = in_blocks(q.a(), q.from);
  return v ? accept(q.a()) : v;
}

/// `halo_exchange<I>`: as shift, but no dim may be block-cyclic, because the result reports its
/// rows as ranges.
constexpr Verdict halo(Question const& q) {
  Verdict v = has_all(q.a(), q.from);
  if (v) v = in_blocks(q.a(), q.a());
  return v ? accept(q.a()) : v;
}

/// Refuses an unreduced maximum or minimum: sums or differences of its candidates are none.
constexpr Verdict no_extremum(Spec const& s, int label = -1) {
  return s.kind == ReduceKind::sum ? Verdict{}
                                   : refuse_any(Code::I07_other_kind, s.unreduced, label);
}

/// `diff<I>`: as shift, of sums.
constexpr Verdict diff(Question const& q) {
  Verdict const v = no_extremum(q.a());
  return v ? shift(q) : v;
}

/// `halo_add<I>`: as halo_exchange, of sums.
constexpr Verdict halo_add(Question const& q) {
  Verdict const v = no_extremum(q.a());
  return v ? halo(q) : v;
}

}  // namespace shardtype::rules
