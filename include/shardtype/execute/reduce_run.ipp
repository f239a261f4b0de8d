#pragma once
/// Definitions of reduce_run.hpp.

#include <shardtype/execute/reduce_run.hpp>

namespace shardtype::execute {

SHARDTYPE_INLINE kernels::Layout kept_first(kernels::Layout const& block, int const* kept,
                                            int count) {
  kernels::Layout out;
  bool used[max_dims] = {};
  auto push = [&](int d) {
    out.extent[out.rank] = block.extent[d];
    out.stride[out.rank++] = block.stride[d];
    used[d] = true;
  };
  for (int k = 0; k < count; ++k) push(kept[k]);
  for (int d = 0; d < block.rank; ++d)
    if (!used[d]) push(d);
  return out;
}

}  // namespace shardtype::execute
