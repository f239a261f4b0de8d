#pragma once
/// Definitions of pixels.hpp.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#ifdef SHARDTYPE_HAVE_PNG
#include <png.h>
#endif

#include <shardtype/core/error.hpp>
#include <shardtype/visualize/pixels.hpp>

namespace shardtype::visualizing {

using Color = std::array<double, 3>;

/// Colors at equal distances.
template <std::size_t n>
Color between(std::array<Color, n> const& colors, double t) {
  double const at = t * static_cast<double>(n - 1);
  auto const first = std::min(static_cast<std::size_t>(at), n - 2);
  double const part = at - static_cast<double>(first);
  Color out{};
  for (std::size_t c = 0; c < 3; ++c)
    out[c] = colors[first][c] + part * (colors[first + 1][c] - colors[first][c]);
  return out;
}

/// The color of `t` between 0 and 1, or of NaN. Viridis: S. van der Walt and N. Smith, 2015.
inline Color color_of(ColorMap map, double t) {
  static constexpr std::array<Color, 10> viridis{{{68, 1, 84},
                                                  {72, 40, 120},
                                                  {62, 73, 137},
                                                  {49, 104, 142},
                                                  {38, 130, 142},
                                                  {31, 158, 137},
                                                  {53, 183, 121},
                                                  {110, 206, 88},
                                                  {181, 222, 43},
                                                  {253, 231, 37}}};
  static constexpr std::array<Color, 3> diverging{{{33, 102, 172}, {247, 247, 247}, {178, 24, 43}}};
  static constexpr std::array<Color, 2> gray{{{0, 0, 0}, {255, 255, 255}}};
  if (std::isnan(t)) return map == ColorMap::diverging ? Color{0, 0, 0} : Color{255, 0, 0};
  if (map == ColorMap::viridis) return visualizing::between(viridis, t);
  if (map == ColorMap::diverging) return visualizing::between(diverging, t);
  return visualizing::between(gray, t);
}

inline unsigned char byte_of(double level) {
  return static_cast<unsigned char>(std::lround(std::clamp(level, 0.0, 255.0)));
}

/// The smallest and the largest finite number; 0 and 0 if there is none.
inline std::array<double, 2> finite_range(shardtype::detail::List<double> const& values) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (double const v : values) {
    if (!std::isfinite(v)) continue;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  if (low > high) return {0, 0};
  return {low, high};
}

/// Bytes of a picture with each pixel `zoom` times along both sides.
inline shardtype::detail::List<unsigned char> enlarged(
    shardtype::detail::List<unsigned char> const& bytes, std::int64_t rows, std::int64_t columns,
    std::int64_t channels, std::int64_t zoom) {
  shardtype::detail::List<unsigned char> out;
  for (std::int64_t i = 0; i < rows * zoom; ++i)
    for (std::int64_t j = 0; j < columns * zoom; ++j)
      for (std::int64_t c = 0; c < channels; ++c)
        out.push_back(
            bytes[static_cast<std::size_t>(((i / zoom) * columns + j / zoom) * channels + c)]);
  return out;
}

SHARDTYPE_INLINE Pixels::Pixels(Extents const& extents, PngOptions const& options) {
  std::string text;
  for (std::int64_t const n : extents) text += (text.empty() ? "[" : ", ") + std::to_string(n);
  text += "]";
  image_ = extents.size() == 3;
  if (image_) channels_ = extents[2];
  auto const refuse = [](std::string const& why) {
    throw Error("E87", "no picture: " + why, FailedOn::every_rank);
  };
#ifndef SHARDTYPE_HAVE_PNG
  refuse("this program was built without libpng. Install it (libpng-dev) and configure again");
#endif
  if (extents[0] == 0 || extents[1] == 0) refuse("the tensor has no elements: " + text);
  if (channels_ != 1 && channels_ != 3 && channels_ != 4)
    refuse("the last dim of an image has 1, 3 or 4 channels, and this is " + text);
  if (options.most < 1 || options.most > 32768)
    refuse("PngOptions::most is " + std::to_string(options.most) + ", not 1 to 32768");
  if (options.zoom < 0) refuse("PngOptions::zoom is " + std::to_string(options.zoom));
  if (options.low && options.high && !(*options.low <= *options.high))
    refuse("PngOptions::low is not below high");
  rows_ = {extents[0], std::min(extents[0], options.most)};
  columns_ = {extents[1], std::min(extents[1], options.most)};
  if (std::max(rows_.pixels, columns_.pixels) * std::max<std::int64_t>(options.zoom, 1) > 32768)
    refuse("PngOptions::zoom makes it wider or higher than 32768 pixels");
  sums_.resize(static_cast<std::size_t>(rows_.pixels * columns_.pixels * channels_), 0.0);
}

SHARDTYPE_INLINE void Pixels::divide() {
  for (std::int64_t i = 0; i < rows_.pixels; ++i)
    for (std::int64_t j = 0; j < columns_.pixels; ++j)
      for (std::int64_t c = 0; c < channels_; ++c)
        sums_[static_cast<std::size_t>((i * columns_.pixels + j) * channels_ + c)] /=
            static_cast<double>(rows_.size(i) * columns_.size(j));
}

SHARDTYPE_INLINE shardtype::detail::List<unsigned char> Pixels::matrix_bytes(
    PngOptions const& options) const {
  std::array<double, 2> range = visualizing::finite_range(sums_);
  if (options.colors == ColorMap::diverging) {
    range[1] = std::max(std::abs(range[0]), std::abs(range[1]));
    range[0] = -range[1];
  }
  double const low = options.low.value_or(range[0]);
  double const high = options.high.value_or(range[1]);
  // One number only is the first color; of the diverging ones the middle.
  double const same = options.colors == ColorMap::diverging ? 0.5 : 0;
  shardtype::detail::List<unsigned char> out;
  for (double const v : sums_) {
    double t = v;
    if (!std::isnan(v)) t = high > low ? std::clamp((v - low) / (high - low), 0.0, 1.0) : same;
    if (std::isinf(v)) t = v > 0 ? 1 : 0;
    for (double const level : visualizing::color_of(options.colors, t))
      out.push_back(visualizing::byte_of(level));
  }
  return out;
}

SHARDTYPE_INLINE shardtype::detail::List<unsigned char> Pixels::image_bytes(bool integers) const {
  shardtype::detail::List<unsigned char> out;
  for (double const v : sums_)
    out.push_back(std::isnan(v) ? static_cast<unsigned char>(0)
                                : visualizing::byte_of(integers ? v : 255 * v));
  return out;
}

SHARDTYPE_INLINE std::string Pixels::png([[maybe_unused]] PngOptions const& options,
                                         [[maybe_unused]] bool integers) {
#ifdef SHARDTYPE_HAVE_PNG
  divide();
  std::int64_t const longer = std::max(rows_.pixels, columns_.pixels);
  std::int64_t zoom = options.zoom;
  if (zoom == 0) zoom = image_ ? 1 : std::max<std::int64_t>(1, 512 / longer);
  std::int64_t const channels = image_ ? channels_ : 3;
  shardtype::detail::List<unsigned char> const bytes =
      visualizing::enlarged(image_ ? image_bytes(integers) : matrix_bytes(options), rows_.pixels,
                            columns_.pixels, channels, zoom);
  png_image file{};
  file.version = PNG_IMAGE_VERSION;
  file.width = static_cast<png_uint_32>(columns_.pixels * zoom);
  file.height = static_cast<png_uint_32>(rows_.pixels * zoom);
  file.format = channels == 1 ? PNG_FORMAT_GRAY : channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
  png_alloc_size_t size = 0;
  std::string out;
  if (png_image_write_to_memory(&file, nullptr, &size, 0, &bytes[0], 0, nullptr) != 0) {
    out.resize(size);
    if (png_image_write_to_memory(&file, out.data(), &size, 0, &bytes[0], 0, nullptr) != 0) {
      out.resize(size);
      return out;
    }
  }
  throw Error("E87", std::string("no picture: libpng says: ") + file.message);
#else
  return "";
#endif
}

}  // namespace shardtype::visualizing
