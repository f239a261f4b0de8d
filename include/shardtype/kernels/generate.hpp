#pragma once
/// Elements computed from their positions in the global tensor.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/core/block.hpp>
#include <shardtype/kernels/launch_name.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/rows.hpp>

namespace shardtype::kernels {

namespace detail {
template <class T, class Value, int Tile>
struct Generate {
  T* data;
  Value value;
  Layout rows;  // merged, without the last dim; strides are those of the global tensor
  std::int64_t length, stride, tiles, first;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const row = work / tiles;
    std::int64_t const begin = (work % tiles) * Tile;
    std::int64_t const end = begin + Tile < length ? begin + Tile : length;
    std::int64_t at = first;
    std::int64_t rest = row;
    for (int d = rows.rank - 1; d >= 0; --d) {
      at += (rest % rows.extent[d]) * rows.stride[d];
      rest /= rows.extent[d];
    }
    T* const out = data + row * length;
    for (std::int64_t j = begin; j < end; ++j) out[j] = value(at + j * stride);
  }
};
template <class T, class Value, int Tile>
struct GenerateRows {
  T* data;
  Value value;
  Layout block;  // not merged; strides are those of the global tensor
  Rows rows[max_dims];
  std::int64_t tiles;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    int const last = block.rank - 1;
    std::int64_t const length = block.extent[last];
    std::int64_t rest = work / tiles;
    std::int64_t const begin = work % tiles * Tile;
    std::int64_t const end = begin + Tile < length ? begin + Tile : length;
    T* const out = data + rest * length;
    std::int64_t at = 0;
    for (int d = last - 1; d >= 0; --d) {
      at += global_index(rows[d], rest % block.extent[d]) * block.stride[d];
      rest /= block.extent[d];
    }
    for (std::int64_t j = begin; j < end; ++j)
      out[j] = value(at + global_index(rows[last], j) * block.stride[last]);
  }
};
}  // namespace detail

/// Writes value(n) for each element to the packed `data`, where n is the element's row-major
/// position in the global tensor. `block` has the extents of the local block with the strides of
/// the global tensor; its first element is at position `first`. `Value` is a functor over element
/// types. Runs on `exec`.
template <class T, class Exec, class Value>
void generate(Exec const& exec, T* data, Layout const& block, std::int64_t first,
              Value const& value) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  if (block.elements() == 0) return;
  Layout rows = merged(block);
  std::int64_t const length = rows.extent[--rows.rank];
  std::int64_t const stride = rows.stride[rows.rank];
  // on the host one call computes a row; on a device one element
  constexpr bool host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Exec::memory_space>::accessible;
  constexpr int tile = host ? 256 : 1;
  std::int64_t const tiles = (length + tile - 1) / tile;
  std::int64_t const work = block.elements() / length * tiles;
  Kokkos::parallel_for(
      kernels::launch_name("shardtype::generate"), Policy(exec, 0, work),
      detail::Generate<T, Value, tile>{data, value, rows, length, stride, tiles, first});
}

/// As above, for a block that holds the indices `rows[d]` of each dim d, nested or block-cyclic; it
/// has at least one dim.
template <class T, class Exec, class Value>
void generate_rows(Exec const& exec, T* data, Layout const& block, Rows const* rows,
                   Value const& value) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  if (block.elements() == 0) return;
  constexpr bool host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Exec::memory_space>::accessible;
  constexpr int tile = host ? 256 : 1;
  std::int64_t const length = block.extent[block.rank - 1];
  std::int64_t const tiles = (length + tile - 1) / tile;
  detail::GenerateRows<T, Value, tile> work{data, value, block, {}, tiles};
  for (int d = 0; d < block.rank; ++d) work.rows[d] = rows[d];
  Kokkos::parallel_for(kernels::launch_name("shardtype::generate_rows"),
                       Policy(exec, 0, block.elements() / length * tiles), work);
}

}  // namespace shardtype::kernels
