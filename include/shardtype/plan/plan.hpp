#pragma once
/// A plan: the list of local operations and collectives that an operation runs.

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <shardtype/plan/local_memory.hpp>
#include <shardtype/plan/repeat.hpp>
#include <shardtype/plan/rooms.hpp>

namespace shardtype::planning {

/// Maximal number of steps in one plan: reshards of two operands and a result, of up to 14 steps
/// each over `max_axes` axes (tests/unit/reshard_six_axes.cpp). Exceeded: Error E84; a plan that is
/// a constant does not compile.
inline constexpr int max_steps = 48;
/// Maximal number of loops in one plan. Exceeded: as above.
inline constexpr int max_repeats = 8;

/// Error E84. Not constexpr: if a constant needs it, compilers print its name.
template <int most>
[[noreturn]] void one_operation_has_more_steps_than(char const* what) {
  no_room("the plan of one operation has", most, what);
}

/// Extents and element size of one value of a plan, if they differ from those of the operation's
/// labels.
struct OwnSizing {
  Slot slot{};
  Extents extents{};
  std::int64_t element_bytes = 1;
  bool of_operand =
      false;  ///< whether it is the first operand's block, as a part of another tensor
};

/// The subject of a plan: one operation, the product of two operands, or a reshard of one.
enum class PlanOf : std::int8_t { operation, product, reshard };

/// The plan of an operation, known before anything runs. Labels and axes are numbered as in the
/// operation's Scope.
struct Plan {
  int size = 0;
  Rooms<Step, max_steps> steps{};
  Sizing sizing{};
  Rooms<Spec, max_plan_operands> operands{};
  int operand_count = 0;
  Spec result{};
  PlanOf of = PlanOf::operation;
  std::string_view name{};       ///< of the operation; a product or a reshard has none
  std::int64_t local_flops = 0;  ///< of the busiest rank
  std::int64_t workspace =
      0;  ///< bytes that the local computation needs besides operands and result
  std::int64_t more_bytes = 0;           ///< of operands beyond `max_plan_operands`
  bool shares = false;                   ///< whether the result shares the memory of the first
                                         ///< operand
  planning::ProductElements elements{};  ///< of a product
  Rooms<OwnSizing, max_plan_operands + 1> own{};
  int own_count = 0;
  Rooms<planning::Repeat, max_repeats> repeats{};
  int repeat_count = 0;

  constexpr auto begin() const { return steps.iterator(0); }
  constexpr auto end() const { return steps.iterator(size); }
  /// Error E84 if there is no room for `more` steps.
  constexpr void need_room(int more) const {
    if (more > max_steps - size) one_operation_has_more_steps_than<max_steps>("steps");
  }
  constexpr void push(Step const& s) {
    need_room(1);
    steps.put(size++, s);
  }
  constexpr void push_operand(Spec const& s) {
    if (operand_count == max_plan_operands)
      one_operation_has_more_steps_than<max_plan_operands>("operands");
    operands.put(operand_count++, s);
  }
  /// Gives a value extents or an element size of its own.
  constexpr void push_own(OwnSizing const& s) {
    if (own_count > max_plan_operands)
      one_operation_has_more_steps_than<max_plan_operands + 1>("values of other sizes");
    own.put(own_count++, s);
  }
  /// Extents, axis sizes and element size of a value.
  constexpr Sizing sizing_of(Slot slot) const {
    Sizing z = sizing;
    for (int k = 0; k < own_count; ++k)
      if (own[k].slot == slot) z.extents = own[k].extents, z.element_bytes = own[k].element_bytes;
    return z;
  }

  /// Repeats the last `count` steps for `rounds` rounds; in each round `in_round` may change them
  /// (planning::Round). `block`: a number passed to `in_round`. The number of rounds is unlimited;
  /// negative: not known. `period` and `ahead`: see planning::Repeat.
  constexpr void repeat(int count, std::int64_t rounds, std::int64_t block,
                        void (*in_round)(Step const&, planning::Round&), std::int64_t period = 0,
                        planning::LookAhead ahead = {}) {
    if (repeat_count == max_repeats) one_operation_has_more_steps_than<max_repeats>("loops");
    repeats.put(repeat_count++, {size - count, count, rounds, block, in_round, period, ahead});
  }
  /// Whether a step computes.
  constexpr bool computes() const {
    for (Step const& s : *this)
      if (s.move == Move::compute) return true;
    return false;
  }
  /// The index in `repeats` of the loop that contains a step, or -1.
  constexpr int repeat_of(int step) const {
    for (int k = 0; k < repeat_count; ++k)
      if (repeats[k].has(step)) return k;
    return -1;
  }

 private:
  // defined before its uses: clang evaluates it in their constant expressions only then

