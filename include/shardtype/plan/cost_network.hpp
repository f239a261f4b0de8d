#pragma once
/// The joint choice of the homes of shared values as a cost network: variables with few states, and
/// costs of single states and of pairs.

#include <cstddef>
#include <cstdint>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/frontier_search.hpp>

namespace shardtype::planning {

/// A cost from here on is that of something impossible. Sums of possible costs stay below half of
/// it, and sums of a few impossible ones within 64 bits.
inline constexpr std::int64_t impossible_cost = std::int64_t{1} << 59;
constexpr bool is_possible(std::int64_t cost) { return cost < impossible_cost / 2; }
/// Sums of costs: impossible stays impossible.
constexpr std::int64_t sum_of_costs(std::int64_t a, std::int64_t b) {
  std::int64_t const sum = a + b;
  return planning::is_possible(a) && planning::is_possible(b) && planning::is_possible(sum)
             ? sum
             : impossible_cost;
}

/// Whether an operand of the program has several readers, so that one move may serve them all.
constexpr bool is_kept_given(RecordedProgram const& p, int node) {
  ProgramNode const& n = p.nodes.at[node];
  return n.making == Making::given && n.read_again && n.cyclic < 0;
}

/// Whether no value has several readers, so that the search alone finds the best plan.
constexpr bool is_tree(RecordedProgram const& p) {
  for (int k = 0; k < p.size; ++k)
    if (p.shared(k) || planning::is_kept_given(p, k)) return false;
  return true;
}

/// Whether values have the same moves between their layouts.
constexpr bool moves_alike(RecordedProgram const& p, int a, int b) {
  ProgramNode const& x = p.nodes.at[a];
  ProgramNode const& y = p.nodes.at[b];
  if (x.rank != y.rank || x.element_bytes != y.element_bytes || x.cyclic != y.cyclic) return false;
  if (p.countable(a) != p.countable(b)) return false;
  for (int d = 0; d < x.rank; ++d)
    if (p.extents.at[x.labels[d]] != p.extents.at[y.labels[d]]) return false;
  return true;
}

using Costs = shardtype::detail::List<std::int64_t>;

/// The costs of all shortest paths between the layouts of value `k`, from each layout to each, and
/// to one more that stands for none, which all serve.
constexpr Costs moves_of(RecordedProgram const& p, int k, LayoutGraph const& graph,
                         Rates const& rates) {
  auto const n = static_cast<std::size_t>(graph.layouts) + 1;
  Costs costs(n * n, impossible_cost);
  for (std::size_t from = 0; from < n; ++from) costs[from * n + n - 1] = 0;
  for (std::size_t from = 0; from + 1 < n; ++from) {
    FrontierSearch const paths(p, k, graph, nullptr, rates, static_cast<int>(from));
    Frontier const view = paths.view();
    for (std::size_t to = 0; to + 1 < n; ++to)
      if (view.first[to] >= 0) costs[from * n + to] = view.ways[view.first[to]].time;
  }
  return costs;
}

/// The strategies of value `k`, with operands in any layout and operands of the program that are
/// read once with their paths. `graphs(k)`: the layout graph of a value; `path(k, from, to)`: the
/// cost of a move.
template <class Graphs, class Path>
constexpr StrategyList strategies_of(RecordedProgram const& p, int k, Rates const& rates,
                                     Graphs const& graphs, Path const& path) {
  ProgramNode const& n = p.nodes.at[k];
  StrategyList out;
  auto const reads = static_cast<std::size_t>(n.ways * n.operands);
  shardtype::detail::List<shardtype::detail::List<Option>> ways(reads);
  shardtype::detail::List<shardtype::detail::List<std::int32_t>> first(reads);
  shardtype::detail::List<Frontier> fronts(reads);
  shardtype::detail::List<Frontier const*> by_node(static_cast<std::size_t>(p.size), nullptr);
  for (std::size_t m = 0; m < reads; ++m) {
    int const o = p.uses.at[n.first_use + static_cast<int>(m)];
    LayoutGraph const& graph = graphs(o);
    bool const given = p.nodes.at[o].making == Making::given && !planning::is_kept_given(p, o);
    for (int s = 0; s < graph.layouts; ++s) {
      Option w;
      w.layout = static_cast<std::int16_t>(s);
      w.size = block_bytes(p, o, graph.codes[s]);
      if (given) w.time = path(o, graph.index[p.nodes.at[o].pinned], s);
      ways[m].push_back(w);
      first[m].push_back(planning::is_possible(w.time) ? s : -1);
    }
    fronts[m] = {graph, ways[m].data(), first[m].data(), nullptr};
    by_node[static_cast<std::size_t>(o)] = &fronts[m];
  }
  FrontierSearch const list(p, k, graphs(k), by_node.data(), rates, out);
  auto const parties = static_cast<std::size_t>(out.parties);
  for (std::size_t s = 0; s < out.layouts.size(); ++s)
    if (out.layouts[s] < 0)
      out.layouts[s] = static_cast<std::int16_t>(
          graphs(p.uses.at[n.first_use + static_cast<int>(s % parties) - 1]).layouts);
  return out;
}

/// What a cost network is made of, found as it is made.
template <class Graphs>
class NetworkParts {
 public:
  constexpr NetworkParts(RecordedProgram const& p, Rates const& rates, Graphs const& graphs)
      : p_(p), rates_(rates), graphs_(graphs) {
    rates_.memory_limit = -1;
  }
  constexpr LayoutGraph const& graph(int k) const { return graphs_(p_.nodes.at[k].rank); }
  constexpr Costs moves(int k) const { return planning::moves_of(p_, k, graph(k), rates_); }
  template <class Path>
  constexpr StrategyList strategies(int k, Path const& path) const {
    return planning::strategies_of(
        p_, k, rates_, [this](int m) -> LayoutGraph const& { return graph(m); }, path);
  }

