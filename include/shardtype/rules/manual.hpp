#pragma once
/// Manual mode: the collectives and casts that change the state of a mesh axis.

#include <shardtype/rules/verdict.hpp>

namespace shardtype::rules {

/// The collectives and casts of manual mode; `cast` and `shard` communicate nothing.
enum class Movement : std::int8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  permute,
  broadcast,  ///< of one rank's block; expressed by the others when transposed
  shard,      ///< each rank keeps its piece of a dim
  cast        ///< the same block with another type
};

/// One collective or cast along one mesh axis.
struct StateChange {
  Movement how;
  AxisState from;
  AxisState to;
  friend constexpr bool operator==(StateChange const&, StateChange const&) = default;
};

/// All collectives and casts of manual mode, with JAX's types for its collectives (jax.lax,
/// `shard_map` with check_vma). Closed under transposition.
inline constexpr StateChange moves[] = {
    {Movement::all_reduce, AxisState::varying, AxisState::replicated},
    {Movement::all_reduce, AxisState::unreduced, AxisState::replicated},
    {Movement::reduce_scatter, AxisState::varying, AxisState::varying},
    {Movement::reduce_scatter, AxisState::unreduced, AxisState::varying},
    {Movement::all_gather, AxisState::varying, AxisState::varying},
    {Movement::all_gather, AxisState::varying, AxisState::replicated},
    {Movement::all_gather, AxisState::varying, AxisState::reduced},
    {Movement::all_to_all, AxisState::varying, AxisState::varying},
    {Movement::permute, AxisState::varying, AxisState::varying},
    {Movement::shard, AxisState::replicated, AxisState::varying},
    {Movement::cast, AxisState::replicated, AxisState::varying},
    {Movement::cast, AxisState::replicated, AxisState::reduced},
    {Movement::cast, AxisState::varying, AxisState::unreduced},
    {Movement::cast, AxisState::reduced, AxisState::varying},
};

constexpr bool exists(StateChange const& move) {
  if (move.how == Movement::broadcast)
    return move.from == AxisState::varying &&
           (move.to == AxisState::varying || move.to == AxisState::replicated);
  for (StateChange const& m : moves)
    if (m == move) return true;
  return false;
}

/// The state of a cotangent: V and I stay, U and R are swapped.
constexpr AxisState cotangent(AxisState s) {
  if (s == AxisState::unreduced) return AxisState::reduced;
  return s == AxisState::reduced ? AxisState::unreduced : s;
}

/// The collective or cast that maps cotangents back.
constexpr StateChange transposed(StateChange const& m) {
  StateChange back{m.how, cotangent(m.to), cotangent(m.from)};
  switch (m.how) {
    case Movement::all_reduce:
      back.how = Movement::cast;
      break;
    case Movement::cast:
      if (m.from == AxisState::replicated) back.how = Movement::all_reduce;
      break;
    case Movement::reduce_scatter:
      back.how = Movement::all_gather;
      break;
    case Movement::all_gather:
      back.how = m.to == AxisState::replicated ? Movement::shard : Movement::reduce_scatter;
      break;
    case Movement::shard:
      back.how = Movement::all_gather;
      break;
    case Movement::all_to_all:
    case Movement::permute:
    case Movement::broadcast:
      break;
  }
  return back;
}

/// The refusal of a state change that does not exist.
constexpr Verdict no_move(StateChange const& m, int axis) {
  auto const no = [axis](Code code) { return refuse(code, -1, -1, axis); };
  if (m.how == Movement::cast && m.from == m.to) return no(Code::V04_already);
  if (m.from == AxisState::unreduced) return no(Code::V06_unreduced);
  if (m.how != Movement::cast && m.how != Movement::shard) return no(Code::V03_not_varying);
  return no(m.to == AxisState::unreduced ? Code::V03_not_varying : Code::V05_not_invariant);
}

/// The block `s` after the collective or cast `how` along `axis` to state `to`; `kind` is the
/// reduction, or the pending reduction of the result.
constexpr Verdict move(Spec s, Movement how, int axis, AxisState to,
                       ReduceKind kind = ReduceKind::sum) {
  AxisState const from = s.state(axis);
  bool const reduces = how == Movement::all_reduce || how == Movement::reduce_scatter;
  bool const unreduced = (reduces && from == AxisState::unreduced) ||
                         (to == AxisState::unreduced && !s.unreduced.empty());
  if (unreduced && s.kind != kind) return refuse(Code::V16_kind, -1, -1, axis);
  if (StateChange const m{how, from, to}; !exists(m)) return no_move(m, axis);
  s.varying.erase(axis);
  s.unreduced.erase(axis);
  s.reduced.erase(axis);
  if (to == AxisState::varying) s.varying.insert(axis);
  if (to == AxisState::reduced) s.reduced.insert(axis);
  if (to == AxisState::unreduced) s.unreduced.insert(axis), s.kind = kind;
  return accept(s);
}

