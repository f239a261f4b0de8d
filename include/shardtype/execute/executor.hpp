#pragma once
/// Runs a plan that moves one value: one switch over its steps. Compile-time and run-time plans use
/// the same code.

#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/core/compiled.hpp>
#include <shardtype/execute/collective_step.hpp>
#include <shardtype/execute/local_steps.hpp>
#include <shardtype/plan/plan.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype::execute {

/// The call that runs a step, as SHARDTYPE_CHECK=agree tells it.
struct Caller {
  std::source_location where;
  char const* name = nullptr;          ///< null: the name of the collective
  std::int64_t first = 0, second = 0;  ///< what else all ranks must pass alike

  Caller(std::source_location const& line, char const* of = nullptr, std::int64_t one = 0,
         std::int64_t two = 0)
      : where(line), name(of), first(one), second(two) {}
};

/// SHARDTYPE_CHECK=agree: compares the collective that this rank is about to run with those of the
/// other ranks.
void agree_on_collective(MeshState& mesh, AxisMap const& axes, Sizing const& sizing, Step const& s,
                         Caller const& caller);

/// Executes plans on blocks of `T` in memory `Space`, on the calling rank of one mesh.
template <class T, class Space>
class Executor : protected LocalSteps<T, Space> {
  using Local = LocalSteps<T, Space>;

 public:
  Executor(MeshState& mesh, AxisMap const& axes, Sizing const& sizing, Caller const& caller)
      : Local(mesh, axes, sizing), caller_(caller) {}

  /// The packed result of the plan of one operand. With an Exchange `later` its last collective is
  /// only started, and the Exchange gets the result.
  Buffer run(Plan const& plan, Value<T> v, Exchange* later = nullptr);

  /// The packed result of those steps of `plan` that work on `slot`, applied to `v`.
  Buffer run_slot(Plan const& plan, Slot slot, Value<T> v);

  /// Runs one slice or collective on `v`; the result may be a view.
  Value<T> step(Step const& s, Value<T> v);
  /// The packed memory of a value that steps made.
  Buffer packed(Value<T>& v) { return Local::finished(v, false); }
  /// The packed result of one slice or collective. With an Exchange `later` a collective is only
  /// started, and the Exchange gets the result. `with`: see CollectiveStep::run.
  Buffer run(Step const& s, Value<T> v, Exchange* later = nullptr, Partners const* with = nullptr);

  /// Runs an all_to_all of the rows of `v` and `out` that the lists in the mesh's scratch say, into
  /// `out`; the packed result.
  // NOLINTNEXTLINE(performance-unnecessary-value-param)
  Buffer run_rows(Step const& s, Value<T> v, Value<T> out, Exchange* later);

  /// The packed result of one all_reduce; with an Exchange `later` it is only started.
  Buffer run_all_reduce(Step const& s, Value<T> v, Exchange* later);

  /// SHARDTYPE_CHECK=agree: checks that all ranks of the mesh are about to run the same collective.
  void agree_on(Step const& s);
  /// The comparison that agree_on makes, if the check is on and the step is already counted.
  void agree(Step const& s);

 protected:
  using Local::blocks_;

  /// Runs one slice, transpose or collective.
  void one(Step const& s, Value<T>& v, Exchange* later = nullptr, Partners const* with = nullptr) {
    switch (s.move) {
      case Move::slice:
        return Local::slice(s, v);
      case Move::transpose:
        return Local::transpose(s, v);
      case Move::compute:
      case Move::finish:
        execute::throw_not_run(std::is_same_v<T, bool>
                                   ? "a product of elements that are not multiplied"
                                   : "a product, where a value is only moved");
      default:
        agree_on(s);
        CollectiveStep(blocks_, later).run(s, v, with);
    }
  }
  /// Whether a step's group has more than one rank; otherwise it sends nothing.
  bool communicates(Step const& s) const { return blocks_.sizing.sizes.product(s.axes) > 1; }

 private:
  /// The packed result of a collective; if it was only started, the Exchange has it.
  Buffer started(Value<T>& v, Exchange* later, bool untouched = false) {
    if (later == nullptr) return Local::finished(v, untouched);
    if (later->result.data() == nullptr) later->result = Local::finished(v, untouched);
    return {};
  }

  Caller caller_;
};

// Not `inline`: see core/compiled.hpp.

template <class T, class Space>
Buffer Executor<T, Space>::run(Plan const& plan, Value<T> v, Exchange* later) {
  Local::refuse_repeats(plan);
  for (int k = 0; k < plan.size; ++k) one(plan.steps[k], v, k + 1 == plan.size ? later : nullptr);
  return started(v, later, plan.size == 0);
}

template <class T, class Space>
Buffer Executor<T, Space>::run_slot(Plan const& plan, Slot slot, Value<T> v) {
  Local::refuse_repeats(plan);
  bool moved = false;
  for (Step const& s : plan) {
    if (s.slot != slot || !planning::moves_value(s)) continue;
    v = step(s, std::move(v));
    moved = true;
  }
  return Local::finished(v, !moved);
}

template <class T, class Space>
Value<T> Executor<T, Space>::step(Step const& s, Value<T> v) {
  one(s, v);
  return v;
}

template <class T, class Space>
Buffer Executor<T, Space>::run(Step const& s, Value<T> v, Exchange* later, Partners const* with) {
  one(s, v, later, with);
  return started(v, later);
}

template <class T, class Space>
Buffer Executor<T, Space>::run_rows(Step const& s, Value<T> v, Value<T> out, Exchange* later) {
  CollectiveStep(blocks_, later).run_rows(s, v, out);
  return started(out, later);
}

template <class T, class Space>
Buffer Executor<T, Space>::run_all_reduce(Step const& s, Value<T> v, Exchange* later) {
  agree_on(s);
  CollectiveStep(blocks_, later).run_all_reduce(s, v);
  return started(v, later);
}

template <class T, class Space>
void Executor<T, Space>::agree_on(Step const& s) {
  if (communicates(s) && blocks_.mesh.agreement().begin_step()) agree(s);
}

template <class T, class Space>
void Executor<T, Space>::agree(Step const& s) {
  execute::agree_on_collective(blocks_.mesh, blocks_.axes, blocks_.sizing, s, caller_);
}

}  // namespace shardtype::execute

#ifndef SHARDTYPE_COMPILED
#include <shardtype/execute/executor.ipp>
#endif
