#pragma once
/// Definitions of picture.hpp.

#include <shardtype/visualize/picture.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE List<std::int64_t> block_sizes(ShardingPicture const& p, std::size_t d) {
  if (std::int64_t const turn = turn_of(p, d); turn > 0) {
    std::int64_t const pieces = p.mesh_sizes[static_cast<std::size_t>(p.axes[d][0])];
    std::int64_t const extent = p.extents[d];
    std::int64_t n = extent < 0 ? 2 * pieces : extent / turn + (extent % turn != 0);
    if (n > 1000 + pieces) n -= (n - 1000) / pieces * pieces;
    List<std::int64_t> sizes(static_cast<std::size_t>(n), extent < 0 ? -1 : turn);
    if (extent > 0 && extent % turn != 0) sizes.back() = extent % turn;
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

SHARDTYPE_INLINE List<int> holders(ShardingPicture const& p, List<std::int64_t> const& blocks) {
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

SHARDTYPE_INLINE bool holds(List<int> const& axes, int axis) {
  for (int const a : axes)
    if (a == axis) return true;
  return false;
}

SHARDTYPE_INLINE std::string axis_names(ShardingPicture const& p, List<int> const& axes) {
  std::string out;
  for (int const axis : axes) {
    auto const a = static_cast<std::size_t>(axis);
    out += out.empty() ? "" : ", ";
    out += a < p.mesh_names.size() ? p.mesh_names[a] : "axis " + std::to_string(axis);
  }
  return out;
}

SHARDTYPE_INLINE std::int64_t positions_along(ShardingPicture const& p, List<int> const& axes) {
  std::int64_t n = 1;
  for (int const axis : axes) n *= p.mesh_sizes[static_cast<std::size_t>(axis)];
  return n;
}

SHARDTYPE_INLINE std::string split_text(ShardingPicture const& p, std::size_t d) {
  std::string const name =
      d < p.index_names.size() ? p.index_names[d] : "dimension " + std::to_string(d);
  if (p.axes[d].empty()) return name + " whole";
  if (std::int64_t const turn = turn_of(p, d); turn > 0)
    return name + " over " + axis_names(p, p.axes[d]) + " in turns of " + std::to_string(turn);
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

SHARDTYPE_INLINE std::string split_texts(ShardingPicture const& p) {
  if (p.axes.empty()) return "a single value";
  std::string out;
  bool whole = true;
  for (std::size_t d = 0; d < p.axes.size(); ++d) {
    out += (d == 0 ? "" : "; ") + split_text(p, d);
    whole = whole && p.axes[d].empty();
  }
  return whole ? "not split" : out;
}

SHARDTYPE_INLINE List<int> copy_axes(ShardingPicture const& p) {
  List<int> out;
  for (std::size_t a = 0; a < p.mesh_sizes.size(); ++a) {
    int const axis = static_cast<int>(a);
    bool used = holds(p.unreduced, axis);
    for (auto const& list : p.axes) used = used || holds(list, axis);
    if (!used) out.push_back(axis);
  }
  return out;
}

SHARDTYPE_INLINE List<std::string> captions(ShardingPicture const& p) {
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

SHARDTYPE_INLINE std::string wrapped(std::string const& text, std::size_t width) {
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

}  // namespace shardtype::detail
