#pragma once
/// Shared values: values with several readers. Each is computed in one layout, its home, from which
/// its readers reshard it. Homes are found in two passes. In the first pass each reader pays its
/// share of the computation and takes the value in any layout; these layouts determine the home for
/// the second pass.

#include <cstdint>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/frontier_search.hpp>
#include <shardtype/plan/program_plan.hpp>

namespace shardtype::planning {

/// The share of one of `shares` readers in the cost of a candidate.
constexpr Option shared_option(Option o, int shares) {
  o.time /= shares;
  o.moved /= shares;
  return o;
}

/// Whether value `k` may be at home in this layout: an operation that has further results is where
/// it was computed.
constexpr bool can_be_home(RecordedProgram const& p, int k, Frontier const& made, int layout) {
  std::int32_t const start = made.first[layout];
  return !p.nodes.at[k].has_results || (start >= 0 && made.ways[start].from < 0);
}

/// The home of value `k`. Candidates are the layouts in which the value was computed or read in the
/// first pass; the home is the one from which all readers are served fastest. `made`: the value's
/// Pareto front. -1: the value was not used.
constexpr int home_of(int k, ProgramPlan const& first_pass, Frontier const& made,
                      Frontier const* const* fronts, Rates const& rates) {
  shardtype::detail::List<int> wanted;      // of each reader
  shardtype::detail::List<int> candidates;  // layouts, each once
  auto consider = [&](int layout) {
    if (!planning::can_be_home(first_pass.program, k, made, layout)) return;
    for (int const known : candidates)
      if (known == layout) return;
    candidates.push_back(layout);
  };
  for (ProgramStep const& s : first_pass) {
    if (s.node == k && s.kind == ProgramStep::Kind::make) consider(made.graph.index[s.layout]);
    if (s.kind != ProgramStep::Kind::make) continue;
    for (int m = 0; m < s.inputs; ++m) {
      ProgramStep const& in = first_pass.steps.at[s.input[m]];
      if (in.node != k) continue;
      wanted.push_back(made.graph.index[in.layout]);
      consider(made.graph.index[in.layout]);
    }
  }
  int home = candidates.empty() ? -1 : candidates[0];
  if (candidates.size() < 2) return home;
  std::int64_t best = -1;
  for (int const candidate : candidates) {
    std::int32_t const start = made.first[candidate];
    if (start < 0) continue;
    FrontierSearch const search(first_pass.program, k, made.graph, fronts, rates, candidate);
    Frontier const from = search.view();
    std::int64_t time = made.ways[start].time;
    bool all = true;
    for (int const layout : wanted) {
      std::int32_t const there = from.first[layout];
      all = all && there >= 0;
      if (there >= 0) time = in_time(time + from.ways[there].time);
    }
    if (!all || (best >= 0 && time >= best)) continue;
    best = time;
    home = candidate;
  }
  return home;
}

}  // namespace shardtype::planning
