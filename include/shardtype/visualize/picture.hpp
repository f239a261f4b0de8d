#pragma once
/// The contents of a picture of a sharding: the blocks, the ranks that hold them, and the captions.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <shardtype/core/compiled.hpp>
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

namespace detail {

/// The block size of dimension `d` if it is block-cyclic; 0: nested blocks.
inline std::int64_t turn_of(ShardingPicture const& p, std::size_t d) {
  return d < p.cyclic.size() ? p.cyclic[d] : 0;
}

/// Sizes of the blocks along dimension `d`, in order; -1 if the extent is unknown. Each axis cuts
/// the block it is given into pieces of ceil(size / pieces), so that the last ones may be short or
/// empty. A block-cyclic split may have very many: of more than a thousand, rounds in the middle
/// are left out.
List<std::int64_t> block_sizes(ShardingPicture const& p, std::size_t d);

/// The ranks, in ascending order, that hold the block with index `blocks[d]` along each dimension.
List<int> holders(ShardingPicture const& p, List<std::int64_t> const& blocks);

bool holds(List<int> const& axes, int axis);

/// Names of mesh axes, "X, Y".
std::string axis_names(ShardingPicture const& p, List<int> const& axes);

std::int64_t positions_along(ShardingPicture const& p, List<int> const& axes);

/// The split of dimension `d`: "I over X: 4 blocks of 375", "J whole".
std::string split_text(ShardingPicture const& p, std::size_t d);

/// The splits of all dimensions.
std::string split_texts(ShardingPicture const& p);

/// The mesh axes along which the tensor is replicated.
List<int> copy_axes(ShardingPicture const& p);

/// Captions for properties that the cells do not show: partial values, copies, reduced axes.
List<std::string> captions(ShardingPicture const& p);

/// A list of ranks, in at most `room` characters if possible: "0,2,4", "0,2,..,62", "0..".
std::string rank_list(List<int> const& ranks, std::size_t room);

/// Text wrapped to lines of at most `width` characters.
std::string wrapped(std::string const& text, std::size_t width);

}  // namespace detail
}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/visualize/picture.ipp>
#endif
