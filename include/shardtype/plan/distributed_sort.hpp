#pragma once
/// The plan of sorting rows along a split dim: each rank sorts its block, all ranks find where the
/// sorted rows are cut into the blocks of the result, each rank sends every other rank its elements
/// of that rank's block, and merges what it receives.
///
/// A cut is found exactly, digit by digit of the key of the element there: in each round the ranks
/// add up how many of their elements have at most each of the keys that are still possible. Equal
/// elements go to blocks in the order of the ranks that have them. So the number of rounds depends
/// on the element type alone, and each rank receives its block, however the elements are
/// distributed.

#include <algorithm>
#include <cstdint>

#include <shardtype/plan/block_plan.hpp>
#include <shardtype/plan/named_plan.hpp>
#include <shardtype/rules/indexing.hpp>

namespace shardtype::planning {

/// Sizes of a search for cuts: between the blocks of `ranks` ranks there are `ranks - 1` of each
/// row. The same on all ranks.
struct CutSearch {
  std::int64_t rows = 0;  ///< of the largest block
  std::int64_t ranks = 1;
  int key_bits = 32;
  int digit = 8;  ///< bits of the keys that one round finds

  /// `block`: bytes of the largest block. Tables for 8 bits are 17 times as long as for 4; they may
  /// have 1/64 of it.
  constexpr CutSearch(std::int64_t its_rows, std::int64_t its_ranks, std::int64_t element_bytes,
                      std::int64_t block)
      : rows(its_rows), ranks(its_ranks), key_bits(element_bytes > 4 ? 64 : 32) {
    std::int64_t const most = std::max<std::int64_t>(block / 64, 1 << 16);
    if (mul_sat(counts(), sizeof(std::int64_t)) > most) digit = 4;
  }
  constexpr int rounds() const { return key_bits / digit; }
  constexpr std::int64_t cuts() const { return mul_sat(rows, ranks - 1); }
  /// The keys that one round compares for each cut: all values of a digit but the last.
  constexpr std::int64_t keys() const { return (std::int64_t{1} << digit) - 1; }
  constexpr std::int64_t counts() const { return mul_sat(cuts(), keys()); }
  /// Bytes of what a rank knows about the cuts, and where what it receives begins and how long it
  /// is, besides what it sends and receives.
  constexpr std::int64_t table_bytes() const {
    return mul_sat(16, add_sat(cuts(), mul_sat(rows, ranks)));
  }
};

/// The call `c` along dim `d` of its operand.
constexpr CutSearch cut_search(CallSizing const& c, int d) {
  return {core::cross_section(c.layout(0), d), c.common.sizes.product(c.operands[0].dims[d].axes),
          c.element_bytes(0), mul_sat(c.elements(0), c.element_bytes(0))};
}
/// Whether ranks share the rows.
constexpr bool shares_rows(CallSizing const& c, int d) {
  return d >= 0 && c.common.sizes.product(c.operands[0].dims[d].axes) > 1;
}

/// The slots of what ranks send. The operand's own slot has the steps that come before.
inline constexpr Slot counts_slot = Slot::b;
inline constexpr Slot cuts_slot = operand_slot(2);
inline constexpr Slot elements_slot = operand_slot(3);
inline constexpr Slot places_slot = operand_slot(4);

/// The sum of all ranks' counts. `extents`: of the operand; they become those of the counts.
constexpr Step counts_step(Spec const& a, int d, Extents& extents, CutSearch const& search) {
  AxisList const& axes = a.dims[d].axes;
  extents.at[a.dims[d].label] = mul_sat(search.ranks - 1, search.keys());
  Spec after = a;
  after.dims[d].axes = {};
  Spec before = after;
  before.unreduced = axes.set();
  before.kind = ReduceKind::sum;
  return shared_step(Move::reduce, counts_slot, axes, before, after);
}
/// What each rank has below each cut, and of the element there, on all ranks.
constexpr Step cuts_step(Spec const& a, int d, Extents& extents, std::int64_t ranks) {
  AxisList const& axes = a.dims[d].axes;
  extents.at[a.dims[d].label] = mul_sat(2 * ranks, ranks - 1);
  Spec before = a;
  for (int k = d; k > 0; --k) before.dims[k] = a.dims[k - 1];
  before.dims[0] = a.dims[d];
  Spec after = before;
  after.dims[0].axes = {};
  return shared_step(Move::gather, cuts_slot, axes, before, after, 0);
}
/// The elements, or their places, to the ranks of their blocks.
constexpr Step elements_step(Spec const& a, int d, Slot slot) {
  Step s = chosen_rows_step(a, a.dims[d].axes, slot);
  s.before = s.after = a;
  return s;
}

/// Appends the steps that send elements, and (`places`) the place of each.
constexpr void append_elements(Plan& p, CallSizing const& c, int d, bool places) {
  OwnSizing own = c.given[0];
  own.slot = elements_slot;
  p.push_own(own);
  p.push(elements_step(c.operands[0], d, elements_slot));
  if (!places) return;
  own.slot = places_slot;
  own.element_bytes = sizeof(std::int64_t);
  p.push_own(own);
  p.push(elements_step(c.operands[0], d, places_slot));
}

/// Appends the steps of sorting the operand along dim `d`, where ranks share its rows. `places`:
/// each element is sent with its place.
constexpr void append_distributed_sort(Plan& p, CallSizing const& c, int d, bool places) {
  if (!shares_rows(c, d)) return;
  Spec const& a = c.operands[0];
  CutSearch const search = cut_search(c, d);
  OwnSizing own = c.given[0];
  own.element_bytes = sizeof(std::int64_t);
  Step const counts = counts_step(a, d, own.extents, search);
  own.slot = counts_slot;
  p.push_own(own);
  for (int round = 0; round < search.rounds(); ++round) p.push(counts);
  own.extents = c.given[0].extents;
  Step const cuts = cuts_step(a, d, own.extents, search.ranks);
  own.slot = cuts_slot;
  p.push_own(own);
  p.push(cuts);
  append_elements(p, c, d, places);
}

/// Bytes that this needs besides the operand, the result and what its steps have: the block before
/// and after each exchange and merge, and tables. Items are elements; or (`places`) pairs of
/// element and place where the rank sorts its block, which are separated then.
constexpr std::int64_t distributed_sort_bytes(CallSizing const& c, int d, bool places) {
  std::int64_t const n = c.elements(0);
  std::int64_t const element = c.element_bytes(0);
  std::int64_t const tables = cut_search(c, d).table_bytes();
  // rows that are not the last dim are transposed first, and back
  std::int64_t const turned = core::inner_length(c.layout(0), d) == 1 ? 0 : mul_sat(n, element);
  std::int64_t const pairs = places ? mul_sat(n, 2 * 16 - 2 * 8 - element) : 0;
  return add_sat(tables, add_sat(turned, pairs));
}

/// Numbers of the elements of each row that a quantile reads: the two beside it, and the last,
/// which is NaN if any is.
inline constexpr std::int64_t quantile_elements = 3;
/// The search for the elements of a quantile of the call `c` along dim `d`.
constexpr CutSearch quantile_search(CallSizing const& c, int d) {
  CutSearch const as_sort = cut_search(c, d);
  return {as_sort.rows, quantile_elements + 1, c.element_bytes(0),
          mul_sat(c.elements(0), c.element_bytes(0))};
}
/// Appends the steps of a quantile along dim `d`, where ranks share its rows: the search alone.
constexpr void append_quantile(Plan& p, CallSizing const& c, int d) {
  if (!shares_rows(c, d)) return;
  CutSearch const search = quantile_search(c, d);
  OwnSizing own = c.given[0];
  own.element_bytes = sizeof(std::int64_t);
  Step const counts = counts_step(c.operands[0], d, own.extents, search);
  own.slot = counts_slot;
  p.push_own(own);
  for (int round = 0; round < search.rounds(); ++round) p.push(counts);
}
/// `quantile<I, Out...>`: the operand keeps its axes along I, and is sliced like the result along
/// other dims where that is free. A pending reduction is finished, block-cyclic rows are gathered.
constexpr LocalPlan quantile_plan(rules::Question q, Spec const& wanted) {
  int const d = q.from.rank == 1 ? q.a().find(q.along()) : -1;
  if (d < 0 || q.a().dims[d].axes.cyclic != 0)
    return local_plan(&rules::quantile_of_whole, q, wanted);
  Spec a = q.a();
  for (int x = 0; x < max_axes; ++x)
    if (a.unreduced.contains(x)) take_off(a, x);
  LocalPlan plan;
  plan.count = 1;
  plan.operands[0] = sliced_as(a, wanted);
  q.operands = plan.operands;
  return arrive(plan, rules::quantile_across(q), wanted);
}

/// `each` numbers of each rank, on all ranks.
constexpr Step numbers_step(Spec const& a, int d, Extents& extents, std::int64_t ranks,
                            std::int64_t each) {
  Spec before = dims_of(a);
  before.rank = 0;
  before.add(a.dims[d].label, a.dims[d].axes);
  extents.at[a.dims[d].label] = mul_sat(ranks, each);
  return shared_step(Move::gather, cuts_slot, a.dims[d].axes, before, dims_of(before), 0);
}
/// Appends the steps of moving the elements of the operand to other places along dim `d`.
constexpr void append_put_rows(Plan& p, CallSizing const& c, int d) {
  if (!shares_rows(c, d)) return;
  Spec const& a = c.operands[0];
  OwnSizing own = c.given[0];
  own.element_bytes = sizeof(std::int64_t);
  std::int64_t const ranks = c.common.sizes.product(a.dims[d].axes);
  // how many elements it has for each other one
  Step const numbers = numbers_step(a, d, own.extents, ranks, ranks);
  own.slot = cuts_slot;
  p.push_own(own);
  p.push(numbers);
  append_elements(p, c, d, true);
}

/// `sort<I, Out...>`: the operand keeps the axes along I that the result has too, and is sliced
/// like the result along other dims where that is free. Over other axes rows are brought together,
/// and a pending reduction is finished, scattered where the result is split. Block-cyclic rows are
/// brought together.
constexpr LocalPlan sort_plan(rules::Question q, Spec const& wanted) {
  int const d = q.from.rank == 1 ? q.a().find(q.along()) : -1;
  int const w = q.from.rank == 1 ? wanted.find(q.along()) : -1;
  Spec a = q.a();
  if (d < 0 || w < 0 || a.dims[d].axes.cyclic != 0 || wanted.dims[w].axes.cyclic != 0)
    return local_plan(&rules::sorted_in_place, q, wanted);
  for (int x = 0; x < max_axes; ++x)
    if (a.unreduced.contains(x)) take_off(a, x);
  AxisList const& axes = wanted.dims[w].axes;
  AxisList kept;
  for (int k = 0; k < axes.size; ++k) {
    bool const splits = k < a.dims[d].axes.size && a.dims[d].axes[k] == axes[k];
    bool const scatters = k >= a.dims[d].axes.size && q.a().unreduced.contains(axes[k]);
    if (!splits && !scatters) break;
    kept.push(axes[k]);
  }
  a.dims[d].axes = kept;
  Spec others = wanted;
  others.dims[w].axes = kept;
  LocalPlan plan;
  plan.count = 1;
  plan.operands[0] = sliced_as(a, others);
  q.operands = plan.operands;
  return arrive(plan, rules::sorted_across(q), wanted);
}

}  // namespace shardtype::planning
