#pragma once
/// Sequential tree-reweighted message passing on a cost network (Kolmogorov 2006): a lower bound,
/// and homes of shared values, in integers.

#include <cstddef>
#include <cstdint>

#include <shardtype/plan/cost_network.hpp>

namespace shardtype::planning {

/// The messages of a cost network. Any messages give a sound bound: they only move costs between
/// variables and edges.
class MessagePassing {
 public:
  using Costs = CostNetwork::Costs;
  constexpr explicit MessagePassing(CostNetwork const& network) : g_(network) {
    for (CostNetwork::Edge const& e : g_.edges) {
      auto const n = static_cast<std::size_t>(e.layouts);
      to_first.push_back(Costs(n, 0));
      to_second.push_back(Costs(n, 0));
    }
    only_.resize(g_.variables.size(), -1);
  }
  /// Sweeps until the bound meets the best homes or reaches `enough`, at most `most` times.
  constexpr void run(int most, std::int64_t enough = impossible_cost) {
    for (int k = 0; k < most; ++k) {
      decode();
      if (closed() || bound >= enough) return;
      pass(true);
      pass(false);
      std::int64_t const now = certificate();
      if (now > bound) bound = now;
      ++sweeps;
    }
    decode();
  }
  /// Fixes a home to one layout, or a computed value to one of its choices. The bound stays one.
  constexpr void fix(int variable, int choice) {
    only_[static_cast<std::size_t>(variable)] = choice;
    best = impossible_cost;
    homes = {};
  }
  constexpr bool is_fixed(int variable) const {
    return only_[static_cast<std::size_t>(variable)] >= 0;
  }
  /// By the present messages, the least cost of a variable in each layout of its home, or in each
  /// of its choices; impossible: there are no plans.
  constexpr Costs choices(int variable) const {
    CostNetwork::Variable const& x = g_.variables[static_cast<std::size_t>(variable)];
    if (x.is_home) return marginals(variable).at[0];
    Costs out(static_cast<std::size_t>(x.choices), impossible_cost);
    MessagePassing part(*this);
    for (int c = 0; c < x.choices; ++c) {
      part.fix(variable, c);
      out[static_cast<std::size_t>(c)] = part.marginals(variable).low;
    }
    return out;
  }
  /// Whether no homes cost less than the best, but for rounding: costs are whole picoseconds, and
  /// the bound loses at most one unit an edge.
  constexpr bool closed() const {
    return best < impossible_cost &&
           (best - bound < g_.scale || best - bound <= static_cast<std::int64_t>(g_.edges.size()));
  }
  /// The bound by the present messages, in units of the network; at most the cost of any homes.
  /// Impossible if there are no homes.
  constexpr std::int64_t certificate() const {
    std::int64_t sum = 0;
    shardtype::detail::List<Marginals> of;
    for (std::size_t v = 0; v < g_.variables.size(); ++v) {
      of.push_back(marginals(static_cast<int>(v)));
      if (!planning::is_possible(of.back().low)) return impossible_cost;
      sum += of.back().low;
    }
    for (std::size_t k = 0; k < g_.edges.size(); ++k) {
      CostNetwork::Edge const& e = g_.edges[k];
      Marginals const& later = of[static_cast<std::size_t>(e.to)];
      std::int64_t least = impossible_cost;
      for (int b = 0; b < e.layouts; ++b) {
        auto const y = static_cast<std::size_t>(b);
        std::int64_t const there = later.at[static_cast<std::size_t>(party(e, true))][y];
        if (!planning::is_possible(there)) continue;
        std::int64_t const share = (there - later.low) / weight(e.to) - to_second[k][y];
        for (int a = 0; a < e.layouts; ++a) {
          std::int64_t const m = to_first[k][static_cast<std::size_t>(a)];
          if (!planning::is_possible(m)) continue;
          std::int64_t const move = g_.move(e, a, b);
          if (planning::is_possible(move) && move + share - m < least) least = move + share - m;
        }
      }
      if (!planning::is_possible(least)) return impossible_cost;
      sum += least;
    }
    return sum;
  }
  /// The cost of the homes `at`, by variable; `choose`: chooses them by the present messages
  /// instead.
  constexpr std::int64_t cost(shardtype::detail::List<int>& at, bool choose) const {
    std::int64_t sum = 0;
    shardtype::detail::List<Costs> made(g_.variables.size());
    for (std::size_t v = 0; v < g_.variables.size(); ++v) {
      CostNetwork::Variable const& x = g_.variables[v];
      shardtype::detail::List<Costs> read(static_cast<std::size_t>(x.strategies.parties) + 1);
      for (int const number : x.in) {
        CostNetwork::Edge const& e = g_.edges[static_cast<std::size_t>(number)];
        Costs to(static_cast<std::size_t>(e.layouts), impossible_cost);
        to[static_cast<std::size_t>(e.layouts) - 1] = 0;  // who does not read it does not pay
        auto const f = static_cast<std::size_t>(e.from);
        for (int a = 0; a < e.layouts; ++a) {
          bool const is_home = g_.variables[f].is_home;
          if (is_home && at[f] != a) continue;
          std::int64_t const begun = is_home ? 0 : made[f][static_cast<std::size_t>(a)];
          if (!planning::is_possible(begun)) continue;
          for (int b = 0; b + 1 < e.layouts; ++b) {
            std::int64_t const c = begun + g_.move(e, a, b);
            std::int64_t& least = to[static_cast<std::size_t>(b)];
            if (c < least) least = c;
          }
        }
        Costs& all = read[static_cast<std::size_t>(x.is_home ? 0 : e.party)];
        if (all.empty()) all.resize(to.size(), 0);
        for (std::size_t s = 0; s < to.size(); ++s) all[s] = planning::sum_of_costs(all[s], to[s]);
      }
      if (x.is_home) {
        if (x.in.empty()) read[0].assign(x.unary.size(), 0);  // an operand of the program
        std::int64_t best_sum = impossible_cost;
        for (std::size_t s = 0; choose && s < x.unary.size(); ++s) {
          if (!allows(v, static_cast<int>(s))) continue;
          std::int64_t c = planning::sum_of_costs(read[0][s], x.unary[s]);
          for (int const number : x.out)
            c = planning::sum_of_costs(c, to_first[static_cast<std::size_t>(number)][s]);
          if (c < best_sum) best_sum = c, at[v] = static_cast<int>(s);
        }
        if (at[v] < 0) return impossible_cost;
        auto const h = static_cast<std::size_t>(at[v]);
        sum = planning::sum_of_costs(sum, planning::sum_of_costs(read[0][h], x.unary[h]));
        continue;
      }
      made[v] = make(static_cast<int>(v), read);
      if (!x.out.empty()) continue;
      std::int64_t least = impossible_cost;
      for (std::int64_t const c : made[v])
        if (c < least) least = c;
      sum = planning::sum_of_costs(sum, least);
    }
    return sum;
  }
  /// Sends all messages in one direction.
  constexpr void pass(bool forward) {
    int const n = static_cast<int>(g_.variables.size());
    for (int q = 0; q < n; ++q) {
      int const v = forward ? q : n - 1 - q;
      Marginals const mine = marginals(v);
      if (!planning::is_possible(mine.low)) return;
      CostNetwork::Variable const& x = g_.variables[static_cast<std::size_t>(v)];
      for (int const e : forward ? x.out : x.in)
        send(static_cast<std::size_t>(e), forward, v, mine);
    }
  }
  constexpr void decode() {
    shardtype::detail::List<int> now(g_.variables.size(), -1);
    std::int64_t const c = cost(now, true);
    if (c < best) best = c, homes = now;
  }

