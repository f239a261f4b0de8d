#pragma once
/// The plan of a program at compile time. Each value of the program is planned in a constant of its
/// own, so that no single evaluation comes near a compiler's step limit.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <shardtype/check/resolve.hpp>
#include <shardtype/lazy/compiled_homes.hpp>
#include <shardtype/lazy/written_program.hpp>
#include <shardtype/plan/cost_network.hpp>
#include <shardtype/plan/layout_tables.hpp>
#include <shardtype/plan/plan_writer.hpp>
#include <shardtype/plan/program_planner.hpp>

namespace shardtype {

/// A policy of `evaluate`, as a type: `struct Cluster { static constexpr Machine machine = ...;
/// static constexpr std::int64_t memory_limit = 1_GiB; };`. Both members are optional. The limit is
/// for the memory that a rank needs besides the operands of the expression.
template <class P>
concept PlanPolicy =
    requires { requires P::is_plan_policy; } || requires { Machine(P::machine); } || requires {
      { P::memory_limit + std::int64_t{} };
    };

/// A policy of `evaluate`: at most `Bytes` bytes of temporaries on a rank.
template <std::int64_t Bytes>
struct MemoryLimit {
  static constexpr std::int64_t memory_limit = Bytes;
};

namespace detail {

/// The default policy.
struct DefaultPolicy {
  static constexpr bool is_plan_policy = true;
};
template <class P>
inline constexpr bool names_machine = requires { Machine(P::machine); };
template <class P>
constexpr Machine machine_of() {
  if constexpr (names_machine<P>) {
    return P::machine;
  } else {
    return {};
  }
}
template <class P>
constexpr std::int64_t limit_of() {
  if constexpr (requires { P::memory_limit + std::int64_t{}; }) {
    return P::memory_limit;
  } else {
    return -1;
  }
}

constexpr planning::Rates rates_for(Machine const& m, std::int64_t limit, Sizes const& sizes,
                                    ProgramNames const& names) {
  Identity ids[max_axes]{};
  for (int x = 0; x < names.axes; ++x) ids[x] = names.axis[x].id;
  return {m, sizes, ids, names.axes, limit};
}

/// Renumbers the candidates of a search: candidates that are not part of the Pareto front get -1.
/// `size` is the number of the others.
struct WayNumbers {
  List<std::int32_t> at;
  std::size_t size = 0;

  constexpr WayNumbers(planning::FrontierSearch const& search, std::size_t layouts)
      : at(search.options().size(), -1) {
    for (std::size_t s = 0; s < layouts; ++s)
      for (std::int32_t k = search.first()[s]; k >= 0;
           k = search.options()[static_cast<std::size_t>(k)].next)
        for (std::int32_t w = k; w >= 0; w = search.options()[static_cast<std::size_t>(w)].from)
          if (at[static_cast<std::size_t>(w)] < 0)
            at[static_cast<std::size_t>(w)] = static_cast<std::int32_t>(size++);
  }
};
/// The Pareto front that `Search::run` finds, for `Layouts` layouts, stored in arrays of its own.
template <class Search, std::size_t Layouts, std::size_t Ways>
struct FrontierTable {
  static constexpr std::size_t each = static_cast<std::size_t>(Search::operands_size) + 1;
  planning::Option ways[Ways]{};
  std::int32_t first[Layouts]{};
  std::int32_t makings[Ways * each]{};

  constexpr FrontierTable() {
    if constexpr (Search::rates.memory_limit < 0) {
      Search::run({ways, first, makings});
    } else {
      take(Search::run({}));
    }
  }

