#pragma once
/// Memory layout of a local block, for kernels.

#include <shardtype/core/layout.hpp>

namespace shardtype::kernels {

using core::cross_section;
using core::inner_length;
using core::Layout;
using core::lies_in_segments;
using core::merged;
using core::outer_length;

}  // namespace shardtype::kernels
