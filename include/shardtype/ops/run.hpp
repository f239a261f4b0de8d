#pragma once
/// From tensors to a plan to its execution: what every operation's front door calls.

#include <array>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include <shardtype/check/plan_of.hpp>
#include <shardtype/ops/execute.hpp>
#include <shardtype/tensor/tensor.hpp>

namespace shardtype::ops {

/// The plan of one operation for one sizing; made at the first call per sizing.
template <class R, class T>
Plan const& planned(Sizing const& z) {
  static std::vector<std::unique_ptr<Plan const>> known;
  for (auto const& p : known)
    if (p->sizing == z) return *p;
  // shapes that change at every call must not fill the memory
  if (known.size() == 64) known.erase(known.begin());
  known.push_back(std::make_unique<Plan const>(PlanSet<R, T>::choose(z)));
  return *known.back();
}

/// Notes the extents of one operand; operands that share a label must agree on its extent.
inline void note_extents(Extents& known, Names const& names, Spec const& s,
                         std::int64_t const* extents, char const* operand) {
  for (int d = 0; d < s.rank; ++d) {
    int const l = s.dims[d].label;
    if (known.at[l] != dynamic && known.at[l] != extents[d])
      throw Error("E24",
                  "index " + std::string(names.label_name[l]) + " has extent " +
                      std::to_string(extents[d]) + " in the " + operand + " operand, elsewhere " +
                      std::to_string(known.at[l]),
                  FailedOn::every_rank);
    known.at[l] = extents[d];
  }
}

/// Runs the operation that `R` resolved on its operands. Errors: E23 tensors of two meshes, E24
/// extents that do not match.
template <class R, class A, class... B>
auto run(std::source_location const& where, A const& a, B const&... b) {
  using Out = typename R::result;
  using T = typename A::element;
  using S = typename R::S;
  MeshRef const& mesh = a.mesh();
  if (((b.mesh() != mesh) || ...))
    throw Error("E23", "the operands live on two meshes; tensors of two meshes do not mix",
                FailedOn::every_rank);
  Sizing z{S::names.extents(), {}, static_cast<std::int64_t>(sizeof(T))};
  note_extents(z.extents, S::names, S::template spec<0>, a.extents().data(), "first");
  (note_extents(z.extents, S::names, S::template spec<1>, b.extents().data(), "second"), ...);
  AxisMap const axes = map_axes(mesh.state(), S::names);
  z.sizes = axes.sizes;
  Plan const& plan = planned<R, T>(z);

  std::array<std::int64_t, Out::rank> extents{};
  for (std::size_t d = 0; d < Out::rank; ++d)
    extents[d] = z.extents[plan.result.dims[d].label];
  if (!mesh.here()) return Out(mesh, extents, Buffer{});
  Executor<T, typename A::memory_space> executor(mesh.state(), axes, z, where);
  return Out(mesh, extents,
             executor.run(plan,
                          whole_value<T>(S::template spec<0>, z, axes.coords, a.buffer()),
                          whole_value<T>(S::template spec<1>, z, axes.coords, b.buffer())...));
}

}  // namespace shardtype::ops
