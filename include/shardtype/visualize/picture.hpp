#pragma once
/// The contents of a picture of a sharding: the blocks, the ranks that hold them, and the captions.

#include <cstdint>
#include <string>

#include <shardtype/core/list.hpp>

namespace shardtype {

/// A sharding as plain values. Axes are identified by their position in the mesh.
struct ShardingPicture {
  detail::List<std::string> index_names;  ///< per dimension
  detail::List<std::int64_t> extents;     ///< per dimension; -1 unknown
  detail::List<detail::List<int>>
      axes;  ///< per dimension: the mesh axes that split it, major first
  detail::List<std::int64_t>
      cyclic;  ///< per dimension: block size if it is block-cyclic, or 0; empty: all 0
  detail::List<int> unreduced;
  std::string unreduced_kind;  ///< "" for sum, "max", "min"
  detail::List<int> reduced;
  detail::List<std::string> mesh_names;
  detail::List<std::int64_t> mesh_sizes;
  detail::List<int> ranks;  ///< at each mesh position, row-major; empty: 0, 1, 2, ...
  std::string title;
};

}  // namespace shardtype
