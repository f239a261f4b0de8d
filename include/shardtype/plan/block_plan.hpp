#pragma once
/// Plans of the collectives and casts of manual mode: one step each, as in strict mode.

#include <cstdint>
#include <limits>
#include <string_view>

#include <shardtype/plan/local_plan.hpp>
#include <shardtype/rules/manual.hpp>

namespace shardtype::planning {

/// One call of a collective or cast on a block, as values. Extents are the block's.
struct BlockCall {
  Movement how{};
  AxisList axes{};  ///< the group, in the order of the call
  ReduceKind kind = ReduceKind::sum;
  bool mean = false;
  bool shares = true;  ///< of a cast: whether the result is the block's memory
  int first = -1;      ///< labels named by the call
  int second = -1;
  Spec given{};
  Spec result{};
  Sizes sizes{};
  std::int64_t element_bytes = 1;
  std::int64_t const* given_extents = nullptr;
  std::int64_t const* result_extents = nullptr;

  constexpr std::int64_t ranks() const { return sizes.product(axes); }
};

/// The dims of `s` without their axes and states.
constexpr Spec dims_of(Spec const& s) {
  Spec out;
  for (int d = 0; d < s.rank; ++d) out.add(s.dims[d].label);
  return out;
}
constexpr Spec split_along(Spec s, int d, AxisList const& axes) {
  s.dims[d].axes = axes;
  return s;
}
constexpr Extents extents_by_label(Spec const& s, std::int64_t const* extents) {
  Extents out;
  for (int d = 0; d < s.rank; ++d) out.at[s.dims[d].label] = extents[d];
  return out;
}
constexpr OwnSizing own_sizing(Spec const& s, std::int64_t const* extents, std::int64_t bytes) {
  return {{}, extents_by_label(s, extents), bytes};
}

/// A label that `s` does not use, or -1.
constexpr int unused_label(Spec const& s) {
  for (int l = 0; l < max_dims; ++l)
    if (s.find(l) < 0) return l;
  return -1;
}

/// Describes an all_to_all of pieces as a change of split: the blocks of the group form one tensor,
/// split along a dim `join` before and along the dim of the first label after. If the pieces are
/// concatenated along the dim they are cut along, `join` must be a dim of its own, because piece g
/// of each block goes to rank g. For a single axis a block-cyclic split with pieces as blocks says
/// the same.
constexpr void exchange(Step& s, BlockCall const& c, Extents& as_one) {
  std::int64_t const p = c.ranks();
  int const cut = c.given.find(c.first);
  as_one = extents_by_label(c.given, c.given_extents);
  int join = c.second;
  if (c.second < 0 || c.second == c.first) {
    std::int64_t const piece = c.given_extents[cut] / p;
    if (c.axes.size == 1 && piece <= std::numeric_limits<std::int32_t>::max()) {
      as_one.at[c.first] = mul_sat(as_one.at[c.first], p);
      s.from = s.to = static_cast<std::int8_t>(cut);
      AxisList pieces = c.axes;
      pieces.cyclic = static_cast<std::int32_t>(piece);
      s.before = split_along(dims_of(c.given), cut, c.axes);
      s.after = split_along(dims_of(c.given), cut, pieces);
      return;
    }
    join = unused_label(c.given);
    if (join < 0) return;  // counted as a whole block
  }
  Spec whole = dims_of(c.given);
  if (whole.find(join) < 0) {
    whole = {};
    whole.add(join);
    for (int d = 0; d < c.given.rank; ++d) whole.add(c.given.dims[d].label);
    as_one.at[join] = p;
  } else {
    as_one.at[join] = mul_sat(as_one.at[join], p);
  }
  s.from = static_cast<std::int8_t>(whole.find(join));
  s.to = static_cast<std::int8_t>(whole.find(c.first));
  s.before = split_along(whole, s.from, c.axes);
  s.after = split_along(whole, s.to, c.axes);
}

/// The collective of one call; sets `as_one` to the extents of its value, the blocks of the group
/// as one tensor.
constexpr Step block_step(BlockCall const& c, Extents& as_one) {
  Step s;
  s.action = Action::communicate;
  s.axes = c.axes;
  auto const summands = [&] {
    Spec sum = dims_of(c.given);
    for (int k = 0; k < c.axes.size; ++k) sum.unreduced.insert(c.axes[k]);
    sum.kind = c.kind;
    return sum;
  };
  as_one = extents_by_label(c.given, c.given_extents);
  s.before = s.after = dims_of(c.given);
  switch (c.how) {
    case Movement::all_gather: {
      s.collective = Collective::all_gather;
      as_one = extents_by_label(c.result, c.result_extents);
      s.from = static_cast<std::int8_t>(c.result.find(c.first));
      s.after = dims_of(c.result);
      s.before = split_along(s.after, s.from, c.axes);
      break;
    }
    case Movement::all_reduce:
      s.collective = Collective::all_reduce;
      s.before = summands();
      break;
    case Movement::reduce_scatter:
      s.collective = Collective::reduce_scatter;
      s.to = static_cast<std::int8_t>(c.given.find(c.first));
      s.before = summands();
      s.after = split_along(s.after, s.to, c.axes);
      break;
    case Movement::all_to_all:
      s.collective = Collective::all_to_all;
      exchange(s, c, as_one);
      break;
    case Movement::permute:
      s.collective = Collective::permute;
      break;
    case Movement::broadcast:
      s.collective = Collective::broadcast;
      break;
    case Movement::shard:
    case Movement::cast:
      break;
  }
  return s;
}

/// The plan of one call: its collective, if it `moves` anything, and its local computation.
constexpr Plan block_plan(std::string_view name, BlockCall const& c, bool moves) {
  CallSizing sizing;
  OwnSizing const given = own_sizing(c.given, c.given_extents, c.element_bytes);
  sizing.common = {given.extents, c.sizes, c.element_bytes};
  sizing.operands = &c.given;
  sizing.count = 1;
  sizing.result = c.result;
  sizing.given = &given;
  sizing.made = own_sizing(c.result, c.result_extents, c.element_bytes);
  bool const local = c.how == Movement::shard || c.how == Movement::cast;
  Step s;
  if (!local) s = block_step(c, sizing.common.extents);
  Plan p = plan_of_call(name, sizing);
  if (!local && moves) {
    s.slot = operand_slot(1);  // a slot of its own, besides operand and result, because its extents
                               // are the group's
    p.push(s);
  }
  Work work;
  if (c.mean) work.flops = sizing.result_elements();
  work.shares = c.how == Movement::cast && c.shares;
  if (local || !moves || c.mean) append_compute(p, work);
  return p;
}

/// The step of an exchange whose pieces are chosen by each rank: a rank sends at most the whole
/// block of `s`.
constexpr Step whole_block_step(Collective what, Spec const& s, AxisList const& axes, Slot slot) {
  Step step;
  step.action = Action::communicate;
  step.collective = what;
  step.axes = axes;
  step.slot = slot;
  step.before = step.after = dims_of(s);
  return step;
}

}  // namespace shardtype::planning
