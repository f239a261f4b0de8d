#pragma once
/// Definitions of block_colors.hpp.

#include <shardtype/visualize/block_colors.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE BlockColors::BlockColors(Sizes const& sizes, int axes) : sizes_(sizes) {
  int role = 0;
  for (int& r : role_) r = -1;
  for (int x = 0; x < axes; ++x)
    if (sizes[x] > 1) role_[x] = role++;
}

SHARDTYPE_INLINE std::string BlockColors::color(AxisSet split, Coords const& at) const {
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

}  // namespace shardtype::detail
