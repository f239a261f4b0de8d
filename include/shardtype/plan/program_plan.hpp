#pragma once
/// The plan of a whole expression: its values in order, with their shardings, and all collectives
/// in between.

#include <algorithm>
#include <cstdint>
#include <optional>

#include <shardtype/core/held.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/plan/accounting.hpp>
#include <shardtype/plan/frontier.hpp>
#include <shardtype/plan/lower_bound.hpp>
#include <shardtype/plan/program.hpp>

namespace shardtype::planning {

/// One step, and its value. Later steps refer to it by its number.
struct ProgramStep {
  enum class Kind : std::int8_t {
    given,  ///< an operand of the program: a user's tensor
    make,   ///< a local computation: a product, an elementwise function, a reduction, ...
    move    ///< a slice or a collective
  };
  Kind kind = Kind::given;
  Collective collective = Collective::none;  ///< of a move; `none`: a slice
  std::int8_t inputs = 0;
  std::int8_t from = -1;  ///< dim that loses axes
  std::int8_t to = -1;    ///< dim that gains axes
  std::int32_t node = 0;  ///< its value's node in the program
  std::int32_t input[max_inputs]{};
  AxisList axes{};          ///< the group
  std::int32_t layout = 0;  ///< LayoutCode of its value

  friend constexpr bool operator==(ProgramStep const&, ProgramStep const&) = default;
};

/// The plan that `evaluate` runs. All numbers are those of the busiest rank, as for Plan;
/// `constexpr`.
struct ProgramPlan {
  RecordedProgram program{};
  int size = 0;
  bool possible = true;  ///< whether a plan keeps to the memory limit
  /// Picoseconds by the search, in which each reader of a shared value pays for its own moves, and
  /// a bound: no plan takes less by it. -1: no bound was computed.
  std::int64_t searched = -1;
  std::int64_t least = -1;
  shardtype::detail::Held<ProgramStep> steps;

  constexpr ProgramStep const* begin() const { return steps.begin(); }
  constexpr ProgramStep const* end() const { return steps.end(); }

  /// The sharding of a step's value, with its dims' numbers as labels.
  constexpr Spec spec(int step) const {
    return program.spec(steps.at[step].node, steps.at[step].layout);
  }
  /// Extents, axis sizes and element size of a step's value, with its dims' numbers as labels.
  constexpr Sizing sizing(int step) const { return program.sizing(steps.at[step].node); }
  /// A move as a Step of an operation on one tensor.
  constexpr Step move(int step) const {
    ProgramStep const& s = steps.at[step];
    Step out;
    out.move = planning::move_of(s.collective);
    out.axes = s.axes;
    out.from = s.from;
    out.to = s.to;
    out.before = spec(s.input[0]);
    out.after = spec(step);
    return out;
  }

