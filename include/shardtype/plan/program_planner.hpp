#pragma once
/// Plans whole programs at run time.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <shardtype/core/error.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/plan/case_search.hpp>
#include <shardtype/plan/layout_tables.hpp>
#include <shardtype/plan/message_passing.hpp>
#include <shardtype/plan/plan_writer.hpp>
#include <shardtype/plan/shared_values.hpp>

namespace shardtype::planning {

/// The layout graphs needed so far; each is built once.
class Graphs {
 public:
  LayoutGraph const& get(int rank, int axes) {
    Built& graph = built_[rank][axes];
    if (!graph.builder) {
      graph.builder = shardtype::detail::Owned(new GraphBuilder(rank, axes));
      graph.view = graph.builder->view();
    }
    return graph.view;
  }
  static Graphs& all() {
    static Graphs graphs;
    return graphs;
  }

 private:
  struct Built {
    shardtype::detail::Owned<GraphBuilder> builder;
    LayoutGraph view{};
  };
  Built built_[max_dims + 1][searched_axes + 1];
};

/// Whether the plan `together` is taken in place of `guess`.
constexpr bool is_better(ProgramPlan const& together, ProgramPlan const& guess,
                         Rates const& rates) {
  if (!together.possible) return false;
  std::int64_t const time = together.picoseconds(rates);
  std::int64_t const before = guess.picoseconds(rates);
  return time < before || (time == before && together.bytes_per_rank() <= guess.bytes_per_rank());
}

/// Finds the plan of one program; exact for chains and trees. A shared value is computed in one
/// layout, its home. Homes are chosen together on a cost network (plan/cost_network.hpp); where its
/// bound leaves a gap, and where there is a memory limit, they are improved one by one until
/// changing a single home no longer helps.
class ProgramPlanner {
 public:
  ProgramPlanner(RecordedProgram const& p, Rates const& rates) : p_(p), rates_(rates) {
    for (int k = 0; k < p.size; ++k) {
      home_[k] = -1;
      for (int w = 0; w < p.nodes[k].ways * p.nodes[k].operands; ++w) {
        int const operand = p.uses[p.nodes[k].first_use + w];
        for (int m = 0; m <= operand; ++m)
          if (below_[operand][m]) below_[k][m] = true;
      }
      below_[k][k] = true;
    }
  }

  /// The plan with the initial choice of homes.
  ProgramPlan guess() {
    find_homes();
    for (int k = 0; k < p_.size; ++k) search(k);
    return write();
  }
  /// Under a memory limit the plan without it, if that keeps to it; else the bound is that without.
  ProgramPlan plan() {
    if (rates_.memory_limit >= 0) return plan_within_limit();
    ProgramPlan best = guess();
    if (!best.possible) return best;
    if (planning::is_tree(p_)) {
      best.least = best.searched;
      return best;
    }
    Proof const proof = choose_together(best);
    if (!proof.closed) best = descend(best);
    best.least = proof.least;
    best.searched = std::min(proof.searched, best.picoseconds(rates_));
    return best;
  }
  /// The plan whose homes are improved one by one from the initial choice.
  ProgramPlan descend() { return descend(guess()); }

  /// The time that the search sees with these homes, by value; -1: impossible.
  std::int64_t searched(int const* homes) {
    for (int k = 0; k < p_.size; ++k) home_[k] = p_.shared(k) ? homes[k] : -1;
    for (int k = 0; k < p_.size; ++k) search(k);
    std::int64_t time = 0;
    auto add = [&](Frontier const& f, int layout) {
      if (f.first[layout] < 0) return false;
      time = in_time(time + f.ways[f.first[layout]].time);
      return true;
    };
    for (int k = 0; k < p_.size; ++k)
      if (p_.shared(k) &&
          (!planning::can_be_home(p_, k, made_view_[k], home_[k]) || !add(made_view_[k], home_[k])))
        return -1;
    Frontier const& root = *fronts_[p_.root];
    return add(root, root.graph.index[p_.wanted]) ? time : -1;
  }

  /// The plan with value `k` computed in this layout of its graph, and other homes unchanged.
  ProgramPlan plan_with(int k, int home) {
    move(k, home);
    return write();
  }

