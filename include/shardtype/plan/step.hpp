#pragma once
/// One step of a plan: a local operation or one collective.

#include <algorithm>
#include <cstdint>
#include <limits>

#include <shardtype/plan/window.hpp>

namespace shardtype::planning {

/// The collectives, one name each in every mode.
enum class Collective : std::int8_t {
  none,
  all_gather,
  all_reduce,
  reduce_scatter,
  all_to_all,
  permute,
  broadcast,
  neighbor  ///< rows beyond the own block, from the ranks that hold them
};

/// All collectives except `none`.
inline constexpr Collective all_collectives[] = {Collective::all_gather,     Collective::all_reduce,
                                                 Collective::reduce_scatter, Collective::all_to_all,
                                                 Collective::permute,        Collective::broadcast,
                                                 Collective::neighbor};
/// Number of rows of a table indexed by collective, including `none`.
inline constexpr int collective_rows = 1 + static_cast<int>(sizeof all_collectives);

/// A count without a bound that types know: that of a loop of unknown rounds. It also represents larger counts.
inline constexpr int unbounded = std::numeric_limits<int>::max();
/// a + b of two counts, at most `unbounded`.
constexpr int add_counts(int a, int b) { return a > unbounded - b ? unbounded : a + b; }

/// The kind of a step.
enum class Action : std::int8_t {
  slice,        ///< keep the own piece of a dim; local
  transpose,    ///< reorder the dims of the local block
  compute,      ///< the operation's own computation, on the blocks of all operands
  communicate,  ///< one collective over the group that `axes` span
  finish,       ///< compute results from combined totals
};

/// Maximal number of operands that a plan distinguishes; for further ones it knows only the bytes.
inline constexpr int max_plan_operands = 8;

/// The value that a step works on: an operand, or the result.
enum class Slot : std::int8_t { a, b, result };
/// Operand `k`; operands beyond the second are numbered after the result.
constexpr Slot operand_slot(int k) { return static_cast<Slot>(k < 2 ? k : k + 1); }

/// One step. An all_to_all with equal `from` and `to` changes the split of that dim, from or to a
/// Cyclic: each member of the group, the axes before the step, sends the rows that each other one
/// needs. `before` and `after` are the shardings of its value; for `compute`, `before` is that of
/// the result. An all_to_all with one dim more on one side is that of a long Fourier transform: on
/// the other side the rows of one dim are in blocks, here they are a matrix, row by row, whose second
/// dim is split. `from` and `to` are the dims that lose and gain the axes.
struct Step {
  Action action = Action::slice;
  Collective collective = Collective::none;
  Slot slot = Slot::a;
  /// The group, in the order of its members' blocks along the dim. For permute: the axes in the old
  /// order.
  AxisList axes{};
  std::int8_t from = -1;  ///< dim (position) that loses axes
  std::int8_t to = -1;    ///< dim (position) that gains axes
  Spec before{};
  Spec after{};
  Window window{};  ///< of a neighbor exchange: the rows of dim `from` that each rank needs

