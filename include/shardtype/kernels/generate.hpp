#pragma once
/// Elements computed from their positions in the global tensor.

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/core/block.hpp>
#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/rows.hpp>
#include <shardtype/kernels/vector_loop.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::kernels {

/// Elements that a host's call computes.
inline constexpr int generated_together = 256;

namespace detail {

/// A functor that computes up to `generated_together` elements at once: `block(n, out, positions)`.
template <class Value, class T>
concept GivesBlocks =
    requires(Value const& value, T* out, std::int64_t const* at) { value.block(1, out, at); };

// Blocks compute with fma, which is a function of the C library where the unit's instructions lack
// it. There a second version is compiled for those instructions and called where the processor has
// them; its bits are the same.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__FMA__) && \
    !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP) && !defined(KOKKOS_ENABLE_SYCL)
template <class Value, class T>
[[gnu::target("avx2,fma"), gnu::flatten, gnu::noinline]] SHARDTYPE_VECTOR_LOOP void block_with_fma(
    Value const& value, int n, T* out, std::int64_t const* at) {
  value.block(n, out, at);
}
template <class Value, class T>
void compute_block(Value const& value, int n, T* out, std::int64_t const* at) {
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return detail::block_with_fma(value, n, out, at);
  value.block(n, out, at);
}
#else
template <class Value, class T>
[[gnu::flatten]] SHARDTYPE_VECTOR_LOOP KOKKOS_FUNCTION void compute_block(Value const& value, int n,
                                                                          T* out,
                                                                          std::int64_t const* at) {
  value.block(n, out, at);
}
#endif

/// out[j] = value(position(j)) for j from `begin` to `end`.
template <int Tile, class T, class Value, class Position>
[[gnu::flatten]] SHARDTYPE_VECTOR_LOOP KOKKOS_FUNCTION void generate_run(T* out, Value const& value,
                                                                         std::int64_t begin,
                                                                         std::int64_t end,
                                                                         Position const& position) {
  if constexpr (Tile == generated_together && GivesBlocks<Value, T>) {
    std::int64_t at[static_cast<std::size_t>(Tile)];
    for (std::int64_t j = begin; j < end; ++j) at[j - begin] = position(j);
    detail::compute_block(value, static_cast<int>(end - begin), out + begin, at);
  } else {
    for (std::int64_t j = begin; j < end; ++j) out[j] = value(position(j));
  }
}

struct EvenPositions {
  std::int64_t first, stride;
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t j) const { return first + j * stride; }
};
struct RowPositions {
  std::int64_t first, stride;
  Rows const& rows;
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t j) const {
    return first + global_index(rows, j) * stride;
  }
};

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
    detail::generate_run<Tile>(data + row * length, value, begin, end,
                               EvenPositions{first + offset_of(rows, row), stride});
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
    std::int64_t const row = work / tiles;
    std::int64_t const begin = work % tiles * Tile;
    std::int64_t const end = begin + Tile < length ? begin + Tile : length;
    detail::generate_run<Tile>(
        data + row * length, value, begin, end,
        RowPositions{global_offset(block, last, rows, row), block.stride[last], rows[last]});
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
  if (block.elements() == 0) return;
  Layout rows = merged(block);
  std::int64_t const length = rows.extent[--rows.rank];
  std::int64_t const stride = rows.stride[rows.rank];
  // on the host one call computes a row; on a device one element
  constexpr int tile = runtime::host_reads<Exec> ? generated_together : 1;
  std::int64_t const tiles = (length + tile - 1) / tile;
  std::int64_t const work = block.elements() / length * tiles;
  kernels::launch(
      exec, "shardtype::generate", work,
      detail::Generate<T, Value, tile>{data, value, rows, length, stride, tiles, first});
}

/// The same for a block that holds the indices `rows[d]` of each dim d, nested or block-cyclic; it
/// has at least one dim.
template <class T, class Exec, class Value>
void generate_rows(Exec const& exec, T* data, Layout const& block, Rows const* rows,
                   Value const& value) {
  if (block.elements() == 0) return;
  constexpr int tile = runtime::host_reads<Exec> ? generated_together : 1;
  std::int64_t const length = block.extent[block.rank - 1];
  std::int64_t const tiles = (length + tile - 1) / tile;
  detail::GenerateRows<T, Value, tile> work{data, value, block, {}, tiles};
  for (int d = 0; d < block.rank; ++d) work.rows[d] = rows[d];
  kernels::launch(exec, "shardtype::generate_rows", block.elements() / length * tiles, work);
}

}  // namespace shardtype::kernels
