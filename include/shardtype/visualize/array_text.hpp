#pragma once
/// Arrays as text, in the form of NumPy's str(array) with its default options: precision 8, lines of
/// 75 characters, three elements at each edge of arrays of more than 1000.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/visualize/decimal.hpp>

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

/// A common format for all numbers of an array.
class NumberFormat {
 public:
  NumberFormat(List<double> const& numbers, bool single, bool plus);

  std::string operator()(double x) const;

 private:
  static std::string padded(std::string const& text, std::size_t width) {
    return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
  }

  void choose_form(List<double> const& numbers);

  void measure(double x);

  bool single_, plus_;
  bool scientific_ = false;
  std::size_t left_ = 0;      // characters before the point, with the sign
  std::size_t right_ = 0;     // characters after it
  std::size_t fraction_ = 0;  // digits after it
  std::size_t exponent_ = 0;  // digits of the exponent
};

/// The elements as texts of equal width.
List<std::string> element_words(ShownArray const& a);

/// Arranges element texts in brackets and lines.
class ArrayLines {
 public:
  ArrayLines(ShownArray const& a, List<std::string> words) : a_(a), words_(std::move(words)) {}

  std::string text() { return level(0, " ", line_width); }

 private:
  std::string level(std::size_t axis, std::string const& indent, std::size_t width);

  std::string row(std::size_t axis, std::string const& indent, std::size_t width);

  std::string rows(std::size_t axis, std::string const& indent, std::size_t width);

  ShownArray const& a_;
  List<std::string> words_;
  std::size_t next_ = 0;
};

/// The array as NumPy's str writes it: "[[1.  2.5]\n [3.  4. ]]", "[]"; a number if it has no dims.
std::string array_text(ShownArray const& a);

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/visualize/array_text.ipp>
#endif
