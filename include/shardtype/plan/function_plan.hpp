#pragma once
/// The plan of a function: the steps of the operations that it calls, in order.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <shardtype/core/list.hpp>
#include <shardtype/core/scope.hpp>
#include <shardtype/plan/plan.hpp>

namespace shardtype::planning {

/// Maximal numbers of steps in the plan of one function, and of different ones: those of repeated
/// layers are kept once. Exceeded: Error E84; of a plan that is a constant, no answer compiles.
inline constexpr int max_function_steps = 8192;
inline constexpr int max_different_steps = 256;

/// Error E84. Not constexpr: if a constant needs them, compilers print their names.
template <int most>
[[noreturn]] void a_function_has_more_steps_than() {
  no_room("the plan of a function has", most, "steps; plan its parts one by one");
}
template <int most>
[[noreturn]] void a_function_has_more_different_steps_than() {
  no_room("the plan of a function has", most, "different steps; plan its parts one by one");
}
template <int most>
[[noreturn]] void a_function_names_more_axes_than() {
  no_room("a function whose plan is asked for has", most, "mesh axes");
}

/// A step, the name of its operation, and the sizes of its value. Mesh axes have the numbers of the
/// function's plan, labels those of the operation.
struct FunctionStep {
  std::string_view operation;
  std::string_view label_name[max_labels]{};
  Step step{};
  Sizing sizing{};
  std::int64_t flops = 0;
  std::int64_t picoseconds = 0;  ///< over all rounds, like `flops`
  planning::Repeat repeat{};     ///< step numbers are relative to this step; without steps: it runs
                                 ///< once
};

/// Result of `plan(f, type<A>, ...)` if the types determine all sizes. All numbers are those of the
/// busiest rank, as for Plan.
struct FunctionPlan {
  /// Why there is no answer.
  enum class Room : std::int8_t { enough, too_long, too_many_different };

  int size = 0;       ///< number of steps
  int different = 0;  ///< number of different ones
  int axes = 0;
  Identity axis_id[max_axes]{};
  std::string_view axis_name[max_axes]{};
  Sizes sizes{};
  Rooms<FunctionStep, max_different_steps> steps{};  ///< the different ones
  std::uint8_t order[max_function_steps]{};          ///< of each step, its number among them
  std::int64_t peak = 0;
  Room room = Room::enough;

  using Iterator = planning::NumberedIterator<FunctionPlan, FunctionStep>;
  constexpr Iterator begin() const { return {this, 0}; }
  constexpr Iterator end() const { return {this, size}; }
  constexpr FunctionStep const& operator[](int k) const { return steps[order[k]]; }

  /// Number of collectives of this kind.
  constexpr int count(Collective c) const { return account(planning::Answer::counts).count(c); }
  /// Number of all collectives.
  constexpr int collectives() const { return account(planning::Answer::counts).collectives(); }
  /// Payload bytes of the rank with these coordinates along the function's axes; conventions at
  /// `step_bytes`.
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
  constexpr std::int64_t flops() const { return account(planning::Answer::cost).cost().flops; }
  /// Peak of the bytes that a rank holds: arguments, live values, and the workspace of the running
  /// operation.
  constexpr std::int64_t peak_bytes() const {
    check_whole();
    return peak;
  }
  /// Predicted time.
  constexpr double seconds() const { return account(planning::Answer::cost).seconds(); }

 private:
  constexpr planning::Accounting account(planning::Answer asked) const {
    check_whole();
    planning::Accounting a(asked);
    for (FunctionStep const& s : *this) {
      a.spend({s.picoseconds, 0, s.flops, 0, 0});
      if (!s.repeat.has(0)) {
        a.move(s.step, s.sizing);
      } else if (!s.repeat.known()) {
        a.move_unbounded(s.step, s.sizing);
      }
      for (std::int64_t n = 0; n < s.repeat.rounds; ++n) {
        planning::Round const r = s.repeat.round(0, s.step, s.sizing, n);
        if (r.runs) a.move(s.step, r.sizing, r.first, r.root, r.times);
      }
    }
    return a;
  }
  /// See Plan::moves.
  constexpr planning::Accounting moves(bool closed) const {
    check_whole();
    planning::Accounting a(planning::Answer::bytes);
    for (FunctionStep const& s : *this) {
      if (s.repeat.has(0)) {
        s.repeat.replay_bytes(a, 0, s.step, s.sizing, closed);
      } else {
        a.move(s.step, s.sizing);
      }
    }
    return a;
  }
  constexpr void check_whole() const {
    if (room == Room::too_long) a_function_has_more_steps_than<max_function_steps>();
    if (room == Room::too_many_different)
      a_function_has_more_different_steps_than<max_different_steps>();
  }
};

/// The plan of a function whose sizes are given at run time: bounds that hold for all sizes.
struct OpenFunctionPlan {
  int counts[collective_rows]{};
  /// While it is recorded: what an extent that types do not determine reads as, and whether the
  /// function read one. Tells a function that computes with such a number from one whose operations
  /// depend on it.
  struct Reading {
    std::int64_t unknown = dynamic;
    bool read = false;
  };
  Reading reading{};

