#pragma once
/// Colours of blocks, determined by the ranks that hold them.

#include <cstdint>
#include <string>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/spec.hpp>

namespace shardtype::detail {

/// Colours of blocks by the coordinates of their ranks, the same for all tensors of a program:
/// along the first axis with more than one rank the hue changes, along the second the lightness,
/// along others the saturation. Along an axis over which a block is replicated, the middle value is
/// used; a block replicated on all ranks is grey.
class BlockColors {
 public:
  BlockColors(Sizes const& sizes, int axes);

  /// A CSS colour for the block at these coordinates along the axes `split`.
  std::string color(AxisSet split, Coords const& at) const;

 private:
  Sizes sizes_;
  int role_[max_axes]{};
};

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/visualize/block_colors.ipp>
#endif
