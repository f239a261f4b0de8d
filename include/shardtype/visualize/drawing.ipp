#pragma once
/// Definitions of drawing.hpp.

#include <shardtype/visualize/drawing.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE bool use_color(std::FILE* file) {
  char const* const no_color = std::getenv("NO_COLOR");
  char const* const term = std::getenv("TERM");
  bool const wanted = (no_color == nullptr || *no_color == '\0') && term != nullptr &&
                      std::string_view(term) != "dumb";
  return wanted && isatty(fileno(file)) != 0;
}

SHARDTYPE_INLINE std::size_t text_width(std::string_view text) {
  std::size_t width = 0;
  for (char c : text) width += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1U : 0U;
  return width;
}

/// The block size of dimension `d` if it is block-cyclic; 0: nested blocks.
inline std::int64_t block_size_of(ShardingPicture const& p, std::size_t d) {
  return d < p.cyclic.size() ? p.cyclic[d] : 0;
}

SHARDTYPE_INLINE List<std::int64_t> block_sizes(ShardingPicture const& p, std::size_t d) {
  if (std::int64_t const block_size = block_size_of(p, d); block_size > 0) {
    std::int64_t const pieces = p.mesh_sizes[static_cast<std::size_t>(p.axes[d][0])];
    std::int64_t const extent = p.extents[d];
    std::int64_t n = extent < 0 ? 2 * pieces : extent / block_size + (extent % block_size != 0);
    if (n > 1000 + pieces) n -= (n - 1000) / pieces * pieces;
    List<std::int64_t> sizes(static_cast<std::size_t>(n), extent < 0 ? -1 : block_size);
    if (extent > 0 && extent % block_size != 0) sizes.back() = extent % block_size;
    if (n == 0) sizes.assign(1, 0);
    return sizes;
  }
  List<std::int64_t> sizes{p.extents[d]};
  for (int const axis : p.axes[d]) {
    std::int64_t const pieces = p.mesh_sizes[static_cast<std::size_t>(axis)];
    List<std::int64_t> next;
    for (auto const size : sizes) {
      std::int64_t const length = size / pieces + (size % pieces != 0);
      for (std::int64_t k = 0; k < pieces; ++k)
        next.push_back(size < 0 ? -1 : std::clamp(size - k * length, std::int64_t(0), length));
    }
    sizes = std::move(next);
  }
  return sizes;
}

/// The ranks, in ascending order, that hold the block with index `blocks[d]` along each dimension.
inline List<int> holders(ShardingPicture const& p, List<std::int64_t> const& blocks) {
  std::size_t const n = p.mesh_sizes.size();
  List<std::int64_t> coords(n, -1);  // -1: any
  for (std::size_t d = 0; d < p.axes.size(); ++d) {
    std::int64_t k = blocks[d];
    for (std::size_t a = p.axes[d].size(); a-- > 0;) {
      auto const axis = static_cast<std::size_t>(p.axes[d][a]);
      coords[axis] = k % p.mesh_sizes[axis];
      k /= p.mesh_sizes[axis];
    }
  }
  List<std::int64_t> positions{0};
  for (std::size_t axis = 0; axis < n; ++axis) {
    std::int64_t const size = p.mesh_sizes[axis];
    List<std::int64_t> next;
    for (auto const at : positions)
      for (std::int64_t c = 0; c < size; ++c)
        if (coords[axis] < 0 || coords[axis] == c) next.push_back(at * size + c);
    positions = std::move(next);
  }
  List<int> out;
  for (auto const at : positions)
    out.push_back(p.ranks.empty() ? static_cast<int>(at) : p.ranks[static_cast<std::size_t>(at)]);
  return rising(out);
}

inline bool holds(List<int> const& axes, int axis) {
  for (int const a : axes)
    if (a == axis) return true;
  return false;
}

/// Names of mesh axes, "X, Y".
inline std::string axis_names(ShardingPicture const& p, List<int> const& axes) {
  std::string out;
  for (int const axis : axes) {
    auto const a = static_cast<std::size_t>(axis);
    out += out.empty() ? "" : ", ";
    out += a < p.mesh_names.size() ? p.mesh_names[a] : "axis " + std::to_string(axis);
  }
  return out;
}

inline std::int64_t positions_along(ShardingPicture const& p, List<int> const& axes) {
  std::int64_t n = 1;
  for (int const axis : axes) n *= p.mesh_sizes[static_cast<std::size_t>(axis)];
  return n;
}

