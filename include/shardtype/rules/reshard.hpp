#pragma once
/// Changes of the sharding of a value: which are legal, and the result of each collective.

#include <shardtype/rules/verdict.hpp>

namespace shardtype::rules {

/// `s` without the states of manual axes: all that plans of reshards look at.
constexpr Spec strict_part(Spec s) {
  if (!s.local) s.varying = {};
  return s;
}

/// Whether a tensor of sharding `from` may be resharded to `to`. The dims may be in another order.
/// A reshard never makes a value unreduced.
constexpr Verdict reshard(Spec const& from, Spec const& to) {
  for (int d = 0; d < to.rank; ++d)
    if (from.find(to.dims[d].label) < 0) return refuse(Code::R01_indices_differ, to.dims[d].label);
  for (int d = 0; d < from.rank; ++d)
    if (to.find(from.dims[d].label) < 0)
      return refuse(Code::R01_indices_differ, from.dims[d].label);
  if (int const x = (to.unreduced - from.unreduced).first(); x >= 0)
    return refuse(from.state(x) == AxisState::split ? Code::R03_split_to_unreduced
                                                    : Code::R02_replicated_to_unreduced,
                  -1, -1, x);
  if (!to.unreduced.empty() && from.kind != to.kind) return refuse(Code::R04_kind_differs);
  if (int const x = ((to.varying - from.varying) | (from.varying - to.varying)).first(); x >= 0)
    return refuse(Code::V17_not_manual, -1, -1, x);
  return accept(to);
}

/// `all_gather` over `axis`: the axis leaves the dim that it splits. It must be the minor-most axis
/// there. The result is replicated over it, or `to` reduced.
constexpr Verdict all_gather(Spec s, int axis, AxisState to = AxisState::replicated) {
  int const d = s.dim_of(axis);
  if (d < 0) return refuse(Code::K01_not_split, -1, -1, axis);
  AxisList& axes = s.dims[d].axes;
  if (axes[axes.size - 1] != axis)
    return refuse(Code::K02_not_minor_most, s.dims[d].label, -1, axis);
  axes = axes.prefix(axes.size - 1);
  if (to == AxisState::reduced) s.reduced.insert(axis);
  return accept(s);
}

/// `all_reduce` over `axis`: unreduced becomes replicated.
constexpr Verdict all_reduce(Spec s, int axis) {
  if (!s.unreduced.contains(axis)) return refuse(Code::K03_not_unreduced, -1, -1, axis);
  s.unreduced.erase(axis);
  return accept(s);
}

/// `reduce_scatter` over `axis` onto `label`: unreduced becomes split, minor-most.
constexpr Verdict reduce_scatter(Spec s, int axis, int label) {
  if (!s.unreduced.contains(axis)) return refuse(Code::K03_not_unreduced, -1, -1, axis);
  int const d = s.find(label);
  if (d < 0) return refuse(Code::K04_no_such_index, label, -1, axis);
  if (s.dims[d].axes.cyclic != 0) return refuse(Code::B04_behind_cyclic, label, -1, axis);
  s.unreduced.erase(axis);
  s.dims[d].axes.push(axis);
  return accept(s);
}

/// `to_partial` over `axis`: a replicated value becomes an unreduced sum of itself and zeros; so
/// does a block, with zeros instead of the other blocks. The axis must be the minor-most axis of
/// the dim it splits.
constexpr Verdict to_partial(Spec s, int axis) {
  if (s.unreduced.contains(axis) || (!s.unreduced.empty() && s.kind != ReduceKind::sum))
    return refuse(Code::K05_already_unreduced, -1, -1, axis);
  if (s.varying.contains(axis)) return refuse(Code::V05_not_invariant, -1, -1, axis);
  if (int const d = s.dim_of(axis); d >= 0) {
    AxisList& axes = s.dims[d].axes;
    if (axes[axes.size - 1] != axis) return refuse(Code::K08_major_axis, s.dims[d].label, -1, axis);
    axes = axes.prefix(axes.size - 1);
  }
  s.reduced.erase(axis);
  s.unreduced.insert(axis);
  s.kind = ReduceKind::sum;
  return accept(s);
}
/// The same over a set of axes: those of a dim are removed from its minor end.
constexpr Verdict to_partial(Spec const& s, AxisList over) {
  Verdict v = accept(s);
  while (v && over.size > 0) {
    int next = 0;
    for (int k = 0; k < over.size; ++k) {
      if (to_partial(v.result, over[k]).code == Code::K08_major_axis) continue;
      next = k;
      break;
    }
    v = to_partial(v.result, over[next]);
    over = over.without(over[next]);
  }
  return v;
}

/// `reduced` over `axis`: the same bytes, but the cotangent stays unreduced over the axis.
constexpr Verdict reduced(Spec s, int axis) {
  if (s.unreduced.contains(axis)) return refuse(Code::K05_already_unreduced, -1, -1, axis);
  if (int const d = s.dim_of(axis); d >= 0)
    return refuse(Code::K06_split, s.dims[d].label, -1, axis);
  s.reduced.insert(axis);
  return accept(s);
}

/// `used_as` over a set of axes: the same value, on each rank whole along them and reduced over
/// them.
constexpr Verdict used_as(Spec const& s, AxisSet const& over) {
  Spec out = s;
  for (int x = 0; x < max_axes; ++x) {
    if (!over.contains(x)) continue;
    if (int const d = s.dim_of(x); d >= 0) out.dims[d].axes = out.dims[d].axes.without(x);
    out.unreduced.erase(x);
    out.reduced.insert(x);
  }
  return reshard(s, out);
}

/// `all_to_all` over `axis` from dim `from` to dim `to`: the axis leaves `from` and splits `to`.
constexpr Verdict all_to_all(Spec s, int axis, int from, int to) {
  if (s.find(from) < 0) return refuse(Code::K04_no_such_index, from, -1, axis);
  if (s.find(to) < 0) return refuse(Code::K04_no_such_index, to, -1, axis);
  if (s.dim_of(axis) != s.find(from)) return refuse(Code::K01_not_split, from, -1, axis);
  Verdict v = all_gather(s, axis);
  if (!v) return v;
  AxisList& axes = v.result.dims[s.find(to)].axes;
  if (axes.cyclic != 0) return refuse(Code::B04_behind_cyclic, to, -1, axis);
  axes.push(axis);
  return v;
}

}  // namespace shardtype::rules
