#pragma once
/// Checksums of tensors that do not depend on shardings: of each chunk of the tensor's bytes the
/// sum, modulo 2^64, of a hash of each element and its position. Ranks add up those of their
/// blocks.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <shardtype/checkpoint/namespace.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/io/npy_header.hpp>
#include <shardtype/runtime/comm.hpp>

namespace shardtype::checkpoint::detail {

/// Bytes of a tensor that have one sum.
inline constexpr std::int64_t chunk_bytes = std::int64_t(1) << 20;

/// A block in row-major order, of an array in row-major order.
struct BlockOfArray {
  io::NpyInts shape, begin, count;
  std::int64_t element_bytes = 1;

  std::int64_t elements() const;        ///< of the block
  std::int64_t array_elements() const;  ///< of the array
  std::int64_t array_bytes() const { return array_elements() * element_bytes; }
  std::size_t chunks() const {
    return static_cast<std::size_t>((array_bytes() + chunk_bytes - 1) / chunk_bytes);
  }
};

/// Calls `f(at, from, n)` with each run of elements that are consecutive in the array: n elements,
/// from the array's element `at` and the block's element `from` on.
template <class F>
void for_each_run(BlockOfArray const& b, F const& f) {
  std::int64_t const total = b.elements();
  if (total == 0) return;
  std::size_t outer = b.shape.size();  // dims that a run does not cover
  std::int64_t run = 1;
  while (outer > 0) {
    --outer;
    run *= b.count[outer];
    if (b.count[outer] != b.shape[outer]) break;
  }
  std::int64_t start = 0, stride = 1;
  io::NpyInts strides(b.shape.size(), 1);
  for (std::size_t d = b.shape.size(); d-- > 0; stride *= b.shape[d]) {
    strides[d] = stride;
    start += b.begin[d] * stride;
  }
  io::NpyInts index(outer, 0);
  for (std::int64_t from = 0; from < total; from += run) {
    std::int64_t at = start;
    for (std::size_t d = 0; d < outer; ++d) at += index[d] * strides[d];
    f(at, from, run);
    for (std::size_t d = outer; d-- > 0;) {
      if (++index[d] < b.count[d]) break;
      index[d] = 0;
    }
  }
}

/// Adds the hashes of a block's elements to the sums of the array's chunks.
void add_sums(BlockOfArray const& b, std::byte const* data, std::uint64_t* sums);

/// Adds up the sums of all ranks, on all of them.
void add_up(runtime::Comm& comm, std::vector<std::vector<std::uint64_t>>& sums);

}  // namespace shardtype::checkpoint::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/checkpoint/sums.ipp>
#endif