/// The split of dimension `d`: "I over X: 4 blocks of 375", "J whole".
inline std::string split_text(ShardingPicture const& p, std::size_t d) {
  std::string const name =
      d < p.index_names.size() ? p.index_names[d] : "dimension " + std::to_string(d);
  if (p.axes[d].empty()) return name + " whole";
  if (std::int64_t const block_size = block_size_of(p, d); block_size > 0)
    return name + " over " + axis_names(p, p.axes[d]) + " in cyclic blocks of " +
           std::to_string(block_size);
  auto const sizes = block_sizes(p, d);
  std::string out = name + " over " + axis_names(p, p.axes[d]) + ": " +
                    std::to_string(sizes.size()) + " block" + (sizes.size() == 1 ? "" : "s");
  if (sizes[0] < 0) return out;
  bool even = true;
  for (std::int64_t const size : sizes) even = even && size == sizes[0];
  if (even || sizes.size() > 8)
    return out + (even ? " of " : " of at most ") + std::to_string(sizes[0]);
  for (std::size_t k = 0; k < sizes.size(); ++k)
    out += (k == 0 ? " of " : ", ") + std::to_string(sizes[k]);
  return out;
}

/// The splits of all dimensions.
inline std::string split_texts(ShardingPicture const& p) {
  if (p.axes.empty()) return "a single value";
  std::string out;
  bool whole = true;
  for (std::size_t d = 0; d < p.axes.size(); ++d) {
    out += (d == 0 ? "" : "; ") + split_text(p, d);
    whole = whole && p.axes[d].empty();
  }
  return whole ? "not split" : out;
}

/// The mesh axes along which the tensor is replicated.
inline List<int> copy_axes(ShardingPicture const& p) {
  List<int> out;
  for (std::size_t a = 0; a < p.mesh_sizes.size(); ++a) {
    int const axis = static_cast<int>(a);
    bool used = holds(p.unreduced, axis);
    for (auto const& list : p.axes) used = used || holds(list, axis);
    if (!used) out.push_back(axis);
  }
  return out;
}

/// Captions for properties that the cells do not show: partial values, copies, reduced axes.
inline List<std::string> captions(ShardingPicture const& p) {
  List<std::string> out;
  if (!p.unreduced.empty()) {
    bool const sum = p.unreduced_kind.empty() || p.unreduced_kind == "sum";
    std::string const kind = sum ? "sum" : p.unreduced_kind;
    out.push_back("each cell is a partial " + kind + " over " + axis_names(p, p.unreduced) + ": " +
                  (sum ? "add" : "take the " + kind + " of") + " the " +
                  std::to_string(positions_along(p, p.unreduced)) + " copies");
  }
  auto const copies = copy_axes(p);
  if (std::int64_t const n = positions_along(p, copies); n > 1)
    out.push_back("replicated over " + axis_names(p, copies) + ": " + std::to_string(n) +
                  " ranks hold equal copies of each " + (p.unreduced.empty() ? "cell" : "part"));
  if (!p.reduced.empty())
    out.push_back("reduced over " + axis_names(p, p.reduced) +
                  ": the gradient of these copies is left as partial sums");
  return out;
}

SHARDTYPE_INLINE std::string rank_list(List<int> const& ranks, std::size_t room) {
  std::size_t const n = ranks.size();
  auto const starts_with = [&](std::size_t shown) {
    std::string out;
    for (std::size_t k = 0; k < shown; ++k) {
      if (k > 0) out += ",";
      out += std::to_string(ranks[k]);
    }
    return out;
  };
  if (n <= 8 && starts_with(n).size() <= room) return starts_with(n);
  for (std::size_t shown = std::min<std::size_t>(n - 1, 4); shown >= 1; --shown) {
    auto text = starts_with(shown) + (shown + 1 < n ? ",..," : ",") + std::to_string(ranks[n - 1]);
    if (n > 2 && shown + 1 < n && text.size() <= room) return text;
  }
  return n == 1 ? starts_with(1) : starts_with(1) + "..";
}