/// The block of a tensor of sharding `s` as an argument of shard_map's function: dims not split,
/// varying over the axes that split them.
constexpr Spec block_of_tensor(Spec const& s) {
  Spec out = s;
  out.local = true;
  for (int d = 0; d < s.rank; ++d) {
    out.dims[d].axes = {};
    out.varying = out.varying | s.dims[d].axes.set();
  }
  return out;
}

/// Whether a block `l` may become the block of a tensor of sharding `out`. It must not vary over an
/// axis that splits no dim of `out`, since blocks along it must be identical. Along an axis that
/// splits a dim it may be invariant.
constexpr Verdict output(Spec const& l, Spec const& out) {
  bool same = l.rank == out.rank;
  for (int d = 0; same && d < l.rank; ++d) same = l.dims[d].label == out.dims[d].label;
  if (!same) return refuse(Code::V09_output_dims);
  if (int const d = out.cyclic_dim(); d >= 0)
    return refuse(Code::B03_through_cyclic, out.dims[d].label, -1, out.dims[d].axes[0]);
  for (int x = 0; x < max_axes; ++x) {
    bool const unreduced = l.unreduced.contains(x) || out.unreduced.contains(x);
    if (l.unreduced.contains(x) != out.unreduced.contains(x) ||
        l.reduced.contains(x) != out.reduced.contains(x) || (unreduced && l.kind != out.kind))
      return refuse(Code::V08_output_unreduced, -1, -1, x);
    if (l.varying.contains(x) && out.dim_of(x) < 0)
      return refuse(Code::V07_output_varies, -1, -1, x);
  }
  return accept(out);
}

/// Number of the major axes of a dim that are in `over`.
constexpr int majors_in(AxisList const& axes, AxisSet const& over) {
  int k = 0;
  while (k < axes.size && over.contains(axes[k])) ++k;
  return k;
}

/// A tensor of sharding `s` where the axes `over` are manual: it varies over those that split a
/// dim, and its dims are split over the others. The manual axes of a dim must be its major ones.
constexpr Verdict enter_manual(Spec s, AxisSet const& over) {
  for (int d = 0; d < s.rank; ++d) {
    AxisList& axes = s.dims[d].axes;
    int const n = majors_in(axes, over);
    for (int k = n; k < axes.size; ++k)
      if (over.contains(axes[k]))
        return refuse(Code::V18_strict_inside, s.dims[d].label, -1, axes[k]);
    if (n > 0 && axes.cyclic != 0)
      return refuse(Code::B03_through_cyclic, s.dims[d].label, -1, axes[0]);
    s.varying = s.varying | axes.prefix(n).set();
    axes = n == 0 ? axes : axes.suffix(n);
  }
  return accept(s);
}

/// Whether a tensor `l` that may vary over manual axes may become a tensor of sharding `out`, whose
/// dims have the manual axes before those of `l`. As output().
constexpr Verdict leave_manual(Spec const& l, Spec const& out) {
  bool same = l.rank == out.rank;
  for (int d = 0; same && d < l.rank; ++d) same = l.dims[d].label == out.dims[d].label;
  if (!same) return refuse(Code::V09_output_dims);
  AxisSet named;
  for (int d = 0; d < l.rank; ++d) {
    AxisList const& before = l.dims[d].axes;
    AxisList const& after = out.dims[d].axes;
    int const n = after.size - before.size;
    if (n == 0 && after == before) continue;
    if (after.cyclic != 0 || before.cyclic != 0)
      return refuse(Code::B03_through_cyclic, out.dims[d].label, -1, after[0]);
    if (n <= 0 || !(after.suffix(n) == before))
      return refuse(Code::V18_strict_inside, out.dims[d].label, -1, after.size > 0 ? after[0] : -1);
    named = named | after.prefix(n).set();
  }
  for (int x = 0; x < max_axes; ++x) {
    bool const unreduced = l.unreduced.contains(x) || out.unreduced.contains(x);
    if (l.unreduced.contains(x) != out.unreduced.contains(x) ||
        l.reduced.contains(x) != out.reduced.contains(x) || (unreduced && l.kind != out.kind))
      return refuse(Code::V08_output_unreduced, -1, -1, x);
    if (l.varying.contains(x) && !named.contains(x) && !out.varying.contains(x))
      return refuse(Code::V07_output_varies, -1, -1, x);
  }
  return accept(out);
}

}  // namespace shardtype::rules
