#pragma once
/// Plans of one matrix over many ranks: its blocks, what is in memory of them, and the steps of
/// which loops consist. docs/linalg_cyclic.md has the algorithms. Over a grid a process column is
/// the ranks that hold the same columns, along the axis of the rows; a process row those that hold
/// the same rows.

#include <algorithm>
#include <cstdint>
#include <numeric>

#include <shardtype/plan/local_plan.hpp>

namespace shardtype::planning {

/// The blocks of a block-cyclic dim of `n` indices over `ranks` ranks.
struct CyclicBlocks {
  std::int64_t n = 0;
  std::int64_t block = 1;
  std::int64_t ranks = 1;

  constexpr std::int64_t count() const { return ceil_div(n, block); }
  constexpr std::int64_t begin(std::int64_t k) const { return k * block; }
  constexpr std::int64_t width(std::int64_t k) const { return std::min(block, n - k * block); }
  constexpr std::int64_t owner(std::int64_t k) const { return k % ranks; }
  /// The first of the columns that the owner of block `k` holds of it.
  constexpr std::int64_t local(std::int64_t k) const { return k / ranks * block; }
  /// Number of columns that rank `me` holds of the blocks before `k`.
  constexpr std::int64_t below(std::int64_t k, std::int64_t me) const {
    std::int64_t const blocks = k > me ? (k - me - 1) / ranks + 1 : 0;
    bool const last = blocks > 0 && me + (blocks - 1) * ranks == count() - 1;
    return blocks * block - (last ? count() * block - n : 0);
  }
};

/// The elements at the end of a panel's message: its pivots and whether it failed, 32-bit numbers.
constexpr std::int64_t panel_tail(std::int64_t width, std::int64_t element_bytes) {
  return ceil_div(4 * (width + 1), element_bytes);
}
/// The elements that hold the pivots of `n` columns.
constexpr std::int64_t pivot_elements(std::int64_t n, std::int64_t element_bytes) {
  return ceil_div(4 * n, element_bytes);
}
/// The elements of the message of panel `k`.
constexpr std::int64_t panel_elements(CyclicBlocks const& c, std::int64_t k,
                                      std::int64_t element_bytes) {
  return (c.n - c.begin(k)) * c.width(k) + panel_tail(c.width(k), element_bytes);
}
/// Blocks of columns that Cholesky updates together.
constexpr std::int64_t cholesky_group(std::int64_t block) {
  return std::max<std::int64_t>(1, 1024 / block);
}
/// Elements of a copy of the rows of a panel that belong to such columns.
constexpr std::int64_t cholesky_scratch(CyclicBlocks const& b) {
  return std::min(b.n, cholesky_group(b.block) * b.block) * std::min(b.n, b.block);
}
/// Panels in memory at a time: one is used, one arrives, one may still be on its way out.
inline constexpr std::int64_t panel_slots = 3;
/// Bytes of the slots of panels, which a rank needs besides operands and result.
constexpr std::int64_t panel_memory(CyclicBlocks const& b, std::int64_t element_bytes) {
  return b.n == 0
             ? 0
             : mul_sat(mul_sat(panel_slots, panel_elements(b, 0, element_bytes)), element_bytes);
}

/// The elements in which a rank of a grid says of its candidate for a pivot how large it is, its
/// row, and where a NaN is.
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

/// One call on a matrix `a[I, J@X%n]`, or over a grid `a[I@X%n, J@Y%n]`: columns are a grid with
/// one row of processes.
struct MatrixCall {
  int rows = 0;      ///< label I
  int columns = 0;   ///< label J
  AxisList down{};   ///< of I
  AxisList along{};  ///< of J
  CyclicBlocks of_rows{};
  CyclicBlocks of_columns{};
  std::int64_t element_bytes = 1;

  constexpr MatrixCall(Spec const& a, int i, int j, Sizing const& z)
      : rows(i),
        columns(j),
        down(a.dims[a.find(i)].axes),
        along(a.dims[a.find(j)].axes),
        element_bytes(z.element_bytes) {
    std::int64_t const block = std::max(down.cyclic, along.cyclic);
    of_rows = {z.extents[j], block, z.sizes.product(down)};
    of_columns = {z.extents[j], block, z.sizes.product(along)};
  }
  constexpr explicit MatrixCall(CallSizing const& c)
      : MatrixCall(c.operands[0], c.from.dims[0].label, c.from.dims[1].label, c.common) {}
  /// Rows, and columns, of the rank that holds the most of the blocks from `k` on.
  constexpr std::int64_t most_rows(std::int64_t k, Sizes const& sizes) const {
    return largest_block(behind(k), down, sizes);
  }
  constexpr std::int64_t most_columns(std::int64_t k, Sizes const& sizes) const {
    return largest_block(behind(k), along, sizes);
  }
  constexpr std::int64_t matrix_elements(Sizes const& sizes) const {
    return mul_sat(most_rows(0, sizes), most_columns(0, sizes));
  }
  constexpr std::int64_t period() const { return std::lcm(of_rows.ranks, of_columns.ranks); }
  constexpr bool grid() const { return down.size > 0 && along.size > 0; }
  /// The call on the transposed matrix.
  constexpr MatrixCall transposed() const {
    MatrixCall t = *this;
    t.rows = columns, t.columns = rows;
    t.down = along, t.along = down;
    t.of_rows = of_columns, t.of_columns = of_rows;
    return t;
  }

