#pragma once
/// The collectives, with what plans say of each: names, bytes, messages, rates.

#include <algorithm>
#include <cstdint>
#include <limits>

#include <shardtype/core/block.hpp>
#include <shardtype/core/saturating.hpp>

namespace shardtype::planning {

/// The collectives, one name each in every mode.
enum class Collective : std::int8_t {
  none,
  all_gather,
  all_reduce,
  reduce_scatter,
  all_to_all,
  permute,
  broadcast,
  neighbor  ///< rows beyond the own block, from the ranks that hold them
};

/// 2 n (p - 1) / p, rounded down.
constexpr std::int64_t twice_but_own(std::int64_t n, std::int64_t p) {
  return std::min(saturated, 2 * n - ceil_div(2 * n, p));
}

/// Payload bytes of the busiest of `p` ranks, whose blocks have at most `before` bytes before a
/// collective and `after` bytes after it.
namespace payload {

using Rule = std::int64_t(std::int64_t before, std::int64_t after, std::int64_t p);

constexpr std::int64_t none(std::int64_t, std::int64_t, std::int64_t) { return 0; }
constexpr std::int64_t blocks_of_others(std::int64_t before, std::int64_t, std::int64_t p) {
  return mul_sat(before, p - 1);
}
constexpr std::int64_t parts_for_others(std::int64_t, std::int64_t after, std::int64_t p) {
  return mul_sat(after, p - 1);
}
constexpr std::int64_t both_ways(std::int64_t before, std::int64_t, std::int64_t p) {
  return twice_but_own(before, p);
}
constexpr std::int64_t all_but_own(std::int64_t before, std::int64_t, std::int64_t p) {
  return before - before / p;
}
constexpr std::int64_t own_block(std::int64_t before, std::int64_t, std::int64_t p) {
  return p > 1 ? before : 0;
}
constexpr std::int64_t arriving_block(std::int64_t, std::int64_t after, std::int64_t p) {
  return p > 1 ? after : 0;
}

}  // namespace payload

/// One row of the table of collectives.
struct CollectiveKind {
  Collective collective;
  char const* name;  ///< in messages
  char const* text;  ///< in plans
  payload::Rule* payload;
  std::int64_t messages;  ///< of a rank to each of its partners, of which there are at most so many
  std::int64_t partners;
  /// Cost of a byte relative to a plain transfer: the sum of a number and of multiples of
  /// Machine::hops and of Machine::reducing.
  double plain, hops, reducing;
};
inline constexpr std::int64_t all_others = std::numeric_limits<int>::max();
inline constexpr CollectiveKind collective_kinds[] = {
    {Collective::none, "none", "local", &payload::none, 0, 0, 1, 0, 0},
    {Collective::all_gather, "all_gather", "AllGather", &payload::blocks_of_others, 1, all_others,
     1, 0, 0},
    // the second half of an all_reduce is a gather
    {Collective::all_reduce, "all_reduce", "AllReduce", &payload::both_ways, 2, all_others, 0.5, 0,
     0.5},
    {Collective::reduce_scatter, "reduce_scatter", "ReduceScatter", &payload::parts_for_others, 1,
     all_others, 0, 0, 1},
    {Collective::all_to_all, "all_to_all", "AllToAll", &payload::all_but_own, 1, all_others, 0, 1,
     0},
    {Collective::permute, "permute", "Permute", &payload::own_block, 1, 1, 1, 0, 0},
    {Collective::broadcast, "broadcast", "Broadcast", &payload::arriving_block, 1, all_others, 1, 0,
     0},
    // an upper bound: no rank sends more than its block
    {Collective::neighbor, "neighbor exchange", "Neighbor", &payload::own_block, 1, 2, 1, 0, 0},
};
/// Number of rows of a table indexed by collective, including `none`.
inline constexpr int collective_rows =
    static_cast<int>(sizeof collective_kinds / sizeof *collective_kinds);

constexpr CollectiveKind const& kind_of(Collective c) {
  return collective_kinds[static_cast<int>(c)];
}

/// All collectives except `none`.
struct AllCollectives {
  Collective at[collective_rows - 1]{};

  constexpr AllCollectives() {
    for (int k = 1; k < collective_rows; ++k) at[k - 1] = collective_kinds[k].collective;
  }
  constexpr Collective const* begin() const { return at; }
  constexpr Collective const* end() const { return at + (collective_rows - 1); }
};
inline constexpr AllCollectives all_collectives{};

/// Payload bytes of the busiest rank in one collective over a group of `p` ranks. The largest
/// blocks have `before` bytes before it and `after` bytes after it.
constexpr std::int64_t step_payload(Collective collective, std::int64_t before, std::int64_t after,
                                    std::int64_t p) {
  return kind_of(collective).payload(before, after, p);
}
/// Messages a rank sends for one collective over `p` ranks: p - 1 for the exchanges, 2 (p - 1) for
/// all_reduce, 1 for a permute, 2 at most for a neighbor exchange.
constexpr std::int64_t step_messages(Collective collective, std::int64_t p) {
  CollectiveKind const& kind = kind_of(collective);
  return kind.messages * std::min(kind.partners, p - 1);
}

}  // namespace shardtype::planning

namespace shardtype {
using planning::Collective;
}  // namespace shardtype