 private:
  RecordedProgram const& p_;
  Rates rates_;
  Graphs const& graphs_;
};

/// Costs in units of 1 / `scale` picoseconds. A variable is the home of a shared value, or the
/// strategy of a computed value. Its cost is the time that the search sees: each reader of a shared
/// value pays for its own path from the home.
///
/// A value that can be computed in several ways reads the operands of one of them. So each value
/// has one layout more, the last: that of an operand that is not read, which any layout of the
/// operand serves, and that of a part of a chain that is not computed, which serves no reader.
struct CostNetwork {
  using Costs = planning::Costs;
  struct Variable {
    int node = -1;
    bool is_home = false;
    Costs unary;              ///< of a home: by layout
    StrategyList strategies;  ///< of a computed value
    int choices = 1;          ///< of a computed value: the ways to compute it, or none
    shardtype::detail::List<std::int16_t> choice;  ///< of each strategy, if there are several
    shardtype::detail::List<int> in;               ///< edges from variables before it
    shardtype::detail::List<int> out;              ///< edges to variables after it
  };
  /// The moves of a value from its layout in one variable to its layout in a later one.
  struct Edge {
    int from = -1;
    int to = -1;
    int party = 0;    ///< of the later variable, if it is a strategy: the operand's number + 1
    int layouts = 0;  ///< of the value, and one that stands for none
    int moves = -1;   ///< number of its table in `moves`
  };

  bool usable = true;  ///< whether the costs are within range, and no value is computed twice
  std::int64_t scale = 1;
  shardtype::detail::List<Variable> variables;
  shardtype::detail::List<Edge> edges;
  /// Costs of moves, from each layout to each.
  shardtype::detail::List<Costs> moves;
  shardtype::detail::List<int> homes;  ///< variables of homes by value; -1: none

  constexpr std::int64_t move(Edge const& e, int from, int to) const {
    auto const row = static_cast<std::size_t>(from) * static_cast<std::size_t>(e.layouts);
    return moves[static_cast<std::size_t>(e.moves)][row + static_cast<std::size_t>(to)];
  }
  /// The variable of the home of a shared value, or -1.
  constexpr int home(int node) const { return homes[static_cast<std::size_t>(node)]; }

  /// Scales all costs, so that messages lose little to rounding. Not usable: they are out of range.
  constexpr void scale_costs() {
    std::int64_t total = 1;
    for (Variable const& v : variables)
      total =
          planning::sum_of_costs(total, v.is_home ? largest(v.unary) : largest(v.strategies.time));
    for (Edge const& e : edges)
      total = planning::sum_of_costs(total, largest(moves[static_cast<std::size_t>(e.moves)]));
    // with the messages of 1024 edges of a variable, sums stay possible
    if (total > std::int64_t{1} << 56) {
      usable = false;
      return;
    }
    constexpr std::int64_t room = std::int64_t{1} << 50;
    while (scale < 1024 && total * scale * 2 <= room) scale *= 2;
    auto times = [this](Costs& costs) {
      for (std::int64_t& c : costs) c = planning::is_possible(c) ? c * scale : impossible_cost;
    };
    for (Variable& v : variables) times(v.is_home ? v.unary : v.strategies.time);
    for (Costs& c : moves) times(c);
  }

