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

SHARDTYPE_INLINE List<Band> bands_of(List<std::int64_t> const& sizes, std::size_t most) {
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

SHARDTYPE_INLINE bool uneven(List<Band> const& bands) {
  if (bands.size() > 8 || bands[0].extent <= 0) return false;
  bool differ = false;
  for (Band const& b : bands)
    differ = differ || (b.block >= 0 && b.extent < bands[0].extent - bands[0].extent / 4);
  return differ;
}

SHARDTYPE_INLINE std::size_t text_width(std::string_view text) {
  std::size_t width = 0;
  for (char c : text) width += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1U : 0U;
  return width;
}

SHARDTYPE_INLINE Drawing::Drawing(ShardingPicture const& picture, DrawingStyle style)
    : picture_(picture),
      color_(style.color),
      width_(static_cast<std::size_t>(std::max(style.width, 32))) {
  // a 1-D tensor is one row
  bool const flat = picture.axes.size() == 1;
  auto const row_sizes = flat ? List<std::int64_t>{1} : block_sizes(picture, 0);
  auto const col_sizes = block_sizes(picture, flat ? 0 : 1);
  rows_ = bands_of(row_sizes, most_rows);
  if (uneven(rows_))
    for (auto& row : rows_) row.cells = row.block < 0 ? 1 : scaled(3, row.extent, rows_[0].extent);
  lay_out(col_sizes);
  left_out_ = rows_.size() < row_sizes.size() || cols_.size() < col_sizes.size();
}

SHARDTYPE_INLINE std::string Drawing::boxes() const {
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

SHARDTYPE_INLINE List<std::string> Drawing::notes() const {
  List<std::string> out;
  if (!prefix_) out.push_back("the numbers are ranks");
  if (any_empty(rows_) || any_empty(cols_)) out.push_back("∅: an empty block");
  if (left_out_) out.push_back("…: blocks left out here");
  return out;
}

SHARDTYPE_INLINE bool Drawing::any_empty(List<Band> const& bands) {
  bool any = false;
  for (Band const& b : bands) any = any || (b.block >= 0 && b.extent == 0);
  return any;
}

SHARDTYPE_INLINE std::size_t Drawing::scaled(std::size_t full, std::int64_t extent,
                                             std::int64_t largest) {
  double const share = static_cast<double>(extent) / static_cast<double>(largest);
  return std::max<std::size_t>(
      1, static_cast<std::size_t>(std::lround(static_cast<double>(full) * share)));
}

SHARDTYPE_INLINE void Drawing::lay_out(List<std::int64_t> const& sizes) {
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

SHARDTYPE_INLINE bool Drawing::fit(bool prefix, std::size_t room) {
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

SHARDTYPE_INLINE void Drawing::find_ranks() {
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

SHARDTYPE_INLINE std::string Drawing::label(std::size_t r, std::size_t c, std::size_t room) const {
  auto const& ranks = ranks_[r * cols_.size() + c];
  if (ranks.empty()) return "…";
  std::string out = prefix_ ? "rank " : "";
  bool const empty = rows_[r].extent == 0 || cols_[c].extent == 0;
  std::size_t const taken = out.size() + (empty ? 2 : 0);
  out += rank_list(ranks, room > taken ? room - taken : 0);
  return empty ? out + " ∅" : out;
}

SHARDTYPE_INLINE std::string Drawing::cell(std::size_t r, std::size_t c, bool with_text) const {
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

SHARDTYPE_INLINE std::string Drawing::border(char const* left, char const* middle,
                                             char const* right) const {
  std::string out = left;
  for (std::size_t c = 0; c < cols_.size(); ++c) {
    if (c > 0) out += middle;
    for (std::size_t k = 0; k < cols_[c].cells; ++k) out += "─";
  }
  return out + right + "\n";
}

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
