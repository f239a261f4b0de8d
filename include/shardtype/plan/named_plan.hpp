#pragma once
/// Named results of operations that compute on blocks: reshard the operands, compute, reshard the
/// result.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <shardtype/plan/local_plan.hpp>
#include <shardtype/plan/reshard_plan.hpp>
#include <shardtype/rules/question.hpp>
#include <shardtype/rules/reshard.hpp>

namespace shardtype::planning {

/// Maximal number of operands of a named result.
inline constexpr int max_local_operands = 8;

/// The local part of a named result: the shardings to which operands are resharded, and the result
/// that they give without communication. That result is resharded to the named one, or refused.
struct LocalPlan {
  Verdict verdict{};
  int count = 0;
  Spec operands[max_local_operands]{};
  Spec result{};
};

/// Completes `plan`: `local` is the result for its operands, from which `wanted` is reached by a
/// reshard.
constexpr LocalPlan arrive(LocalPlan plan, Verdict const& local, Spec const& wanted) {
  plan.verdict = local ? rules::reshard(local.result, wanted) : local;
  plan.result = local.result;
  return plan;
}

/// `s` with its dims split further, like `wanted`, over axes along which it is replicated (or
/// reduced): free slices, after which each rank computes only its own part.
constexpr Spec sliced_as(Spec s, Spec const& wanted) {
  for (int d = 0; d < s.rank; ++d) {
    int const w = wanted.find(s.dims[d].label);
    if (w < 0) continue;
    AxisList const& axes = wanted.dims[w].axes;
    if (s.dims[d].axes.cyclic != 0 || axes.cyclic != 0 || !axes.starts_with(s.dims[d].axes))
      continue;
    for (int k = s.dims[d].axes.size; k < axes.size; ++k) {
      AxisState const state = s.state(axes[k]);
      if (state != AxisState::replicated && state != AxisState::reduced) break;
      s.dims[d].axes.push(axes[k]);
      s.reduced.erase(axes[k]);
    }
  }
  return s;
}

/// Removes mesh axis `axis` from `s`: the dim that it splits is gathered over it and its minor
/// axes, or a pending reduction over it is finished.
constexpr bool take_off(Spec& s, int axis) {
  if (s.unreduced.contains(axis)) {
    s.unreduced.erase(axis);
    if (s.unreduced.empty()) s.kind = ReduceKind::sum;
    return true;
  }
  int const d = s.dim_of(axis);
  if (d < 0) return false;
  s.dims[d].axes = s.dims[d].axes.prefix(s.dims[d].axes.position(axis));
  return true;
}

/// For any rule: operands are sliced to the result's sharding where that is free; while the rule
/// refuses them because of a mesh axis, they are gathered (or reduced) over it.
constexpr LocalPlan local_plan(Verdict (*rule)(rules::Question const&), rules::Question q,
                               Spec const& wanted) {
  LocalPlan out;
  out.count = q.count;
  for (int k = 0; k < q.count; ++k) out.operands[k] = sliced_as(q.operands[k], wanted);
  q.operands = out.operands;
  Verdict v = rule(q);
  for (int round = 0; !v && v.axis >= 0 && round < 4 * max_axes; ++round) {
    bool changed = false;
    for (int k = 0; k < q.count; ++k) {
      // undoes a slice first, because the rule may refuse the slice
      changed = take_off(out.operands[k], v.axis) || changed;
    }
    if (!changed) break;
    v = rule(q);
  }
  return arrive(out, v, wanted);
}

/// A named result to be planned.
struct NamedCall {
  std::string_view name;
  Spec const* given = nullptr;
  LocalPlan const* local = nullptr;
  Spec wanted{};
  Sizing sizing{};                              ///< of the labels
  std::int64_t const* element_bytes = nullptr;  ///< of each operand, then of the result
  Spec from{};                                  ///< the labels that the operation works on
  Spec to{};                                    ///< those that it creates
  Spec totals{};  ///< what ranks combine before they compute: unreduced over some axes
  std::int64_t total_bytes = 0;  ///< 0: nothing
  /// Appends the steps of an operation that exchanges rows of the operand that it meets; or null.
  void (*steps)(Plan&, CallSizing const&) = nullptr;
};

/// The sizes of the values of a call in which each label has one extent.
class LabelValues {
 public:
  constexpr LabelValues(Sizing const& z, Spec const* operands, int count, Spec const& result,
                        std::int64_t const* element_bytes) {
    call.common = z;
    for (int k = 0; k < count; ++k) {
      given_[k].extents = z.extents;
      given_[k].element_bytes = element_bytes[k];
    }
    call.made.extents = z.extents;
    call.made.element_bytes = element_bytes[count];
    call.operands = operands;
    call.count = count;
    call.given = given_;
    call.result = result;
  }
  LabelValues(LabelValues const&) = delete;
  LabelValues& operator=(LabelValues const&) = delete;

