#pragma once
/// Closes gaps of message passing by cases: branch and bound.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <shardtype/plan/message_passing.hpp>

namespace shardtype::planning {

/// Fixes a variable to each of its choices in turn, the ways to compute a value before homes, and
/// passes messages in each of these cases, until the bound of every case meets the best homes or no
/// sweeps are left. Sound at any time: a case that was not looked at has the bound of the case that
/// it is a part of.
class CaseSearch {
 public:
  CaseSearch(CostNetwork const& network, int sweeps) : g_(network), sweeps_(sweeps) {}

  /// Improves homes and bound of messages that have left a gap.
  void run(MessagePassing& messages) {
    best_ = messages.best;
    homes_ = messages.homes;
    std::int64_t const bound = bound_of(messages);
    messages.best = best_;
    messages.homes = homes_;
    messages.bound = std::max(messages.bound, std::min(bound, best_));
  }

 private:
  static constexpr int sweeps_of_case = 12;

  /// A bound of all plans of a case; better homes are kept.
  std::int64_t bound_of(MessagePassing const& messages) {
    int const v = most_open(messages);
    if (v < 0) return messages.bound;
    shardtype::detail::List<Case> const cases = cases_of(messages, v);
    std::int64_t bound = impossible_cost;
    for (Case const& c : cases) {
      if (sweeps_ <= 0) return std::min(bound, messages.bound);
      MessagePassing part(messages);
      part.fix(v, c.choice);
      int const before = part.sweeps;
      part.run(std::min(sweeps_of_case, sweeps_), best_);
      sweeps_ -= std::max(1, part.sweeps - before);
      if (part.best < best_) best_ = part.best, homes_ = part.homes;
      bool const open = part.bound < best_ && !part.closed();
      bound = std::min(bound, open ? bound_of(part) : part.bound);
    }
    return std::max(bound, messages.bound);
  }
  struct Case {
    int choice = 0;
    std::int64_t cost = 0;
  };
  /// Possible cases, best first.
  shardtype::detail::List<Case> cases_of(MessagePassing const& messages, int v) const {
    shardtype::detail::List<Case> out;
    MessagePassing::Costs const costs = messages.choices(v);
    for (std::size_t c = 0; c < costs.size(); ++c)
      if (planning::is_possible(costs[c])) out.push_back({static_cast<int>(c), costs[c]});
    std::sort(out.begin(), out.end(), [](Case const& a, Case const& b) {
      return a.cost < b.cost || (a.cost == b.cost && a.choice < b.choice);
    });
    return out;
  }
  /// The value to distinguish by: the last that can be computed in several ways, or else the home
  /// with the most readers; -1: all are fixed.
  int most_open(MessagePassing const& messages) const {
    int out = -1;
    std::size_t most = 0;
    for (int v = static_cast<int>(g_.variables.size()) - 1; v >= 0; --v) {
      CostNetwork::Variable const& x = g_.variables[static_cast<std::size_t>(v)];
      if (messages.is_fixed(v)) continue;
      if (x.choices > 1) return v;
      if (!x.is_home || x.in.size() + x.out.size() <= most) continue;
      most = x.in.size() + x.out.size();
      out = v;
    }
    return out;
  }

  CostNetwork const& g_;
  int sweeps_;
  std::int64_t best_ = impossible_cost;
  shardtype::detail::List<int> homes_;
};

}  // namespace shardtype::planning
