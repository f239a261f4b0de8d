#pragma once
/// Plans of the collectives and casts of manual mode: one step each, as in strict mode.

#include <cstdint>
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

/// The partners of a rank in a step that moves whole blocks, which the step does not name: the rank
/// that gets its block and the one whose block it gets, -1: none. A broadcast is from `from`.
struct Partners {
  int to = -1;
  int from = -1;
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

/// `s` with a dim of label `label` before dim `d`, and `s` without dim `d`.
constexpr Spec with_dim(Spec const& s, int d, int label) {
  Spec out = s;
  out.rank = 0;
  for (int k = 0; k <= s.rank; ++k) {
    if (k == d) out.add(label);
    if (k < s.rank) out.add(s.dims[k].label);
  }
  return out;
}
constexpr Spec without_dim(Spec s, int d) {
  for (; d + 1 < s.rank; ++d) s.dims[d] = s.dims[d + 1];
  s.dims[--s.rank] = {};
  return s;
}
/// A label that `s` does not use.
constexpr int unused_label(Spec const& s) {
  int l = 0;
  while (s.find(l) >= 0) ++l;
  return l;
}

/// Describes an all_to_all of pieces as a change of split: the blocks of the group form one tensor,
/// split along a dim `join` before and along the dim that is cut after. If the pieces are
/// concatenated along the dim that they are cut along, `join` is a dim of its own before it,
/// because piece g of each block goes to rank g. A block of `max_dims` dims has no room for it: two
/// neighbours among its other dims are then one.
constexpr Step exchange(BlockCall const& c, Extents& as_one) {
  std::int64_t const p = c.ranks();
  Spec whole = dims_of(c.given);
  as_one = extents_by_label(c.given, c.given_extents);
  bool const alone = c.second < 0 || c.second == c.first;
  int join = c.second;
  int at = 0;  // of a new dim
  if (alone) {
    if (whole.rank == max_dims) {
      int const d = whole.find(c.first) < max_dims - 2 ? max_dims - 2 : 0;
      std::int64_t& both = as_one.at[whole.dims[d].label];
      both = mul_sat(both, as_one[whole.dims[d + 1].label]);
      whole = without_dim(whole, d + 1);
    }
    join = unused_label(whole);
    at = whole.find(c.first);
  }
  if (whole.find(join) < 0) {
    whole = with_dim(whole, at, join);
    as_one.at[join] = 1;
  }
  as_one.at[join] = mul_sat(as_one[join], p);
  int const from = whole.find(join);
  int const to = whole.find(c.first);
  return shared_step(Move::exchange, Slot::a, c.axes, split_along(whole, from, c.axes),
                     split_along(whole, to, c.axes), from, to);
}

/// The collective of one call, or the slice of `shard`; sets `as_one` to the extents of its value,
/// the blocks of the group as one tensor.
constexpr Step block_step(BlockCall const& c, Extents& as_one) {
  Spec const dims = dims_of(c.given);
  Spec summands = dims;
  for (int k = 0; k < c.axes.size; ++k) summands.unreduced.insert(c.axes[k]);
  summands.kind = c.kind;
  int const d = c.given.find(c.first);
  as_one = extents_by_label(c.given, c.given_extents);
  auto const step = [&](Move what, Spec const& before, Spec const& after, int from = -1,
                        int to = -1) {
    return shared_step(what, Slot::a, c.axes, before, after, from, to);
  };
  switch (c.how) {
    case Movement::all_gather: {
      int const from = c.result.find(c.first);
      Spec const whole = dims_of(c.result);
      as_one = extents_by_label(c.result, c.result_extents);
      return step(Move::gather, split_along(whole, from, c.axes), whole, from);
    }
    case Movement::all_reduce:
      return step(Move::reduce, summands, dims);
    case Movement::reduce_scatter:
      return step(Move::scatter, summands, split_along(dims, d, c.axes), -1, d);
    case Movement::all_to_all:
      return exchange(c, as_one);
    case Movement::permute:
      return step(Move::send_block, dims, dims);
    case Movement::broadcast:
      return step(Move::broadcast, dims, dims);
    case Movement::shard:
      return step(Move::slice, dims, split_along(dims, d, c.axes), -1, d);
    case Movement::cast:
      break;
  }
  return local_step(Move::compute, Slot::a, dims, dims);
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
    // the operand's block in a slot of its own, because its extents are the group's
    s.slot = operand_slot(1);
    p.push_own({s.slot, sizing.common.extents, c.element_bytes, true});
    p.push(s);
  }
  Work work;
  if (c.mean) work.flops = sizing.result_elements();
  work.shares = c.how == Movement::cast && c.shares;
  if (local || !moves || c.mean) append_compute(p, work);
  return p;
}

/// The step of an exchange whose rows are chosen by each rank: a rank sends at most the whole
/// block of `s`.
constexpr Step chosen_rows_step(Spec const& s, AxisList const& axes, Slot slot) {
  return shared_step(Move::send_rows, slot, axes, dims_of(s), dims_of(s));
}

}  // namespace shardtype::planning
