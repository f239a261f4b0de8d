#pragma once
/// The operations of manual mode alone. Those that strict mode has too are in ops/registry.hpp; shard_map and
/// control flow are no operations, but call some.

#include <shardtype/check/registered.hpp>

namespace shardtype::op {

/// The operations of manual/, in the order of their names.
inline constexpr Registered manual_operations[] = {
    {"BroadcastFrom", "broadcast_from"},
    {"Permute", "permute"},
    {"RaggedAllToAll", "ragged_all_to_all"},
    {"Rotate", "rotate"},
    {"Shard", "shard"},
    {"ToUnreduced", "unreduced"},
    {"ToVarying", "varying"},
};

}  // namespace shardtype::op