  CallSizing call;

 private:
  OwnSizing given_[max_local_operands];
};

/// Appends the steps that reshard the value in `slot`.
constexpr void append_moves(Plan& p, Slot slot, Spec const& from, Spec const& to,
                            Machine const& m) {
  if (from == to) return;
  Plan const moves = reshard_plan(from, to, p.sizing_of(slot), m);
  for (Step s : moves) {
    s.slot = slot;
    p.push(s);
  }
}

/// partial_plan, evaluated in this unit.
constexpr Plan partial_plan_here(Spec const& from, Spec const& to, Sizing const& z) {
  std::int64_t const element_bytes[] = {z.element_bytes, z.element_bytes};
  LabelValues const values(z, &from, 1, to, element_bytes);
  Plan p = plan_of_call("to_partial", values.call);
  Work work;
  int const d = from.cyclic_dim();
  if (d >= 0 && !(from.dims[d].axes == to.dims[d].axes) && !rows_of(from, d, z, {}).contiguous()) {
    Spec spread = from;
    spread.dims[d].axes = to.dims[d].axes;
    work.workspace = p.block_bytes(spread, Slot::a);
  }
  append_compute(p, work);
  return p;
}

/// The plan of to_partial: copies the value into zeros; a block-cyclic dim first into a block with
/// all rows.
constexpr Plan partial_plan(Spec const& from, Spec const& to, Sizing const& z) {
  if (!core::compiled_part || __builtin_is_constant_evaluated()) {
    return partial_plan_here(from, to, z);
  } else {
    return at_run_time::partial_plan(from, to, z);
  }
}

/// Appends the all_reduce of the totals of ranks, if their parts are on several.
constexpr void append_totals(Plan& p, NamedCall const& c, OwnSizing own) {
  if (c.totals.unreduced.empty()) return;
  own.slot = Slot::b;
  own.element_bytes = c.total_bytes;
  p.push_own(own);
  Step s = shared_step(Move::reduce, Slot::b, {}, c.totals, c.totals);
  s.after.unreduced = {};
  for (int x = 0; x < max_axes; ++x)
    if (c.totals.unreduced.contains(x)) s.axes.push(x);
  p.push(s);
}

/// The plan of a named result. `work` computes the costs of the local computation from the
/// CallSizing of the resharded operands. `direct`: the computation writes the named result itself.
template <class WorkOf>
constexpr Plan named_plan(NamedCall const& c, Machine const& m, bool direct, WorkOf work) {
  LabelValues const given(c.sizing, c.given, c.local->count, c.wanted, c.element_bytes);
  Plan p = plan_of_call(c.name, given.call);
  for (int k = 0; k < c.local->count; ++k)
    append_moves(p, operand_slot(k), c.given[k], c.local->operands[k], m);
  Spec const& made = direct ? c.wanted : c.local->result;
  LabelValues met(c.sizing, c.local->operands, c.local->count, made, c.element_bytes);
  met.call.from = c.from;
  met.call.to = c.to;
  append_totals(p, c, met.call.given[0]);
  if (c.steps != nullptr) c.steps(p, met.call);
  planning::append_compute(p, work(met.call));
  p.steps[p.size - 1].before = p.steps[p.size - 1].after = made;
  append_moves(p, Slot::result, made, c.wanted, m);
  return p;
}

}  // namespace shardtype::planning