 private:
  static constexpr std::int64_t largest(Costs const& costs) {
    std::int64_t most = 0;
    for (std::int64_t const c : costs)
      if (planning::is_possible(c) && c > most) most = c;
    return most;
  }
};

/// Writes the cost network of a program.
class NetworkWriter {
  using Variable = CostNetwork::Variable;
  using Edge = CostNetwork::Edge;

 public:
  CostNetwork network;

  template <class Parts>
  constexpr NetworkWriter(RecordedProgram const& p, Parts const& parts)
      : p_(p), value_(static_cast<std::size_t>(p.size)) {
    network.homes.resize(static_cast<std::size_t>(p.size), -1);
    mark(p.root, false);
    for (int k = 0; k < p.size; ++k) {
      if (!of(k).used) continue;
      of(k).graph = parts.graph(k);
      of(k).table = find_table(parts, k);
      if (p.nodes.at[k].making != Making::given)
        add_strategies(parts, k);
      else if (planning::is_kept_given(p, k))
        add_home(k);
      if (!network.usable) return;
    }
    network.scale_costs();
  }

 private:
  /// Marks a value as read, and as one that need not be computed: a part of a chain, or the totals
  /// of rows.
  constexpr void mark(int node, bool optional) {
    ProgramNode const& n = p_.nodes.at[node];
    optional = optional && (n.making == Making::product || n.making == Making::reduction) &&
               n.pinned < 0 && !n.kept && !p_.shared(node);
    if (of(node).used && (of(node).optional || !optional)) return;
    of(node).used = true;
    of(node).optional = optional;
    for (int k = 0; k < n.ways * n.operands; ++k) mark(p_.uses.at[n.first_use + k], n.ways > 1);
  }
  template <class Parts>
  constexpr int find_table(Parts const& parts, int k) {
    for (int m = 0; m < k; ++m)
      if (of(m).used && planning::moves_alike(p_, m, k)) return of(m).table;
    network.moves.push_back(parts.moves(k));
    return static_cast<int>(network.moves.size()) - 1;
  }
  /// The number of layouts of a value, and one for none.
  constexpr int states(int k) const { return of(k).graph.layouts + 1; }
  /// A table in which only the layout for none is served: by all.
  constexpr Costs no_moves(int k) const {
    auto const n = static_cast<std::size_t>(states(k));
    Costs costs(n * n, impossible_cost);
    for (std::size_t from = 0; from < n; ++from) costs[from * n + n - 1] = 0;
    return costs;
  }
  /// A table without moves.
  constexpr int stay(int k) {
    auto const n = static_cast<std::size_t>(states(k));
    Costs costs = no_moves(k);
    for (std::size_t s = 0; s < n; ++s) costs[s * n + s] = 0;
    network.moves.push_back(costs);
    return static_cast<int>(network.moves.size()) - 1;
  }
  constexpr std::int64_t path(int k, int from, int to) const {
    auto const row = static_cast<std::size_t>(from) * static_cast<std::size_t>(states(k));
    return network.moves[static_cast<std::size_t>(of(k).table)][row + static_cast<std::size_t>(to)];
  }
  /// `always`: whether the later variable reads the value in each of its states.
  constexpr void connect(int from, int to, int party, int value, bool stays, bool always) {
    Edge e;
    e.from = from;
    e.to = to;
    e.party = party;
    e.layouts = states(value);
    e.moves = stays ? stay(value) : of(value).table;
    int const number = static_cast<int>(network.edges.size());
    Variable& first = network.variables[static_cast<std::size_t>(from)];
    first.out.push_back(number);
    if (!first.is_home && first.out.size() > 1 && (always || of(value).read_always))
      network.usable = false;
    of(value).read_always = of(value).read_always || always;
    network.variables[static_cast<std::size_t>(to)].in.push_back(number);
    network.edges.push_back(e);
  }
  template <class Parts>
  constexpr void add_strategies(Parts const& parts, int k) {
    ProgramNode const& n = p_.nodes.at[k];
    Variable v;
    v.node = k;
    v.strategies =
        parts.strategies(k, [this](int value, int from, int to) { return path(value, from, to); });
    auto const reads = static_cast<std::size_t>(n.ways * n.operands);
    bool const shared = p_.shared(k);
    if (n.pinned >= 0) end_at(v.strategies, k, of(k).graph.index[n.pinned]);
    if (k == p_.root && !shared) end_at(v.strategies, k, of(k).graph.index[p_.wanted]);
    if (of(k).optional) {
      v.strategies.time.push_back(0);
      v.strategies.layouts.push_back(static_cast<std::int16_t>(of(k).graph.layouts));
      for (std::size_t m = 0; m < reads; ++m)
        v.strategies.layouts.push_back(static_cast<std::int16_t>(of(operand(k, m)).graph.layouts));
    }
    if (n.ways > 1 || of(k).optional) number_choices(v, k);
    of(k).maker = static_cast<int>(network.variables.size());
    network.variables.push_back(v);
    for (std::size_t m = 0; m < reads; ++m) {
      int const o = operand(k, m);
      if (p_.nodes.at[o].making == Making::given && home(o) < 0) continue;
      connect(home(o) >= 0 ? home(o) : of(o).maker, of(k).maker, static_cast<int>(m) + 1, o,
              n.making == Making::result, n.ways == 1 && !of(k).optional);
    }
    if (!shared) return;
    add_home(k);
    connect(of(k).maker, home(k), 0, k, n.has_results, true);
  }
  /// The way of each strategy, by the operands that it reads; the last: the value is not computed.
  constexpr void number_choices(Variable& v, int k) const {
    ProgramNode const& n = p_.nodes.at[k];
    auto const parties = static_cast<std::size_t>(v.strategies.parties);
    v.choices = n.ways + (of(k).optional ? 1 : 0);
    for (std::size_t s = 0; s < v.strategies.time.size(); ++s) {
      std::size_t m = 1;
      while (m < parties &&
             v.strategies.layouts[s * parties + m] == of(operand(k, m - 1)).graph.layouts)
        ++m;
      v.choice.push_back(
          static_cast<std::int16_t>(m < parties ? static_cast<int>(m - 1) / n.operands : n.ways));
    }
  }
  /// Operand `m` of all ways to compute a value.
  constexpr int operand(int k, std::size_t m) const {
    return p_.uses.at[p_.nodes.at[k].first_use + static_cast<int>(m)];
  }
  constexpr void add_home(int k) {
    Variable h;
    h.node = k;
    h.is_home = true;
    h.unary.resize(static_cast<std::size_t>(states(k)), 0);
    h.unary[static_cast<std::size_t>(of(k).graph.layouts)] = impossible_cost;
    if (p_.nodes.at[k].making == Making::given)
      for (int s = 0; s < of(k).graph.layouts; ++s)
        h.unary[static_cast<std::size_t>(s)] = path(k, of(k).graph.index[p_.nodes.at[k].pinned], s);
    if (k == p_.root)
      for (int s = 0; s < of(k).graph.layouts; ++s)
        h.unary[static_cast<std::size_t>(s)] = planning::sum_of_costs(
            h.unary[static_cast<std::size_t>(s)], path(k, s, of(k).graph.index[p_.wanted]));
    home(k) = static_cast<int>(network.variables.size());
    network.variables.push_back(h);
  }
  /// Adds to each strategy the path from its value's layout to another, which then is its layout.
  constexpr void end_at(StrategyList& list, int k, int layout) const {
    for (std::size_t s = 0; s < list.time.size(); ++s) {
      std::int16_t& made = list.layouts[s * static_cast<std::size_t>(list.parties)];
      list.time[s] = planning::sum_of_costs(list.time[s], path(k, made, layout));
      made = static_cast<std::int16_t>(layout);
    }
  }
  /// What is known of a value.
  struct Value {
    bool used = false;
    bool optional = false;     ///< whether there are plans that do not compute it
    bool read_always = false;  ///< whether a reader reads it in all plans
    int table = -1;
    int maker = -1;  ///< its variable
    LayoutGraph graph{};
  };
  constexpr Value& of(int k) { return value_[static_cast<std::size_t>(k)]; }
  constexpr Value const& of(int k) const { return value_[static_cast<std::size_t>(k)]; }
  constexpr int& home(int k) { return network.homes[static_cast<std::size_t>(k)]; }

  RecordedProgram const& p_;
  shardtype::detail::List<Value> value_;
};

/// The cost network of a program. `parts`: NetworkParts, or what gives the same.
template <class Parts>
constexpr CostNetwork cost_network(RecordedProgram const& p, Parts const& parts) {
  return NetworkWriter(p, parts).network;
}

}  // namespace shardtype::planning