  friend constexpr bool operator==(Step const&, Step const&) = default;
};

/// A step on the rank's own block.
constexpr Step local_step(Action action, Slot slot, Spec const& before, Spec const& after) {
  Step s;
  s.action = action;
  s.slot = slot;
  s.before = before;
  s.after = after;
  return s;
}
/// A collective over `axes`; `from` and `to` as in Step.
constexpr Step shared_step(Collective c, Slot slot, AxisList const& axes, Spec const& before,
                           Spec const& after, int from = -1, int to = -1) {
  Step s = local_step(Action::communicate, slot, before, after);
  s.collective = c;
  s.axes = axes;
  s.from = static_cast<std::int8_t>(from);
  s.to = static_cast<std::int8_t>(to);
  return s;
}
/// Whether a dim that the step changes is block-cyclic before or after.
constexpr bool changes_cyclic(Step const& s) {
  return (s.from >= 0 && s.before.dims[s.from].axes.cyclic != 0) ||
         (s.to >= 0 && s.after.dims[s.to].axes.cyclic != 0);
}
/// Whether a collective needs a contiguous block for any dims.
constexpr bool packs_whole(Collective c) {
  return c == Collective::all_gather || c == Collective::all_reduce;
}
/// Whether all members of a rank's group have equal blocks, for a permute.
constexpr bool has_equal_blocks(Step const& s, Sizing const& z, Coords const& at) {
  std::int64_t const mine = block_of(s.before, s.from, z, at).size();
  for (std::int64_t g = 0; g < z.sizes.product(s.axes); ++g)
    if (block_of(s.before, s.from, z, member(s.axes, z.sizes, at, g)).size() != mine) return false;
  return true;
}

/// Whether a step is between blocks of one dim and the columns of a matrix (see Step).
constexpr bool regroups(Step const& s) {
  return s.collective == Collective::all_to_all && s.before.rank != s.after.rank;
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
  bool const into_columns = s.before.rank < s.after.rank;
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

/// 2 n (p - 1) / p, rounded down.
constexpr std::int64_t twice_but_own(std::int64_t n, std::int64_t p) {
  return std::min(saturated, 2 * n - ceil_div(2 * n, p));
}

/// Whether whole blocks are sent: to another rank, or to ranks chosen by each rank.
constexpr bool moves_blocks(Step const& s) {
  return s.from < 0 &&
         (s.collective == Collective::permute || s.collective == Collective::all_to_all);
}

/// Payload bytes of one step at one rank, by convention: all_gather, broadcast: received from
/// others; reduce_scatter, all_to_all, permute, neighbor: sent to others; all_reduce: 2 n (p - 1) /
/// p of the n bytes reduced, rounded down. If no dim changes (`from` is -1), whole blocks are sent,
/// and the block counts even at a rank that keeps its own, or is a broadcast's root, which only a
/// loop's Round tells. A broadcast with equal `from` and `to`: each member sends its rows of that dim to all that need
/// them, and what a rank has itself does not count.
constexpr std::int64_t step_bytes(Step const& s, Sizing const& z, Coords const& at) {
  std::int64_t const p = z.sizes.product(s.axes);
  bool const arrives = s.collective == Collective::broadcast;
  if (p == 1 && (arrives || moves_blocks(s))) return 0;
  std::int64_t const after =
      moves_blocks(s) ? 0
                      : mul_sat(local_elements(s.after, z.extents, z.sizes, at), z.element_bytes);
  if (arrives) {
    if (s.from < 0 || s.from != s.to) return after;
    Rows const needed = rows_of(s.after, s.to, z, at);
    std::int64_t const kept = common(needed, rows_of(s.before, s.from, z, at));
    return needed.size() == 0 ? 0 : after / needed.size() * (needed.size() - kept);
  }
  std::int64_t const before =
      mul_sat(local_elements(s.before, z.extents, z.sizes, at), z.element_bytes);
  if (moves_blocks(s)) return before;
  if (regroups(s)) return mul_sat(regrouped_elements(s, z, at), z.element_bytes);
  switch (s.collective) {
    case Collective::all_gather:
      return after - before;
    case Collective::reduce_scatter:
      return before - after;
    case Collective::all_reduce:
      return twice_but_own(before, p);
    case Collective::all_to_all: {
      std::int64_t const whole = held(s.before, s.to, z, at);
      if (s.from == s.to) return whole == 0 ? 0 : mul_sat(before / whole, rows_sent(s, z, at));
      std::int64_t const kept = held(s.after, s.to, z, at);
      return whole == 0 ? 0 : before - before / whole * kept;
    }
    case Collective::permute: {
      Range const old_block = block_of(s.before, s.from, z, at);
      Range const kept = intersect(old_block, block_of(s.after, s.from, z, at));
      return old_block.size() == 0 ? 0 : before - before / old_block.size() * kept.size();
    }
    case Collective::neighbor:
      return window_bytes(s.before, s.from, z, at, s.window);
    case Collective::broadcast:
    case Collective::none:
      break;
  }
  return 0;
}

/// Messages a rank sends for one collective over `p` ranks: p - 1 for the exchanges, 2 (p - 1) for
/// all_reduce, 1 for a permute, 2 at most for a neighbor exchange.
constexpr std::int64_t step_messages(Collective collective, std::int64_t p) {
  switch (collective) {
    case Collective::none:
      return 0;
    case Collective::all_reduce:
      return 2 * (p - 1);
    case Collective::permute:
      return p > 1 ? 1 : 0;
    case Collective::neighbor:
      return p > 2 ? 2 : p - 1;
    default:
      return p - 1;
  }
}

}  // namespace shardtype::planning

namespace shardtype {
using planning::Collective;
}  // namespace shardtype