  /// Calls `visit` for each step and round that runs; `priced`: with the bytes of its computation.
  /// Of a loop of unknown rounds: for one, as in the plan.
  template <class Visit>
  constexpr void each_round(int first, int last, bool priced, Visit visit) const {
    for (int k = first; k < last;) {
      int const number = repeat_of(k);
      int const begin = k;
      k = number < 0 ? k + 1 : std::min(last, repeats[number].from + repeats[number].size);
      bool const known = number < 0 || repeats[number].known();
      std::int64_t const rounds = number < 0 || !known ? 1 : repeats[number].rounds;
      for (std::int64_t n = 0; n < rounds; ++n)
        for (int m = begin; m < k; ++m)
          if (planning::Round const r = round_of(m, known ? number : -1, n, priced); r.runs)
            visit(steps[m], r, !known);
    }
  }

 public:
  /// Number of collectives of this kind.
  constexpr int count(Collective c) const { return account(planning::Answer::counts).count(c); }
  /// Number of all collectives.
  constexpr int collectives() const { return account(planning::Answer::counts).collectives(); }
  /// Payload bytes of the rank with these coordinates; conventions at `step_bytes`.
  constexpr std::int64_t bytes(Coords const& at) const {
    std::int64_t const closed = moves(true).bytes(at);
    return closed >= 0 ? closed : moves(false).bytes(at);
  }
  /// The bytes of the rank that moves the most.
  constexpr std::int64_t bytes_per_rank() const {
    std::int64_t const closed = moves(true).bytes_per_rank();
    return closed >= 0 ? closed : moves(false).bytes_per_rank();
  }
  /// Number of messages that each rank sends.
  constexpr std::int64_t messages() const { return account(planning::Answer::counts).messages(); }
  /// Floating-point operations of the busiest rank.
  constexpr std::int64_t flops() const {
    return repeat_count == 0 ? local_flops : account(planning::Answer::flops).flops();
  }
  /// Peak of the bytes that a rank holds in blocks and for moving them: the operands, results,
  /// messages, and contiguous copies of blocks. For a product that runs step by step. If MPI cannot
  /// access the memory of the blocks, the host holds `staging_bytes` in addition.
  constexpr std::int64_t peak_bytes() const { return add_sat(given_bytes(), memory().most()); }
  /// A bound of the bytes of messages that a rank holds in the host's memory, for blocks in memory
  /// that MPI cannot access: what the largest step sends and receives, as often as there are loops,
  /// because two rings may run beside each other.
  constexpr std::int64_t staging_bytes() const {
    return mul_sat(memory().staged(), std::max(repeat_count, 1));
  }
  /// The memory of the steps besides the operands.
  constexpr planning::LocalMemory memory() const {
    planning::LocalMemory m;
    for (int k = 0; k < operand_count; ++k)
      m.hold(operand_slot(k), operands[k], sizing_of(operand_slot(k)));
    for (int k = 0; k < own_count; ++k)
      if (own[k].of_operand)
        for (Step const& s : *this)
          if (s.slot == own[k].slot) m.hold(s.slot, s.before, sizing_of(s.slot));
    each_round(0, size, false, [&](Step const& s, planning::Round const& r, bool) {
      if (s.move == Move::compute && of == PlanOf::product) {
        m.multiply(labels(0), labels(1), s.after, r.sizing, elements, r.work.workspace);
      } else if (s.move == Move::compute || s.move == Move::finish) {
        m.compute(s, r.sizing, r.work.workspace, r.work.shares);
      } else {
        m.move(s, r.sizing);
      }
    });
    if (size > 0) m.leave(steps[size - 1].slot);
    return m;
  }
  /// Predicted cost for the busiest rank.
  constexpr Cost cost(Machine const& m = {}) const {
    Cost sum = priced(m).cost();
    sum.peak_bytes = peak_bytes();
    return sum;
  }
  /// Predicted time.
  constexpr double seconds(Machine const& m = {}) const { return priced(m).seconds(); }

  /// Bytes of the largest block of a value with this sharding.
  constexpr std::int64_t block_bytes(Spec const& s, Slot slot) const {
    return block_bytes(s, sizing_of(slot));
  }
  static constexpr std::int64_t block_bytes(Spec const& s, Sizing const& z) {
    return mul_sat(largest_elements(s, z.extents, z.sizes), z.element_bytes);
  }
  /// Bytes of the operands' blocks.
  constexpr std::int64_t given_bytes() const {
    std::int64_t given = more_bytes;
    for (int k = 0; k < operand_count; ++k)
      given = add_sat(given, block_bytes(operands[k], operand_slot(k)));
    return given;
  }

