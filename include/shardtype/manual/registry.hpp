#pragma once
/// The operations that only manual mode has. Those that strict mode has too are in
/// ops/registry.hpp; shard_map and control flow are not operations, but call some.

#include <shardtype/check/registered.hpp>

namespace shardtype::op {

/// The operations of manual/, sorted by name.
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
