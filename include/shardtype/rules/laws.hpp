#pragma once
/// Laws that every tensor type must obey at its declaration.

#include <shardtype/core/bridge.hpp>
#include <shardtype/rules/verdict.hpp>

namespace shardtype::rules {

/// An axis that is listed twice in `s` (among dims, Unreduced and Reduced), or -1.
constexpr int repeated_axis(Spec const& s) {
  for (int x = 0; x < max_axes; ++x)
    if (s.unreduced.contains(x) + s.reduced.contains(x) + s.varying.contains(x) > 1) return x;
  AxisSet seen = s.unreduced | s.reduced | s.varying;
  for (int d = 0; d < s.rank; ++d)
    for (int k = 0; k < s.dims[d].axes.size; ++k) {
      int const x = s.dims[d].axes[k];
      if (seen.contains(x)) return x;
      seen.insert(x);
    }
  return -1;
}

/// A label of two dims of `s`, or -1.
constexpr int repeated_label(Spec const& s) {
  for (int d = 0; d < s.rank; ++d)
    for (int e = d + 1; e < s.rank; ++e)
      if (s.dims[d].label == s.dims[e].label) return s.dims[d].label;
  return -1;
}

/// Whether a parsed type obeys the laws: each axis at most once, each index at most once, only dims
/// and attributes in canonical order, a Cyclic only as the single axis of its dim.
constexpr Verdict well_formed(ParsedType const& r) {
  if (r.malformed == Malformed::unknown_part) return refuse(Code::T04_unknown_part);
  if (r.malformed == Malformed::not_a_label || r.malformed == Malformed::not_an_axis)
    return refuse(Code::T05_not_an_axis);
  if (r.malformed == Malformed::not_here) return refuse(Code::V02_wrong_mode, -1, -1, r.axis);
  if (r.malformed == Malformed::not_alone)
    return refuse(Code::B01_cyclic_beside_others, -1, -1, r.axis);
  if (r.malformed == Malformed::block_size) return refuse(Code::B02_block_size, -1, -1, r.axis);
  if (r.too_many) return refuse(Code::T07_too_many);
  if (int const x = repeated_axis(r.spec); x >= 0) return refuse(Code::T01_axis_twice, -1, -1, x);
  if (r.malformed == Malformed::repeated_axis) return refuse(Code::T01_axis_twice, -1, -1, r.axis);
  if (int const l = repeated_label(r.spec); l >= 0) return refuse(Code::T02_index_twice, l);
  if (r.malformed == Malformed::not_canonical)
    return refuse(Code::T03_not_canonical, -1, -1, r.axis);
  return accept(r.spec);
}

/// Whether the names of one operation are distinct and not too many; of one that moves `windows`
/// there may be more.
constexpr Verdict well_named(Names const& n, bool windows = false) {
  if (n.label_clash >= 0) return refuse(Code::T06_same_name, n.label_clash);
  if (n.axis_clash >= 0) return refuse(Code::T06_same_name, -1, -1, n.axis_clash);
  if (windows ? n.full : n.overflow) return refuse(Code::T07_too_many);
  return {};
}

/// The first law that a type of an operation breaks.
constexpr Verdict lawful(Names const& names, ParsedType const* types, int count,
                         bool windows = false) {
  // a type with too many parts is parsed only in part, so it is not checked further
  bool too_many = windows ? names.full : names.overflow;
  for (int k = 0; k < count; ++k) too_many = too_many || types[k].too_many;
  if (too_many) return refuse(Code::T07_too_many);
  for (int k = 0; k < count; ++k)
    if (Verdict v = well_formed(types[k]); !v) return v;
  int first = -1;
  for (int k = 0; k < count; ++k) {
    if (!types[k].real) continue;
    if (first >= 0 && types[k].spec.local != types[first].spec.local)
      return refuse(Code::V01_mixed);
    first = k;
  }
  return well_named(names, windows);
}

/// Whether one of the types is of manual mode: a Local, or a Tensor that varies over manual axes.
constexpr bool any_of_manual_mode(ParsedType const* types, int count) {
  for (int k = 0; k < count; ++k)
    if (types[k].spec.local || !types[k].spec.varying.empty()) return true;
  return false;
}

/// The result `v` of a rule for an operand, or for operands `types`, adjusted if they are Locals,
/// or Tensors that vary over manual axes: the result varies over the axes over which an operand
/// varies. A reduced operand may vary too (a free cast, R -> V); the rules themselves ensure that
/// an unreduced one does not. An axis that splits another operand is strict there.
constexpr Verdict in_manual_mode(Verdict v, Spec const& operand) {
  if (!v || (!operand.local && operand.varying.empty())) return v;
  v.result.local = operand.local;
  v.result.varying = v.result.varying | operand.varying;
  v.result.reduced = v.result.reduced - operand.varying;
  // what a rule makes unreduced of blocks that vary is cast; a tensor's axes are strict or manual
  for (int x = 0; !operand.local && x < max_axes; ++x)
    if (v.result.varying.contains(x) && (v.result.dim_of(x) >= 0 || v.result.unreduced.contains(x)))
      return refuse(Code::V01_mixed, -1, -1, x);
  return v;
}
constexpr Verdict in_manual_mode(Verdict v, ParsedType const* types, int count) {
  for (int k = 0; k < count; ++k) v = in_manual_mode(v, types[k].spec);
  return v;
}

}  // namespace shardtype::rules
