#pragma once
/// One step of a plan: a local operation or one collective.

#include <algorithm>
#include <cstdint>
#include <limits>

#include <shardtype/plan/collective.hpp>
#include <shardtype/plan/window.hpp>

namespace shardtype::planning {

/// A count without a bound that types know: that of a loop of unknown rounds. It also represents
/// larger counts.
inline constexpr int unbounded = std::numeric_limits<int>::max();
/// a + b of two counts, at most `unbounded`.
constexpr int add_counts(int a, int b) { return a > unbounded - b ? unbounded : a + b; }

/// The action of a step on its value. The kinds of collectives differ in what a rank sends. Each
/// kind has a row in `move_rows`; `_cyclic`: the dim is block-cyclic before or after the step.
enum class Move : std::int8_t {
  slice,            ///< keep the own piece of dim `to`; local
  transpose,        ///< reorder the dims of the local block
  compute,          ///< the operation's own computation, on the blocks of all operands
  finish,           ///< compute results from combined totals
  gather,           ///< dim `from` loses the axes
  gather_cyclic,    ///< the same
  reduce,           ///< unreduced blocks become their sum, on all members
  scatter,          ///< unreduced blocks become a sum whose dim `to` the axes split
  scatter_cyclic,   ///< the same
  exchange,         ///< dim `from` loses the axes, dim `to` gains them
  exchange_cyclic,  ///< the same
  resplit,          ///< another split of dim `from` = `to`, which is block-cyclic before or after:
                    ///< each member, of the axes before, sends the rows that others need
  to_columns,       ///< the rows of dim `from`, in blocks, become a matrix, row by row, whose
                    ///< second dim, `to`, is split
  from_columns,     ///< the reverse, from the matrix's dim `from` to the rows of dim `to`
  reorder,          ///< another order of the axes of dim `from` = `to`
  send_block,       ///< each rank's whole block to one other
  send_rows,        ///< rows that each rank chooses, at most its block, to each other one
  broadcast,        ///< the whole block of one rank
  broadcast_rows,   ///< each member's rows of dim `from` = `to` to all that need them
  window,           ///< the rows of dim `from` that are in the windows of other ranks
};

/// Maximal number of operands that a plan distinguishes; for further ones it knows only the bytes.
inline constexpr int max_plan_operands = 11;

/// The value that a step works on: an operand, or the result.
enum class Slot : std::int8_t { a, b, result };
/// Operand `k`; operands beyond the second are numbered after the result.
constexpr Slot operand_slot(int k) { return static_cast<Slot>(k < 2 ? k : k + 1); }

/// One step. `before` and `after` are the shardings of its value; for `compute`, `before` is that
/// of the result.
struct Step {
  Move move = Move::slice;
  Slot slot = Slot::a;
  /// The group, in the order of its members' blocks along the dim. For reorder: the axes in the old
  /// order.
  AxisList axes{};
  std::int8_t from = -1;  ///< dims (positions) as the step's kind says; -1: none
  std::int8_t to = -1;
  Spec before{};
  Spec after{};
  Window window{};     ///< the rows of dim `from` that each rank needs
  WidenedDims wide{};  ///< other dims whose windows earlier steps have filled

  constexpr Collective collective() const;
  constexpr bool is_collective() const { return collective() != Collective::none; }

