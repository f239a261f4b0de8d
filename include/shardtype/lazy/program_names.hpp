#pragma once
/// The labels and axes of a program, and shardings in its axes.

#include <shardtype/check/operand.hpp>
#include <shardtype/core/held.hpp>

namespace shardtype::automatic_mode {

/// Mesh axes that a program may use.
template <class... Xs>
struct Axes {};

/// The labels and axes of a program, with their numbers in it. Two dims of one index that never
/// meet in an operation have different numbers: a slice has another extent than its operand.
struct ProgramNames {
  int labels = 0;
  shardtype::detail::Held<LabelPart> label;
  /// Whether only results of operations have the label; then its extent is known when the operation
  /// runs.
  shardtype::detail::Held<bool> made;
  int axes = 0;
  AxisPart axis[max_axes]{};

  constexpr int find_axis(Identity id) const {
    for (int x = 0; x < axes; ++x)
      if (axis[x].id == id) return x;
    return -1;
  }
  constexpr bool all_static() const {
    for (int l = 0; l < labels; ++l)
      if (label[l].extent == dynamic) return false;
    for (int x = 0; x < axes; ++x)
      if (axis[x].size == dynamic) return false;
    return true;
  }
};

}  // namespace shardtype::automatic_mode

namespace shardtype::detail {

/// Whether a program has all axes that `A` mentions.
template <class A>
constexpr bool has_axes_of(ProgramNames const& names) {
  for (int x = 0; x < Scope<A>::names.axes; ++x)
    if (names.find_axis(Scope<A>::names.axis_id[x]) < 0) return false;
  return true;
}
/// The sharding of an `A` in the axes of a program, which has them, with dims' numbers as labels:
/// dim `d` is dim `order[d]` of the type.
template <class A>
constexpr Spec spec_in(ProgramNames const& names, int const* order) {
  using S = Scope<A>;
  Spec const s = S::template spec<0>;
  int axis[max_axes]{};
  for (int x = 0; x < S::names.axes; ++x) axis[x] = names.find_axis(S::names.axis_id[x]);
  Spec out;
  for (int d = 0; d < s.rank; ++d) {
    AxisList const& from = s.dims[order[d]].axes;
    AxisList list;
    for (int k = 0; k < from.size; ++k) list.push(axis[from[k]]);
    list.cyclic = from.cyclic;
    out.add(d, list);
  }
  for (int x = 0; x < S::names.axes; ++x)
    if (s.unreduced.contains(x)) out.unreduced.insert(axis[x]);
  if (!out.unreduced.empty()) out.kind = s.kind;
  return out;
}
/// The same with the dims in the type's order.
template <class A>
constexpr Spec spec_in(ProgramNames const& names) {
  int order[max_dims]{};
  for (int d = 0; d < max_dims; ++d) order[d] = d;
  return detail::spec_in<A>(names, order);
}

}  // namespace shardtype::detail