/// Text wrapped to lines of at most `width` characters.
inline std::string wrapped(std::string const& text, std::size_t width) {
  std::string out;
  std::size_t column = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = std::min(text.find(' ', at), text.size());
    auto const continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
    std::size_t length = 0;
    for (std::size_t k = at; k < end; ++k) length += continues(text[k]) ? 0U : 1U;
    if (column > 0 && column + 1 + length > width) {
      out += "\n  ";
      column = 2;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out.append(text, at, end - at);
    column += length;
    at = end + 1;
  }
  return out + '\n';
}

/// A row or column of cells: its block's index, or -1 for omitted blocks, and its size on screen
/// without borders.
struct Band {
  std::int64_t block = 0;
  std::int64_t extent = -1;
  std::size_t cells = 1;
};

/// The first and the last of a dimension's blocks with a mark between them, `most` in all.
inline List<Band> bands_of(List<std::int64_t> const& sizes, std::size_t most) {
  List<Band> out;
  std::size_t const n = sizes.size();
  for (std::size_t k = 0; k < n; ++k) {
    if (n > most && k == most - 2) {
      out.push_back({-1});
      k = n - 1;
    }
    out.push_back({static_cast<std::int64_t>(k), sizes[k]});
  }
  return out;
}

/// Whether blocks differ so much in extent that their cells should differ too. If there are many,
/// cells stay equal to keep the picture small.
inline bool uneven(List<Band> const& bands) {
  if (bands.size() > 8 || bands[0].extent <= 0) return false;
  bool differ = false;
  for (Band const& b : bands)
    differ = differ || (b.block >= 0 && b.extent < bands[0].extent - bands[0].extent / 4);
  return differ;
}

/// The grid of cells, arranged for a style.
class Drawing {
 public:
  Drawing(ShardingPicture const& picture, DrawingStyle style)
      : picture_(picture),
        color_(style.color),
        width_(static_cast<std::size_t>(std::max(style.width, 32))) {
    // a 1-D tensor is one row
    bool const flat = picture.axes.size() == 1;
    auto const row_sizes = flat ? List<std::int64_t>{1} : block_sizes(picture, 0);
    auto const col_sizes = block_sizes(picture, flat ? 0 : 1);
    rows_ = bands_of(row_sizes, most_rows);
    if (uneven(rows_))
      for (auto& row : rows_)
        row.cells = row.block < 0 ? 1 : scaled(3, row.extent, rows_[0].extent);
    lay_out(col_sizes);
    left_out_ = rows_.size() < row_sizes.size() || cols_.size() < col_sizes.size();
  }

