#pragma once
/// Colours of blocks, determined by the ranks that hold them.

#include <cstdint>
#include <string>

#include <shardtype/core/spec.hpp>

namespace shardtype::detail {

/// Colours of blocks by the coordinates of their ranks, the same for all tensors of a program:
/// along the first axis with more than one rank the hue changes, along the second the lightness,
/// along others the saturation. Along an axis over which a block is replicated, the middle value is
/// used; a block replicated on all ranks is grey.
class BlockColors {
 public:
  BlockColors(Sizes const& sizes, int axes) : sizes_(sizes) {
    int role = 0;
    for (int& r : role_) r = -1;
    for (int x = 0; x < axes; ++x)
      if (sizes[x] > 1) role_[x] = role++;
  }

  /// A CSS colour for the block at these coordinates along the axes `split`.
  std::string color(AxisSet split, Coords const& at) const {
    std::int64_t hue = 215;
    std::int64_t saturation = 8;
    std::int64_t lightness = 60;
    for (int x = 0; x < max_axes; ++x) {
      if (role_[x] < 0 || !split.contains(x)) continue;
      std::int64_t const c = at[x];
      std::int64_t const n = sizes_[x];
      if (role_[x] == 0) {
        hue = (215 + 360 * c / n) % 360;
        saturation = saturation > 8 ? saturation : 64;
      } else if (role_[x] == 1) {
        lightness = 40 + 38 * c / (n - 1);
      } else {
        saturation = 30 + 55 * c / (n - 1);
      }
    }
    return "hsl(" + std::to_string(hue) + " " + std::to_string(saturation) + "% " +
           std::to_string(lightness) + "%)";
  }

 private:
  Sizes sizes_;
  int role_[max_axes]{};
};

}  // namespace shardtype::detail
