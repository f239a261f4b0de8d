#pragma once
/// How the local block of a tensor lies in memory.

#include <shardtype/core/block.hpp>
#include <shardtype/kernels/layout.hpp>

namespace shardtype {

/// The layout of a local block that holds `ranges` of each dim, `a.ranges()`: without gaps, last dim
/// fastest.
template <class Ranges>
kernels::Layout block_layout(Ranges const& ranges) {
  kernels::Layout l;
  for (Range const& r : ranges) l.extent[l.rank++] = r.size();
  return l.packed();
}

}  // namespace shardtype
