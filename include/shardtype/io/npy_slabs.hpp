#pragma once
/// Cuts one rank's block of a .npy file into slabs, one collective call each.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <shardtype/core/compiled.hpp>
#include <shardtype/io/npy_header.hpp>

namespace shardtype::io {

/// The way in which ranks access the file. Must be the same on all ranks.
struct NpyAccess {
  /// Whether ranks combine their accesses (MPI-IO's collective calls), as is best on parallel file
  /// systems. If not, each rank accesses the file independently: much faster if ranks share cores,
  /// because MPICH never yields the core while it waits in these calls.
  bool collective = true;
  /// Largest number of bytes per call and rank: keeps counts within MPI's int.
  std::int64_t bytes = std::int64_t(1) << 28;
  /// Largest number of separate runs of bytes per call: keeps MPI's list of them small.
  std::int64_t runs = std::int64_t(1) << 20;
};

}  // namespace shardtype::io

namespace shardtype {

namespace detail {

/// A part of a block: `begin` and `count` in the file's array, slowest dimension first. If the
/// block is stored in the file's order, the slab begins `at` elements after the block's begin.
struct NpySlab {
  io::NpyInts begin, count;
  std::int64_t at = 0;
  std::int64_t elements = 0;
};

/// The slabs of one block. Each is a range of one dimension, with all indices of the faster
/// dimensions and one index of the slower ones, so that it is contiguous in a block stored in the
/// file's order.
class NpySlabs {
 public:
  NpySlabs(io::NpyInts const& shape, io::NpyInts const& begin, io::NpyInts const& count,
           std::size_t element_bytes, bool fortran_order, io::NpyAccess const& access);

  /// Number of slabs; 0 for an empty block.
  std::int64_t size() const { return size_; }
  /// The file's dimensions, slowest first.
  io::NpyInts const& shape() const { return shape_; }
  std::int64_t element_bytes() const { return element_; }
  /// Whether the file's order of elements differs from the block's (row-major) order.
  bool reversed() const { return reversed_; }
  /// Elements of the largest slab.
  std::int64_t largest() const { return size_ == 0 ? 0 : rows_ * inner_; }

  NpySlab operator[](std::int64_t s) const;

  /// Copies a slab between `packed`, in the file's order, and its position in the row-major block.
  void transpose(NpySlab const& slab, std::byte* packed, std::byte* block, bool to_block) const;

 private:
  void cut(io::NpyAccess const& access);

  template <std::size_t Bytes>
  void transpose_as(NpySlab const& slab, std::byte* packed, std::byte* block, bool to_block) const {
    std::size_t const n = count_.size();
    io::NpyInts in_packed(n, 1), in_block(n, 1);
    for (std::size_t d = n - 1; d-- > 0;) in_packed[d] = in_packed[d + 1] * slab.count[d + 1];
    for (std::size_t d = 1; d < n; ++d) in_block[d] = in_block[d - 1] * count_[d - 1];
    std::int64_t start = 0;
    for (std::size_t d = 0; d < n; ++d) start += (slab.begin[d] - begin_[d]) * in_block[d];

    std::size_t const bytes = Bytes != 0 ? Bytes : static_cast<std::size_t>(element_);
    auto const move = [&](std::int64_t from, std::int64_t to) {
      std::byte* const a = packed + from * element_;
      std::byte* const b = block + to * element_;
      to_block ? std::memcpy(b, a, bytes) : std::memcpy(a, b, bytes);
    };
    // Tiles of the two dimensions that are fastest in one of the two orders; `index` counts through
    // the others.
    constexpr std::int64_t tile = 32;
    std::int64_t const rows = slab.count[0], cols = slab.count[n - 1];
    io::NpyInts index(n, 0);
    for (;;) {
      std::int64_t p = 0, q = start;
      for (std::size_t d = 1; d + 1 < n; ++d) {
        p += index[d] * in_packed[d];
        q += index[d] * in_block[d];
      }
      for (std::int64_t i0 = 0; i0 < rows; i0 += tile)
        for (std::int64_t j0 = 0; j0 < cols; j0 += tile)
          for (std::int64_t i = i0; i < std::min(rows, i0 + tile); ++i)
            for (std::int64_t j = j0; j < std::min(cols, j0 + tile); ++j)
              move(p + i * in_packed[0] + j, q + i + j * in_block[n - 1]);
      std::size_t d = n - 1;
      while (--d > 0 && ++index[d] == slab.count[d]) index[d] = 0;
      if (d == 0) return;
    }
  }

  io::NpyInts shape_, begin_, count_;
  std::int64_t element_;
  bool reversed_;
  std::size_t dim_ = 0;     // the dimension that is cut into ranges of rows_
  std::int64_t inner_ = 1;  // elements per index of that dimension
  std::int64_t rows_ = 0;
  std::int64_t per_dim_ = 1;
  std::int64_t size_ = 0;
};

}  // namespace detail

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/io/npy_slabs.ipp>
#endif
