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
    auto const n = static_cast<std::size_t>(p.size);
    home_.resize(n, -1);
    for (List<FrontierSearch*>* const searches : {&made_, &read_}) searches->resize(n, nullptr);
    for (List<Frontier>* const views : {&made_view_, &read_view_}) views->resize(n);
    for (List<Frontier const*>* const fronts : {&fronts_, &made_fronts_})
      fronts->resize(n, nullptr);
    below_.resize(n * n, false);
    for (int k = 0; k < p.size; ++k) {
      for (int w = 0; w < p.nodes.at[k].ways * p.nodes.at[k].operands; ++w) {
        int const operand = p.uses.at[p.nodes.at[k].first_use + w];
        for (int m = 0; m <= operand; ++m)
          if (below(operand, m)) below(k, m) = true;
      }
      below(k, k) = true;
    }
  }
  ProgramPlanner(ProgramPlanner const&) = delete;
  ProgramPlanner& operator=(ProgramPlanner const&) = delete;
  ~ProgramPlanner() {
    for (List<FrontierSearch*> const* const searches : {&made_, &read_})
      for (FrontierSearch const* const search : *searches) delete search;
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
    if (planning::is_tree(p_)) {
      ProgramPlan best = guess();
      best.least = best.searched;
      return best;
    }
    Proof const proof = choose_together();
    ProgramPlan best;
    best.possible = false;
    if (proof.least >= 0) best = write();
    if (!proof.closed) best = improved(best);
    best.least = proof.least;
    best.searched = std::min(proof.searched, best.picoseconds(rates_));
    return best;
  }
  /// The plan whose homes are improved one by one from the initial choice.
  ProgramPlan descend() { return descend(guess()); }

  /// The time that the search sees with these homes, by value; -1: impossible.
  std::int64_t searched(int const* homes) {
    for (int k = 0; k < p_.size; ++k) home_[at(k)] = p_.shared(k) ? homes[k] : -1;
    for (int k = 0; k < p_.size; ++k) search(k);
    std::int64_t time = 0;
    auto add = [&](Frontier const& f, int layout) {
      if (f.first[layout] < 0) return false;
      time = in_time(time + f.ways[f.first[layout]].time);
      return true;
    };
    for (int k = 0; k < p_.size; ++k)
      if (p_.shared(k) && (!planning::can_be_home(p_, k, made_view_[at(k)], home_[at(k)]) ||
                           !add(made_view_[at(k)], home_[at(k)])))
        return -1;
    Frontier const& root = *fronts_[at(p_.root)];
    return add(root, root.graph.index[p_.wanted]) ? time : -1;
  }

  /// The plan with value `k` computed in this layout of its graph, and other homes unchanged.
  ProgramPlan plan_with(int k, int home) {
    move(k, home);
    return write();
  }

 private:
  template <class T>
  using List = shardtype::detail::List<T>;

  static std::size_t at(int k) { return static_cast<std::size_t>(k); }
  bool& below(int value, int other) { return below_[at(value) * at(p_.size) + at(other)]; }
  static void replace(FrontierSearch*& old, FrontierSearch* search) {
    delete old;
    old = search;
  }
  /// The first pass, in which each reader of a shared value pays its share.
  void find_homes() {
    bool any = false;
    List<List<Option>> shares(static_cast<std::size_t>(p_.size));
    for (int k = 0; k < p_.size; ++k) {
      search(k);
      if (!p_.shared(k)) continue;
      any = true;
      List<Option>& mine = shares[static_cast<std::size_t>(k)];
      for (Option const& o : made_[at(k)]->options())
        mine.push_back(shared_option(o, p_.nodes.at[k].shares));
      read_view_[at(k)] = made_view_[at(k)];
      read_view_[at(k)].ways = mine.data();
      fronts_[at(k)] = &read_view_[at(k)];
    }
    if (!any) return;
    ProgramPlan pass;
    pass.program = p_;
    List<Frontier const*> const none(at(p_.size), nullptr);
    PlanWriter(pass, fronts_.data(), none.data()).write(p_.root, p_.wanted);
    for (int k = 0; k < p_.size; ++k)
      if (p_.shared(k)) home_[at(k)] = home_of(k, pass, made_view_[at(k)], fronts_.data(), rates_);
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
    ProgramPlan free = ProgramPlanner(p_, without).plan();
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
  /// Chooses all homes on the cost network.
  Proof choose_together() {
    auto const graphs = [this](int rank) -> LayoutGraph const& {
      return Graphs::all().get(rank, p_.axes);
    };
    CostNetwork const network = planning::cost_network(p_, NetworkParts(p_, rates_, graphs));
    if (!network.usable) return {};
    MessagePassing messages(network);
    messages.run(most_sweeps);
    if (!messages.closed())
      CaseSearch(network, most_moves_of_cases / (1 + static_cast<int>(network.edges.size())))
          .run(messages);
    if (messages.best >= impossible_cost) return {};
    for (int k = 0; k < p_.size; ++k)
      if (network.home(k) >= 0)
        home_[at(k)] = messages.homes[static_cast<std::size_t>(network.home(k))];
    for (int k = 0; k < p_.size; ++k) search(k);
    // costs are whole picoseconds, so that the bound is one of the next whole number
    return {messages.closed(), (messages.bound + network.scale - 1) / network.scale,
            messages.best / network.scale};
  }
  /// Homes improved one by one, from those of the plan `together` or from the initial choice.
  ProgramPlan improved(ProgramPlan const& together) {
    ProgramPlanner other(p_, rates_);
    ProgramPlan const guess = other.guess();
    return planning::is_better(together, guess, rates_) ? descend(together) : other.descend(guess);
  }
  void search(int k) {
    LayoutGraph const& graph = Graphs::all().get(p_.nodes.at[k].rank, p_.axes);
    replace(made_[at(k)], new FrontierSearch(p_, k, graph, fronts_.data(), rates_));
    made_view_[at(k)] = made_[at(k)]->view();
    fronts_[at(k)] = &made_view_[at(k)];
    if (!p_.shared(k) && home_[at(k)] < 0) return;
    made_fronts_[at(k)] = &made_view_[at(k)];
    if (home_[at(k)] >= 0) relax_from_home(k);
  }
  void relax_from_home(int k) {
    LayoutGraph const& graph = made_view_[at(k)].graph;
    replace(read_[at(k)], new FrontierSearch(p_, k, graph, fronts_.data(), rates_, home_[at(k)]));
    read_view_[at(k)] = read_[at(k)]->view();
    fronts_[at(k)] = &read_view_[at(k)];
  }
  /// Moves the home of value `k` to another layout, and plans again all values that depend on it.
  void move(int k, int home) {
    home_[at(k)] = home;
    relax_from_home(k);
    for (int m = k + 1; m < p_.size; ++m)
      if (below(m, k)) search(m);
  }
  ProgramPlan write() const {
    ProgramPlan plan;
    plan.program = p_;
    for (int k = 0; k < p_.size; ++k)
      if (p_.shared(k) && home_[at(k)] < 0) plan.possible = false;
    if (!plan.possible) return plan;
    PlanWriter(plan, fronts_.data(), made_fronts_.data()).write(p_.root, p_.wanted);
    if (rates_.memory_limit >= 0 && plan.temporary_bytes() > rates_.memory_limit)
      plan.possible = false;
    return plan;
  }
  /// Tries all layouts of value `k` whose computation alone is faster than the best plan.
  bool improve(int k, ProgramPlan& best) {
    int now = home_[at(k)];
    bool improved = false;
    std::int64_t time = best.picoseconds(rates_);
    for (int s = 0; s < made_view_[at(k)].graph.layouts; ++s) {
      std::int32_t const first = made_view_[at(k)].first[s];
      if (s == now || first < 0 || made_view_[at(k)].ways[first].time >= time) continue;
      if (!planning::can_be_home(p_, k, made_view_[at(k)], s)) continue;
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
  List<int> home_;              ///< layouts of shared values; -1: none
  List<bool> below_;            ///< whether a value depends on another
  List<FrontierSearch*> made_;  ///< owned
  List<FrontierSearch*> read_;  ///< owned
  List<Frontier> made_view_;
  List<Frontier> read_view_;
  List<Frontier const*> fronts_;       ///< as readers see them
  List<Frontier const*> made_fronts_;  ///< of shared values, when they are computed
};

/// Finds the best plan of a program at run time.
inline ProgramPlan plan_program(RecordedProgram const& p, Rates const& rates) {
  return ProgramPlanner(p, rates).plan();
}

}  // namespace shardtype::planning
