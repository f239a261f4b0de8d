#pragma once
/// Parts of a dim that are many runs of indices: which they are, and how they come out of a block and
/// back into one.

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/core/list.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/runs.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype::ops {

/// The runs of each of `parts` in a block that holds `base` of a dim, into the mesh's scratch.
inline void find_runs(Rows const& base, detail::List<Rows> const& parts, StepScratch& s) {
  s.run_at.assign(1, 0);
  s.run_row.clear();
  s.run_first.assign(1, 0);
  for (Rows const& part : parts) {
    for (std::int64_t i = 0, k = 0; i < base.count && k < part.count;) {
      std::int64_t const here = base[i];
      std::int64_t const there = part[k];
      if (here < there) {
        i = base.below(there);
      } else if (there < here) {
        k = part.below(here);
      } else {
        std::int64_t const n = std::min(base.in_a_row(i), part.in_a_row(k));
        s.run_row.push_back(i);
        s.run_at.push_back(s.run_at.back() + n);
        i += n;
        k += n;
      }
    }
    s.run_first.push_back(static_cast<std::int64_t>(s.run_row.size()));
  }
}

/// Moves the runs that the mesh's scratch holds between messages and dim `dim` of a block of this
/// layout.
template <class Space, kernels::Packing Way, class T>
void move_found_runs(MeshState& mesh, T const* src, T* dst, kernels::Layout const& block, int dim) {
  StepScratch const& s = mesh.scratch();
  detail::List<std::int64_t> const* const tables[] = {&s.run_at, &s.run_row, &s.run_first};
  std::int64_t const* readable[3];
  Buffer copies[3];
  for (int k = 0; k < 3; ++k) {
    readable[k] = tables[k]->data();
    if constexpr (!Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible) {
      using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
      std::size_t const n = tables[k]->size();
      copies[k] = mesh.pool().template take<Space>(n * sizeof(std::int64_t));
      auto* const there = static_cast<std::int64_t*>(copies[k].data());
      Kokkos::deep_copy(
          Kokkos::View<std::int64_t*, Space, Unmanaged>(there, n),
          Kokkos::View<std::int64_t const*, Kokkos::HostSpace, Unmanaged>(tables[k]->data(), n));
      readable[k] = there;
    }
  }
  typename Space::execution_space const exec{};
  kernels::move_runs<Way>(
      exec, src, dst,
      {readable[0], readable[1], readable[2], static_cast<std::int64_t>(s.run_first.size()) - 1,
       static_cast<std::int64_t>(s.run_row.size())},
      kernels::outer_length(block, dim), block.extent[dim], kernels::inner_length(block, dim));
  exec.fence();
}

/// The indices `part` of dim `dim` of a packed block that holds `base` of it, as a packed block, whose
/// layout `block` becomes.
template <class T, class Space>
Buffer take_rows(MeshState& mesh, T const* data, kernels::Layout& block, int dim, Rows const& base,
                 Rows const& part) {
  StepScratch& s = mesh.scratch();
  s.rows.assign(1, part);
  find_runs(base, s.rows, s);
  kernels::Layout const from = block;
  block.extent[dim] = part.count;
  block = block.packed();
  Buffer const out =
      mesh.pool().template take<Space>(static_cast<std::size_t>(block.elements()) * sizeof(T));
  move_found_runs<Space, kernels::Packing::split>(mesh, data, static_cast<T*>(out.data()), from,
                                                  dim);
  return out;
}

/// The reverse: a packed block that holds `base` of the dim, with zeros at all but `part` of it.
template <class T, class Space>
Buffer place_rows(MeshState& mesh, T const* data, kernels::Layout& block, int dim, Rows const& base,
                  Rows const& part) {
  StepScratch& s = mesh.scratch();
  s.rows.assign(1, part);
  find_runs(base, s.rows, s);
  block.extent[dim] = base.count;
  block = block.packed();
  Buffer const out =
      mesh.pool().template take<Space>(static_cast<std::size_t>(block.elements()) * sizeof(T));
  typename Space::execution_space const exec{};
  kernels::fill(exec, static_cast<T*>(out.data()), block.elements(), T{});
  move_found_runs<Space, kernels::Packing::join>(mesh, data, static_cast<T*>(out.data()), block,
                                                 dim);
  return out;
}

}  // namespace shardtype::ops
