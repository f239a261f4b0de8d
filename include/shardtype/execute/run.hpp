#pragma once
/// From tensors to a plan, and from the plan to its execution.

#include <array>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <utility>

#include <shardtype/check/plan_of.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/execute/executor.hpp>
#include <shardtype/execute/local_steps.hpp>
#include <shardtype/execute/product_run.hpp>
#include <shardtype/tensor/operand.hpp>
#include <shardtype/tensor/tensor.hpp>

namespace shardtype::execute {

/// Records the extents of one operand; operands with the same label must agree on its extent. Error
/// E24, which names the `operand`: "the first operand".
void note_extents(Extents& known, Names const& names, Spec const& s, std::int64_t const* extents,
                  char const* operand);

struct Planner;
/// Chooses among the plans for all sizes, as PlanSet does.
Plan choose_plan(Planner const& planner, Sizing const& z);

/// Makes the plan of an operation: PlanSet::choose without types.
struct Planner {
  Names const& names;
  std::int64_t element_bytes;
  Plan (*make)(Sizing const&, Machine const&);
  /// Null if all plans have the same steps: none that communicate, or one all_reduce.
  Plan (*choose)(Planner const&, Sizing const&) = &choose_plan;

  Plan operator()(Sizing const& z) const {
    return choose == nullptr ? make(z, {}) : choose(*this, z);
  }
};

/// The plans of one operation, one per sizing. It has no destructor, because a compiler would emit
/// one for every operation; a static object frees all caches at the end of the program.
class PlanCache {
 public:
  Plan const& get(Sizing const& z, Planner const& planner);

 private:
  using Known = detail::List<detail::Owned<Plan const>>;

  static detail::List<detail::Owned<Known>>& all() {
    static detail::List<detail::Owned<Known>> caches;
    return caches;
  }

  Known* known_ = nullptr;
};

/// One operand of an operation, its type as a value.
struct Operand {
  Spec const* spec = nullptr;
  MeshRef const* mesh = nullptr;
  std::int64_t const* extents = nullptr;
  Buffer const* buffer = nullptr;
  Buffer* given = nullptr;  ///< the same buffer, if the operation may take over its memory
};

/// One call of an operation. Plain values, so that the code below is instantiated once per element
/// type and memory space, not once per combination of tensor types.
struct Call {
  Planner planner;
  PlanCache& plans;
  std::source_location where;
  Operand first;
  Operand second{};  ///< without a spec for operations on one tensor
  Overlap overlap = Overlap::none;

  MeshRef const& mesh() const { return *first.mesh; }
  bool on_two() const { return second.spec != nullptr; }

  /// Extents and axis sizes of this call. Errors: E23 tensors of two meshes, E24 extents that do
  /// not match.
  Sizing sizing(AxisMap const& axes) const;
};

/// A planned call on the calling rank.
class PlannedCall {
 public:
  /// Plans `call` and writes the result's extents.
  PlannedCall(Call const& call, std::int64_t* extents);

  bool here() const { return mesh_.here(); }
  MeshState& mesh() const { return mesh_.state(); }
  AxisMap const& axes() const { return axes_; }
  Sizing const& sizing() const { return sizing_; }
  Plan const& plan() const { return plan_; }
  template <class T>
  Value<T> value(Operand const& o) const {
    Buffer memory = o.given == nullptr ? Buffer(*o.buffer) : Buffer(std::move(*o.given));
    return execute::whole_value<T>(*o.spec, sizing_, axes_.coords, std::move(memory));
  }

 private:
  MeshRef const& mesh_;
  AxisMap axes_;
  Sizing sizing_;
  Plan const& plan_;
};

/// Plans and runs one call on one tensor on the calling rank; writes the result's extents. With an
/// Exchange `later`, only starts the plan.
template <class T, class Space>
Buffer run_call(Call const& call, std::int64_t* extents, Exchange* later = nullptr) {
  PlannedCall const planned(call, extents);
  if (!planned.here()) return {};
  return Executor<T, Space>(planned.mesh(), planned.axes(), planned.sizing(), call.where)
      .run(planned.plan(), planned.value<T>(call.first), later);
}

/// run_call for an operation whose plan is one all_reduce: without the other collectives.
template <class T, class Space>
Buffer run_all_reduce(Call const& call, std::int64_t* extents, Exchange* later = nullptr) {
  PlannedCall const planned(call, extents);
  if (!planned.here()) return {};
  return Executor<T, Space>(planned.mesh(), planned.axes(), planned.sizing(), call.where)
      .run_all_reduce(planned.plan().steps[0], planned.value<T>(call.first), later);
}

/// run_call for a product of two tensors with a named result.
template <class T, class Space>
Buffer run_product(Call const& call, std::int64_t* extents) {
  PlannedCall const planned(call, extents);
  if (!planned.here()) return {};
  return ProductRun<T, Space>(planned.mesh(), planned.axes(), planned.sizing(), call.where)
      .run(planned.plan(), planned.value<T>(call.first), planned.value<T>(call.second),
           call.overlap);
}

/// run_product for a plan that gathers the first operand and multiplies it, if these run as one:
/// true, with the gathered operand in `whole`. Else false, and nothing has run.
template <class T, class Space>
bool run_product_keeping(Call const& call, std::int64_t* extents, Buffer& out, Buffer& whole) {
  PlannedCall const planned(call, extents);
  if (!planned.here()) return false;
  return ProductRun<T, Space>(planned.mesh(), planned.axes(), planned.sizing(), call.where)
      .run_keeping(planned.plan(), planned.value<T>(call.first), planned.value<T>(call.second),
                   call.overlap, out, whole);
}

/// run_product for a strict product, which communicates nothing.
template <class T, class Space>
Buffer run_strict_product(Call const& call, std::int64_t* extents) {
  PlannedCall const planned(call, extents);
  if (!planned.here()) return {};
  return LocalSteps<T, Space>(planned.mesh(), planned.axes(), planned.sizing())
      .run_product(planned.plan(), planned.value<T>(call.first), planned.value<T>(call.second));
}

template <class R, class T>
inline PlanCache plan_cache;

/// The part of a call that types determine: one constant for each operation and its operands'
/// types, in place of a function, which would cost compile time for every product.
struct CallType {
  Names const* names;
  core::ParsedType const* parsed;
  std::int64_t element_bytes;
  Plan (*make)(Sizing const&, Machine const&);
  Plan (*choose)(Planner const&, Sizing const&);
  PlanCache* plans;
};
/// That of the operation that `R` resolved, of elements `T`.
template <class R, class T>
inline constexpr CallType call_type{
    &R::S::names,
    R::S::parsed,
    sizeof(T),
    &R::make_plan,
    (R::communicates && !detail::OneAllReduce<R> ? &choose_plan : nullptr),
    &plan_cache<R, T>};

/// An operand whose type the CallType knows.
template <std::size_t rank>
Operand operand_of(detail::HeldRows<rank> const& a) {
  return {nullptr, &a.mesh(), a.extents().data(), &a.buffer()};
}
/// The call of an operation on these operands.
Call call_of(CallType const& type, std::source_location const& where, Overlap overlap,
             Operand first, Operand second = {});

}  // namespace shardtype::execute

#ifndef SHARDTYPE_COMPILED
#include <shardtype/execute/run.ipp>
#endif
