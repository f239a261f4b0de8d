#pragma once
/// Definitions of entries.hpp.

#include <shardtype/checkpoint/entries.hpp>

namespace shardtype::checkpoint::detail {

SHARDTYPE_INLINE io::NpyInts Entry::file_shape() const {
  io::NpyInts out;
  std::size_t const n = block.shape.size();
  for (std::size_t d = 0; d < n; ++d) out.push_back(block.shape[transposed ? n - 1 - d : d]);
  if (pair) out.push_back(2);
  return out;
}

}  // namespace shardtype::checkpoint::detail
