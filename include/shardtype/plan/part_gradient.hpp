#pragma once
/// The derivatives of the parts of a program, in values.

#include <cstdint>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/program_builder.hpp>
#include <shardtype/plan/program_plan.hpp>

namespace shardtype::planning {

/// What the cotangent of one operand reads.
struct PullOf {
  bool exists = false;       ///< else the value does not depend on the operand, or is flat
  bool passes = false;       ///< whether it is the value's cotangent
  bool rows = false;         ///< of a reduction: whether it reads whole rows
  BlockWork work = nullptr;  ///< of an operation; null: only what is read and written counts
  /// Operands, as bits; after them the value, and then its operation's further results.
  std::uint32_t reads = 0;
};
/// The derivatives of one part of an expression, by operands.
struct PartGradient {
  PullOf of[max_operands]{};
  /// The dims on which an operation works, of its value and of its operands: these are whole in its
  /// pulls.
  std::uint8_t worked_on[max_operands + 1]{};
  std::int32_t total_bytes = 0;  ///< of the accumulator of a long sum of such elements
  bool refused = false;          ///< whether it has no gradient that can be recorded
};

/// A function whose gradient is written by hand, as values of the program.
struct PullByHand {
  shardtype::detail::List<int> results;     ///< of the function: relabels, which its readers read
  shardtype::detail::List<int> stand_ins;   ///< for their cotangents, of which values are computed
  shardtype::detail::List<int> arguments;   ///< of which gradients are wanted
  shardtype::detail::List<int> cotangents;  ///< of these, one each
};

/// Further result `number` of operation `k`, or -1.
inline int further_result(RecordedProgram const& p, int k, int number) {
  for (int m = k + 1; m < p.size; ++m)
    if (p.nodes[m].making == Making::result && p.operand(m, 0, 0) == k &&
        p.nodes[m].result == number)
      return m;
  return -1;
}

/// The ways in which a plan computes the values of its program; -1: it does not compute them.
inline shardtype::detail::List<int> ways_in(ProgramPlan const& plan) {
  RecordedProgram const& p = plan.program;
  shardtype::detail::List<int> out(static_cast<std::size_t>(p.size), -1);
  for (ProgramStep const& s : plan) {
    if (s.kind != ProgramStep::Kind::make) continue;
    ProgramNode const& n = p.nodes.at[s.node];
    int& way = out[static_cast<std::size_t>(s.node)];
    for (int w = n.ways - 1; w >= 0; --w) {
      bool same = true;
      for (int k = 0; k < n.operands; ++k)
        same = same && plan.steps.at[s.input[k]].node == p.operand(s.node, w, k);
      if (same) way = w;
    }
  }
  return out;
}

/// A result: its labels in the order of its dims, and its sharding.
struct WantedResult {
  ProgramLabels labels{};
  Spec spec{};
};

}  // namespace shardtype::planning