  /// Passes the steps from `first` to before `last` to an accounting, loops round by round. What
  /// look-ahead hides is taken off with the last step of its loop.
  constexpr void replay(planning::Accounting& a, int first, int last) const {
    each_round(first, last, a.asks(planning::Answer::cost),
               [&](Step const& s, planning::Round const& r, bool endless) {
                 if (s.move == Move::compute) {
                   endless ? a.compute_unbounded() : a.compute(r.work);
                 } else if (endless) {
                   a.move_unbounded(s, r.sizing);
                 } else {
                   a.move(s, r.sizing, r.first, r.root, r.times);
                 }
               });
    if (!a.asks(planning::Answer::cost)) return;
    for (int k = 0; k < repeat_count; ++k)
      if (int const end = repeats[k].from + repeats[k].size; first < end && end <= last)
        a.hide(hidden(k, a));
  }

  /// Passes the moves of all steps to an accounting of bytes. `closed`: loops by series, where they
  /// are (planning::Repeat).
  constexpr void replay_bytes(planning::Accounting& a, bool closed) const {
    for (int k = 0; k < size; ++k) {
      if (steps[k].move == Move::compute) continue;
      if (int const loop = repeat_of(k); loop >= 0) {
        repeats[loop].replay_bytes(a, k, steps[k], sizing_of(steps[k].slot), closed);
      } else {
        a.move(steps[k], sizing_of(steps[k].slot));
      }
    }
  }

 private:
  constexpr planning::Accounting moves(bool closed) const {
    planning::Accounting a(planning::Answer::bytes);
    replay_bytes(a, closed);
    return a;
  }
  constexpr planning::Accounting account(planning::Answer asked) const {
    planning::Accounting a(asked);
    replay(a, 0, size);
    return a;
  }
  constexpr planning::Accounting priced(Machine const& m) const {
    planning::Accounting a(planning::Answer::cost, m);
    replay(a, 0, size);
    return a;
  }
  /// The time of a loop's steps that look-ahead hides behind others.
  constexpr std::int64_t hidden(int loop, planning::Accounting const& a) const {
    planning::Repeat const& steps_of = repeats[loop];
    planning::LookAhead const& ahead = steps_of.ahead;
    if (ahead.steps == 0 || !steps_of.known()) return 0;
    std::int64_t sum = 0;
    std::int64_t beside = 0;  // the other steps of the round before
    for (std::int64_t n = 0; n < steps_of.rounds; ++n) {
      std::int64_t early = 0;
      std::int64_t late = 0;
      for (int k = 0; k < steps_of.size; ++k) {
        Step const& s = steps[steps_of.from + k];
        planning::Round const r = round_of(steps_of.from + k, loop, n, true);
        if (!r.runs) continue;
        std::int64_t const time =
            s.move == Move::compute ? a.time(r.work) : mul_sat(a.time(s, r.sizing), r.times);
        if (k >= ahead.steps) {
          late += time;
        } else {  // those whose turn it is compute both one after the other
          early += s.move == Move::compute ? time - time / ahead.turns : time;
        }
      }
      sum += std::min(early, beside);
      beside = late;
    }
    return sum;
  }
  constexpr planning::Round round_of(int step, int loop, std::int64_t number, bool priced) const {
    Step const& s = steps[step];
    if (loop >= 0) return repeats[loop].round(step, s, sizing_of(s.slot), number);
    planning::Round once;
    once.sizing = sizing_of(s.slot);
    if (s.move == Move::compute) once.work = computation(s, priced);
    return once;
  }
  /// The labels of operand `k` when the product uses it.
  constexpr planning::LabelledLayout labels(int k) const {
    planning::LabelledLayout x;
    Spec const* s = &operands[k];
    for (Step const& step : *this)
      if (step.slot == operand_slot(k)) s = &step.after;
    for (int d = 0; d < s->rank; ++d) x.label[d] = s->dims[d].label;
    return x;
  }
  /// Bytes of the operands' blocks where `computes` reads them.
  constexpr std::int64_t read_bytes(Step const& computes) const {
    std::int64_t bytes = more_bytes;
    for (int k = 0; k < operand_count; ++k) {
      Spec const* read = &operands[k];
      for (Step const& s : *this) {
        if (s == computes) break;
        if (s.slot == operand_slot(k)) read = &s.after;
      }
      bytes = add_sat(bytes, block_bytes(*read, operand_slot(k)));
    }
    return bytes;
  }
  /// A product is priced by its flops, other computations by the bytes they read and write.
  constexpr planning::Computation computation(Step const& s, bool priced) const {
    planning::Computation c{local_flops, 0, workspace, shares};
    bool const product = of == PlanOf::product;
    if (product) c.product = static_cast<double>(local_flops) * elements.work;
    if (priced && !product && !shares)
      c.bytes = add_sat(read_bytes(s), block_bytes(s.after, s.slot));
    return c;
  }
};

}  // namespace shardtype::planning

namespace shardtype {
using planning::Plan;
}  // namespace shardtype
