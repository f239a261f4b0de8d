#pragma once
/// Plans of optimizers' steps: what they send and compute besides the norm of the gradient.

#include <algorithm>
#include <array>
#include <cstdint>

#include <shardtype/plan/function_plan.hpp>

namespace shardtype::planning {

/// The plans of the updates of parameters, one after the other. All numbers are those of the
/// busiest rank.
struct UpdatePlan {
  std::array<int, collective_rows> counts{};
  std::int64_t bytes = 0;
  std::int64_t flop = 0;
  std::int64_t workspace = 0;  ///< most that one update takes besides what it is given

  /// Number of collectives of this kind.
  constexpr int count(Collective c) const { return counts[static_cast<std::size_t>(c)]; }
  /// Number of all collectives.
  constexpr int collectives() const {
    int n = 0;
    for (Collective const c : all_collectives) n = add_counts(n, count(c));
    return n;
  }
  constexpr std::int64_t bytes_per_rank() const { return bytes; }
  constexpr std::int64_t flops() const { return flop; }

  constexpr UpdatePlan& operator+=(UpdatePlan const& o) {
    for (std::size_t c = 0; c < counts.size(); ++c) counts[c] = add_counts(counts[c], o.counts[c]);
    bytes = add_sat(bytes, o.bytes);
    flop = add_sat(flop, o.flop);
    workspace = std::max(workspace, o.workspace);
    return *this;
  }
};

/// The plan of the update of one parameter from that of its function, whose arguments take `given`
/// bytes.
template <class OfFunction>
constexpr UpdatePlan update_plan(OfFunction const& of, [[maybe_unused]] std::int64_t given) {
  UpdatePlan out;
  for (Collective const c : all_collectives) out.counts[static_cast<std::size_t>(c)] = of.count(c);
  if constexpr (requires { of.peak_bytes(); }) {
    out.bytes = of.bytes_per_rank();
    out.flop = of.flops();
    out.workspace = of.peak_bytes() - given;
  }
  return out;
}

}  // namespace shardtype::planning
