#pragma once
/// The Pareto front of one value of a program over its layouts: the state of the dynamic program
/// behind automatic mode.

#include <cstdint>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/cost.hpp>
#include <shardtype/plan/plan.hpp>
#include <shardtype/plan/program.hpp>

namespace shardtype::planning {

/// Costs of steps over each set of axes on a machine.
struct Rates {
  Machine over[1 << searched_axes]{};
  std::int64_t ranks[1 << searched_axes]{};
  std::int64_t latency[1 << searched_axes][collective_rows]{};  ///< picoseconds
  /// Limit on the bytes of temporaries on a rank; negative: no limit.
  std::int64_t memory_limit = -1;

  constexpr Rates(Machine const& m, Sizes const& sizes, Identity const* axis_id, int axes,
                  std::int64_t limit)
      : memory_limit(limit) {
    for (unsigned set = 0; set < 1U << axes; ++set) {
      Identity members[searched_axes]{};
      std::int64_t along[searched_axes]{};
      int n = 0;
      std::int64_t p = 1;
      for (int x = 0; x < axes; ++x) {
        if (((set >> x) & 1U) == 0 || sizes[x] == 1) continue;  // an axis of one rank has no links
        members[n] = axis_id[x];
        along[n++] = sizes[x];
        p *= sizes[x];
      }
      over[set] = m.over(members, along, n);
      ranks[set] = p;
      for (Collective const c : all_collectives)
        latency[set][static_cast<int>(c)] = step_latency(c, p, over[set]);
    }
  }
};

/// A candidate: one way to compute a value in a layout, with its cost and its derivation.
struct Option {
  std::int64_t time = 0;     ///< picoseconds
  std::int64_t moved = 0;    ///< bytes a rank moves; decides between equal times
  std::int64_t peak = 0;     ///< peak bytes of temporaries so far
  std::int64_t size = 0;     ///< bytes of a block
  std::int64_t held = 0;     ///< bytes of temporary memory of the value itself; 0 for an operand of
                             ///< the program
  std::int32_t from = -1;    ///< the candidate before the last step
  std::int32_t edge = -1;    ///< the last step; -1: computed, as `making` says
  std::int32_t making = -1;  ///< index of its record in the Pareto front's `makings`
  std::int16_t layout = 0;
  std::int32_t next = -1;  ///< the next candidate for this layout
};

/// The candidates for one value that no other candidate beats in time and memory. A view of tables
/// stored elsewhere.
struct Frontier {
  LayoutGraph graph{};
  Option const* ways = nullptr;
  std::int32_t const* first = nullptr;  ///< first candidate of each layout, or -1
  /// Records of computed candidates: the alternative, then the candidate of each operand.
  std::int32_t const* makings = nullptr;
};

/// All ways to place the axes in the computation of a value: its own time, and the layouts of the
/// value and of its operands. If it can be computed in several ways, from other operands each, the
/// parties are the operands of all of them; those that a strategy does not read have layout -1.
struct StrategyList {
  int parties = 0;  ///< the value and its operands
  shardtype::detail::List<std::int64_t> time;
  shardtype::detail::List<std::int16_t> layouts;  ///< of each party, strategy by strategy
};

/// Whether a value has a layout in which it is unreduced over an axis.
constexpr bool can_be_unreduced(RecordedProgram const& p, int node) {
  ProgramNode const& n = p.nodes.at[node];
  if (n.pinned >= 0) {
    int const base = p.code(node).base();
    for (int x = 0, code = n.pinned; x < p.axes; ++x, code /= base)
      if (code % base == 1) return true;
    return false;
  }
  if (n.making == Making::product || n.making == Making::reduction || n.sums) return true;
  for (int set = 0; set < n.unreduced_count; ++set) {
    bool all = true;
    for (int k = 0; k < n.operands; ++k)
      if (((n.unreduced_sets[set] >> k) & 1U) != 0)
        all = all && can_be_unreduced(p, p.operand(node, 0, k));
    if (all) return true;
  }
  return false;
}

/// The extents of the largest block of a value in a layout, by its dims.
constexpr void block_extents(RecordedProgram const& p, int node, int code, std::int64_t* extents) {
  ProgramNode const& n = p.nodes.at[node];
  std::int64_t parts[max_dims];
  for (int d = 0; d < n.rank; ++d) parts[d] = 1;
  int const base = 2 + n.rank * p.axes;
  for (int x = 0; x < p.axes; ++x, code /= base)
    if (int const at = code % base; at >= 2) parts[(at - 2) / p.axes] *= p.sizes.at[x];
  for (int d = 0; d < n.rank; ++d) extents[d] = ceil_div(p.extents.at[n.labels[d]], parts[d]);
}
/// Notes them by the program's labels.
constexpr void note_block(RecordedProgram const& p, int node, int code, std::int64_t* extents) {
  ProgramNode const& n = p.nodes.at[node];
  std::int64_t own[max_dims];
  planning::block_extents(p, node, code, own);
  for (int d = 0; d < n.rank; ++d) extents[n.labels[d]] = own[d];
}
/// Bytes of the largest block of a value in a layout.
constexpr std::int64_t block_bytes(RecordedProgram const& p, int node, int code) {
  ProgramNode const& n = p.nodes.at[node];
  if (n.cyclic >= 0) {
    Sizing const z = p.sizing(node);
    return mul_sat(core::largest_elements(p.spec(node, code), z.extents, z.sizes), n.element_bytes);
  }
  std::int64_t extents[max_dims];
  planning::block_extents(p, node, code, extents);
  std::int64_t bytes = n.element_bytes;
  for (int d = 0; d < n.rank; ++d) bytes = mul_sat(bytes, extents[d]);
  return bytes;
}

/// Elements of the largest block of a value in a layout along the dims before `dim`.
constexpr std::int64_t outer_elements(RecordedProgram const& p, int node, int code, int dim) {
  std::int64_t extents[max_dims];
  planning::block_extents(p, node, code, extents);
  std::int64_t elements = 1;
  for (int d = 0; d < dim; ++d) elements = mul_sat(elements, extents[d]);
  return elements;
}
/// Bytes that a move of `sent` bytes to `received` bytes needs besides both: a packed copy of its
/// operand, or the messages that are not parts of the blocks themselves, because they lie apart in
/// them.
constexpr std::int64_t room_of_move(RecordedProgram const& p, int node, Collective collective,
                                    int from, int to, int before, int after, std::int64_t sent,
                                    std::int64_t received) {
  if (collective == Collective::none) return 0;
  MoveKind const& kind = kind_of(planning::move_of(collective));
  std::int64_t messages = 0;
  if (kind.cuts == Parts::segments && outer_elements(p, node, before, to) > 1) messages = sent;
  if (kind.joins == Parts::segments && outer_elements(p, node, after, from) > 1)
    messages = add_sat(messages, received);
  return messages > sent ? messages : sent;
}

/// The cost of the exchange of operation `node`.
constexpr Cost exchange_cost(RecordedProgram const& p, int node, RowExchange const& e,
                             Rates const& rates) {
  std::int64_t const bytes = block_bytes(p, p.nodes.at[node].totals, e.joined);
  return step_cost(Collective::all_reduce, bytes, bytes, rates.ranks[e.axes], rates.over[e.axes]);
}

/// The plan of an operation that communicates by itself, or because its operand has this sharding.
constexpr Plan own_plan(RecordedProgram const& p, int node, Spec const& operand) {
  ProgramNode const& n = p.nodes.at[node];
  return n.own_call >= 0 ? p.own_call.at[n.own_call].plan(p, node)
                         : n.call_on_rows(p, node, operand);
}
inline constexpr OwnCall in_program_axes = [] {
  OwnCall out;
  for (int x = 0; x < max_axes; ++x) out.axis[x] = static_cast<std::int8_t>(x);
  return out;
}();
/// The program's axes by those of that plan.
constexpr OwnCall const& axes_of_own_plan(RecordedProgram const& p, int node) {
  ProgramNode const& n = p.nodes.at[node];
  return n.own_call >= 0 ? p.own_call.at[n.own_call] : in_program_axes;
}
/// Its cost.
constexpr Cost own_cost(RecordedProgram const& p, int node, Plan const& own, Rates const& rates) {
  unsigned along = 0;
  for (Step const& s : own)
    for (int k = 0; k < s.axes.size; ++k)
      along |= 1U << planning::axes_of_own_plan(p, node).axis[s.axes[k]];
  return own.cost(rates.over[along]);
}

/// The order of evaluating operands with the least total peak: operands that release the most
/// memory first.
struct MakingOrder {
  int size = 0;
  int at[max_inputs]{};
  std::int64_t peak = 0;
  std::int64_t held = 0;

  constexpr MakingOrder(std::int64_t const* peaks, std::int64_t const* helds, int n) : size(n) {
    for (int k = 0; k < n; ++k) {
      int place = k;
      for (; place > 0; --place) {
        int const before = at[place - 1];
        if (peaks[before] - helds[before] >= peaks[k] - helds[k]) break;
        at[place] = before;
      }
      at[place] = k;
    }
    for (int k = 0; k < n; ++k) {
      if (add_sat(held, peaks[at[k]]) > peak) peak = add_sat(held, peaks[at[k]]);
      held = add_sat(held, helds[at[k]]);
    }
  }
};

}  // namespace shardtype::planning