  /// Number of collectives of this kind.
  constexpr int count(Collective c) const { return account(planning::Answer::counts).count(c); }
  /// Number of all collectives.
  constexpr int collectives() const { return account(planning::Answer::counts).collectives(); }
  /// Payload bytes of the rank with these coordinates along the program's axes; conventions at
  /// `step_bytes`.
  constexpr std::int64_t bytes(Coords const& at) const {
    std::int64_t const closed = moved(0, size, true).bytes(at);
    return closed >= 0 ? closed : moved(0, size, false).bytes(at);
  }
  /// The bytes of the rank that moves the most, in all steps or in one.
  constexpr std::int64_t bytes_per_rank() const { return bytes_of_busiest(0, size); }
  constexpr std::int64_t step_bytes_per_rank(int step) const {
    return bytes_of_busiest(step, step + 1);
  }
  /// Number of messages that each rank sends in one step.
  constexpr std::int64_t step_messages(int step) const {
    planning::Accounting a(planning::Answer::counts);
    replay(a, step, step + 1);
    return a.messages();
  }
  /// Whether a step is a call with a plan of its own, and that plan.
  constexpr bool is_own_call(int step) const {
    ProgramStep const& s = steps.at[step];
    if (s.kind != ProgramStep::Kind::make) return false;
    return program.nodes.at[s.node].own_call >= 0 ||
           (program.nodes.at[s.node].call_on_rows != nullptr &&
            planning::exchanges_rows(program, s.node, spec(s.input[0])));
  }
  constexpr Plan own_plan(int step) const {
    return planning::own_plan(program, steps.at[step].node, spec(steps.at[step].input[0]));
  }
  /// Number of messages that each rank sends.
  constexpr std::int64_t messages() const { return account(planning::Answer::counts).messages(); }
  /// Floating-point operations of products and operations.
  constexpr std::int64_t flops() const { return account(planning::Answer::flops).flops(); }
  /// Calls `visit(step, bytes)` for each step with the bytes of temporaries that are live while it
  /// runs.
  template <class Visit>
  constexpr void for_live_bytes(Visit visit) const {
    shardtype::detail::List<int> owners(static_cast<std::size_t>(size));
    shardtype::detail::List<int> readers(static_cast<std::size_t>(size));
    int* const memory = owners.data();  // the step that owns the memory of a value
    int* const last_read = readers.data();
    for (int k = 0; k < size; ++k) {
      memory[k] = in_memory_of_input(k) ? memory[steps.at[k].input[0]] : k;
      last_read[memory[k]] = k;
      for (int m = 0; m < steps.at[k].inputs; ++m) last_read[memory[steps.at[k].input[m]]] = k;
    }
    for (int k = 0; k < size; ++k)
      if (steps.at[k].kind == ProgramStep::Kind::make && program.nodes.at[steps.at[k].node].keeps)
        for (int m = 0; m < steps.at[k].inputs; ++m)
          last_read[memory[steps.at[k].input[m]]] = size - 1;
    // the values that step k reads last are released[k], next[released[k]], ...
    shardtype::detail::List<int> released(static_cast<std::size_t>(size), -1);
    shardtype::detail::List<int> next(static_cast<std::size_t>(size), -1);
    for (int m = 0; m < size; ++m) {
      if (memory[m] != m || steps.at[m].kind == ProgramStep::Kind::given) continue;
      int& first = released[static_cast<std::size_t>(last_read[m])];
      next[static_cast<std::size_t>(m)] = first;
      first = m;
    }
    // further results are made with the first one, and read later
    shardtype::detail::List<int> further(static_cast<std::size_t>(size), -1);
    shardtype::detail::List<int> another(static_cast<std::size_t>(size), -1);
    for (int k = 0; k < size; ++k) {
      if (!is_further_result(k)) continue;
      int& first = further[static_cast<std::size_t>(steps.at[k].input[0])];
      another[static_cast<std::size_t>(k)] = first;
      first = k;
    }
    planning::MemoryUse live;
    for (int k = 0; k < size; ++k) {
      bool const makes = memory[k] == k && steps.at[k].kind != ProgramStep::Kind::given;
      if (makes && !is_further_result(k)) live.hold(block_bytes(k));
      for (int m = further[static_cast<std::size_t>(k)]; m >= 0;
           m = another[static_cast<std::size_t>(m)])
        live.hold(block_bytes(m));
      visit(k, add_sat(live.held(), room(k)));
      if (k + 1 == size) break;
      for (int m = released[static_cast<std::size_t>(k)]; m >= 0;
           m = next[static_cast<std::size_t>(m)])
        live.release(block_bytes(m));
    }
  }
  /// Peak of the bytes that a rank holds: operands of the program and live values. Packing buffers
  /// count as another copy of the block that a collective sends; so do the copies that the kernel
  /// of a product makes of its blocks (bfloat16).
  constexpr std::int64_t peak_bytes() const { return add_sat(given_bytes(), temporary_bytes()); }
  /// The same without the operands of the program.
  constexpr std::int64_t temporary_bytes() const {
    std::int64_t most = 0;
    for_live_bytes([&](int, std::int64_t live) { most = std::max(most, live); });
    return most;
  }
  /// Bytes of the operands' blocks.
  constexpr std::int64_t given_bytes() const {
    std::int64_t sum = 0;
    for (int k = 0; k < size; ++k)
      if (steps.at[k].kind == ProgramStep::Kind::given) sum = add_sat(sum, block_bytes(k));
    return sum;
  }
  /// Predicted picoseconds of one step.
  constexpr std::int64_t picoseconds(int step, planning::Rates const& rates) const {
    ProgramStep const& s = steps.at[step];
    if (s.kind == ProgramStep::Kind::given) return 0;
    if (is_own_call(step))
      return planning::own_cost(program, s.node, own_plan(step), rates).picoseconds;
    if (s.kind == ProgramStep::Kind::make)
      return planning::computing_time(computation(step), rates.over[0]);
    unsigned set = 0;
    for (int k = 0; k < s.axes.size; ++k) set |= 1U << s.axes[k];
    return step_cost(s.collective, block_bytes(s.input[0]), block_bytes(step), rates.ranks[set],
                     rates.over[set])
        .picoseconds;
  }
  constexpr std::int64_t picoseconds(planning::Rates const& rates) const {
    std::int64_t sum = 0;
    for (int k = 0; k < size; ++k) sum = in_time(sum + picoseconds(k, rates));
    return sum;
  }
  /// Predicted time if all axes have the machine's default link.
  constexpr double seconds(Machine const& m = {}) const {
    Identity const none[max_axes]{};
    return static_cast<double>(picoseconds({m, program.sizes, none, program.axes, -1})) * 1e-12;
  }
  /// A lower bound of the predicted time, in seconds, over all layouts of all values: without a
  /// memory limit, and with each reader of a shared value paying for its own moves: a plan in which
  /// readers share a move may take less.
  constexpr std::optional<double> bound() const {
    if (least < 0) return {};
    return static_cast<double>(least) * 1e-12;
  }
  /// By how much the plan may be slower than the best possible one, as a fraction of its time: 0 is
  /// a proof that no plan is better. Nothing without a bound, or without a plan.
  constexpr std::optional<double> gap() const {
    if (least < 0 || !possible) return {};
    return searched <= least
               ? 0
               : static_cast<double>(searched - least) / static_cast<double>(searched);
  }
  /// Bytes moved by the busiest rank relative to the lower bound, for a program that is one product
  /// of two matrices (of groups of labels) whose operands and result are neither replicated nor
  /// unreduced; else nothing.
  constexpr std::optional<double> lower_bound_ratio() const {
    int product = -1;
    int given[2] = {-1, -1};
    for (int k = 0, n = 0; k < size; ++k) {
      ProgramStep const& s = steps.at[k];
      if (s.kind == ProgramStep::Kind::move) continue;
      bool const is_given = s.kind == ProgramStep::Kind::given;
      if (!is_given && (product >= 0 || program.nodes.at[s.node].making != Making::product))
        return {};
      if (is_given && n == 2) return {};
      (is_given ? given[n++] : product) = k;
    }
    if (product < 0 || given[1] < 0) return {};
    double size_of[3] = {1, 1, 1};  // rows, columns, contracted
    for (int l = 0; l < program.labels; ++l) {
      bool const in_a = program.find(steps.at[given[0]].node, l) >= 0;
      bool const in_b = program.find(steps.at[given[1]].node, l) >= 0;
      bool const kept = program.find(program.root, l) >= 0;
      if (!in_a && !in_b) continue;
      if (in_a && in_b && kept) return {};
      if (!kept && !(in_a && in_b)) return {};
      size_of[!kept ? 2 : in_a ? 0 : 1] *= static_cast<double>(program.extents.at[l]);
    }
    for (int const k : {given[0], given[1], size - 1})
      if (!spread_once(spec(k))) return {};
    double ranks = 1;
    for (int x = 0; x < program.axes; ++x) ranks *= static_cast<double>(program.sizes[x]);
    double const lower = product_lower_bound(size_of[0], size_of[1], size_of[2], ranks) *
                         program.nodes.at[program.root].element_bytes;
    auto const moved = static_cast<double>(bytes_per_rank());
    if (lower <= 0) return moved == 0 ? std::optional(1.0) : std::nullopt;
    return moved / lower;
  }
  /// Bytes of the largest block of a step's value.
  constexpr std::int64_t block_bytes(int step) const {
    return planning::block_bytes(program, steps.at[step].node, steps.at[step].layout);
  }
  /// Floating-point operations of one step, if it is a product or an operation.
  constexpr std::int64_t step_flops(int step) const {
    return is_own_call(step) ? own_plan(step).flops()
           : has_flops(step) ? computation(step).flops
                             : 0;
  }
  /// Whether a step reads totals of rows that are split.
  constexpr bool reads_totals(int step) const {
    ProgramNode const& n = program.nodes.at[steps.at[step].node];
    return is_operation(step) && n.totals >= 0 &&
           steps.at[steps.at[step].input[steps.at[step].inputs - 1]].node == n.totals;
  }
  /// Whether a step computes totals of rows that are read again.
  constexpr bool totals_of_rows(int step) const {
    ProgramStep const& s = steps.at[step];
    ProgramNode const& n = program.nodes.at[s.node];
    return s.kind == ProgramStep::Kind::make && n.making == Making::reduction && n.ways == 0;
  }
  /// Passes collectives and flops of the steps from `first` to before `last` to an accounting.
  constexpr void replay(planning::Accounting& a, int first, int last, bool closed = false) const {
    for (int k = first; k < last; ++k) {
      ProgramStep const& s = steps.at[k];
      if (is_own_call(k)) {
        Plan const own = own_plan(k);
        a.number_axes(planning::axes_of_own_plan(program, s.node).axis);
        closed ? own.replay_bytes(a, true) : own.replay(a, 0, own.size);
        a.end_of_part();
        continue;
      }
      if (a.asks(planning::Answer::counts)) a.run(s.collective, program.sizes.product(s.axes));
      if (a.asks(planning::Answer::bytes) && s.collective != Collective::none)
        a.move(move(k), sizing(k));
      if (a.asks(planning::Answer::flops) && has_flops(k)) a.compute(computation(k));
    }
  }

