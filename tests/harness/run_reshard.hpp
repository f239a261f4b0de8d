// Runs one reshard on this rank's block of a tensor and compares it with simulated ranks.
#pragma once

#include <cstdint>
#include <source_location>

#include <shardtype/shardtype.hpp>

#include "harness/kernel_count.hpp"
#include "harness/simulate.hpp"
#include "shim/pmpi.hpp"

namespace run_reshard {

using Int = std::int64_t;

// The layout of the operand: packed as in a tensor, or a view whose first dim is contiguous and
// that has gaps.
enum class Operand { packed, view };

// The bound of the kernels that `plan` may start: one packs and one unpacks for each collective,
// none if only the outermost dim of a packed operand changes, and one packs the result of a view.
inline int most_kernels(shardtype::Plan const& plan, Operand how) {
  int most = 0;
  bool outermost = how == Operand::packed;
  for (shardtype::planning::Step const& s : plan) {
    outermost =
        outermost && s.from <= 0 && s.to <= 0 && s.move != shardtype::planning::Move::transpose;
    for (int const d : {s.from, s.to})
      if (d >= 0)
        outermost =
            outermost && s.before.dims[d].axes.cyclic == 0 && s.after.dims[d].axes.cyclic == 0;
    bool const turns = s.to >= 0 && s.after.dims[s.to].axes.cyclic != 0;
    if (s.move == shardtype::planning::Move::slice) most += turns ? 1 : 0;
    if (s.is_collective()) most += s.move == shardtype::planning::Move::reduce ? 1 : 2;
  }
  return outermost ? 0 : most + 1;
}

// The number of wrong elements of the result, plus one for too many kernels, and plus one for wrong
// bytes if `check_bytes`.
template <class Element>
int run(shardtype::runtime::MeshState& mesh, shardtype::runtime::AxisMap const& axes,
        shardtype::Spec const& from, shardtype::Spec const& to,
        shardtype::planning::Sizing const& z, Element element, Operand how,
        bool check_bytes = true) {
  using namespace shardtype;
  auto const me = static_cast<std::size_t>(simulate::rank_of(z.sizes, axes.coords));
  Plan const plan = planning::reshard_plan(from, to, z);
  auto const start = simulate::distribute(planning::without_reduced(from), z, element);
  simulate::Distributed end = start;
  for (planning::Step const& s : plan)
    if (!simulate::apply(s, z, end)) return 1000;

  auto value = execute::whole_value<Int>(from, z, axes.coords, {});
  Int reach = 1;
  if (how == Operand::view)
    for (int d = 0; d < from.rank; ++d) {
      value.layout.stride[d] = reach;
      reach = reach * value.layout.extent[d] + 1;
    }
  else
    reach = value.layout.elements();
  value.keep = mesh.pool().take<Kokkos::HostSpace>(static_cast<std::size_t>(reach) * sizeof(Int));
  auto* const data = static_cast<Int*>(value.keep.data());
  value.data = data;
  Int k = 0;
  for (auto const& held : start.held[me]) {
    if (!held) continue;
    Int at = 0;
    Int rest = k++;
    for (int d = from.rank - 1; d >= 0; --d) {
      at += rest % value.layout.extent[d] * value.layout.stride[d];
      rest /= value.layout.extent[d];
    }
    data[at] = *held;
  }

  shim::reset();
  kernel_count::reset();
  execute::Executor<Int, Kokkos::HostSpace> execute(mesh, axes, z, std::source_location::current());
  runtime::Buffer const result = execute.run(plan, std::move(value));
  int bad = kernel_count::started <= most_kernels(plan, how) ? 0 : 1;
  if (check_bytes && shim::bytes() != plan.bytes(axes.coords)) ++bad;
  auto const* got = static_cast<Int const*>(result.data());
  simulate::for_held(to, z, axes.coords, [&](std::size_t, Extents const& at) {
    auto const place = static_cast<std::size_t>(simulate::place(end.spec, z.extents, at));
    Int const found = *got++;
    if (found != end.held[me][place]) ++bad;
    if (to.unreduced.empty() && found != element(at)) ++bad;
  });
  return bad;
}

}  // namespace run_reshard