 private:
  constexpr std::int64_t behind(std::int64_t k) const {
    return std::max<std::int64_t>(0, of_columns.n - of_columns.begin(k));
  }
};

/// A computation of a loop, on the matrix and the right-hand sides. `from` and `to` are the dims of
/// its rows and columns.
constexpr Step cyclic_compute(CallSizing const& c, MatrixCall const& call) {
  Step s = local_step(Move::compute, Slot::result, c.operands[0], c.result);
  s.from = static_cast<std::int8_t>(s.before.find(call.rows));
  s.to = static_cast<std::int8_t>(s.before.find(call.columns));
  return s;
}
/// The value of which a loop sends parts, in a slot of its own.
constexpr Step cyclic_move(CallSizing const& c, Move what, AxisList const& axes,
                           Spec const& value = {}) {
  Step s;
  s.move = what;
  s.slot = operand_slot(c.count);
  s.axes = axes.suffix(0);
  s.before = s.after = value;
  return s;
}
/// Right-hand sides or solutions on their way: no sums of other axes.
constexpr Spec whole_sums(Spec x) {
  x.unreduced = x.reduced = {};
  return x;
}
/// The right-hand sides, copied.
constexpr void append_cyclic_start(Plan& p, CallSizing const&) { append_compute(p, {}); }

/// The steps of these loops, in each round.
namespace cyclic_rounds {

/// The call of a step that computes.
constexpr MatrixCall call_of(Step const& s, Round const& r) {
  Spec const& a = s.before;
  return {a, a.dims[s.from].label, a.dims[s.to].label, r.sizing};
}
/// The right-hand sides of the rank with the most: those of the dim of `after` that is none of the
/// matrix.
constexpr std::int64_t right_of(Step const& s, Round const& r, MatrixCall const& c) {
  std::int64_t right = 1;
  for (int d = 0; d < s.after.rank; ++d)
    if (int const l = s.after.dims[d].label; l != c.rows && l != c.columns)
      right = largest_block(r.sizing.extents[l], s.after.dims[d].axes, r.sizing.sizes);
  return right;
}
constexpr void computes(Round& r, std::int64_t flops) {
  r.work = {flops, 0, 0, true, static_cast<double>(flops)};
}
/// The same work, `times` times.
constexpr void computes_again(Round& r, std::int64_t times) {
  std::int64_t const held = r.work.workspace;
  computes(r, mul_sat(r.work.flops, times));
  r.work.workspace = held;
}
/// The block that is worked on in this round.
template <bool forward>
constexpr std::int64_t in_turn(CyclicBlocks const& b, std::int64_t number) {
  return forward ? number : b.count() - 1 - number;
}
/// `round` for elements of half the size.
template <void (*round)(Step const&, Round&)>
constexpr void halved(Step const& s, Round& r) {
  r.sizing.element_bytes /= 2;
  round(s, r);
}

}  // namespace cyclic_rounds

/// The axes that split a matrix, those of the rows first.
constexpr AxisList matrix_axes(CallSizing const& c) {
  Spec const& a = c.operands[0];
  AxisList const rows = a.dims[a.find(c.from.dims[0].label)].axes.suffix(0);
  return rows.plus(a.dims[a.find(c.from.dims[1].label)].axes.suffix(0));
}
/// `times` all_reduces of `numbers` numbers of 8 bytes over the ranks that hold the matrix.
constexpr void append_cyclic_sums(Plan& p, CallSizing const& c, std::int64_t times,
                                  std::int64_t numbers) {
  AxisList const axes = matrix_axes(c);
  Step sent = cyclic_move(c, Move::reduce, axes);
  for (int k = 0; k < axes.size; ++k) sent.before.unreduced.insert(axes[k]);
  p.push(sent);
  p.repeat(1, times, numbers,
           [](Step const&, Round& r) { r.sizing.element_bytes = mul_sat(8, r.block); });
}

/// The ranks among which a step moves something: a process column, or a process row.
enum class Group : std::int8_t { down, along };
/// How a part of the matrix that a step moves is split: as its rows, as its columns, or whole.
enum class Split : std::int8_t { none, rows, columns };

/// A loop that is appended to a plan, one round of it.
struct AppendedLoop {
  Plan& plan;
  CallSizing const& call;
  MatrixCall const& matrix;
  Spec const& solution;  ///< of a triangle
  int first = plan.size;
  int ahead = 0;  ///< steps that look ahead