 private:
  /// Copies only the candidates of the Pareto front, and those they are derived from.
  constexpr void take(planning::FrontierSearch const& search) {
    WayNumbers const number(search, Layouts);
    auto numbered = [&](std::int32_t k) {
      return k < 0 ? -1 : number.at[static_cast<std::size_t>(k)];
    };
    for (std::size_t s = 0; s < Layouts; ++s) first[s] = numbered(search.first()[s]);
    for (std::size_t k = 0; k < number.at.size(); ++k) {
      if (number.at[k] < 0) continue;
      auto const mine = static_cast<std::size_t>(number.at[k]);
      planning::Option& o = ways[mine];
      o = search.options()[k];
      o.from = numbered(o.from);
      o.next = numbered(o.next);
      if (o.making < 0) continue;
      for (std::size_t m = 0; m < each; ++m)
        makings[mine * each + m] = search.makings()[static_cast<std::size_t>(o.making) + m];
      o.making = static_cast<std::int32_t>(mine * each);
    }
  }
};

/// Whether `other` is an operand of `value`.
constexpr bool reads(RecordedProgram const& p, int value, int other) {
  ProgramNode const& n = p.nodes.at[value];
  for (int k = 0; k < n.ways * n.operands; ++k)
    if (p.uses.at[n.first_use + k] == other) return true;
  return false;
}
/// For each value, the first value with the same Pareto front: the same node kind with operands
/// that have the same Pareto fronts, like the three products of attention.
template <std::size_t Size>
struct AlikeValues {
  int first[Size]{};

  constexpr explicit AlikeValues(RecordedProgram const& p) {
    for (int k = 0; k < p.size; ++k) {
      first[k] = k;
      if (detail::has_home(p, k)) continue;
      for (int m = 0; m < k && first[k] == k; ++m)
        if (first[m] == m && !detail::has_home(p, m) && alike(p, m, k)) first[k] = m;
    }
  }

 private:
  /// The correspondence of two values' labels, dim by dim.
  struct Renaming {
    List<int> to;  ///< by label, one more than the label; 0: not seen yet
    List<int> from;

    constexpr explicit Renaming(int labels)
        : to(static_cast<std::size_t>(labels), 0), from(static_cast<std::size_t>(labels), 0) {}
    constexpr bool fits(RecordedProgram const& p, int a, int b) {
      ProgramNode const& x = p.nodes.at[a];
      ProgramNode const& y = p.nodes.at[b];
      for (int d = 0; d < x.rank; ++d) {
        int& other = to[static_cast<std::size_t>(x.labels[d])];
        int& mine = from[static_cast<std::size_t>(y.labels[d])];
        if (other == 0 && mine == 0) other = y.labels[d] + 1, mine = x.labels[d] + 1;
        if (other != y.labels[d] + 1 || mine != x.labels[d] + 1) return false;
        if (p.extents.at[x.labels[d]] != p.extents.at[y.labels[d]]) return false;
      }
      return true;
    }
  };
  static constexpr bool alike_totals(RecordedProgram const& p, ProgramNode const& x,
                                     ProgramNode const& y) {
    if (!x.rereads || !y.rereads) return x.rereads == y.rereads;
    return p.nodes.at[x.totals].element_bytes == p.nodes.at[y.totals].element_bytes;
  }
  constexpr bool alike(RecordedProgram const& p, int a, int b) const {
    ProgramNode const& x = p.nodes.at[a];
    ProgramNode const& y = p.nodes.at[b];
    if (x.making != y.making || x.rank != y.rank || x.pinned != y.pinned ||
        x.element_bytes != y.element_bytes || x.copy_bytes != y.copy_bytes || x.work != y.work ||
        x.own_call != y.own_call || x.cyclic != y.cyclic || x.operands != y.operands ||
        x.ways != y.ways || x.unreduced_count != y.unreduced_count)
      return false;
    if (!alike_totals(p, x, y) || x.work_on != y.work_on || x.variant != y.variant ||
        x.total_bytes != y.total_bytes || x.sums != y.sums || x.in_place != y.in_place ||
        x.aligned_dim != y.aligned_dim || x.aligned_with != y.aligned_with ||
        x.aligned_operand != y.aligned_operand || x.tail_dim != y.tail_dim ||
        x.tail_party != y.tail_party || x.call_on_rows != y.call_on_rows || x.along != y.along)
      return false;
    for (int k = 0; k < x.unreduced_count; ++k)
      if (x.unreduced_sets[k] != y.unreduced_sets[k]) return false;
    for (int k = 0; k < x.operands; ++k)
      if (x.order[k] != y.order[k]) return false;
    for (int k = 0; k <= x.operands; ++k)
      if (x.whole[k] != y.whole[k]) return false;
    Renaming names(p.labels);
    if (!names.fits(p, a, b)) return false;
    for (int k = 0; k < x.ways * x.operands; ++k) {
      int const of_x = p.uses.at[x.first_use + k];
      int const of_y = p.uses.at[y.first_use + k];
      if (first[of_x] != first[of_y]) return false;
      // relabelling goes by dims
      if (x.making != Making::relabel && !names.fits(p, of_x, of_y)) return false;
    }
    return true;
  }
};
template <class P>
inline constexpr AlikeValues<size_of_program<P>> alike_values{P::program};

/// The Pareto front of a value as its readers see it.
template <class P, int Node, bool has_home = detail::has_home(P::program, Node)>
struct ReadFrontier;
template <class P, int Node>
inline constexpr planning::Frontier const& read_frontier =
    ReadFrontier<P, alike_values<P>.first[Node]>::view;

/// Number of candidates in the table of a search; without a memory limit, `unlimited`.
template <class Search, std::size_t Layouts>
constexpr std::size_t ways_of(std::size_t unlimited) {
  if constexpr (Search::rates.memory_limit < 0) {
    return unlimited;
  } else {
    return WayNumbers(Search::run({}), Layouts).size + 1;
  }
}

/// The Pareto front of value `Node` of the program `P::program` at the rates `P::rates`, when it is
/// computed.
template <class P, int Node>
struct NodeFrontier {
  static constexpr auto const& graph =
      planning::layout_graph<P::program.nodes.at[Node].rank, P::program.axes>;
  static constexpr auto const& rates = P::rates;