  /// The boxes.
  std::string boxes() const {
    std::string out = border("┌", "┬", "┐");
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (r > 0) out += border("├", "┼", "┤");
      for (std::size_t line = 0; line < rows_[r].cells; ++line) {
        for (std::size_t c = 0; c < cols_.size(); ++c) {
          out += "│";
          out += cell(r, c, line == (rows_[r].cells - 1) / 2);
        }
        out += "│\n";
      }
    }
    return out + border("└", "┴", "┘");
  }

  /// The meaning of the marks in the cells.
  List<std::string> notes() const {
    List<std::string> out;
    if (!prefix_) out.push_back("the numbers are ranks");
    if (any_empty(rows_) || any_empty(cols_)) out.push_back("∅: an empty block");
    if (left_out_) out.push_back("…: blocks left out here");
    return out;
  }

 private:
  static bool any_empty(List<Band> const& bands) {
    bool any = false;
    for (Band const& b : bands) any = any || (b.block >= 0 && b.extent == 0);
    return any;
  }

  static constexpr std::size_t most_rows = 12;

  static std::size_t scaled(std::size_t full, std::int64_t extent, std::int64_t largest) {
    double const share = static_cast<double>(extent) / static_cast<double>(largest);
    return std::max<std::size_t>(
        1, static_cast<std::size_t>(std::lround(static_cast<double>(full) * share)));
  }

  /// Finds the longest texts, and then the most columns, that fit into the width.
  void lay_out(List<std::int64_t> const& sizes) {
    std::size_t const roomy = std::min<std::size_t>(width_, 48);
    for (std::size_t most = std::max<std::size_t>(3, width_ / 5); most >= 3; --most) {
      cols_ = bands_of(sizes, most);
      if (cols_.size() < most && most > 3) continue;  // the same columns as before
      find_ranks();
      for (bool const prefix : {true, false})
        for (std::size_t room = roomy; room >= (prefix ? 12 : 4); --room)
          if (fit(prefix, room)) return;
    }
  }

  bool fit(bool prefix, std::size_t room) {
    prefix_ = prefix;
    texts_.assign(rows_.size() * cols_.size(), "");
    std::size_t widest = 0, total = 1, wide_total = 1;
    for (std::size_t c = 0; c < cols_.size(); ++c) {
      cols_[c].cells = 0;
      for (std::size_t r = 0; r < rows_.size(); ++r) {
        std::string& text = texts_[r * cols_.size() + c] = label(r, c, room);
        cols_[c].cells = std::max(cols_[c].cells, text_width(text) + 2);
      }
      widest = std::max(widest, cols_[c].cells);
      total += cols_[c].cells + 1;
    }
    if (total > width_) return false;
    // if blocks differ in extent and there is room, show it
    if (!uneven(cols_)) return true;
    auto wide = cols_;
    for (auto& col : wide) {
      if (col.block >= 0)
        col.cells = std::max(col.cells, scaled(2 * widest, col.extent, cols_[0].extent));
      wide_total += col.cells + 1;
    }
    if (wide_total <= width_) cols_ = std::move(wide);
    return true;
  }

  void find_ranks() {
    ranks_.clear();
    for (auto const& row : rows_)
      for (auto const& col : cols_) {
        bool const flat = picture_.axes.size() == 1;
        auto const blocks =
            flat ? List<std::int64_t>{col.block} : List<std::int64_t>{row.block, col.block};
        bool const shown = row.block >= 0 && col.block >= 0;
        ranks_.push_back(shown ? holders(picture_, blocks) : List<int>{});
      }
  }

  std::string label(std::size_t r, std::size_t c, std::size_t room) const {
    auto const& ranks = ranks_[r * cols_.size() + c];
    if (ranks.empty()) return "…";
    std::string out = prefix_ ? "rank " : "";
    bool const empty = rows_[r].extent == 0 || cols_[c].extent == 0;
    std::size_t const taken = out.size() + (empty ? 2 : 0);
    out += rank_list(ranks, room > taken ? room - taken : 0);
    return empty ? out + " ∅" : out;
  }

  std::string cell(std::size_t r, std::size_t c, bool with_text) const {
    std::string const text = with_text ? texts_[r * cols_.size() + c] : "";
    std::size_t const space = cols_[c].cells - text_width(text);
    std::string inside = std::string(space / 2, ' ') + text + std::string(space - space / 2, ' ');
    bool const real =
        rows_[r].block >= 0 && cols_[c].block >= 0 && rows_[r].extent != 0 && cols_[c].extent != 0;
    if (!color_ || !real) return inside;
    // black on light backgrounds; the factor 3 gives neighbours different colours
    static constexpr std::array<int, 8> backgrounds{117, 222, 156, 217, 159, 183, 229, 151};
    int const background = backgrounds[(3 * r + c) % backgrounds.size()];
    return "\x1b[38;5;16;48;5;" + std::to_string(background) + "m" + inside + "\x1b[0m";
  }

  std::string border(char const* left, char const* middle, char const* right) const {
    std::string out = left;
    for (std::size_t c = 0; c < cols_.size(); ++c) {
      if (c > 0) out += middle;
      for (std::size_t k = 0; k < cols_[c].cells; ++k) out += "─";
    }
    return out + right + "\n";
  }

  ShardingPicture const& picture_;
  bool color_;
  std::size_t width_;
  List<Band> rows_, cols_;
  List<List<int>> ranks_;  // for each cell
  List<std::string> texts_;
  bool prefix_ = true;
  bool left_out_ = false;
};

SHARDTYPE_INLINE std::string draw(ShardingPicture const& picture, DrawingStyle style) {
  auto const width = static_cast<std::size_t>(std::max(style.width, 32));
  std::string out = picture.title.empty() ? "" : picture.title + "\n";
  std::size_t const dims = picture.axes.size();
  detail::List<std::string> lines;
  if (dims == 1 || dims == 2) {
    detail::Drawing const drawing(picture, style);
    out += drawing.boxes();
    lines.push_back(detail::split_texts(picture));
    for (auto const& line : drawing.notes()) lines.push_back(line);
  } else {
    lines.push_back(detail::split_texts(picture));
  }
  for (auto const& line : detail::captions(picture)) lines.push_back(line);
  for (auto const& line : lines) out += detail::wrapped(line, width);
  return out;
}

}  // namespace shardtype::detail
