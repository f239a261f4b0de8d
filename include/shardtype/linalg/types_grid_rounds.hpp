#pragma once
/// The loops of one matrix over a grid of ranks, whose rows and columns are block-cyclic, each over
/// a mesh axis: what each round of panels or of right-hand sides computes, holds and sends.
/// docs/linalg_cyclic.md has the algorithms. A process column is the ranks that hold the same
/// columns, along the axis of the rows; a process row those that hold the same rows.

#include <algorithm>
#include <cstdint>
#include <numeric>

#include <shardtype/linalg/types_cyclic_plan.hpp>

namespace shardtype::planning {

/// The elements in which a rank says of its candidate for a pivot how large it is, its row, and
/// where a NaN is.
constexpr std::int64_t candidate_elements(std::int64_t element_bytes) {
  return ceil_div(24, element_bytes);
}
/// Column panels in memory at a time: one is used, and the next one is factorized, or arrives.
inline constexpr std::int64_t grid_slots = 2;

/// The elements that a rank with `rows` rows and `columns` columns needs for panels: parts of
/// column panels, each with the triangle at its top and a tail, two row panels, and what the ranks
/// of a process column say of a column.
struct GridRoom {
  std::int64_t slot = 0;
  std::int64_t row_panel = 0;
  std::int64_t wires = 0;

  constexpr GridRoom(CyclicBlocks const& of_rows, std::int64_t rows, std::int64_t columns,
                     std::int64_t element_bytes) {
    std::int64_t const w = std::min(of_rows.n, of_rows.block);
    if (w == 0) return;
    slot = mul_sat(w, w + rows) + panel_tail(w, element_bytes);
    row_panel = mul_sat(w, columns);
    wires = std::max(of_rows.ranks * (candidate_elements(element_bytes) + 2 * w), w * w);
  }
  constexpr std::int64_t all() const { return grid_slots * slot + 2 * row_panel + wires; }
};
/// The elements of the 32-bit numbers beside them, for `n` rows: pivots, and where each row comes
/// from and goes to.
constexpr std::int64_t grid_indices(std::int64_t n, std::int64_t element_bytes) {
  return pivot_elements(n, element_bytes) + pivot_elements(2 * n, element_bytes);
}
/// The elements that a solve needs for right-hand sides, solutions, and messages of rows.
constexpr std::int64_t grid_vectors(CyclicBlocks const& of_rows, std::int64_t rows,
                                    std::int64_t columns, std::int64_t right) {
  std::int64_t const most = std::max(rows, columns);
  return mul_sat(rows + columns + 2 * std::max(most, std::min(of_rows.n, of_rows.block)), right);
}

/// One call on a matrix `a[I@X%n, J@Y%n]`.
struct GridCall {
  int rows = 0;      ///< label I
  int columns = 0;   ///< label J
  AxisList down{};   ///< of I
  AxisList along{};  ///< of J
  CyclicBlocks of_rows{};
  CyclicBlocks of_columns{};
  std::int64_t element_bytes = 1;

  constexpr GridCall(Spec const& a, int i, int j, Sizing const& z)
      : rows(i),
        columns(j),
        down(a.dims[a.find(i)].axes),
        along(a.dims[a.find(j)].axes),
        element_bytes(z.element_bytes) {
    of_rows = {z.extents[j], down.cyclic, z.sizes.product(down)};
    of_columns = {z.extents[j], along.cyclic, z.sizes.product(along)};
  }
  /// Rows, and columns, of the rank that holds the most of the blocks from `k` on.
  constexpr std::int64_t most_rows(std::int64_t k, Sizes const& sizes) const {
    return largest_block(std::max<std::int64_t>(0, of_rows.n - of_rows.begin(k)), down, sizes);
  }
  constexpr std::int64_t most_columns(std::int64_t k, Sizes const& sizes) const {
    return largest_block(std::max<std::int64_t>(0, of_rows.n - of_rows.begin(k)), along, sizes);
  }
  constexpr std::int64_t period() const { return std::lcm(of_rows.ranks, of_columns.ranks); }
};

/// `lu_before_solve`: its factors are not the result.
enum class GridFactor : std::int8_t { lu, lu_before_solve, cholesky };

/// The steps of these loops, in each round. The dims of a value that is sent are rows and columns,
/// in this order.
namespace grid_rounds {

/// The call of a step that computes; `from` and `to` are the dims of rows and columns of its
/// matrix.
constexpr GridCall call_of(Step const& s, Round const& r) {
  Spec const& a = s.before;
  return {a, a.dims[s.from].label, a.dims[s.to].label, r.sizing};
}
constexpr std::int64_t matrix_elements(GridCall const& c, Sizes const& sizes) {
  return mul_sat(c.most_rows(0, sizes), c.most_columns(0, sizes));
}

/// The panel of a round of a value that is sent.
struct Panel {
  Step const& s;
  Round& r;
  int down = -1;   ///< the axes of rows and columns, as far as the step knows them
  int along = -1;  ///< (its group is along one of them)
  CyclicBlocks b{};
  std::int64_t k = 0;
  std::int64_t w = 0;
  std::int64_t rest = 0;  ///< rows and columns behind the panel

