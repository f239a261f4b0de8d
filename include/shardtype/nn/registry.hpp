#pragma once
/// The operations of nn/ that users call. Those of cross_entropy and of backward passes are called by functions.

#include <shardtype/check/registered.hpp>

namespace shardtype::op {

// clang-format off
/// The operations of nn/, sorted by name.
inline constexpr Registered nn_operations[] = {
    {"Attention", "attention"},
    {"CausalMask", "causal_mask"},
    {"Dropout", "dropout"},
    {"LayerNorm", "layer_norm"},
    {"RaggedDot", "ragged_dot"},
    {"RmsNorm", "rms_norm"},
    {"Rotary", "rotary"},
};
// clang-format on

}  // namespace shardtype::op
