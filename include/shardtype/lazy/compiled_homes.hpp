#pragma once
/// The homes of values with several readers at compile time, on the cost network that is used at
/// run time (plan/cost_network.hpp). But in small programs, each table of moves, each list of
/// strategies and each pass of messages is a constant of its own, so that no evaluation comes near
/// a compiler's step limit.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <shardtype/plan/layout_tables.hpp>
#include <shardtype/plan/message_passing.hpp>

namespace shardtype::detail {

/// Above these sizes a program is planned at its first call. In values, and in costs of moves that
/// one pass of messages reads.
inline constexpr int most_compiled_values = 128;
inline constexpr std::int64_t most_compiled_moves = 40'000;
/// Up to this size, all is one constant.
inline constexpr std::int64_t most_moves_at_once = 500;
/// Sweeps after which messages that leave a gap are left to the first call.
inline constexpr int most_compiled_sweeps = 8;

/// Whether a value is moved from a home in one layout.
constexpr bool has_home(RecordedProgram const& p, int k) {
  return p.shared(k) || planning::is_kept_given(p, k);
}
/// The layout graphs of values of at most four dims; null: of more.
template <int Axes>
inline constexpr std::array<planning::LayoutGraph const*, max_dims + 1> graphs_by_rank =
    []<std::size_t... Rank>(std::index_sequence<Rank...>) {
      return std::array<planning::LayoutGraph const*, max_dims + 1>{
          (Rank < 5 ? &planning::layout_graph<(Rank < 5 ? static_cast<int>(Rank) : 0), Axes>
                    : nullptr)...};
    }(std::make_index_sequence<max_dims + 1>{});
template <class P>
inline constexpr auto size_of_program = static_cast<std::size_t>(P::program.size);

/// An upper bound of the moves that one pass of messages reads.
template <class P>
constexpr std::int64_t moves_of_pass() {
  RecordedProgram const& p = P::program;
  constexpr auto const& graphs = graphs_by_rank<P::program.axes>;
  std::int64_t sum = 0;
  for (int k = 0; k < p.size; ++k) {
    ProgramNode const& n = p.nodes.at[k];
    for (int m = 0; m <= n.ways * n.operands; ++m) {
      int const value = m == 0 ? k : p.uses.at[n.first_use + m - 1];
      if (m == 0 && !has_home(p, k)) continue;
      planning::LayoutGraph const* const graph =
          graphs[static_cast<std::size_t>(p.nodes.at[value].rank)];
      if (graph == nullptr) return most_compiled_moves + 1;
      sum += std::int64_t{graph->layouts + 1} * (graph->layouts + 1);
    }
  }
  return sum;
}

/// The parts of the cost network of the program `P::program` as constants.
template <class P>
struct CompiledParts {
  template <int K>
  static constexpr planning::LayoutGraph const& graph_of() {
    return planning::layout_graph<P::program.nodes.at[K].rank, P::program.axes>;
  }
  static constexpr auto const& rates = P::rates;
  /// The first value with the same moves.
  static constexpr int alike(int k) {
    for (int m = 0; m < k; ++m)
      if (planning::moves_alike(P::program, m, k)) return m;
    return k;
  }
  template <int K>
  struct Moves {
    static constexpr auto n = static_cast<std::size_t>(graph_of<K>().layouts) + 1;
    std::int64_t at[n * n]{};
    constexpr Moves() {
      planning::Costs const costs = planning::moves_of(P::program, K, graph_of<K>(), rates);
      for (std::size_t k = 0; k < n * n; ++k) at[k] = costs[k];
    }
  };
  template <int K>
  static constexpr Moves<K> moves_table{};

  using Values = std::make_integer_sequence<int, P::program.size>;
  template <int... K>
  static constexpr std::array<planning::LayoutGraph const*, sizeof...(K)> all_graphs(
      std::integer_sequence<int, K...>) {
    return {&planning::layout_graph<P::program.nodes.at[K].rank, P::program.axes>...};
  }
  template <int... K>
  static constexpr std::array<std::int64_t const*, sizeof...(K)> all_moves(
      std::integer_sequence<int, K...>) {
    return {moves_table<alike(K)>.at...};
  }
  static constexpr std::array graphs = all_graphs(Values{});
  static constexpr std::array tables = all_moves(Values{});

