#pragma once
/// Draws a sharding: a box for each block, with the ranks that hold it.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/visualize/picture.hpp>

namespace shardtype::detail {

/// The style of a picture: coloured cells (ANSI escapes) or plain, and its maximal width in
/// characters (at least 32).
struct DrawingStyle {
  bool color = false;
  int width = 80;
};

/// Whether to use colours for `file`: a terminal, NO_COLOR unset, TERM not dumb.
bool use_color(std::FILE* file);

}  // namespace shardtype::detail

namespace shardtype {

namespace detail {

/// A row or column of cells: its block's index, or -1 for omitted blocks, and its size on screen
/// without borders.
struct Band {
  std::int64_t block = 0;
  std::int64_t extent = -1;
  std::size_t cells = 1;
};

/// The first and the last of a dimension's blocks with a mark between them, `most` in all.
List<Band> bands_of(List<std::int64_t> const& sizes, std::size_t most);

/// Whether blocks differ so much in extent that their cells should differ too. If there are many,
/// cells stay equal to keep the picture small.
bool uneven(List<Band> const& bands);

/// Printed width of a cell's text; only the marks are not ASCII.
std::size_t text_width(std::string_view text);

/// The grid of cells, arranged for a style.
class Drawing {
 public:
  Drawing(ShardingPicture const& picture, DrawingStyle style);

  /// The boxes.
  std::string boxes() const;

  /// The meaning of the marks in the cells.
  List<std::string> notes() const;

 private:
  static bool any_empty(List<Band> const& bands);

  static constexpr std::size_t most_rows = 12;

  static std::size_t scaled(std::size_t full, std::int64_t extent, std::int64_t largest);

  /// Finds the longest texts, and then the most columns, that fit into the width.
  void lay_out(List<std::int64_t> const& sizes);

  bool fit(bool prefix, std::size_t room);

  void find_ranks();

  std::string label(std::size_t r, std::size_t c, std::size_t room) const;

  std::string cell(std::size_t r, std::size_t c, bool with_text) const;

  std::string border(char const* left, char const* middle, char const* right) const;

  ShardingPicture const& picture_;
  bool color_;
  std::size_t width_;
  List<Band> rows_, cols_;
  List<List<int>> ranks_;  // for each cell
  List<std::string> texts_;
  bool prefix_ = true;
  bool left_out_ = false;
};

}  // namespace detail

}  // namespace shardtype

namespace shardtype::detail {

/// The picture, with its title and captions, as lines. Tensors of one or two dimensions are drawn,
/// rows downwards and columns across; others are described in words. No communication, no errors.
std::string draw(ShardingPicture const& picture, DrawingStyle style = {});

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/visualize/drawing.ipp>
#endif