  std::int64_t bound = 0;
  std::int64_t best = impossible_cost;
  int sweeps = 0;
  shardtype::detail::List<int> homes;  ///< of the best cost, by variable
  // of each edge, by layout
  shardtype::detail::List<Costs> to_first;
  shardtype::detail::List<Costs> to_second;

 private:
  /// The least cost of a variable, and that for each layout of each party; a home has one party.
  struct Marginals {
    std::int64_t low = impossible_cost;
    shardtype::detail::List<Costs> at;
  };
  static constexpr std::int64_t most_message =
      std::int64_t{1} << 47;  // of 1024 edges of a variable together possible

  constexpr bool allows(std::size_t variable, int choice) const {
    return only_[variable] < 0 || only_[variable] == choice;
  }
  constexpr int party(CostNetwork::Edge const& e, bool second) const {
    return second && !g_.variables[static_cast<std::size_t>(e.to)].is_home ? e.party : 0;
  }
  constexpr std::int64_t weight(int v) const {
    CostNetwork::Variable const& x = g_.variables[static_cast<std::size_t>(v)];
    std::size_t const n = x.in.size() > x.out.size() ? x.in.size() : x.out.size();
    return n > 1 ? static_cast<std::int64_t>(n) : 1;
  }
  /// The least cost of a computed value in each layout, with its operands at these costs.
  constexpr Costs make(int v, shardtype::detail::List<Costs> const& read) const {
    CostNetwork::Variable const& x = g_.variables[static_cast<std::size_t>(v)];
    Costs out;
    if (!x.out.empty())
      out.resize(static_cast<std::size_t>(g_.edges[static_cast<std::size_t>(x.out[0])].layouts),
                 impossible_cost);
    auto const parties = static_cast<std::size_t>(x.strategies.parties);
    for (std::size_t s = 0; s < x.strategies.time.size(); ++s) {
      if (!allows(static_cast<std::size_t>(v), x.choice.empty() ? 0 : x.choice[s])) continue;
      std::int16_t const* const at = x.strategies.layouts.data() + s * parties;
      auto const to = static_cast<std::size_t>(at[0]);
      if (to >= out.size()) out.resize(to + 1, impossible_cost);
      std::int64_t c = x.strategies.time[s];
      for (std::size_t k = 1; k < parties; ++k)
        if (!read[k].empty())
          c = planning::sum_of_costs(c, read[k][static_cast<std::size_t>(at[k])]);
      if (c < out[to]) out[to] = c;
    }
    return out;
  }
  constexpr Marginals marginals(int v) const {
    CostNetwork::Variable const& x = g_.variables[static_cast<std::size_t>(v)];
    Marginals out;
    if (x.is_home) {
      out.at.push_back(x.unary);
      Costs& mine = out.at[0];
      for (std::size_t s = 0; s < mine.size(); ++s) {
        if (!allows(static_cast<std::size_t>(v), static_cast<int>(s))) mine[s] = impossible_cost;
        for (int const e : x.in)
          mine[s] = planning::sum_of_costs(mine[s], to_second[static_cast<std::size_t>(e)][s]);
        for (int const e : x.out)
          mine[s] = planning::sum_of_costs(mine[s], to_first[static_cast<std::size_t>(e)][s]);
        if (mine[s] < out.low) out.low = mine[s];
      }
      return out;
    }
    auto const parties = static_cast<std::size_t>(x.strategies.parties);
    out.at.resize(parties);
    shardtype::detail::List<Costs const*> from(parties, nullptr);
    auto listen = [&](std::size_t k, Costs const& message) {
      from[k] = &message;
      out.at[k].resize(message.size(), impossible_cost);
    };
    for (int const e : x.in)
      listen(static_cast<std::size_t>(g_.edges[static_cast<std::size_t>(e)].party),
             to_second[static_cast<std::size_t>(e)]);
    Costs read;  // by all readers together
    for (int const e : x.out) {
      Costs const& message = to_first[static_cast<std::size_t>(e)];
      if (read.empty()) read.resize(message.size(), 0);
      for (std::size_t s = 0; s < read.size(); ++s)
        read[s] = planning::sum_of_costs(read[s], message[s]);
    }
    if (!x.out.empty()) listen(0, read);
    for (std::size_t s = 0; s < x.strategies.time.size(); ++s) {
      if (!allows(static_cast<std::size_t>(v), x.choice.empty() ? 0 : x.choice[s])) continue;
      std::int16_t const* const at = x.strategies.layouts.data() + s * parties;
      std::int64_t c = x.strategies.time[s];
      for (std::size_t k = 0; k < parties; ++k)
        if (from[k] != nullptr)
          c = planning::sum_of_costs(c, (*from[k])[static_cast<std::size_t>(at[k])]);
      if (!planning::is_possible(c)) continue;
      if (c < out.low) out.low = c;
      for (std::size_t k = 0; k < parties; ++k) {
        if (from[k] == nullptr) continue;
        std::int64_t& least = out.at[k][static_cast<std::size_t>(at[k])];
        if (c < least) least = c;
      }
    }
    return out;
  }
  constexpr void send(std::size_t number, bool forward, int v, Marginals const& mine) {
    CostNetwork::Edge const& e = g_.edges[number];
    Costs const& heard = forward ? to_first[number] : to_second[number];
    Costs& out = forward ? to_second[number] : to_first[number];
    Costs const& at = mine.at[static_cast<std::size_t>(party(e, !forward))];
    for (std::int64_t& m : out) m = impossible_cost;
    for (int a = 0; a < e.layouts; ++a) {
      auto const s = static_cast<std::size_t>(a);
      if (!planning::is_possible(at[s])) continue;
      std::int64_t const base = (at[s] - mine.low) / weight(v) - heard[s];
      for (int b = 0; b < e.layouts; ++b) {
        std::int64_t const move = forward ? g_.move(e, a, b) : g_.move(e, b, a);
        std::int64_t& least = out[static_cast<std::size_t>(b)];
        if (planning::is_possible(move) && base + move < least) least = base + move;
      }
    }
    std::int64_t least = impossible_cost;
    for (std::int64_t const m : out)
      if (m < least) least = m;
    for (std::int64_t& m : out)
      if (planning::is_possible(m)) m = m - least < most_message ? m - least : most_message;
  }

  CostNetwork const& g_;
  shardtype::detail::List<int> only_;  ///< the choice of each variable; -1: any
};

}  // namespace shardtype::planning