  static constexpr planning::LayoutGraph const& graph(int k) {
    return *graphs[static_cast<std::size_t>(k)];
  }
  static constexpr std::int64_t path(int k, int from, int to) {
    return tables[static_cast<std::size_t>(k)][from * (graph(k).layouts + 1) + to];
  }
  static constexpr planning::Costs moves(int k) {
    auto const n = static_cast<std::size_t>(graph(k).layouts) + 1;
    planning::Costs out(n * n);
    for (std::size_t m = 0; m < n * n; ++m) out[m] = tables[static_cast<std::size_t>(k)][m];
    return out;
  }

  struct Strategies {
    int parties = 1;
    std::size_t count = 0;
    std::int64_t const* time = nullptr;
    std::int16_t const* layouts = nullptr;
  };
  template <int K>
  static constexpr planning::StrategyList listed() {
    return planning::strategies_of(
        P::program, K, rates, [](int k) -> planning::LayoutGraph const& { return graph(k); },
        [](int k, int from, int to) { return path(k, from, to); });
  }
  template <int K>
  static constexpr std::size_t count_of = listed<K>().time.size();
  template <int K>
  struct StrategyTable {
    static constexpr std::size_t count = count_of<K>;
    static constexpr int parties =
        P::program.nodes.at[K].ways * P::program.nodes.at[K].operands + 1;
    std::int64_t time[count + 1]{};
    std::int16_t layouts[(count + 1) * static_cast<std::size_t>(parties)]{};
    constexpr StrategyTable() {
      planning::StrategyList const list = listed<K>();
      for (std::size_t s = 0; s < count; ++s) time[s] = list.time[s];
      for (std::size_t m = 0; m < list.layouts.size(); ++m) layouts[m] = list.layouts[m];
    }
  };
  template <int K>
  static constexpr StrategyTable<K> strategy_table{};
  template <int K>
  static constexpr Strategies strategies_at() {
    if constexpr (P::program.nodes.at[K].making == Making::given) {
      return {};
    } else {
      using Listed = StrategyTable<K>;
      return {Listed::parties, Listed::count, strategy_table<K>.time, strategy_table<K>.layouts};
    }
  }
  template <int... K>
  static constexpr std::array<Strategies, sizeof...(K)> all_strategies(
      std::integer_sequence<int, K...>) {
    return {strategies_at<K>()...};
  }
  static constexpr std::array lists = all_strategies(Values{});
  template <class Path>
  static constexpr planning::StrategyList strategies(int k, Path const&) {
    Strategies const& from = lists[static_cast<std::size_t>(k)];
    planning::StrategyList out;
    out.parties = from.parties;
    out.time.resize(from.count);
    out.layouts.resize(from.count * static_cast<std::size_t>(from.parties));
    for (std::size_t s = 0; s < out.time.size(); ++s) out.time[s] = from.time[s];
    for (std::size_t m = 0; m < out.layouts.size(); ++m) out.layouts[m] = from.layouts[m];
    return out;
  }
};

/// Messages on the cost network of `P`, and what they say so far.
template <class P>
struct CompiledMessages {
  struct Sizes {
    bool usable = false;
    std::size_t messages = 0;
    std::size_t variables = 0;
  };
  static constexpr Sizes sizes = [] {
    planning::CostNetwork const g = planning::cost_network(P::program, CompiledParts<P>{});
    Sizes out;
    out.usable = g.usable;
    out.variables = g.variables.size();
    for (planning::CostNetwork::Edge const& e : g.edges)
      out.messages += static_cast<std::size_t>(e.layouts);
    return out;
  }();
  struct State {
    std::int64_t to_first[sizes.messages + 1]{};
    std::int64_t to_second[sizes.messages + 1]{};
    int homes[sizes.variables + 1]{};
    std::int64_t bound = 0;
    std::int64_t best = planning::impossible_cost;
    std::int64_t scale = 1;
    bool closed = false;
  };

