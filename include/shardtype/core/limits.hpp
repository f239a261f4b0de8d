#pragma once
/// Bounds of one operation.

#include <cstdint>

#include <shardtype/core/namespaces.hpp>

namespace shardtype::core {

/// Most distinct index labels in one operation, and most dims of one tensor. Exceeded: code T07.
inline constexpr int max_dims = 8;

/// Most distinct index labels in one operation that moves windows, which have three each. Exceeded:
/// code T07.
inline constexpr int max_labels = 12;

/// Most distinct mesh axes in one operation. Exceeded: code T07.
inline constexpr int max_axes = 6;

/// The largest number of mesh axes in one search of a planner, and in one program of automatic
/// mode.
inline constexpr int searched_axes = 4;

/// Most elements of one tensor: 64 bits count their bytes. Exceeded: code T10, Error E20.
inline constexpr std::int64_t max_elements = std::int64_t{1} << 58;

}  // namespace shardtype::core

namespace shardtype {

/// Marks an extent or axis size that is given at run time.
inline constexpr std::int64_t dynamic = -1;

}  // namespace shardtype