  /// Upper bound on the number of collectives of this kind; `unbounded`: of a loop whose length
  /// sizes determine.
  constexpr int count(Collective c) const { return counts[static_cast<int>(c)]; }
  /// Upper bound on the number of all collectives.
  constexpr int collectives() const {
    int n = 0;
    for (int c = 1; c < collective_rows; ++c) n = add_counts(n, counts[c]);
    return n;
  }
  constexpr bool reads() const { return reading.read; }
  constexpr bool counts_as(OpenFunctionPlan const& other) const {
    for (int c = 1; c < collective_rows; ++c)
      if (counts[c] != other.counts[c]) return false;
    return true;
  }
};

}  // namespace shardtype::planning

namespace shardtype {
using planning::FunctionPlan;

namespace planning {

/// Collects the plans of operations in the order in which a function calls them.
class FunctionWriter {
 public:
  constexpr explicit FunctionWriter(Machine const& m) : machine_(m) {}

  /// Registers a value that a rank holds from now on; returns its number.
  constexpr int hold(std::int64_t bytes) {
    values_.push_back({bytes, 1});
    memory_.hold(bytes);
    plan_.peak = memory_.peak();
    return static_cast<int>(values_.size()) - 1;
  }
  /// Arguments are held to the end. That must not follow from the number of their copies: g++ 12
  /// copies arrays in constant evaluation without their elements' constructors.
  constexpr void keep(int value) { values_[static_cast<std::size_t>(value)].holders += 1 << 20; }
  constexpr void share(int value) { ++values_[static_cast<std::size_t>(value)].holders; }
  constexpr void release(int value) {
    Value& v = values_[static_cast<std::size_t>(value)];
    if (--v.holders == 0) memory_.release(v.bytes);
  }

  /// `note` for a constant plan and constant names: layers that have the same repeat its steps.
  constexpr void note_constant(std::string_view operation, Plan const& plan, Names const& names) {
    std::size_t const before = repeated_;
    // Layers repeat their operations in order, so the one behind the last is tried first.
    for (std::size_t k = 0; k <= noted_.size(); ++k) {
      std::size_t const at = k == 0 ? before + 1 : k - 1;
      if (at >= noted_.size()) continue;
      Noted const& n = noted_[at];
      if (n.plan != &plan || n.names != &names || n.operation != operation) continue;
      repeated_ = at;
      return again(n);
    }
    repeated_ = noted_.size();
    noted_.push_back(
        {&plan, &names, operation, plan.peak_bytes() - plan.given_bytes(), plan_.size, plan.size});
    note(operation, plan, names);
  }
  /// Adds the plan of one operation, whose axes have the names `names`.
  constexpr void note(std::string_view operation, Plan const& plan, Names const& names) {
    memory_.need(plan.peak_bytes() - plan.given_bytes());
    plan_.peak = memory_.peak();
    int axis[max_axes]{};
    for (int x = 0; x < names.axes; ++x) axis[x] = number(names, x, plan.sizing.sizes[x]);
    for (int k = 0; k < plan.size; ++k) {
      Step const& s = plan.steps[k];
      if (plan_.size == max_function_steps) return stop(FunctionPlan::Room::too_long);
      FunctionStep out;
      out.operation = operation;
      for (int d = 0; d < names.labels; ++d) out.label_name[d] = names.label_name[d];
      out.step = renumbered(s, axis);
      out.sizing = plan.sizing_of(s.slot);
      Sizes own;
      for (int x = 0; x < names.axes; ++x) own.at[axis[x]] = out.sizing.sizes[x];
      out.sizing.sizes = own;
      if (int const loop = plan.repeat_of(k); loop >= 0) {
        out.repeat = plan.repeats[loop];
        out.repeat.from -= k;
      }
      Accounting all_rounds(Answer::cost, machine_);
      plan.replay(all_rounds, k, k + 1);
      out.flops = all_rounds.cost().flops;
      out.picoseconds = all_rounds.picoseconds();
      int const among = number_of(out);
      if (among < 0) return stop(FunctionPlan::Room::too_many_different);
      plan_.order[plan_.size++] = static_cast<std::uint8_t>(among);
    }
  }
  constexpr FunctionPlan const& plan() const { return plan_; }
  /// Bytes that a rank holds now, and the most that it has held or needed so far.
  constexpr std::int64_t held() const { return memory_.held(); }
  constexpr std::int64_t most() const { return memory_.peak(); }
  /// Begins another list of steps; values that are held stay so.
  constexpr void begin_pass() {
    plan_.size = 0;
    plan_.different = 0;
    noted_.clear();
    plan_.room = FunctionPlan::Room::enough;
  }

