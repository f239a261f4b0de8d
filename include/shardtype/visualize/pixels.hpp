#pragma once
/// The pixels of a picture of a tensor, and the colors of numbers.

#include <cstdint>
#include <optional>
#include <string>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>

namespace shardtype {

namespace visualizing {

/// How numbers become colors.
enum class ColorMap {
  viridis,    ///< from violet over green to yellow; NaN is red
  gray,       ///< from black to white; NaN is red
  diverging,  ///< from blue over white to red, with zero in the middle; NaN is black
};

}  // namespace visualizing

/// How `save_png` draws a tensor.
struct PngOptions {
  visualizing::ColorMap colors = visualizing::ColorMap::viridis;
  /// The numbers of the first and the last color; else the smallest and the largest finite pixel.
  std::optional<double> low = {}, high = {};
  /// A longer side of a matrix or an image is shown by this many pixels, each the mean of its
  /// numbers.
  std::int64_t most = 2048;
  /// Pixels of the file along a side of one number; 0: as many as make a matrix 512 wide or high.
  std::int64_t zoom = 0;
};

namespace visualizing {

/// A picture as the means of numbers: of a matrix `[I, J]`, or of an image `[I, J, C]` with 1, 3 or
/// 4 channels (gray, red green blue, and opacity).
class Pixels {
 public:
  using Extents = shardtype::detail::List<std::int64_t>;

  /// Error E87: the extents or the options are not those of a picture, or the library was built
  /// without libpng.
  Pixels(Extents const& extents, PngOptions const& options);

  std::int64_t rows() const { return rows_.pixels; }
  std::int64_t columns() const { return columns_.pixels; }
  std::int64_t channels() const { return channels_; }

  /// Adds the numbers of a block, which begins at the index `begin`.
  template <class T>
  void add(T const* block, Extents const& begin, Extents const& count) {
    std::int64_t const channels = count.size() == 3 ? count[2] : 1;
    std::int64_t const first = count.size() == 3 ? begin[2] : 0;
    for (std::int64_t i = 0; i < count[0]; ++i) {
      double* const row = &sums_[0] + rows_.of(begin[0] + i) * columns_.pixels * channels_;
      for (std::int64_t j = 0; j < count[1]; ++j) {
        double* const pixel = row + columns_.of(begin[1] + j) * channels_ + first;
        for (std::int64_t c = 0; c < channels; ++c) pixel[c] += static_cast<double>(*block++);
      }
    }
  }
  /// The sums of numbers; of all blocks when the ranks' are added.
  shardtype::detail::List<double>& sums() { return sums_; }

  /// The file of the picture. `integers`: the numbers of an image are 0 to 255, else 0 to 1. Error
  /// E87: libpng has no memory.
  std::string png(PngOptions const& options, bool integers);

 private:
  /// The indices of a side, and the pixels that show them.
  struct Side {
    std::int64_t extent = 0;
    std::int64_t pixels = 0;

    std::int64_t of(std::int64_t index) const { return index * pixels / extent; }
    std::int64_t begin(std::int64_t pixel) const { return (pixel * extent + pixels - 1) / pixels; }
    std::int64_t size(std::int64_t pixel) const { return begin(pixel + 1) - begin(pixel); }
  };

  void divide();
  shardtype::detail::List<unsigned char> matrix_bytes(PngOptions const& options) const;
  shardtype::detail::List<unsigned char> image_bytes(bool integers) const;

  Side rows_, columns_;
  std::int64_t channels_ = 1;
  bool image_ = false;
  shardtype::detail::List<double> sums_;
};

}  // namespace visualizing

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/visualize/pixels.ipp>
#endif
