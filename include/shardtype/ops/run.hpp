#pragma once
/// From tensors to a plan to its execution: what every operation's front door calls.

#include <array>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>

#include <shardtype/check/plan_of.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/ops/execute.hpp>
#include <shardtype/tensor/operand.hpp>
#include <shardtype/tensor/tensor.hpp>

namespace shardtype::ops {

/// Notes the extents of one operand; operands that share a label must agree on its extent. Error E24,
/// which names the `operand`: "the first operand".
inline void note_extents(Extents& known, Names const& names, Spec const& s,
                         std::int64_t const* extents, char const* operand) {
  for (int d = 0; d < s.rank; ++d) {
    int const l = s.dims[d].label;
    if (known.at[l] != dynamic && known.at[l] != extents[d])
      throw Error("E24",
                  "index " + std::string(names.label_name[l]) + " has extent " +
                      std::to_string(extents[d]) + " in " + operand + ", elsewhere " +
                      std::to_string(known.at[l]),
                  FailedOn::every_rank);
    known.at[l] = extents[d];
  }
}

/// The plans of one operation, one per sizing it was called with.
class PlanCache {
 public:
  Plan const& get(Sizing const& z, Plan (*make)(Sizing const&)) {
    for (auto const& p : known_)
      if (p->sizing == z) return *p;
    // shapes that change at every call must not fill the memory
    if (known_.size() == 64) known_.erase(0);
    return *known_.push_back(detail::Owned(new Plan const(make(z))));
  }

 private:
  detail::List<detail::Owned<Plan const>> known_;
};

/// One operand of an operation, its type as a value.
struct Operand {
  Spec const& spec;
  MeshRef const& mesh;
  std::int64_t const* extents;
  Buffer const& buffer;
};

/// One call of an operation. Plain values, so that the code below exists once per element type and
/// memory and not once per combination of tensor types.
struct Call {
  Names const& names;
  Operand first;
  Operand const* second;  ///< null for operations on one tensor
  std::int64_t element_bytes;
  PlanCache& plans;
  Plan (*make)(Sizing const&);
  std::source_location where;
  Overlap overlap = Overlap::none;

  /// Extents and axis sizes of this call. Errors: E23 tensors of two meshes, E24 extents that do
  /// not match.
  Sizing sizing(AxisMap const& axes) const {
    if (second != nullptr) check_one_mesh(first.mesh, second->mesh);
    Sizing z{names.extents(), axes.sizes, element_bytes};
    note_extents(z.extents, names, first.spec, first.extents, "the first operand");
    if (second != nullptr)
      note_extents(z.extents, names, second->spec, second->extents, "the second operand");
    return z;
  }
};

/// Plans and runs one call on the calling rank; writes the result's extents. Given an Exchange as `later`,
/// the plan of a single operand is started only.
template <class T, class Space>
Buffer run_call(Call const& call, std::int64_t* extents, Exchange* later = nullptr) {
  MeshRef const& mesh = call.first.mesh;
  AxisMap const axes = map_axes(mesh.state(), call.names);
  Sizing const z = call.sizing(axes);
  Plan const& plan = call.plans.get(z, call.make);
  for (int d = 0; d < plan.result.rank; ++d) extents[d] = z.extents[plan.result.dims[d].label];
  if (!mesh.here()) return {};
  Value<T> a = whole_value<T>(call.first.spec, z, axes.coords, call.first.buffer);
  Executor<T, Space> executor(mesh.state(), axes, z, call.where);
  if (later != nullptr) {
    executor.start(plan, std::move(a), *later);
    return {};
  }
  Value<T> b;
  if (call.second != nullptr)
    b = whole_value<T>(call.second->spec, z, axes.coords, call.second->buffer);
  return executor.run(plan, std::move(a), std::move(b), call.overlap);
}

template <class R, class T>
Plan make_plan(Sizing const& z) {
  return PlanSet<R, T>::choose(z);
}
template <class R, class T>
inline PlanCache plan_cache;

/// Hands the call of the operation that `R` resolved to `use(Call const&)`.
template <class R, class A, class Use>
auto with_call(std::source_location const& where, Use use, A const& a) {
  using T = typename A::element;
  using S = typename R::S;
  return use(Call{S::names,
                  {S::template reading<0>.spec, a.mesh(), a.extents().data(), a.buffer()},
                  nullptr,
                  static_cast<std::int64_t>(sizeof(T)),
                  plan_cache<R, T>,
                  &make_plan<R, T>,
                  where});
}
template <class R, class A, class B, class Use>
auto with_call(std::source_location const& where, Use use, A const& a, B const& b) {
  using T = typename A::element;
  using S = typename R::S;
  Operand const second{S::template reading<1>.spec, b.mesh(), b.extents().data(), b.buffer()};
  return use(Call{S::names,
                  {S::template reading<0>.spec, a.mesh(), a.extents().data(), a.buffer()},
                  &second,
                  static_cast<std::int64_t>(sizeof(T)),
                  plan_cache<R, T>,
                  &make_plan<R, T>,
                  where});
}

/// Runs the operation that `R` resolved on its operands. Errors: E23 tensors of two meshes, E24
/// extents that do not match.
template <class R, class A, class... B>
auto run(std::source_location const& where, Overlap overlap, A const& a, B const&... b) {
  using Out = typename R::result;
  auto go = [&](Call call) {
    call.overlap = overlap;
    std::array<std::int64_t, Out::rank> extents{};
    Buffer result = run_call<typename A::element, typename A::memory_space>(call, extents.data());
    return Out(a.mesh(), extents, std::move(result));
  };
  return with_call<R>(where, go, a, b...);
}
template <class R, class A, class... B>
auto run(std::source_location const& where, A const& a, B const&... b) {
  return run<R>(where, Overlap::none, a, b...);
}

}  // namespace shardtype::ops
