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
#include <shardtype/tensor/operand.hpp>
#include <shardtype/tensor/tensor.hpp>

namespace shardtype::execute {

/// Records the extents of one operand; operands with the same label must agree on its extent. Error
/// E24, which names the `operand`: "the first operand".
void note_extents(Extents& known, Names const& names, Spec const& s, std::int64_t const* extents,
                  char const* operand);

/// How an operation makes its plan: PlanSet::choose without types.
struct Planner {
  Names const& names;
  std::int64_t element_bytes;
  Plan (*make)(Sizing const&, Machine const&);

  Plan operator()(Sizing const& z) const {
    Sizing const open{names.extents(), names.sizes(), element_bytes};
    return shardtype::detail::choose_plan(make, names, open, z, {});
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

/// Plans and runs one call on the calling rank; writes the result's extents. With an Exchange
/// `later`, only starts the plan of a single operand.
template <class T, class Space>
Buffer run_call(Call const& call, std::int64_t* extents, Exchange* later = nullptr) {
  MeshRef const& mesh = call.mesh();
  AxisMap const axes = map_axes(mesh.state(), call.planner.names);
  Sizing const z = call.sizing(axes);
  Plan const& plan = call.plans.get(z, call.planner);
  for (int d = 0; d < plan.result.rank; ++d) extents[d] = z.extents[plan.result.dims[d].label];
  if (!mesh.here()) return {};
  auto const value = [&](Operand const& o) {
    Buffer memory = o.given == nullptr ? Buffer(*o.buffer) : Buffer(std::move(*o.given));
    return whole_value<T>(*o.spec, z, axes.coords, std::move(memory));
  };
  Executor<T, Space> executor(mesh.state(), axes, z, call.where);
  if (later != nullptr) {
    executor.start(plan, value(call.first), *later);
    return {};
  }
  return executor.run(plan, value(call.first), call.on_two() ? value(call.second) : Value<T>{},
                      call.overlap);
}

template <class R, class T>
inline PlanCache plan_cache;

/// The call of the operation that `R` resolved on these operands. Written out here, because a
/// function per operand type would cost compile time for every product.
template <class R, class A, class... B>
Call call_of(std::source_location const& where, Overlap overlap, A const& a, B const&... b) {
  static_assert(sizeof...(B) <= 1);
  using T = typename A::element;
  Call call{{R::S::names, static_cast<std::int64_t>(sizeof(T)), &R::make_plan},
            plan_cache<R, T>,
            where,
            {&R::S::readings[0].spec, &a.mesh(), a.extents().data(), &a.buffer()},
            {},
            overlap};
  if constexpr (sizeof...(B) == 1) {
    auto const& other = (b, ...);
    call.second = {&R::S::readings[1].spec, &other.mesh(), other.extents().data(), &other.buffer()};
  }
  return call;
}

}  // namespace shardtype::execute

#ifndef SHARDTYPE_COMPILED
#include <shardtype/execute/run.ipp>
#endif
