#pragma once
/// The memory layout of a tensor's local block.

#include <shardtype/core/block.hpp>
#include <shardtype/kernels/layout.hpp>

namespace shardtype::detail {

/// The layout of a local block that holds `rows` of each dim, `a.rows()`: without gaps, last dim
/// fastest.
template <class Each>
kernels::Layout block_layout(Each const& rows) {
  kernels::Layout l;
  for (Rows const& r : rows) l.extent[l.rank++] = r.size();
  return l.packed();
}
/// The same of `rank` dims.
inline kernels::Layout block_layout(Rows const* rows, int rank) {
  kernels::Layout l;
  for (; l.rank < rank; ++l.rank) l.extent[l.rank] = rows[l.rank].size();
  return l.packed();
}

}  // namespace shardtype::detail
