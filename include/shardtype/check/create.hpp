#pragma once
/// The object of tensor creation, with its plan.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <shardtype/check/resolve.hpp>
#include <shardtype/core/bridge.hpp>
#include <shardtype/plan/local_plan.hpp>

namespace shardtype {

namespace op {

/// The creation of a tensor of type `A` and these extents: `zeros`, `ones`, `full`, `arange`,
/// `linspace`, `eye`, `from_function`, the random numbers. Each rank creates its own block without
/// communication; element (i, j) of random numbers depends only on the key, i and j.
template <class A>
struct Create {
  static constexpr std::string_view name = "create";
  std::array<std::int64_t, static_cast<std::size_t>(Scope<A>::template spec<0>.rank)> extents{};

  /// The plan on axes of these sizes.
  constexpr Plan plan_on(Sizes const& sizes) const {
    planning::CallSizing c;
    c.result = Scope<A>::template spec<0>;
    c.common = {Scope<A>::names.extents(), sizes, static_cast<std::int64_t>(sizeof(element_t<A>))};
    for (int d = 0; d < c.result.rank; ++d)
      c.common.extents.at[c.result.dims[d].label] = extents[static_cast<std::size_t>(d)];
    c.made.extents = c.common.extents;
    c.made.element_bytes = c.common.element_bytes;
    Plan p = planning::plan_of_call(name, c);
    planning::append_compute(p, {});
    return p;
  }
};

}  // namespace op

namespace api {

/// `plan(op::Create<A>{{1500, 1100}})`: no operands, no communication, the memory of the largest
/// block. The types of the axes must determine their sizes; otherwise use plan_at, which takes them
/// from the mesh.
template <class A>
constexpr Plan plan(op::Create<A> const& op) {
  static_assert(core::Scope<A>::names.knows_axis_sizes(),
                "[shardtype] an axis of this tensor gets its size at run time: plan_at(op, mesh) "
                "has the plan");
  return op.plan_on(core::Scope<A>::names.sizes());
}

}  // namespace api

}  // namespace shardtype
