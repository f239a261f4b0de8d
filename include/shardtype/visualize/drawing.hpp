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

/// Sizes of the blocks along dimension `d`, in order; -1 if the extent is unknown. Each axis cuts
/// the block it is given into pieces of ceil(size / pieces), so that the last ones may be short or
/// empty. A block-cyclic split may have very many: of more than a thousand, rounds in the middle
/// are left out.
List<std::int64_t> block_sizes(ShardingPicture const& p, std::size_t d);

/// A list of ranks, in at most `room` characters if possible: "0,2,4", "0,2,..,62", "0..".
std::string rank_list(List<int> const& ranks, std::size_t room);

/// Printed width of a cell's text; only the marks are not ASCII.
std::size_t text_width(std::string_view text);

/// The picture, with its title and captions, as lines. Tensors of one or two dimensions are drawn,
/// rows downwards and columns across; others are described in words. No communication, no errors.
std::string draw(ShardingPicture const& picture, DrawingStyle style = {});

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/visualize/drawing.ipp>
#endif
