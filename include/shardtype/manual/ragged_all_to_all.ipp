#pragma once
/// Definitions of ragged_all_to_all.hpp.

#include <string>
#include <utility>

#include <shardtype/manual/ragged_all_to_all.hpp>

namespace shardtype::execute {

SHARDTYPE_INLINE void RaggedCall::check_within(std::int64_t at, std::int64_t n, std::int64_t extent,
                                               char const* what, std::size_t rank) {
  if (at >= 0 && n >= 0 && at <= extent && n <= extent - at) return;
  throw Error("E64", "ragged_all_to_all: " + std::to_string(n) + " rows from " +
                         std::to_string(at) + " on, " + what + " rank " + std::to_string(rank) +
                         " of the group, do not lie within the " + std::to_string(extent) +
                         " rows there are");
}

SHARDTYPE_INLINE void RaggedCall::check(std::int64_t ranks) const {
  auto const p = static_cast<std::size_t>(ranks);
  for (std::size_t n : {rows.input_offsets.size(), rows.send_sizes.size(),
                        rows.output_offsets.size(), rows.recv_sizes.size()})
    if (n != p)
      throw Error("E64", "ragged_all_to_all was given " + std::to_string(n) +
                             " offsets or sizes for a group of " + std::to_string(p) + " ranks");
  for (std::size_t g = 0; g < p; ++g)
    check_within(rows.input_offsets[g], rows.send_sizes[g], returns ? out_rows : in_rows, "for", g);
}

SHARDTYPE_INLINE void RaggedCall::negotiate(Comm& comm, StepScratch& scratch) const {
  auto const p = static_cast<std::size_t>(comm.size());
  // to each rank: the position of its rows in that rank's block, and their number
  Counts& mine = scratch.numbers;
  Counts& theirs = scratch.cuts;
  Counts& two = scratch.joins;
  Counts& at = scratch.run_at;
  for (Counts* list : {&mine, &theirs}) list->resize(2 * p);
  two.assign(p, 2);
  at.resize(p);
  for (std::size_t g = 0; g < p; ++g) {
    mine[2 * g] = rows.output_offsets[g];
    mine[2 * g + 1] = rows.send_sizes[g];
    at[g] = static_cast<std::int64_t>(2 * g);
  }
  comm.all_to_all(mine.data(), two, at, theirs.data(), two, at, Segments::even);
  Counts& send_counts = returns ? scratch.recv_counts : scratch.counts;
  Counts& send_at = returns ? scratch.recv_offsets : scratch.offsets;
  Counts& recv_counts = returns ? scratch.counts : scratch.recv_counts;
  Counts& recv_at = returns ? scratch.offsets : scratch.recv_offsets;
  for (Counts* list : {&send_counts, &send_at, &recv_counts, &recv_at}) list->resize(p);
  for (std::size_t g = 0; g < p; ++g) {
    if (theirs[2 * g + 1] != rows.recv_sizes[g])
      throw Error("E64", "ragged_all_to_all: rank " + std::to_string(g) + " of the group sends " +
                             std::to_string(theirs[2 * g + 1]) + " rows, and " +
                             std::to_string(rows.recv_sizes[g]) + " are expected");
    check_within(theirs[2 * g], rows.recv_sizes[g], returns ? in_rows : out_rows, "from", g);
    send_counts[g] = rows.send_sizes[g] * row;
    send_at[g] = rows.input_offsets[g] * row;
    recv_counts[g] = rows.recv_sizes[g] * row;
    recv_at[g] = theirs[2 * g] * row;
  }
}

}  // namespace shardtype::execute