 private:
  /// The first pass, in which each reader of a shared value pays its share.
  void find_homes() {
    bool any = false;
    shardtype::detail::List<shardtype::detail::List<Option>> shares(
        static_cast<std::size_t>(p_.size));
    for (int k = 0; k < p_.size; ++k) {
      search(k);
      if (!p_.shared(k)) continue;
      any = true;
      shardtype::detail::List<Option>& mine = shares[static_cast<std::size_t>(k)];
      for (Option const& o : made_[k]->options())
        mine.push_back(shared_option(o, p_.nodes[k].shares));
      read_view_[k] = made_view_[k];
      read_view_[k].ways = mine.data();
      fronts_[k] = &read_view_[k];
    }
    if (!any) return;
    ProgramPlan pass;
    pass.program = p_;
    Frontier const* const none[max_nodes]{};
    PlanWriter(pass, fronts_, none).write(p_.root, p_.wanted);
    too_long_ = pass.too_long;
    for (int k = 0; k < p_.size; ++k)
      if (p_.shared(k)) home_[k] = home_of(k, pass, made_view_[k], fronts_, rates_);
  }
  ProgramPlan descend(ProgramPlan best) {
    for (bool improved = true; improved && best.possible;) {
      improved = false;
      for (int k = p_.size - 1; k >= 0; --k)
        if (p_.shared(k) && improve(k, best)) improved = true;
    }
    return best;
  }
  ProgramPlan plan_within_limit() {
    Rates without = rates_;
    without.memory_limit = -1;
    ProgramPlan const free = ProgramPlanner(p_, without).plan();
    if (free.possible && free.temporary_bytes() <= rates_.memory_limit) return free;
    ProgramPlan best = descend();
    best.least = free.least;
    best.searched = best.possible ? best.picoseconds(rates_) : -1;
    return best;
  }
  /// What the cost network says of all homes, in picoseconds; -1: nothing.
  struct Proof {
    bool closed = false;
    std::int64_t least = -1;
    std::int64_t searched = impossible_cost;
  };
  /// Chooses all homes on the cost network, and keeps the plan that takes less time when written.
  Proof choose_together(ProgramPlan& best) {
    auto const graphs = [this](int rank) -> LayoutGraph const& {
      return Graphs::all().get(rank, p_.axes);
    };
    CostNetwork const network(p_, NetworkParts(p_, rates_, graphs));
    if (!network.usable) return {};
    MessagePassing messages(network);
    messages.run(most_sweeps);
    if (!messages.closed())
      CaseSearch(network, most_moves_of_cases / (1 + static_cast<int>(network.edges.size())))
          .run(messages);
    if (messages.best >= impossible_cost) return {};
    int first_homes[max_nodes];
    for (int k = 0; k < p_.size; ++k) {
      first_homes[k] = home_[k];
      if (network.home(k) >= 0)
        home_[k] = messages.homes[static_cast<std::size_t>(network.home(k))];
    }
    for (int k = 0; k < p_.size; ++k) search(k);
    ProgramPlan const together = write();
    if (planning::is_better(together, best, rates_)) {
      best = together;
    } else {
      for (int k = 0; k < p_.size; ++k) home_[k] = first_homes[k];
      for (int k = 0; k < p_.size; ++k) search(k);
    }
    // costs are whole picoseconds, so that the bound is one of the next whole number
    return {messages.closed(), (messages.bound + network.scale - 1) / network.scale,
            messages.best / network.scale};
  }
  void search(int k) {
    LayoutGraph const& graph = Graphs::all().get(p_.nodes[k].rank, p_.axes);
    made_[k] = shardtype::detail::Owned(new FrontierSearch(p_, k, graph, fronts_, rates_));
    made_view_[k] = made_[k]->view();
    fronts_[k] = &made_view_[k];
    if (!p_.shared(k) && home_[k] < 0) return;
    made_fronts_[k] = &made_view_[k];
    if (home_[k] >= 0) relax_from_home(k);
  }
  void relax_from_home(int k) {
    LayoutGraph const& graph = made_view_[k].graph;
    read_[k] =
        shardtype::detail::Owned(new FrontierSearch(p_, k, graph, fronts_, rates_, home_[k]));
    read_view_[k] = read_[k]->view();
    fronts_[k] = &read_view_[k];
  }
  /// Moves the home of value `k` to another layout, and plans again all values that depend on it.
  void move(int k, int home) {
    home_[k] = home;
    relax_from_home(k);
    for (int m = k + 1; m < p_.size; ++m)
      if (below_[m][k]) search(m);
  }
  ProgramPlan write() const {
    ProgramPlan plan;
    plan.program = p_;
    plan.too_long = too_long_;
    plan.possible = !too_long_;
    for (int k = 0; k < p_.size; ++k)
      if (p_.shared(k) && home_[k] < 0) plan.possible = false;
    if (!plan.possible) return plan;
    PlanWriter(plan, fronts_, made_fronts_).write(p_.root, p_.wanted);
    if (plan.too_long || (rates_.memory_limit >= 0 && plan.temporary_bytes() > rates_.memory_limit))
      plan.possible = false;
    return plan;
  }
  /// Tries all layouts of value `k` whose computation alone is faster than the best plan.
  bool improve(int k, ProgramPlan& best) {
    int now = home_[k];
    bool improved = false;
    std::int64_t time = best.picoseconds(rates_);
    for (int s = 0; s < made_view_[k].graph.layouts; ++s) {
      std::int32_t const first = made_view_[k].first[s];
      if (s == now || first < 0 || made_view_[k].ways[first].time >= time) continue;
      if (!planning::can_be_home(p_, k, made_view_[k], s)) continue;
      ProgramPlan const other = plan_with(k, s);
      if (!other.possible || other.picoseconds(rates_) >= time) continue;
      best = other;
      time = other.picoseconds(rates_);
      now = s;
      improved = true;
    }
    move(k, now);
    return improved;
  }

  static constexpr int most_sweeps = 60;
  static constexpr int most_moves_of_cases = 150'000;  ///< edges of the network times sweeps

  RecordedProgram const& p_;
  Rates const& rates_;
  int home_[max_nodes]{};
  bool below_[max_nodes][max_nodes]{};
  shardtype::detail::Owned<FrontierSearch> made_[max_nodes];
  shardtype::detail::Owned<FrontierSearch> read_[max_nodes];
  Frontier made_view_[max_nodes]{};
  Frontier read_view_[max_nodes]{};
  Frontier const* fronts_[max_nodes]{};       ///< as readers see them
  Frontier const* made_fronts_[max_nodes]{};  ///< of shared values, when they are computed
  bool too_long_ = false;  ///< whether the first pass has more steps than there is room for
};

/// Finds the best plan of a program at run time. Error E84: it has too many steps.
inline ProgramPlan plan_program(RecordedProgram const& p, Rates const& rates) {
  ProgramPlan plan = ProgramPlanner(p, rates).plan();
  if (plan.too_long)
    throw Error("E84",
                "the plan of an expression of " + std::to_string(p.size) +
                    " values has more than " + std::to_string(max_program_steps) +
                    " steps; evaluate a part of it first",
                FailedOn::every_rank);
  return plan;
}

}  // namespace shardtype::planning
