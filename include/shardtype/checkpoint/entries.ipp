#pragma once
/// Definitions of entries.hpp.

#include <shardtype/checkpoint/entries.hpp>

namespace shardtype::checkpoint::detail {

SHARDTYPE_INLINE io::NpyInts Entry::file_shape() const {
  io::NpyInts out;
  std::size_t const n = block.shape.size();
  std::size_t d = 0;
  auto const next = [&] {
    std::size_t const at = d++;
    return block.shape[transposed ? n - 1 - at : at];
  };
  for (int const count : merged) {
    std::int64_t extent = 1;
    for (int k = 0; k < count; ++k) extent *= next();
    out.push_back(extent);
  }
  while (d < n) out.push_back(next());
  if (pair) out.push_back(2);
  return out;
}

SHARDTYPE_INLINE void check_merged(Entry const& e) {
  std::size_t dims = 0;
  bool positive = true;
  for (int const count : e.merged) {
    positive = positive && count > 0;
    dims += positive ? static_cast<std::size_t>(count) : 0;
  }
  if (!e.merged.empty() && (!positive || dims != e.block.shape.size()))
    throw Error("E92",
                "tensor \"" + e.name + "\" has " + std::to_string(e.block.shape.size()) +
                    " dims, and merged counts others",
                FailedOn::every_rank);
}

}  // namespace shardtype::checkpoint::detail