 private:
  struct Value {
    std::int64_t bytes = 0;
    int holders = 0;
  };
  struct Noted {
    Plan const* plan = nullptr;
    Names const* names = nullptr;
    std::string_view operation;
    std::int64_t needs = 0;
    int first = 0;  ///< number of its first step
    int size = 0;
  };

  constexpr void again(Noted const& n) {
    memory_.need(n.needs);
    plan_.peak = memory_.peak();
    if (plan_.size + n.size > max_function_steps) return stop(FunctionPlan::Room::too_long);
    for (int k = 0; k < n.size; ++k) plan_.order[plan_.size++] = plan_.order[n.first + k];
  }
  /// A plan that is a constant tells it when it is asked.
  constexpr void stop(FunctionPlan::Room why) {
    plan_.room = why;
    if (!__builtin_is_constant_evaluated()) static_cast<void>(plan_.peak_bytes());
  }
  /// The number of a step among the different ones; -1 if there is no room for another. Layers
  /// repeat their steps in order, so the one behind the last is tried first.
  constexpr int number_of(FunctionStep const& step) {
    int const next = plan_.size > 0 ? plan_.order[plan_.size - 1] + 1 : 0;
    if (next < plan_.different && same(plan_.steps[next], step)) return next;
    for (int k = 0; k < plan_.different; ++k)
      if (same(plan_.steps[k], step)) return k;
    if (plan_.different == max_different_steps) return -1;
    plan_.steps.put(plan_.different, step);
    return plan_.different++;
  }
  /// Numbers first, in which most steps differ, and texts by their places: compilers compare them
  /// letter by letter.
  static constexpr bool same(FunctionStep const& a, FunctionStep const& b) {
    if (a.picoseconds != b.picoseconds || a.flops != b.flops || !same(a.operation, b.operation))
      return false;
    for (int d = 0; d < max_labels; ++d)
      if (!same(a.label_name[d], b.label_name[d])) return false;
    return a.step == b.step && a.sizing == b.sizing && a.repeat == b.repeat;
  }
  static constexpr bool same(std::string_view a, std::string_view b) {
    return a.size() == b.size() && a == b;
  }
  constexpr int number(Names const& names, int given, std::int64_t size) {
    Identity const axis = names.axis_id[given];
    for (int x = 0; x < plan_.axes; ++x)
      if (plan_.axis_id[x] == axis) return x;
    if (plan_.axes == max_axes) a_function_names_more_axes_than<max_axes>();
    plan_.axis_id[plan_.axes] = axis;
    plan_.axis_name[plan_.axes] = names.axis_name[given];
    plan_.sizes.at[plan_.axes] = size;
    return plan_.axes++;
  }
  static constexpr AxisList renumbered(AxisList const& axes, int const* axis) {
    AxisList out;
    for (int k = 0; k < axes.size; ++k) out.push(axis[axes[k]]);
    out.cyclic = axes.cyclic;
    return out;
  }
  static constexpr AxisSet renumbered(AxisSet axes, int const* axis) {
    AxisSet out;
    for (int x = 0; x < max_axes; ++x)
      if (axes.contains(x)) out.insert(axis[x]);
    return out;
  }
  static constexpr Spec renumbered(Spec s, int const* axis) {
    for (int d = 0; d < s.rank; ++d) s.dims[d].axes = renumbered(s.dims[d].axes, axis);
    s.unreduced = renumbered(s.unreduced, axis);
    s.reduced = renumbered(s.reduced, axis);
    s.varying = renumbered(s.varying, axis);
    return s;
  }
  static constexpr Step renumbered(Step s, int const* axis) {
    s.axes = renumbered(s.axes, axis);
    s.before = renumbered(s.before, axis);
    s.after = renumbered(s.after, axis);
    return s;
  }

  Machine machine_;
  FunctionPlan plan_;
  shardtype::detail::List<Value> values_;
  shardtype::detail::List<Noted> noted_;
  std::size_t repeated_ = 0;  ///< the last of them
  MemoryUse memory_;
};

}  // namespace planning

}  // namespace shardtype
