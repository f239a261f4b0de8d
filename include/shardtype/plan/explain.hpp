#pragma once
/// Plans as text.

#include <algorithm>
#include <cstdio>
#include <string>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/dim.hpp>
#include <shardtype/core/text.hpp>
#include <shardtype/plan/plan.hpp>

namespace shardtype {

namespace detail {

std::string with_unit(double value, char const* const (&units)[5]);
inline std::string bytes_text(std::int64_t n) {
  return with_unit(static_cast<double>(n), {"B", "kB", "MB", "GB", "TB"});
}
inline std::string flops_text(std::int64_t n) {
  return with_unit(static_cast<double>(n), {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"});
}

inline std::string collective_text(Collective c) { return planning::kind_of(c).text; }
/// The kind of a step, and of a collective the axes: "AllGather X,Y", "slice", "local".
std::string step_text(Step const& s, std::string_view const* axis_names);
/// `2 collectives, 0.52 MB/rank`; of a plan with a loop of unknown rounds that communicates: `any
/// number of collectives and bytes/rank`.
std::string sent_text(int collectives, std::int64_t bytes);

/// Width in code points, not bytes: `·` has two bytes.
std::string padded(std::string text, std::size_t width);

/// Bytes of the rank that moves the most in one step.
std::int64_t step_bytes_per_rank(Step const& s, Sizing const& z, Coords const& first,
                                 int root = -1);
/// Range of the bytes or flops of a step over its rounds, with the number of rounds.
std::string rounds_text(planning::Repeat const& loop, int step, Step const& s, Sizing const& z);

/// Of a collective that runs in two stages in such a group: `two stages: 3 MB inside of nodes, 1 MB
/// between`; else empty. `bytes`: those of the rank that moves the most.
std::string stages_text(Collective c, std::int64_t bytes, Machine const& over);

}  // namespace detail

namespace api {

/// The plan as text: a line for the total, and a line per step with the bytes it moves or the flops
/// it computes, which are those of the busiest rank. Operands are called A and B, the result C, an
/// intermediate value P. A repeated step has one line, with the number of its rounds and the range
/// of bytes or flops per round, or `any number of rounds`.
///
///     C[I@X, K@Y] = A[I@X, J@Y] · B[J@Y, K]       1 collective, 0.52 MB/rank, peak 3.1 MB, ...
///       1  local            P[I@X, K]{U:Y} = A · B                   0.21 GFLOP
///       2  ReduceScatter Y  P[I@X, K]{U:Y} -> C[I@X, K@Y]            0.52 MB
std::string explain(core::Taken<Plan> plan, core::Names const& names);
/// The same on a machine: below a collective that runs in two stages there, a line with the bytes
/// of each kind of link, inside of nodes and between them.
std::string explain(core::Taken<Plan> plan, core::Names const& names, core::Taken<Machine> machine);

}  // namespace api

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/plan/explain.ipp>
#endif