  friend constexpr bool operator==(Step const&, Step const&) = default;
};

/// A step on the rank's own block.
constexpr Step local_step(Move move, Slot slot, Spec const& before, Spec const& after) {
  Step s;
  s.move = move;
  s.slot = slot;
  s.before = before;
  s.after = after;
  return s;
}
/// A step over `axes`; `from` and `to` as in Move.
constexpr Step shared_step(Move move, Slot slot, AxisList const& axes, Spec const& before,
                           Spec const& after, int from = -1, int to = -1) {
  Step s = local_step(move, slot, before, after);
  s.axes = axes;
  s.from = static_cast<std::int8_t>(from);
  s.to = static_cast<std::int8_t>(to);
  return s;
}
/// Whether all members of a rank's group have equal blocks, for a permute.
constexpr bool has_equal_blocks(Step const& s, Sizing const& z, Coords const& at) {
  std::int64_t const mine = block_of(s.before, s.from, z, at).size();
  for (std::int64_t g = 0; g < z.sizes.product(s.axes); ++g)
    if (block_of(s.before, s.from, z, member(s.axes, z.sizes, at, g)).size() != mine) return false;
  return true;
}

/// Number of indices of `rows` that are in the columns `part` of a matrix of `columns` columns.
constexpr std::int64_t in_columns(Range rows, std::int64_t columns, Range part) {
  auto const below = [&](std::int64_t index) {
    return index / columns * part.size() +
           std::clamp<std::int64_t>(index % columns - part.begin, 0, part.size());
  };
  return part.size() == 0 || rows.size() == 0 ? 0 : below(rows.end) - below(rows.begin);
}
/// Elements that the rank at these coordinates sends in such a step. The matrix may be longer than
/// the dim: its last elements are not sent.
constexpr std::int64_t regrouped_elements(Step const& s, Sizing const& z, Coords const& at) {
  bool const into_columns = s.move == Move::to_columns;
  Spec const& blocks = into_columns ? s.before : s.after;
  Spec const& matrix = into_columns ? s.after : s.before;
  int const dim = into_columns ? s.from : s.to;
  std::int64_t const columns = z.extents[matrix.dims[1].label];
  Range const mine = block_of(blocks, dim, z, at);
  Range const part = block_of(matrix, 1, z, at);
  std::int64_t batch = 1;
  for (int d = 0; d < blocks.rank; ++d)
    if (d != dim) batch = mul_sat(batch, held(blocks, d, z, at));
  std::int64_t const has = into_columns
                               ? mine.size()
                               : in_columns({0, z.extents[blocks.dims[dim].label]}, columns, part);
  return mul_sat(has - in_columns(mine, columns, part), batch);
}

/// Number of indices along the dim that the rank at these coordinates sends when a step changes the
/// split of a dim.
constexpr std::int64_t rows_sent(Step const& s, Sizing const& z, Coords const& at) {
  Rows const mine = rows_of(s.before, s.from, z, at);
  std::int64_t rows = 0;
  for (std::int64_t g = 0; g < z.sizes.product(s.axes); ++g)
    rows += common(mine, rows_of(s.after, s.to, z, member(s.axes, z.sizes, at, g)));
  return rows - common(mine, rows_of(s.after, s.to, z, at));
}

/// Payload bytes of one step at one rank: received from others by a gather or a broadcast, sent to
/// others by the rest; of a reduce 2 n (p - 1) / p of its n bytes, rounded down.
namespace sent {

using Rule = std::int64_t(Step const&, Sizing const&, Coords const& at);

constexpr std::int64_t block(Spec const& s, Sizing const& z, Coords const& at) {
  return mul_sat(local_elements(s, z.extents, z.sizes, at), z.element_bytes);
}
/// Bytes of `rows` of the `all` rows of a block of `bytes` bytes.
constexpr std::int64_t part(std::int64_t bytes, std::int64_t all, std::int64_t rows) {
  return all == 0 ? 0 : mul_sat(bytes / all, rows);
}

constexpr std::int64_t nothing(Step const&, Sizing const&, Coords const&) { return 0; }
constexpr std::int64_t blocks_of_others(Step const& s, Sizing const& z, Coords const& at) {
  return block(s.after, z, at) - block(s.before, z, at);
}
constexpr std::int64_t both_ways(Step const& s, Sizing const& z, Coords const& at) {
  return twice_but_own(block(s.before, z, at), z.sizes.product(s.axes));
}
constexpr std::int64_t parts_for_others(Step const& s, Sizing const& z, Coords const& at) {
  return block(s.before, z, at) - block(s.after, z, at);
}
constexpr std::int64_t all_but_own(Step const& s, Sizing const& z, Coords const& at) {
  std::int64_t const all = held(s.before, s.to, z, at);
  std::int64_t const bytes = block(s.before, z, at);
  return all == 0 ? 0 : bytes - bytes / all * held(s.after, s.to, z, at);
}
constexpr std::int64_t rows_for_others(Step const& s, Sizing const& z, Coords const& at) {
  return part(block(s.before, z, at), held(s.before, s.to, z, at), rows_sent(s, z, at));
}
constexpr std::int64_t regrouped(Step const& s, Sizing const& z, Coords const& at) {
  return mul_sat(regrouped_elements(s, z, at), z.element_bytes);
}
constexpr std::int64_t all_but_common(Step const& s, Sizing const& z, Coords const& at) {
  Range const old_block = block_of(s.before, s.from, z, at);
  Range const kept = intersect(old_block, block_of(s.after, s.from, z, at));
  std::int64_t const bytes = block(s.before, z, at);
  return old_block.size() == 0 ? 0 : bytes - bytes / old_block.size() * kept.size();
}
/// A whole block, which counts even at a rank that keeps its own, or that is a broadcast's root:
/// only a loop's Round tells which is.
constexpr std::int64_t own_block(Step const& s, Sizing const& z, Coords const& at) {
  return z.sizes.product(s.axes) == 1 ? 0 : block(s.before, z, at);
}
constexpr std::int64_t arriving_block(Step const& s, Sizing const& z, Coords const& at) {
  return z.sizes.product(s.axes) == 1 ? 0 : block(s.after, z, at);
}
/// But for what the rank has itself.
constexpr std::int64_t arriving_rows(Step const& s, Sizing const& z, Coords const& at) {
  if (z.sizes.product(s.axes) == 1) return 0;
  Rows const needed = rows_of(s.after, s.to, z, at);
  return part(block(s.after, z, at), needed.size(),
              needed.size() - common(needed, rows_of(s.before, s.from, z, at)));
}
constexpr std::int64_t in_windows(Step const& s, Sizing const& z, Coords const& at) {
  return window_bytes(s.before, s.from, z, at, s.window, s.wide);
}

}  // namespace sent

/// The change that a collective makes to one dim of a block before or after it: none, cutting it
/// into segments of consecutive rows or joining it from them, or the same with any rows.
enum class Parts : std::int8_t { none, segments, rows };

/// One row of the table of kinds of steps.
struct MoveKind {
  Move move;
  Collective collective;
  sent::Rule* bytes;
  Parts cuts;   ///< dim `to`, before it sends
  Parts joins;  ///< dim `from`, of what arrives
  unsigned facts;

