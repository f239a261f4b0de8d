#pragma once
/// Definitions of print.hpp.

#include <shardtype/visualize/print.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE List<ShownPiece> shown_pieces(std::int64_t extent, bool cut, Rows const& held) {
  List<ShownPiece> out;
  ShownRanges const shown = shown_ranges(extent, cut);
  for (int tail = 0; tail < 2; ++tail) {
    Range const part = shown.part[tail];
    std::int64_t const end = held.below(part.end);
    for (std::int64_t k = held.below(part.begin); k < end;) {
      std::int64_t const n = std::min(held.in_a_row(k), end - k);
      out.push_back({{k, k + n}, held[k] - part.begin + (tail == 0 ? 0 : edge_items)});
      k += n;
    }
  }
  return out;
}

}  // namespace shardtype::detail