  /// Only for its operands: others may be those of later values.
  template <int K>
  static constexpr planning::Frontier const* other() {
    if constexpr (detail::reads(P::program, Node, K)) {
      return &read_frontier<P, K>;
    } else {
      return nullptr;
    }
  }
  template <int... K>
  static constexpr std::array<planning::Frontier const*, static_cast<std::size_t>(Node + 1)> others(
      std::integer_sequence<int, K...>) {
    return {other<K>()..., nullptr};
  }
  static constexpr std::array<planning::Frontier const*, static_cast<std::size_t>(Node + 1)>
      operands = others(std::make_integer_sequence<int, Node>{});
  static constexpr int operands_size = P::program.nodes.at[Node].operands;
  static constexpr planning::FrontierSearch run(planning::FrontierMemory const& to) {
    return {P::program, Node, graph, operands.data(), P::rates, -1, to};
  }
  static constexpr auto layouts = static_cast<std::size_t>(graph.layouts);
  /// A constrained value has two candidates per layout: before and after the constraint.
  static constexpr bool twice =
      P::program.nodes.at[Node].pinned >= 0 && P::program.nodes.at[Node].making != Making::given;
  static constexpr std::size_t ways =
      detail::ways_of<NodeFrontier, layouts>(twice ? 2 * layouts : layouts);
  static constexpr FrontierTable<NodeFrontier, layouts, ways> table{};
  static constexpr planning::Frontier view = {graph, table.ways, table.first, table.makings};
};
template <class P, int Node>
struct ReadFrontier<P, Node, false> {
  static constexpr auto const& view = NodeFrontier<P, Node>::view;
};
/// A value that is moved from its home is available in that layout.
template <class P, int Node>
struct ReadFrontier<P, Node, true> {
  using Made = NodeFrontier<P, Node>;
  static constexpr auto const& rates = P::rates;
  static constexpr int operands_size = 0;
  static constexpr planning::FrontierSearch run(planning::FrontierMemory const& to) {
    return {P::program, Node, Made::graph, Made::operands.data(), rates, compiled_homes<P>.at[Node],
            to};
  }
  static constexpr FrontierTable<ReadFrontier, Made::layouts, Made::layouts> table{};
  static constexpr planning::Frontier view = {Made::graph, table.ways, table.first, table.makings};
};
template <class P, int K>
constexpr planning::Frontier const* made_frontier() {
  if constexpr (detail::has_home(P::program, K)) {
    return &NodeFrontier<P, K>::view;
  } else {
    return nullptr;
  }
}
template <class P, int... K>
constexpr ProgramPlan write_plan(std::integer_sequence<int, K...>) {
  planning::Frontier const* const fronts[] = {&read_frontier<P, K>...};
  planning::Frontier const* const made[] = {detail::made_frontier<P, K>()...};
  ProgramPlan plan;
  plan.program = P::program;
  planning::PlanWriter(plan, fronts, made).write(P::program.root, P::program.wanted);
  if constexpr (P::has_homes) {
    plan.least = compiled_homes<P>.least;
    plan.searched = std::min(compiled_homes<P>.searched, plan.picoseconds(P::rates));
  } else if (P::rates.memory_limit < 0) {
    plan.least = plan.searched;
  }
  if (P::memory_limit >= 0 && plan.temporary_bytes() > P::memory_limit) plan.possible = false;
  return plan;
}
/// The plan of the program `P` as a constant.
template <class P>
struct ConstantPlan {
  using Values = std::make_integer_sequence<int, P::program.size>;
  static constexpr auto size = static_cast<std::size_t>(detail::write_plan<P>(Values{}).size);
  struct Steps {
    ProgramStep at[size + 1]{};
    bool possible = false;
    std::int64_t searched = -1;
    std::int64_t least = -1;

