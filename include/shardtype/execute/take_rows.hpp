#pragma once
/// Parts of a dim that consist of many runs of indices: finding the runs, and copying them out of a
/// block and back.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/runs.hpp>
#include <shardtype/kernels/view_runs.hpp>
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype::execute {

namespace runs {

/// Finds the runs of each of `parts` in a block that holds the indices `base` of a dim, none longer
/// than `longest`. Results go to the mesh's scratch.
void find_runs(Rows const& base, detail::List<Rows> const& parts, std::int64_t longest,
               StepScratch& s);

/// Sorts the run numbers in the mesh's scratch by position in the block.
void order_runs(StepScratch& s);

/// A table of the mesh's scratch in memory that kernels on `Space` can read.
template <class Space>
class TableIn {
 public:
  TableIn(MeshState& mesh, detail::List<std::int64_t> const& table) : at_(table.data()) {
    if constexpr (!runtime::host_reads<Space>) {
      std::size_t const bytes = table.size() * sizeof(std::int64_t);
      copy_ = mesh.pool().template take<Space>(bytes, runtime::Pool::Use::workspace);
      runtime::copy_bytes<Space, Kokkos::HostSpace>(copy_.data(), table.data(), bytes);
      at_ = static_cast<std::int64_t const*>(copy_.data());
    }
  }
  std::int64_t const* at() const { return at_; }

 private:
  Buffer copy_;
  std::int64_t const* at_;
};

/// Calls `move` with the runs in the mesh's scratch, in memory that kernels on `Space` can read.
template <class Space, class Move>
void with_found_runs(MeshState& mesh, Move const& move) {
  StepScratch const& s = mesh.scratch();
  TableIn<Space> const at(mesh, s.run_at);
  TableIn<Space> const row(mesh, s.run_row);
  TableIn<Space> const first(mesh, s.run_first);
  move(kernels::RunTable{at.at(), row.at(), first.at(),
                         static_cast<std::int64_t>(s.run_first.size()) - 1,
                         static_cast<std::int64_t>(s.run_row.size()), s.run_at.back()});
}

inline constexpr std::int64_t any_length = std::numeric_limits<std::int64_t>::max();

}  // namespace runs

/// Copies the indices `parts` of dim `dim` of a block that holds the indices `base` to `dst`, one
/// part after the other, in one pass over `src`, which may have any strides.
template <class Space, class T>
void split_rows(MeshState& mesh, T const* src, kernels::Layout const& block, int dim,
                Rows const& base, detail::List<Rows> const& parts, T* dst) {
  StepScratch& s = mesh.scratch();
  typename Space::execution_space const& exec =
      runtime::instance<typename Space::execution_space>();
  if (block.contiguous()) {
    runs::find_runs(base, parts, runs::any_length, s);
    runs::with_found_runs<Space>(mesh, [&](kernels::RunTable const& table) {
      kernels::move_runs<kernels::Packing::split>(
          exec, src, dst, table, kernels::outer_length(block, dim), block.extent[dim],
          kernels::inner_length(block, dim));
      runtime::fence(exec);
    });
    return;
  }
  runs::find_runs(base, parts, kernels::view_tile, s);
  runs::order_runs(s);
  runs::with_found_runs<Space>(mesh, [&](kernels::RunTable const& table) {
    runs::TableIn<Space> const order(mesh, s.run_order);
    kernels::split_view(exec, src, dst, block, dim, table, order.at());
    runtime::fence(exec);
  });
}

/// The inverse, into a packed block; indices that are in no part keep their values.
template <class Space, class T>
void join_rows(MeshState& mesh, T const* src, T* dst, kernels::Layout const& block, int dim,
               Rows const& base, detail::List<Rows> const& parts) {
  typename Space::execution_space const& exec =
      runtime::instance<typename Space::execution_space>();
  runs::find_runs(base, parts, runs::any_length, mesh.scratch());
  runs::with_found_runs<Space>(mesh, [&](kernels::RunTable const& table) {
    kernels::move_runs<kernels::Packing::join>(exec, src, dst, table,
                                               kernels::outer_length(block, dim), block.extent[dim],
                                               kernels::inner_length(block, dim));
    runtime::fence(exec);
  });
}

/// The indices `part` of dim `dim` of a block that holds the indices `base`, as a packed block;
/// `block` becomes its layout.
template <class T, class Space>
Buffer take_rows(MeshState& mesh, T const* data, kernels::Layout& block, int dim, Rows const& base,
                 Rows const& part) {
  StepScratch& s = mesh.scratch();
  s.rows.assign(1, part);
  kernels::Layout const from = block;
  block.extent[dim] = part.count;
  block = block.packed();
  Buffer const out =
      mesh.pool().template take<Space>(static_cast<std::size_t>(block.elements()) * sizeof(T));
  execute::split_rows<Space>(mesh, data, from, dim, base, s.rows, static_cast<T*>(out.data()));
  return out;
}

/// The inverse: a packed block that holds the indices `base` of the dim, with zeros outside of
/// `part`.
template <class T, class Space>
Buffer place_rows(MeshState& mesh, T const* data, kernels::Layout& block, int dim, Rows const& base,
                  Rows const& part) {
  StepScratch& s = mesh.scratch();
  s.rows.assign(1, part);
  block.extent[dim] = base.count;
  block = block.packed();
  Buffer const out =
      mesh.pool().template take<Space>(static_cast<std::size_t>(block.elements()) * sizeof(T));
  typename Space::execution_space const& exec =
      runtime::instance<typename Space::execution_space>();
  kernels::fill(exec, static_cast<T*>(out.data()), block.elements(), T{});
  execute::join_rows<Space>(mesh, data, static_cast<T*>(out.data()), block, dim, base, s.rows);
  return out;
}

}  // namespace shardtype::execute

#ifndef SHARDTYPE_COMPILED
#include <shardtype/execute/take_rows.ipp>
#include <shardtype/runtime/instance.hpp>
#endif
