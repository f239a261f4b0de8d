#pragma once
/// The plan of a function: what the operations that it calls run, one after the other.

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <shardtype/core/list.hpp>
#include <shardtype/core/scope.hpp>
#include <shardtype/plan/plan.hpp>

namespace shardtype {

/// Most steps of the plan of one function.
inline constexpr int max_function_steps = 256;

/// One step: of which operation, and the sizes of its value. Mesh axes are numbered as in the function's plan,
/// labels as in the operation.
struct FunctionStep {
  std::string_view operation;
  Step step{};
  Sizing sizing{};
  std::int64_t flops = 0;
  std::int64_t picoseconds = 0;
};

/// What `plan(f, type<A>, ...)` gives where the types settle all sizes. All numbers are of the busiest rank,
/// as for Plan.
struct FunctionPlan {
  int size = 0;
  int axes = 0;
  Identity axis_id[max_axes]{};
  Sizes sizes{};
  Rooms<FunctionStep, max_function_steps> steps{};
  std::int64_t peak = 0;

  constexpr auto begin() const { return steps.iterator(0); }
  constexpr auto end() const { return steps.iterator(size); }

  /// How many collectives of this kind run.
  constexpr int count(Collective c) const {
    int n = 0;
    for (FunctionStep const& s : *this) n += s.step.collective == c ? 1 : 0;
    return n;
  }
  /// How many collectives run at all.
  constexpr int collectives() const {
    int n = 0;
    for (FunctionStep const& s : *this) n += s.step.collective != Collective::none ? 1 : 0;
    return n;
  }
  /// Payload bytes at the rank with these coordinates along the function's axes; conventions at `step_bytes`.
  constexpr std::int64_t bytes(Coords const& at) const {
    std::int64_t sum = 0;
    for (FunctionStep const& s : *this)
      if (s.step.collective != Collective::none) sum += step_bytes(s.step, s.sizing, at);
    return sum;
  }
  /// The most bytes that any rank moves.
  constexpr std::int64_t bytes_per_rank() const {
    if (collectives() == 0) return 0;
    AxisList all;
    for (int x = 0; x < max_axes; ++x) all.push(x);
    std::int64_t most = 0;
    for (std::int64_t r = 0; r < sizes.product(all); ++r)
      most = std::max(most, bytes(member(all, sizes, {}, r)));
    return most;
  }
  /// Messages each rank sends.
  constexpr std::int64_t messages() const {
    std::int64_t sum = 0;
    for (FunctionStep const& s : *this)
      sum += step_messages(s.step.collective, s.sizing.sizes.product(s.step.axes));
    return sum;
  }
  constexpr std::int64_t flops() const {
    std::int64_t sum = 0;
    for (FunctionStep const& s : *this) sum += s.flops;
    return sum;
  }
  /// Most bytes a rank holds at once: arguments, values that are still there, and what the operation at work
  /// needs.
  constexpr std::int64_t peak_bytes() const { return peak; }
  /// Predicted time.
  constexpr double seconds() const {
    std::int64_t sum = 0;
    for (FunctionStep const& s : *this) sum += s.picoseconds;
    return static_cast<double>(sum) * 1e-12;
  }
};

/// The same where sizes are given at run time: bounds that hold for all of them.
struct OpenFunctionPlan {
  int counts[collective_rows]{};

  /// The most collectives of this kind that run, whatever the sizes.
  constexpr int count(Collective c) const { return counts[static_cast<int>(c)]; }
  /// The most collectives that run at all.
  constexpr int collectives() const {
    int n = 0;
    for (int c = 1; c < collective_rows; ++c) n += counts[c];
    return n;
  }
};

namespace planning {

/// Notes the plans of operations as a function calls them.
class FunctionWriter {
 public:
  constexpr explicit FunctionWriter(Machine const& m) : machine_(m) {}

  /// A value that a rank holds from now on; its number.
  constexpr int hold(std::int64_t bytes) {
    values_.push_back({bytes, 1});
    live_ += bytes;
    plan_.peak = std::max(plan_.peak, live_);
    return static_cast<int>(values_.size()) - 1;
  }
  constexpr void share(int value) { ++values_[static_cast<std::size_t>(value)].holders; }
  constexpr void release(int value) {
    Value& v = values_[static_cast<std::size_t>(value)];
    if (--v.holders == 0) live_ -= v.bytes;
  }

  /// The plan of one operation, whose axes are called as in `names`.
  constexpr void note(std::string_view operation, Plan const& plan, Names const& names) {
    plan_.peak = std::max(plan_.peak, live_ + plan.peak_bytes() - plan.given_bytes());
    int axis[max_axes]{};
    for (int x = 0; x < names.axes; ++x) axis[x] = number(names.axis_id[x], plan.sizing.sizes[x]);
    for (Step const& s : plan) {
      if (plan_.size == max_function_steps) throw "the plan of a function has too many steps";
      FunctionStep out;
      out.operation = operation;
      out.step = renumbered(s, axis);
      out.sizing = plan.sizing_of(s.slot);
      Sizes own;
      for (int x = 0; x < names.axes; ++x) own.at[axis[x]] = out.sizing.sizes[x];
      out.sizing.sizes = own;
      if (s.action == Action::compute) out.flops = plan.local_flops;
      Plan one = plan;
      one.size = 0;
      one.push(s);
      out.picoseconds = one.work(machine_).picoseconds;
      plan_.steps.put(plan_.size++, out);
    }
  }
  constexpr FunctionPlan const& plan() const { return plan_; }

 private:
  struct Value {
    std::int64_t bytes = 0;
    int holders = 0;
  };

  constexpr int number(Identity axis, std::int64_t size) {
    for (int x = 0; x < plan_.axes; ++x)
      if (plan_.axis_id[x] == axis) return x;
    if (plan_.axes == max_axes) throw "a function names more mesh axes than an operation may have";
    plan_.axis_id[plan_.axes] = axis;
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
  std::int64_t live_ = 0;
};

}  // namespace planning
}  // namespace shardtype
