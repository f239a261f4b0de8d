#pragma once
/// The plan of the largest elements of rows that ranks share: each rank finds those of its own
/// block, which are candidates. Then all ranks gather all candidates; or they find the last of the
/// largest elements as a sort finds its cuts (plan/distributed_sort.hpp), and gather only the
/// elements up to it.

#include <algorithm>
#include <cstdint>

#include <shardtype/plan/distributed_sort.hpp>

namespace shardtype::planning {

/// Sizes of the search for the `k` largest of `extent` elements of each row; the same on all ranks.
struct TopKSearch {
  std::int64_t rows, ranks, extent, k;
  std::int64_t block = 0;  ///< elements of a row in the largest block
  std::int64_t element_bytes;

  /// Candidates of each row that one rank has, at most, and that all have together.
  constexpr std::int64_t own() const { return std::min(k, block); }
  constexpr std::int64_t all() const { return std::min(mul_sat(ranks, own()), extent); }
  /// The search for the last element.
  constexpr CutSearch last() const {
    return {rows, 2, element_bytes, mul_sat(mul_sat(rows, block), element_bytes)};
  }
  /// Whether the search costs less than the candidates that it saves. A collective of the search
  /// takes as long as some KiB.
  constexpr bool searches() const {
    constexpr std::int64_t latency = 16384;
    CutSearch const cut = last();
    std::int64_t const rounds =
        mul_sat(cut.rounds(), add_sat(latency, mul_sat(2 * 8, cut.counts())));
    std::int64_t const counts = add_sat(latency, mul_sat(mul_sat(16, rows), ranks));
    std::int64_t const saved = mul_sat(mul_sat(all() - std::min(k, all()), rows), placed_bytes());
    return saved > add_sat(rounds, counts);
  }
  /// Elements of each row that ranks gather.
  constexpr std::int64_t gathered() const { return searches() ? k : all(); }
  /// Bytes of an element and its place.
  constexpr std::int64_t placed_bytes() const { return element_bytes + 8; }
};

/// The call `c` along dim `d` of its operand.
constexpr TopKSearch top_k_search(CallSizing const& c, int d, std::int64_t k) {
  return {core::cross_section(c.layout(0), d),
          c.common.sizes.product(c.operands[0].dims[d].axes),
          c.given[0].extents[c.operands[0].dims[d].label],
          k,
          c.rows(0, d),
          c.element_bytes(0)};
}

/// The candidates of all ranks, `n` of each row, or their places. `extents`: of the operand; they
/// become those of the candidates.
constexpr Step candidates_step(Spec const& a, int d, Extents& extents, std::int64_t n, Slot slot) {
  AxisList const& axes = a.dims[d].axes;
  extents.at[a.dims[d].label] = n;
  Spec before = a;
  for (int k = d; k > 0; --k) before.dims[k] = a.dims[k - 1];
  before.dims[0] = a.dims[d];
  Spec after = before;
  after.dims[0].axes = {};
  return shared_step(Move::gather, slot, axes, before, after, 0);
}
/// How many elements each rank has before the last one, and of equal ones, on all ranks.
constexpr Step last_step(Spec const& a, int d, Extents& extents, std::int64_t ranks) {
  return candidates_step(a, d, extents, mul_sat(2, ranks), cuts_slot);
}

/// Appends the steps of the `k` largest elements along dim `d`, where ranks share its rows. Of
/// unknown sizes the steps of the search run an unknown number of times.
constexpr void append_top_k(Plan& p, CallSizing const& c, int d, std::int64_t k) {
  if (d < 0) return;
  Spec const& a = c.operands[0];
  TopKSearch const search = top_k_search(c, d, k);
  bool open = search.extent < 0;
  for (int n = 0; n < a.dims[d].axes.size; ++n)
    open = open || c.common.sizes[a.dims[d].axes[n]] == dynamic;
  if (a.dims[d].axes.size == 0 || (!open && search.ranks == 1)) return;
  OwnSizing own = c.given[0];
  if (open || search.searches()) {
    CutSearch const last = search.last();
    own.element_bytes = sizeof(std::int64_t);
    Step const counts = counts_step(a, d, own.extents, last);
    own.slot = counts_slot;
    p.push_own(own);
    if (open) {
      p.push(counts);
      p.repeat(1, dynamic, 0, nullptr);
    }
    for (int round = 0; !open && round < last.rounds(); ++round) p.push(counts);
    own.extents = c.given[0].extents;
    Step const at_last = last_step(a, d, own.extents, search.ranks);
    own.slot = cuts_slot;
    p.push_own(own);
    p.push(at_last);
    if (open) p.repeat(1, dynamic, 0, nullptr);
  }
  own = c.given[0];
  own.slot = elements_slot;
  Step const elements = candidates_step(a, d, own.extents, search.gathered(), elements_slot);
  p.push_own(own);
  p.push(elements);
  own.slot = places_slot;
  own.element_bytes = sizeof(std::int64_t);
  p.push_own(own);
  p.push(candidates_step(a, d, own.extents, search.gathered(), places_slot));
}

/// Bytes that this needs besides the operand, the results and what its steps have: the candidates
/// of the rank, what it gathers where it is merged, and tables.
constexpr std::int64_t top_k_bytes(TopKSearch const& s) {
  std::int64_t const lists = add_sat(mul_sat(2, s.own()), mul_sat(2, s.gathered()));
  return mul_sat(s.rows, add_sat(mul_sat(lists, s.placed_bytes()), mul_sat(48, s.ranks + 1)));
}

/// `top_k<I, K, Out...>`: the operand keeps its axes along I, and is sliced like the result along
/// other dims where that is free. A pending reduction is finished, block-cyclic rows are gathered.
constexpr Spec top_k_operand(Spec a, int along, Spec const& wanted) {
  int const d = a.find(along);
  if (d < 0) return a;
  if (a.dims[d].axes.cyclic != 0) a.dims[d].axes = {};
  for (int x = 0; x < max_axes; ++x)
    if (a.unreduced.contains(x)) take_off(a, x);
  return sliced_as(a, wanted);
}

}  // namespace shardtype::planning
