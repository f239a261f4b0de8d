#pragma once
/// The plan of the different elements of sorted ones that ranks share: all ranks gather which
/// elements are the first and the last of each rank, and how many different ones there are. Then
/// each rank knows the numbers of its own among all, and sends those of other blocks of the result.

#include <algorithm>
#include <cstdint>

#include <shardtype/plan/distributed_sort.hpp>

namespace shardtype::planning {

/// What each rank tells about its elements: how many different ones there are, how often the first
/// is there, and the keys of the first and the last.
inline constexpr std::int64_t numbers_of_unique = 4;

/// Different elements of the call `c` along dim `d` that one rank has, at most, for a result of
/// extent `n`.
constexpr std::int64_t own_unique(CallSizing const& c, int d, std::int64_t n) {
  return std::min(c.rows(0, d), n);
}

/// Appends the steps of the first `n` different elements along dim `d`, where ranks share it.
constexpr void append_unique(Plan& p, CallSizing const& c, int d, std::int64_t n) {
  if (!shares_rows(c, d)) return;
  Spec const& a = c.operands[0];
  std::int64_t const ranks = c.common.sizes.product(a.dims[d].axes);
  OwnSizing own = c.given[0];
  own.element_bytes = sizeof(std::int64_t);
  Step const numbers = numbers_step(a, d, own.extents, ranks, numbers_of_unique);
  own.slot = cuts_slot;
  p.push_own(own);
  p.push(numbers);
  // the values and their counts are sent as elements and their places
  OwnSizing sent = c.given[0];
  sent.extents.at[a.dims[d].label] = mul_sat(ranks, own_unique(c, d, n));
  CallSizing of_sent = c;
  of_sent.given = &sent;
  append_elements(p, of_sent, d, true);
}

}  // namespace shardtype::planning
