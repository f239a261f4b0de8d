#pragma once
/// Arrays as text, in the form of NumPy's str(array) with its default options: precision 8, lines
/// of 75 characters, three elements at each edge of arrays of more than 1000.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>

namespace shardtype::detail {

inline constexpr std::int64_t most_shown = 1000;
inline constexpr std::int64_t edge_items = 3;
inline constexpr std::size_t line_width = 75;
inline constexpr int print_precision = 8;

/// The shown part of an array: all of it, or its corners.
struct ShownArray {
  List<std::int64_t> extents;
  bool cut = false;  ///< whether only the edges of long dims are present
  enum class Kind { boolean, integer, real, complex } kind = Kind::real;
  bool single = false;          ///< whether the numbers are floats
  List<std::int64_t> integers;  ///< also booleans, as 0 and 1
  List<double> real, imag;

  /// Number of indices of a dim that are present.
  std::int64_t shown(std::size_t d) const {
    return cut && extents[d] > 2 * edge_items ? 2 * edge_items : extents[d];
  }
};

/// The array as NumPy's str writes it: "[[1.  2.5]\n [3.  4. ]]", "[]"; a number if it has no dims.
std::string array_text(ShownArray const& a);

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/visualize/array_text.ipp>
#endif