    constexpr Steps() {
      ProgramPlan const plan = detail::write_plan<P>(Values{});
      for (int k = 0; k < plan.size; ++k) at[k] = plan.steps.at[k];
      possible = plan.possible;
      searched = plan.searched;
      least = plan.least;
    }
  };
  static constexpr Steps steps{};
  static constexpr ProgramPlan value = {P::program,     static_cast<int>(size),
                                        steps.possible, steps.searched,
                                        steps.least,    {steps.at, size}};
};
template <class P>
inline constexpr ProgramPlan const& compiled_program_plan = ConstantPlan<P>::value;

/// Whether the homes of a program are proven, and the plan from them keeps to the memory limit.
template <class P>
constexpr bool homes_as_constants() {
  if constexpr (!compiled_homes<P>.found) {
    return false;
  } else {
    return P::memory_limit < 0 || compiled_program_plan<P>.possible;
  }
}
/// Whether the plan of a program is a constant.
template <class P>
constexpr bool planned_as_constant() {
  if constexpr (!P::names.all_static() || P::written.fault != Code::ok) {
    return P::names.all_static();
  } else if constexpr (P::program.size > most_compiled_values) {
    return false;
  } else if constexpr (P::has_homes) {
    return detail::homes_as_constants<P>();
  } else {
    return true;
  }
}
/// The program of an expression with a policy, and its plan if the types determine all sizes.
template <class Policy, class E, class Out, class... Xs>
struct Planned {
  using result = Out;
  static constexpr auto const& written = ProgramConstant<E, Out, Xs...>::value;
  static constexpr auto const& program = written.program;
  static constexpr auto const& names = written.names;
  static constexpr Machine machine = detail::machine_of<Policy>();
  static constexpr std::int64_t memory_limit = detail::limit_of<Policy>();
  /// Whether values have homes, which are chosen on the cost network.
  static constexpr bool has_homes = !planning::is_tree(program);
  /// With homes, a constant is the plan without a memory limit, if that keeps to the limit.
  static constexpr planning::Rates rates =
      detail::rates_for(machine, has_homes ? -1 : memory_limit, program.sizes, names);
  /// Whether the plan is found at compile time: all sizes are static, and the program is small
  /// enough.
  static constexpr bool is_static = detail::planned_as_constant<Planned>();
  /// Whether the machine is known: the policy names it, or the plan is found at compile time.
  static constexpr bool machine_known = is_static || names_machine<Policy>;
};

}  // namespace detail

}  // namespace shardtype