  constexpr bool is(unsigned fact) const { return (facts & fact) != 0; }
};

namespace move_rows {

inline constexpr unsigned packs = 1;      ///< needs a contiguous block
inline constexpr unsigned releases = 2;   ///< a block that it packs for sending is released
inline constexpr unsigned in_place = 4;   ///< the result may be in the operand's memory
inline constexpr unsigned beside = 8;     ///< what arrives is kept beside the value
inline constexpr unsigned reshards = 16;  ///< in a group of one rank only the sharding changes
inline constexpr unsigned whole = 32;     ///< its bytes are alike at all members of the group
inline constexpr unsigned placed = 64;    ///< its bytes depend on where blocks lie

inline constexpr Parts no = Parts::none, segments = Parts::segments, rows = Parts::rows;
using C = Collective;

/// In the order of Move.
inline constexpr MoveKind all[] = {
    {Move::slice, C::none, &sent::nothing, no, no, 0},
    {Move::transpose, C::none, &sent::nothing, no, no, 0},
    {Move::compute, C::none, &sent::nothing, no, no, 0},
    {Move::finish, C::none, &sent::nothing, no, no, 0},
    {Move::gather, C::all_gather, &sent::blocks_of_others, no, segments, packs | reshards},
    {Move::gather_cyclic, C::all_gather, &sent::blocks_of_others, no, rows, packs | reshards},
    {Move::reduce, C::all_reduce, &sent::both_ways, no, no, packs | in_place | reshards},
    {Move::scatter, C::reduce_scatter, &sent::parts_for_others, segments, no, reshards},
    {Move::scatter_cyclic, C::reduce_scatter, &sent::parts_for_others, rows, no, reshards},
    {Move::exchange, C::all_to_all, &sent::all_but_own, segments, segments, releases | reshards},
    {Move::exchange_cyclic, C::all_to_all, &sent::all_but_own, rows, rows, reshards},
    {Move::resplit, C::all_to_all, &sent::rows_for_others, rows, rows, reshards},
    {Move::to_columns, C::all_to_all, &sent::regrouped, segments, segments, releases | placed},
    {Move::from_columns, C::all_to_all, &sent::regrouped, segments, segments, releases | placed},
    {Move::reorder, C::permute, &sent::all_but_common, segments, segments, reshards | placed},
    {Move::send_block, C::permute, &sent::own_block, no, no, whole | placed},
    {Move::send_rows, C::all_to_all, &sent::own_block, no, no, whole},
    {Move::broadcast, C::broadcast, &sent::arriving_block, no, no, whole},
    {Move::broadcast_rows, C::broadcast, &sent::arriving_rows, no, no, whole},
    {Move::window, C::neighbor, &sent::in_windows, no, no, beside | placed},
};

}  // namespace move_rows

constexpr MoveKind const& kind_of(Move m) { return move_rows::all[static_cast<int>(m)]; }
constexpr MoveKind const& kind_of(Step const& s) { return kind_of(s.move); }
constexpr Collective Step::collective() const { return kind_of(move).collective; }

/// Whether a step makes another value of its value: it neither computes nor gets rows beside it.
constexpr bool moves_value(Step const& s) {
  return s.move != Move::compute && !kind_of(s).is(move_rows::beside);
}

/// The kind of a step of a reshard without block-cyclic dims, by its collective; `none`: a slice.
constexpr Move move_of(Collective c) {
  for (MoveKind const& kind : move_rows::all)
    if (kind.collective == c) return kind.move;
  return Move::slice;
}

/// Payload bytes of one step at one rank (conventions at `sent`).
constexpr std::int64_t step_bytes(Step const& s, Sizing const& z, Coords const& at) {
  return kind_of(s).bytes(s, z, at);
}

}  // namespace shardtype::planning