  /// The messages after one more part of a sweep: the choice of homes, which says whether they are
  /// proven, the pass forward, or that back with the bound.
  static constexpr State advance(State state, int part) {
    planning::CostNetwork const g = planning::cost_network(P::program, CompiledParts<P>{});
    planning::MessagePassing m(g);
    m.bound = state.bound;
    m.best = state.best;
    m.homes.resize(sizes.variables);
    for (std::size_t v = 0; v < sizes.variables; ++v) m.homes[v] = state.homes[v];
    each(m, [&](std::int64_t& first, std::int64_t& second, std::size_t k) {
      first = state.to_first[k];
      second = state.to_second[k];
    });
    if (part == 0) {
      m.decode();
      state.closed = m.closed();
      state.best = m.best;
      for (std::size_t v = 0; v < sizes.variables; ++v) state.homes[v] = m.homes[v];
    } else {
      m.pass(part == 1);
      if (part == 2)
        if (std::int64_t const now = m.certificate(); now > m.bound) m.bound = now;
    }
    state.bound = m.bound;
    state.scale = g.scale;
    each(m, [&](std::int64_t const& first, std::int64_t const& second, std::size_t k) {
      state.to_first[k] = first;
      state.to_second[k] = second;
    });
    return state;
  }

 private:
  template <class Visit>
  static constexpr void each(planning::MessagePassing& m, Visit const& visit) {
    std::size_t k = 0;
    for (std::size_t e = 0; e < m.to_first.size(); ++e)
      for (std::size_t s = 0; s < m.to_first[e].size(); ++s)
        visit(m.to_first[e][s], m.to_second[e][s], k++);
  }
};
template <class P, int Part>
struct CompiledSweeps {
  using Messages = CompiledMessages<P>;
  static constexpr typename Messages::State value =
      Messages::advance(CompiledSweeps<P, Part - 1>::value, Part % 3);
};
template <class P>
struct CompiledSweeps<P, 0> {
  using Messages = CompiledMessages<P>;
  static constexpr typename Messages::State value = Messages::advance({}, 0);
};
/// The messages when homes are proven, or after the last sweep.
template <class P, int Sweep = 0>
constexpr auto const& last_messages() {
  using Now = CompiledSweeps<P, 3 * Sweep>;
  if constexpr (Now::value.closed || Sweep == most_compiled_sweeps) {
    return Now::value;
  } else {
    return detail::last_messages<P, Sweep + 1>();
  }
}

/// The homes of a program of `Size` values, by value; -1: the value has none.
template <std::size_t Size>
struct CompiledHomes {
  bool found = false;  ///< whether they are proven the best
  int at[Size]{};
  std::int64_t least = -1;
  std::int64_t searched = -1;
};
template <class P>
constexpr auto homes_of(planning::CostNetwork const& g, int const* at, std::int64_t bound,
                        std::int64_t best) {
  CompiledHomes<size_of_program<P>> out;
  out.found = true;
  for (int k = 0; k < P::program.size; ++k) out.at[k] = g.home(k) < 0 ? -1 : at[g.home(k)];
  out.least = (bound + g.scale - 1) / g.scale;
  out.searched = best / g.scale;
  return out;
}
/// The homes of a small program, all in one constant.
template <class P>
constexpr auto find_few_homes() {
  auto const graphs = [](int rank) -> planning::LayoutGraph const& {
    return *graphs_by_rank<P::program.axes>[static_cast<std::size_t>(rank)];
  };
  planning::CostNetwork const g =
      planning::cost_network(P::program, planning::NetworkParts(P::program, P::rates, graphs));
  if (!g.usable) return CompiledHomes<size_of_program<P>>{};
  planning::MessagePassing messages(g);
  messages.run(most_compiled_sweeps);
  if (!messages.closed()) return CompiledHomes<size_of_program<P>>{};
  return detail::homes_of<P>(g, messages.homes.data(), messages.bound, messages.best);
}
template <class P>
constexpr auto find_homes() {
  constexpr std::int64_t moves = detail::moves_of_pass<P>();
  if constexpr (moves <= most_moves_at_once) {
    return detail::find_few_homes<P>();
  } else if constexpr (moves <= most_compiled_moves) {
    if constexpr (CompiledMessages<P>::sizes.usable) {
      auto const& messages = detail::last_messages<P>();
      if (messages.closed)
        return detail::homes_of<P>(planning::cost_network(P::program, CompiledParts<P>{}),
                                   messages.homes, messages.bound, messages.best);
    }
    return CompiledHomes<size_of_program<P>>{};
  } else {
    return CompiledHomes<size_of_program<P>>{};
  }
}
template <class P>
inline constexpr auto compiled_homes = detail::find_homes<P>();

}  // namespace shardtype::detail
