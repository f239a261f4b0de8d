#pragma once
/// The axes over which each value of a program can be unreduced.

#include <cstdint>

#include <shardtype/plan/program.hpp>

namespace shardtype::planning {

/// Only products and reductions over split dims make a value unreduced, and functions only keep
/// operands unreduced. So an unreduced result or constraint may be impossible in every plan, for
/// all sizes.
class UnreducedReach {
 public:
  constexpr explicit UnreducedReach(RecordedProgram const& p)
      : p_(p), all_(static_cast<std::size_t>(p.size)), reach_(all_.data()) {
    for (int k = 0; k < p.size; ++k) {
      ProgramNode const& n = p.nodes.at[k];
      unsigned const pinned = n.pinned < 0 ? 0 : unreduced_of(k, n.pinned);
      bool const chosen = n.making != Making::given && !p.is_fixed(k);
      unsigned const made = chosen ? reach_of(k) : pinned;
      holds_ = holds_ && (pinned & ~made) == 0;
      reach_[k] = n.pinned < 0 ? made : pinned;
    }
    holds_ = holds_ && (unreduced_of(p.root, p.wanted) & ~reach_[p.root]) == 0;
  }
  UnreducedReach(UnreducedReach const&) = delete;
  UnreducedReach& operator=(UnreducedReach const&) = delete;

  /// Whether every requested unreduced axis is possible.
  constexpr bool holds() const { return holds_; }

 private:
  constexpr unsigned unreduced_of(int node, int layout) const {
    Spec const s = p_.spec(node, layout);
    unsigned axes = 0;
    for (int x = 0; x < p_.axes; ++x)
      if (s.unreduced.contains(x)) axes |= 1U << x;
    return axes;
  }
  /// The axes over which a value can be unreduced when it is computed.
  constexpr unsigned reach_of(int node) const {
    ProgramNode const& n = p_.nodes.at[node];
    unsigned axes = 0;
    for (int way = 0; way < n.ways; ++way) {
      bool const sums = n.making == Making::product || n.making == Making::reduction || n.sums;
      if (sums && sums_over_a_label(node, way)) return (1U << p_.axes) - 1;
      for (int set = 0; set < n.unreduced_count; ++set) {
        unsigned together = (1U << p_.axes) - 1;
        for (int k = 0; k < n.operands; ++k)
          if (((n.unreduced_sets[set] >> k) & 1U) != 0)
            together &= reach_[p_.operand(node, way, k)];
        axes |= together;
      }
    }
    return axes;
  }
  constexpr bool sums_over_a_label(int node, int way) const {
    for (int k = 0; k < p_.nodes.at[node].operands; ++k) {
      ProgramNode const& operand = p_.nodes.at[p_.operand(node, way, k)];
      for (int d = 0; d < operand.rank; ++d)
        if (p_.find(node, operand.labels[d]) < 0) return true;
    }
    return false;
  }

  RecordedProgram const& p_;
  bool holds_ = true;
  shardtype::detail::List<unsigned> all_;
  unsigned* reach_;
};

}  // namespace shardtype::planning
