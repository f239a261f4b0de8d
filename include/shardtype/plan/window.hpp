#pragma once
/// The rows of a split dim that ranks fetch from each other: the arithmetic of shift, halo_exchange
/// and halo_add, and the bytes that these send.

#include <algorithm>

#include <shardtype/plan/sizing.hpp>

namespace shardtype::op {

/// The rows beyond the first and the last row of a dim: zeros, or rows of the other end.
enum class Edge { fill_zero, wrap };

}  // namespace shardtype::op

namespace shardtype::planning {

/// The rows that each rank needs: [begin + low, end + high), where [begin, end) is its block. A
/// rank with an empty block needs none. With `rows` these are the blocks of a result of so many
/// rows, split as the dim is, and row r of it needs rows from (r times + low) / per to
/// (r times + high) / per.
struct Window {
  std::int64_t low = 0;
  std::int64_t high = 0;
  op::Edge edge = op::Edge::fill_zero;
  bool returned = false;  ///< each rank has rows of its window and sends them to their owners
  std::int64_t rows = -1;
  std::int64_t times = 1;
  std::int64_t per = 1;
  friend constexpr bool operator==(Window const&, Window const&) = default;

  /// The rows that a rank with this block needs, which may lie beyond the ends.
  constexpr Range needed(Range block) const {
    if (per == 1) return {block.begin * times + low, (block.end - 1) * times + high + 1};
    return {-floor_div(-(block.begin * times + low)),
            floor_div((block.end - 1) * times + high) + 1};
  }

 private:
  constexpr std::int64_t floor_div(std::int64_t n) const {
    return n >= 0 ? n / per : -((per - 1 - n) / per);
  }
};

/// The block of the rank at these coordinates from which its window follows.
constexpr Range window_block(Spec const& s, int dim, Sizing const& z, Coords const& at,
                             Window const& w) {
  return w.rows < 0 ? block_of(s, dim, z, at) : block({0, w.rows}, s.dims[dim].axes, z.sizes, at);
}

/// The rows in the window of the rank at these coordinates that exist; none if its block is empty.
constexpr Range window_rows(Spec const& s, int dim, Sizing const& z, Coords const& at,
                            Window const& w) {
  Range const of = window_block(s, dim, z, at, w);
  Range const rows = intersect(w.needed(of), {0, z.extents[s.dims[dim].label]});
  return of.size() == 0 || rows.size() == 0 ? Range{} : rows;
}
/// The most of them that a rank has.
constexpr std::int64_t most_window_rows(Spec const& s, int dim, Sizing const& z, Window const& w) {
  AxisList const& axes = s.dims[dim].axes;
  std::int64_t most = 0;
  for (std::int64_t g = 0; g < z.sizes.product(axes); ++g)
    most = std::max(most, window_rows(s, dim, z, member(axes, z.sizes, {}, g), w).size());
  return most;
}

/// Dims of which a rank has the rows in its windows already, not those of its block.
struct WidenedDims {
  static constexpr int most = 2;
  int size = 0;
  std::int8_t dim[most]{};
  Window window[most]{};

  constexpr void push(int d, Window const& w) {
    dim[size] = static_cast<std::int8_t>(d);
    window[size++] = w;
  }
  friend constexpr bool operator==(WidenedDims const&, WidenedDims const&) = default;
};

/// The window of shift by n: row i of the result is row i - n. A shift by more than the extent
/// gives only zeros, or wraps around.
constexpr Window shift_window(std::int64_t n, std::int64_t extent, op::Edge edge) {
  if (extent == 0) return {0, 0, edge};
  if (edge == op::Edge::wrap) {
    n %= extent;
  } else {
    n = std::max(-extent, std::min(extent, n));
  }
  return {-n, -n, edge};
}

/// Rows that are consecutive both in a rank's window and in the dim.
struct WindowPiece {
  std::int64_t at = 0;  ///< position of the first one in the window
  Range source{};       ///< global indices
};

/// Calls `use(WindowPiece)` for the pieces of `extent` rows that a rank with this block needs.
template <class Use>
constexpr void for_pieces(Range block, std::int64_t extent, Window const& w, Use use) {
  if (block.size() == 0) return;
  auto const [low, high] = w.needed(block);
  if (w.edge == op::Edge::fill_zero) {
    Range const source = intersect({low, high}, {0, extent});
    if (source.size() > 0) use(WindowPiece{source.begin - low, source});
    return;
  }
  for (std::int64_t at = low; at < high;) {
    std::int64_t const turn = (at >= 0 ? at / extent : -((extent - 1 - at) / extent)) * extent;
    std::int64_t const end = std::min(high, turn + extent);
    use(WindowPiece{at - low, {at - turn, end - turn}});
    at = end;
  }
}

/// Number of rows of `mine` that a rank with block `theirs` needs.
constexpr std::int64_t wanted_rows(Range theirs, Range mine, std::int64_t extent, Window const& w) {
  std::int64_t rows = 0;
  for_pieces(theirs, extent, w,
             [&](WindowPiece const& p) { rows += intersect(p.source, mine).size(); });
  return rows;
}

/// Elements of one row of dim `dim` at a rank.
constexpr std::int64_t row_elements(Spec const& s, int dim, Sizing const& z, Coords const& at,
                                    WidenedDims const& wide) {
  std::int64_t n = 1;
  for (int k = 0; k < wide.size; ++k)
    n = mul_sat(n, window_rows(s, wide.dim[k], z, at, wide.window[k]).size());
  for (int d = 0; d < s.rank; ++d) {
    bool widened = false;
    for (int k = 0; k < wide.size; ++k) widened = widened || wide.dim[k] == d;
    if (d != dim && !widened) n = mul_sat(n, held(s, d, z, at));
  }
  return n;
}

/// Number of rows that a rank with block `mine` sends to one with block `theirs`.
constexpr std::int64_t rows_between(Range mine, Range theirs, std::int64_t extent,
                                    Window const& w) {
  return w.returned ? wanted_rows(mine, theirs, extent, w) : wanted_rows(theirs, mine, extent, w);
}

/// Bytes that the rank at these coordinates sends when each rank fetches its window of dim `dim`:
/// the rows it holds that others need; or those it returns.
constexpr std::int64_t window_bytes(Spec const& s, int dim, Sizing const& z, Coords const& at,
                                    Window const& w, WidenedDims const& wide = WidenedDims()) {
  AxisList const& axes = s.dims[dim].axes;
  std::int64_t const extent = z.extents[s.dims[dim].label];
  Range const mine = block_of(s, dim, z, at);
  std::int64_t rows = 0;
  for (std::int64_t g = 0; g < z.sizes.product(axes); ++g) {
    Coords const other = member(axes, z.sizes, at, g);
    bool self = true;
    for (int k = 0; k < axes.size; ++k) self = self && other[axes[k]] == at[axes[k]];
    if (self) continue;
    rows += w.returned ? rows_between(mine, block_of(s, dim, z, other), extent, w)
                       : wanted_rows(window_block(s, dim, z, other, w), mine, extent, w);
  }
  return mul_sat(rows, mul_sat(row_elements(s, dim, z, at, wide), z.element_bytes));
}

}  // namespace shardtype::planning
