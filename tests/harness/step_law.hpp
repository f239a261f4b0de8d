// The legal changes of a sharding by each step of a reshard, written independently of the planner.
#pragma once

#include <shardtype/plan/contraction_plan.hpp>
#include <shardtype/rules/manual.hpp>

namespace simulate {

using namespace shardtype;
using namespace shardtype::planning;

// The rules of the steps, written independently of the planner: the legal changes of a sharding by
// each step.

// whether `after` is `before` followed by `group`
inline bool appended(AxisList const& before, AxisList const& group, AxisList const& after) {
  return after == before.plus(group);
}

// The kind of a step of a reshard with this collective, by the dims that it changes.
inline Move moved_by(Collective c, Step const& s) {
  bool const cyclic = (s.from >= 0 && s.before.dims[s.from].axes.cyclic != 0) ||
                      (s.to >= 0 && s.after.dims[s.to].axes.cyclic != 0);
  switch (c) {
    case Collective::all_gather:
      return cyclic ? Move::gather_cyclic : Move::gather;
    case Collective::all_reduce:
      return Move::reduce;
    case Collective::reduce_scatter:
      return cyclic ? Move::scatter_cyclic : Move::scatter;
    case Collective::all_to_all:
      if (s.from == s.to) return Move::resplit;
      return cyclic ? Move::exchange_cyclic : Move::exchange;
    case Collective::permute:
      return Move::reorder;
    default:
      return Move::slice;
  }
}

inline bool obeys_law(Step const& s) {
  Spec const& b = s.before;
  Spec const& a = s.after;
  if (!rules::reshard(b, a)) return false;
  for (int d = 0; d < b.rank; ++d)
    if (d != s.from && d != s.to && !(a.dims[d] == b.dims[d])) return false;
  bool const reduces =
      s.collective() == Collective::all_reduce || s.collective() == Collective::reduce_scatter;
  if (!reduces && a.unreduced != b.unreduced) return false;
  if (s.move != moved_by(s.collective(), s)) return false;
  Verdict v = accept(b);
  switch (s.collective()) {
    case Collective::none:
      for (int k = 0; k < s.axes.size; ++k)
        if (b.state(s.axes[k]) != AxisState::replicated) return false;
      return s.from < 0 && appended(b.dims[s.to].axes, s.axes, a.dims[s.to].axes);
    case Collective::all_gather:  // minor-most first
      for (int k = s.axes.size - 1; k >= 0 && v; --k) v = rules::all_gather(v.result, s.axes[k]);
      return bool(v) && v.result == a;
    case Collective::all_reduce:
      for (int k = 0; k < s.axes.size && v; ++k) v = rules::all_reduce(v.result, s.axes[k]);
      return bool(v) && v.result == a;
    case Collective::reduce_scatter:
      for (int k = 0; k < s.axes.size && v; ++k)
        v = rules::reduce_scatter(v.result, s.axes[k], b.dims[s.to].label);
      return bool(v) && v.result == a;
    case Collective::all_to_all:  // one collective keeps the order of the axes; one axis is the
                                  // rule
      if (s.axes.size == 1) {
        v = rules::all_to_all(b, s.axes[0], b.dims[s.from].label, b.dims[s.to].label);
        return bool(v) && v.result == a;
      }
      return appended(a.dims[s.from].axes, s.axes, b.dims[s.from].axes) &&
             appended(b.dims[s.to].axes, s.axes, a.dims[s.to].axes);
    case Collective::permute: {  // the minor-most axes of one dim in another order
      AxisList const kept = b.dims[s.from].axes.prefix(b.dims[s.from].axes.size - s.axes.size);
      AxisList const now = a.dims[s.from].axes;
      bool same = s.from == s.to && now.starts_with(kept) && now.size == kept.size + s.axes.size;
      same = same && appended(kept, s.axes, b.dims[s.from].axes);
      for (int k = 0; k < s.axes.size; ++k) same = same && now.contains(s.axes[k]);
      return same;
    }
    case Collective::broadcast:
    case Collective::neighbor:
      break;
  }
  return false;
}

}  // namespace simulate