  constexpr int steps() const { return plan.size - first; }
};

/// Calls verbs of one round: appends their steps to a plan, or sizes one of these steps, the one of
/// a Round. A verb asks for each of its steps in order, `if (moves(...)) sizes`: appended it has no
/// sizes. Compilers evaluate this for each rank and round, so it holds little.
class Planned {
 public:
  constexpr explicit Planned(AppendedLoop& to) : to_(&to) {}
  constexpr Planned(Step const& s, Round& r) : to_(nullptr), step_(&s), round_(&r), left_(r.step) {}

  // verbs that most loops have no steps for
  static constexpr bool ahead() { return true; }
  static constexpr std::int64_t end() { return saturated; }
  constexpr void release(std::int64_t) const {}
  constexpr void finish() const {}

 protected:
  /// A computation on the matrix, or on its transpose.
  constexpr bool computes(bool transposed = false) {
    if (to_ == nullptr) return left_-- == 0;
    to_->plan.push(cyclic_compute(to_->call, transposed ? to_->matrix.transposed() : to_->matrix));
    return false;
  }
  /// A part of the matrix, to ranks of this group.
  constexpr bool moves(Move what, Group group, Split split) {
    if (to_ == nullptr) return left_-- == 0;
    MatrixCall const& m = to_->matrix;
    append(what, group == Group::down ? m.down : m.along, part(split));
    return false;
  }
  constexpr Spec part(Split split) const {
    Spec s;
    s.add(to_->matrix.rows, split == Split::rows ? to_->matrix.down : AxisList{});
    s.add(to_->matrix.columns, split == Split::columns ? to_->matrix.along : AxisList{});
    return s;
  }
  constexpr void append(Move what, AxisList const& group, Spec const& value) {
    to_->plan.push(cyclic_move(to_->call, what, group, value));
  }

  AppendedLoop* to_;  ///< null: a step is sized
  Step const* step_ = nullptr;
  Round* round_ = nullptr;
  int left_ = 0;  ///< steps before the one that is sized
};

/// A part of block `k` of rows or columns in a step that moves it. The dims of its value are rows
/// and columns, in this order.
struct SentPart {
  Step const& s;
  Round& r;
  int down = -1;   ///< the axes of rows and columns, as far as the step knows them
  int along = -1;  ///< (its group is along one of them)
  CyclicBlocks b{};
  std::int64_t k = 0;
  std::int64_t w = 0;
  std::int64_t rest = 0;  ///< rows and columns behind the block

  constexpr SentPart(Step const* step, Round* round, std::int64_t number)
      : s(*step), r(*round), k(number) {
    DimSpec const* const d = s.before.dims;
    if (d[0].axes.size > 0) down = d[0].axes[0];
    if (d[1].axes.size > 0) along = d[1].axes[0];
    b = {r.sizing.extents[d[1].label], r.block, 1};
    w = b.width(k);
    rest = b.n - b.begin(k) - w;
  }
  constexpr std::int64_t element_bytes() const { return r.sizing.element_bytes; }
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
  /// One rank of the group has it, that of the block.
  constexpr void from_owner() const {
    r.root = static_cast<int>(k % r.sizing.sizes.product(s.axes));
  }
  /// Elements that one process column alone sends.
  constexpr void in_its_column(std::int64_t elements) const {
    sized(elements, 1);
    first_columns(k);
  }
};

/// A round of the loop that `Steps` plans, as Repeat has it.
template <class Steps>
constexpr void sized_round(Step const& s, Round& r) {
  Steps on(s, r);
  on.rounds(r.number, r.number + 1);
}
/// The rounds of one loop, as often as the matrix has blocks.
template <class Steps, void (*round)(Step const&, Round&) = &planning::sized_round<Steps>>
constexpr void append_rounds(Plan& p, CallSizing const& c) {
  MatrixCall const call(c);
  AppendedLoop loop{p, c, call, c.result};
  Steps(loop).rounds(0, 1);
  CyclicBlocks const& b = call.of_columns;
  p.repeat(loop.steps(), b.count(), b.block, round, call.period(), {loop.ahead, b.ranks});
}

/// A value of right-hand sides or solutions, the dim of the matrix's label now along `label`.
struct RightValue {
  Spec spec{};
  int dim = -1;

  constexpr RightValue(Spec const& solution, MatrixCall const& call, int label,
                       AxisList const& axes)
      : spec(whole_sums(solution)) {
    dim = spec.find(call.columns);
    if (dim < 0) dim = spec.find(call.rows);
    spec.dims[dim] = {static_cast<std::int8_t>(label), axes};
  }
};

}  // namespace shardtype::planning
