#pragma once
/// Definitions of lookup.hpp.

#include <shardtype/execute/lookup.hpp>

namespace shardtype::execute {

SHARDTYPE_INLINE void Part::push(kernels::Layout const& block, int d, Range const& held,
                                 Range const& used) {
  layout.extent[layout.rank] = used.size();
  layout.stride[layout.rank++] = block.stride[d];
  offset += (used.begin - held.begin) * block.stride[d];
  lengths *= used.size();
}

}  // namespace shardtype::execute