 private:
  constexpr planning::Accounting account(planning::Answer asked) const {
    planning::Accounting a(asked);
    replay(a, 0, size);
    return a;
  }
  /// The bytes of the steps from `first` to before `last`; `closed`: loops of own plans by series.
  constexpr planning::Accounting moved(int first, int last, bool closed) const {
    planning::Accounting a(planning::Answer::bytes);
    replay(a, first, last, closed);
    return a;
  }
  constexpr std::int64_t bytes_of_busiest(int first, int last) const {
    std::int64_t const closed = moved(first, last, true).bytes_per_rank();
    return closed >= 0 ? closed : moved(first, last, false).bytes_per_rank();
  }
  /// Whether no two ranks hold the same elements, or summands of them.
  constexpr bool spread_once(Spec const& s) const {
    for (int x = 0; x < program.axes; ++x)
      if (program.sizes[x] > 1 && s.dim_of(x) < 0) return false;
    return true;
  }
  constexpr bool is_further_result(int step) const {
    ProgramNode const& n = program.nodes.at[steps.at[step].node];
    return steps.at[step].kind == ProgramStep::Kind::make && n.making == Making::result &&
           program.nodes.at[steps.at[steps.at[step].input[0]].node].own_call < 0;
  }
  constexpr bool in_memory_of_input(int step) const {
    return steps.at[step].kind == ProgramStep::Kind::make &&
           program.nodes.at[steps.at[step].node].making == Making::relabel;
  }
  /// Bytes that a step needs while it runs besides its inputs and its value: messages and packed
  /// copies of a collective, copies and workspace of a kernel.
  constexpr std::int64_t room(int step) const {
    ProgramStep const& s = steps.at[step];
    ProgramNode const& n = program.nodes.at[s.node];
    if (is_own_call(step)) return own_plan(step).memory().most() - block_bytes(step);
    if (s.collective != Collective::none) return room_of_move(step);
    if (s.kind != ProgramStep::Kind::make) return 0;
    switch (n.making) {
      case Making::product:
        return room_of_product(step);
      case Making::reduction:
        return mul_sat(block_bytes(step) / n.element_bytes, n.total_bytes);
      case Making::operation: {
        bool const works = n.work_on != nullptr && !reads_totals(step);
        std::int64_t bytes = works ? work_of(step).workspace : 0;
        // those that are read are values of their own
        for (int k = step + 1; k < size && n.has_results; ++k)
          if (is_further_result(k) && steps.at[k].input[0] == step) bytes -= block_bytes(k);
        return add_sat(std::max(bytes, std::int64_t{0}), packed_parts(step));
      }
      case Making::shard_map:
        return n.keeps ? 0 : packed_parts(step);
      default:
        return 0;
    }
  }
  constexpr std::int64_t room_of_move(int step) const {
    ProgramStep const& s = steps.at[step];
    return planning::room_of_move(program, s.node, s.collective, s.from, s.to,
                                  steps.at[s.input[0]].layout, s.layout, block_bytes(s.input[0]),
                                  block_bytes(step));
  }
  constexpr std::int64_t room_of_product(int step) const {
    std::int64_t copied = block_bytes(step);
    for (int k = 0; k < steps.at[step].inputs; ++k)
      copied = add_sat(copied, block_bytes(steps.at[step].input[k]));
    return planning::copies_of(program.nodes.at[steps.at[step].node], copied);
  }
  /// Bytes of packed copies of inputs that are parts of others.
  constexpr std::int64_t packed_parts(int step) const {
    std::int64_t bytes = 0;
    for (int k = 0; k < steps.at[step].inputs; ++k)
      if (is_part(steps.at[step].input[k]))
        bytes = add_sat(bytes, block_bytes(steps.at[step].input[k]));
    return bytes;
  }
  /// Whether a step's block is part of another one: a slice, or a slice with other names.
  constexpr bool is_part(int step) const {
    for (; steps.at[step].kind != ProgramStep::Kind::given; step = steps.at[step].input[0]) {
      if (steps.at[step].kind == ProgramStep::Kind::move)
        return steps.at[step].collective == Collective::none;
      if (!in_memory_of_input(step)) return false;
    }
    return false;
  }
  /// The work of an operation.
  constexpr planning::Work work_of(int step) const {
    shardtype::detail::List<std::int64_t> extents(static_cast<std::size_t>(program.labels));
    for (int l = 0; l < program.labels; ++l)
      extents[static_cast<std::size_t>(l)] = program.extents.at[l];
    planning::note_block(program, steps.at[step].node, steps.at[step].layout, extents.data());
    for (int k = 0; k < steps.at[step].inputs; ++k) {
      ProgramStep const& in = steps.at[steps.at[step].input[k]];
      planning::note_block(program, in.node, in.layout, extents.data());
    }
    ProgramNode const& n = program.nodes.at[steps.at[step].node];
    return n.work_on(program, n, extents.data());
  }
  constexpr double product_flops(int step) const {
    ProgramStep const& s = steps.at[step];
    double flops = 2;
    shardtype::detail::List<bool> seen(static_cast<std::size_t>(program.labels), false);
    for (int m = 0; m < s.inputs; ++m) {
      ProgramStep const& in = steps.at[s.input[m]];
      Spec const block = spec(s.input[m]);
      for (int d = 0; d < block.rank; ++d) {
        int const label = program.nodes.at[in.node].labels[d];
        bool& counted = seen[static_cast<std::size_t>(label)];
        if (counted) continue;
        counted = true;
        flops *= static_cast<double>(
            largest_block(program.extents.at[label], block.dims[d].axes, program.sizes));
      }
    }
    return flops;
  }
  constexpr bool is_product(int step) const {
    return steps.at[step].kind == ProgramStep::Kind::make &&
           program.nodes.at[steps.at[step].node].making == Making::product;
  }
  constexpr bool has_flops(int step) const {
    return is_product(step) ||
           (is_operation(step) && program.nodes.at[steps.at[step].node].work_on != nullptr);
  }
  constexpr bool is_operation(int step) const {
    return steps.at[step].kind == ProgramStep::Kind::make &&
           program.nodes.at[steps.at[step].node].making == Making::operation;
  }
  /// What an operation on split rows costs as on whole rows, which its kernels read twice, too; the
  /// end of a reduction costs nothing, as in the plan of a call.
  constexpr void compute_from_totals(int step, planning::Computation& c) const {
    ProgramStep const& s = steps.at[step];
    if (!program.nodes.at[s.node].rereads) return;
    c.bytes = block_bytes(step);
    for (int k = 0; k + 1 < s.inputs; ++k) c.bytes = add_sat(c.bytes, block_bytes(s.input[k]));
    ProgramNode const& rows = program.nodes.at[steps.at[s.input[0]].node];
    c.flops = mul_sat(2, block_bytes(s.input[0]) / rows.element_bytes);
  }
  /// The costs of a step that computes a value.
  constexpr planning::Computation computation(int step) const {
    planning::Computation c;
    c.shares = in_memory_of_input(step) || program.nodes.at[steps.at[step].node].in_place;
    if (is_product(step)) {
      double const flops = product_flops(step);
      c.flops =
          flops > 4e18 ? std::int64_t{4'000'000'000'000'000'000} : static_cast<std::int64_t>(flops);
      c.product = flops * program.nodes.at[steps.at[step].node].work;
    } else if (reads_totals(step)) {
      compute_from_totals(step, c);
    } else if (!c.shares && !totals_of_rows(step) &&
               program.nodes.at[steps.at[step].node].making != Making::result) {
      c.bytes = block_bytes(step);
      for (int k = 0; k < steps.at[step].inputs; ++k)
        c.bytes = add_sat(c.bytes, block_bytes(steps.at[step].input[k]));
      if (has_flops(step)) c.flops = work_of(step).flops;
    }
    return c;
  }
};

}  // namespace shardtype::planning

namespace shardtype {
using planning::ProgramPlan;
}  // namespace shardtype