  constexpr Panel(Step const& step, Round& round) : s(step), r(round), k(round.number) {
    DimSpec const* const d = s.before.dims;
    if (d[0].axes.size > 0) down = d[0].axes[0];
    if (d[1].axes.size > 0) along = d[1].axes[0];
    b = {r.sizing.extents[d[1].label], r.block, 1};
    w = b.width(k);
    rest = b.n - b.begin(k) - w;
  }
  constexpr void sized(std::int64_t rows, std::int64_t columns) const {
    r.sizing.extents.at[s.before.dims[0].label] = rows;
    r.sizing.extents.at[s.before.dims[1].label] = columns;
  }
  constexpr void first_rows(std::int64_t block) const {
    r.first.at[down] = block % r.sizing.sizes[down];
  }
  constexpr void first_columns(std::int64_t block) const {
    r.first.at[along] = block % r.sizing.sizes[along];
  }
  constexpr void from_block(std::int64_t block) const {
    r.root = static_cast<int>(block % r.sizing.sizes.product(s.axes));
  }
  /// Elements that one process column alone sends.
  constexpr void in_its_column(std::int64_t elements) const {
    sized(elements, 1);
    first_columns(k);
  }
};

constexpr void panel_work(Step const& s, Round& r) {
  GridCall const c = call_of(s, r);
  std::int64_t const w = c.of_rows.width(r.number);
  cyclic_rounds::computes(r, mul_sat(w * w, c.most_rows(r.number, r.sizing.sizes)));
}
template <GridFactor how, bool in_place>
constexpr void update_work(Step const& s, Round& r) {
  GridCall const c = call_of(s, r);
  Sizes const& sizes = r.sizing.sizes;
  std::int64_t const w = c.of_rows.width(r.number);
  std::int64_t const rows = c.most_rows(r.number + 1, sizes);
  std::int64_t const columns = c.most_columns(r.number + 1, sizes);
  bool const half = how == GridFactor::cholesky;
  cyclic_rounds::computes(r, mul_sat(half ? w * rows : w * (2 * rows + w), columns));
  GridRoom const room(c.of_rows, c.most_rows(0, sizes), c.most_columns(0, sizes), c.element_bytes);
  std::int64_t held = room.all();
  if (how != GridFactor::cholesky) held = add_sat(held, grid_indices(c.of_rows.n, c.element_bytes));
  if (how == GridFactor::lu_before_solve && !in_place)
    held = add_sat(held, matrix_elements(c, sizes));
  r.work.workspace = mul_sat(held, c.element_bytes);
}

template <bool in_place, GridFactor how>
constexpr void lu(Step const& s, Round& r) {
  if (r.step == 0) return panel_work(s, r);
  if (r.step == 6) return grid_rounds::update_work<how, in_place>(s, r);
  Panel const p(s, r);
  std::int64_t const bytes = r.sizing.element_bytes;
  switch (r.step) {
    case 1:  // the candidates of each column for its pivot, to all
      r.times = p.w;
      return p.in_its_column((r.sizing.sizes.product(s.axes) - 1) *
                             (candidate_elements(bytes) + p.w));
    case 2:  // the row that makes room for each, with them
      p.from_block(p.k);
      return p.in_its_column(p.w * p.w);
    case 3:  // the triangle, the pivots and whether it failed
      p.from_block(p.k);
      return p.sized(p.w * p.w + panel_tail(p.w, bytes), 1);
    case 4:  // the panel below it
      p.from_block(p.k);
      p.first_rows(p.k + 1);
      return p.sized(p.rest, p.w);
    default:  // the row panel and the rows that make room for it; where it stays at most as many
              // come, for pivots
      p.first_columns(p.k + 1);
      return p.sized(p.w, p.rest);
  }
}
/// The rows of panels of L that later pivots exchange: at most all below each. A round has one
/// panel of each process column, the first of which has the most rows; its `block` is their width
/// together.
constexpr void left(Step const& s, Round& r) {
  DimSpec const* const d = s.before.dims;
  CyclicBlocks const b{r.sizing.extents[d[1].label], d[0].axes.cyclic, 1};
  std::int64_t const k = r.number * (r.block / b.block);
  int const down = d[0].axes[0];
  r.first.at[down] = (k + 1) % r.sizing.sizes[down];
  r.sizing.extents.at[d[0].label] = b.n - b.begin(k) - b.width(k);
  r.sizing.extents.at[d[1].label] = b.width(k);
}

template <bool in_place>
constexpr void cholesky(Step const& s, Round& r) {
  if (r.step == 0) return panel_work(s, r);
  if (r.step == 5) return grid_rounds::update_work<GridFactor::cholesky, in_place>(s, r);
  Panel p(s, r);
  std::int64_t const tail = panel_tail(0, r.sizing.element_bytes);
  switch (r.step) {
    case 1:  // the triangle and whether it failed; and from each rank where it has a NaN
      p.from_block(p.k);
      return p.in_its_column(p.w * p.w + 2 * tail);
    case 2:  // whether it failed
      p.from_block(p.k);
      return p.sized(tail, 1);
    case 3:  // the panel below it
      p.from_block(p.k);
      p.first_rows(p.k + 1);
      return p.sized(p.rest, p.w);
    default:  // the same as rows: a rank needs those of its columns
      p.along = s.after.dims[0].axes[0];
      p.first_rows(p.k + 1);
      p.first_columns(p.k + 1);
      return p.sized(p.rest, p.w);
  }
}

/// The block of right-hand sides of a round, at one rank of the group.
template <bool forward>
constexpr void block_of_right(Step const& s, Round& r, AxisList const& own) {
  DimSpec const& d = s.before.dims[s.to];
  CyclicBlocks const b{r.sizing.extents[d.label], r.block, 1};
  std::int64_t const k = cyclic_rounds::in_turn<forward>(b, r.number);
  r.first.at[own[0]] = k % r.sizing.sizes[own[0]];
  r.root = static_cast<int>(k % r.sizing.sizes.product(s.axes));
  r.sizing.extents.at[d.label] = 1;
  r.sizing.element_bytes = mul_sat(r.sizing.element_bytes, b.width(k));
}
/// A triangle: a block is solved, having got the sums of the other ranks of its process row, and
/// goes to its column. `vectors`: whole ones that a rank holds meanwhile.
template <bool forward, bool keeps, int vectors = 0>
constexpr void triangle(Step const& s, Round& r) {
  if (r.step > 0) return grid_rounds::block_of_right<forward>(s, r, s.before.dims[s.to].axes);
  GridCall const c = call_of(s, r);
  Sizes const& sizes = r.sizing.sizes;
  std::int64_t const k = cyclic_rounds::in_turn<forward>(c.of_rows, r.number);
  std::int64_t const w = c.of_rows.width(k);
  std::int64_t right = 1;
  for (int d = 0; d < s.after.rank; ++d)
    if (int const l = s.after.dims[d].label; l != c.rows && l != c.columns)
      right = largest_block(r.sizing.extents[l], s.after.dims[d].axes, sizes);
  std::int64_t const rows =
      forward ? c.most_rows(k + 1, sizes) : largest_block(c.of_rows.begin(k), c.down, sizes);
  cyclic_rounds::computes(r, mul_sat(w * w + 2 * w * rows, right));
  std::int64_t held =
      grid_vectors(c.of_rows, c.most_rows(0, sizes), c.most_columns(0, sizes), right);
  if (keeps) held = add_sat(held, matrix_elements(c, sizes));
  held = add_sat(held, grid_indices(c.of_rows.n, c.element_bytes));
  if (vectors > 0)
    held = add_sat(
        held, mul_sat(vectors, c.of_rows.n) + c.most_rows(0, sizes) + c.most_columns(0, sizes));
  r.work.workspace = mul_sat(held, c.element_bytes);
}
/// Both triangles of `times` solutions, forward and back, and their exchanges of rows. `vectors`:
/// whole ones that a rank holds beside.
template <int times, int vectors, bool halved>
constexpr void solutions(Step const& s, Round& r) {
  r.times = times;
  if (halved) r.sizing.element_bytes /= 2;
  if (r.step == 6) {
    r.runs = r.number == 0;
  } else if (r.step < 3) {
    grid_rounds::triangle<true, false, vectors>(s, r);
  } else {
    r.step -= 3;
    grid_rounds::triangle<false, false, vectors>(s, r);
  }
  if (r.work.flops > 0) cyclic_rounds::computes_again(r, times);
}
constexpr void spread(Step const& s, Round& r) {
  block_of_right<true>(s, r, s.before.dims[s.to].axes);
}

}  // namespace grid_rounds

}  // namespace shardtype::planning
