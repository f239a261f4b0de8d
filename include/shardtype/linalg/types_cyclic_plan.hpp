#pragma once
/// Plans of one matrix over many ranks: the loops of panels and of right-hand sides. docs/linalg.md
/// has the algorithms.

#include <algorithm>
#include <cstdint>

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

/// The operations whose loop of panels is planned. LU beside a solve: its factors are not the
/// result; `lu_and_solve` carries the right-hand sides along.
enum class CyclicFactor : std::int8_t { lu, lu_and_solve, lu_before_solve, cholesky };

/// One call on a matrix `a[I, J@X%n]`.
struct CyclicCall {
  int rows = 0;     ///< label I
  int columns = 0;  ///< label J
  AxisList axes{};  ///< of J
  CyclicBlocks blocks{};
  std::int64_t right = 0;  ///< right-hand sides of a rank
  std::int64_t element_bytes = 1;

  constexpr CyclicCall(Spec const& a, int i, int j, Sizing const& z)
      : rows(i), columns(j), axes(a.dims[a.find(j)].axes), element_bytes(z.element_bytes) {
    blocks = {z.extents[j], axes.cyclic, z.sizes.product(axes)};
  }
  constexpr AxisList group() const { return axes.suffix(0); }
  /// Columns of the rank that holds the most of the blocks from `k` on.
  constexpr std::int64_t most_columns(std::int64_t k, Sizes const& sizes) const {
    std::int64_t const rest = std::max<std::int64_t>(0, blocks.n - blocks.begin(k));
    return largest_block(rest, axes, sizes);
  }
};

/// The steps of these loops, in each round.
namespace cyclic_rounds {

/// The call of a step whose `before` is the matrix and whose `after` is a value of the right-hand
/// sides, or the matrix.
constexpr CyclicCall call_of(Step const& s, Round const& r) {
  Spec const& a = s.before;
  int const j = a.cyclic_dim();
  CyclicCall c(a, a.dims[1 - j].label, a.dims[j].label, r.sizing);
  c.right = 1;
  for (int d = 0; d < s.after.rank; ++d)
    if (int const l = s.after.dims[d].label; l != c.rows && l != c.columns)
      c.right = largest_block(r.sizing.extents[l], s.after.dims[d].axes, r.sizing.sizes);
  return c;
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
/// Bytes of the slots of panels, which a rank needs besides operands and result.
constexpr std::int64_t panel_memory(CyclicBlocks const& b, std::int64_t element_bytes) {
  return b.n == 0
             ? 0
             : mul_sat(mul_sat(panel_slots, panel_elements(b, 0, element_bytes)), element_bytes);
}

template <CyclicFactor how>
constexpr void panel(Step const& s, Round& r) {
  CyclicCall const c = call_of(s, r);
  std::int64_t const w = c.blocks.width(r.number);
  std::int64_t const m = c.blocks.n - c.blocks.begin(r.number);
  computes(r, how == CyclicFactor::cholesky ? w * w * m : w * w * m - w * w * w / 3);
}
constexpr void broadcast(Step const&, Round& r, CyclicCall const& c) {
  r.sizing.extents.at[c.rows] = panel_elements(c.blocks, r.number, c.element_bytes);
  r.sizing.extents.at[c.columns] = 1;
  r.root = static_cast<int>(c.blocks.owner(r.number));
}
template <CyclicFactor how, bool in_place>
constexpr void update(Step const& s, Round& r) {
  CyclicCall const c = call_of(s, r);
  std::int64_t const w = c.blocks.width(r.number);
  std::int64_t const rest = c.blocks.n - c.blocks.begin(r.number) - w;
  std::int64_t const columns = c.most_columns(r.number + 1, r.sizing.sizes);
  std::int64_t const right = how == CyclicFactor::lu_and_solve ? c.right : 0;
  bool const half = how == CyclicFactor::cholesky;
  std::int64_t const each = half ? w * (rest + w) : w * (2 * rest + w);
  computes(r, mul_sat(each, columns + right));
  // the panel itself is a value of the plan
  std::int64_t held = panel_memory(c.blocks, c.element_bytes) -
                      panel_elements(c.blocks, r.number, c.element_bytes) * c.element_bytes;
  if (how == CyclicFactor::cholesky) {
    held = add_sat(held, mul_sat(cholesky_scratch(c.blocks), c.element_bytes));
  } else {  // the pivots
    held = add_sat(held, pivot_elements(c.blocks.n, c.element_bytes) * c.element_bytes);
  }
  if (how == CyclicFactor::lu_and_solve ||
      how == CyclicFactor::lu_before_solve) {  // the factors, and the right-hand sides
    std::int64_t const factors = in_place ? 0 : c.most_columns(0, r.sizing.sizes);
    held = add_sat(held, mul_sat(mul_sat(c.blocks.n, add_sat(factors, c.right)), c.element_bytes));
  }
  r.work.workspace = held;
}
template <CyclicFactor how, bool in_place>
constexpr void factor(Step const& s, Round& r) {
  if (r.step == 0) return cyclic_rounds::panel<how>(s, r);
  if (r.step == 2) return cyclic_rounds::update<how, in_place>(s, r);
  // the panel's two dims are not split: the axes are the group's
  CyclicCall c(s.before, s.before.dims[0].label, s.before.dims[1].label, r.sizing);
  c.blocks = {r.sizing.extents[c.columns], r.block, r.sizing.sizes.product(s.axes)};
  broadcast(s, r, c);
}

/// The block of the triangle that is solved in this round.
template <bool forward>
constexpr std::int64_t in_turn(CyclicBlocks const& b, std::int64_t number) {
  return forward ? number : b.count() - 1 - number;
}
/// Flops of a block and of its product with all rows behind it.
template <bool forward>
constexpr void solve(Step const& s, Round& r) {
  CyclicCall const c = call_of(s, r);
  std::int64_t const k = cyclic_rounds::in_turn<forward>(c.blocks, r.number);
  std::int64_t const w = c.blocks.width(k);
  std::int64_t const rest = forward ? c.blocks.n - c.blocks.begin(k) - w : c.blocks.begin(k);
  computes(r, mul_sat(w * w + 2 * w * rest, c.right));
  // all right-hand sides, and what goes to and comes from the neighbours
  std::int64_t const rows = c.blocks.n + 2 * std::min(c.blocks.n, c.blocks.ranks * c.blocks.block);
  r.work.workspace = mul_sat(mul_sat(rows, c.right), c.element_bytes);
}
/// One rank sends sums to the next one: of the blocks behind its own, of as many as there are other
/// ranks.
template <bool forward>
constexpr void ring(Step const& s, Round& r) {
  if (r.step == 0) return cyclic_rounds::solve<forward>(s, r);
  Spec const& x = s.after;
  int const d = x.cyclic_dim();
  CyclicBlocks const b{r.sizing.extents[x.dims[d].label], r.block, r.sizing.sizes.product(s.axes)};
  std::int64_t const k = cyclic_rounds::in_turn<forward>(b, r.number);
  std::int64_t const most = (b.ranks - 1) * b.block;
  std::int64_t const rows = std::min(most, forward ? b.n - b.begin(k) - b.width(k) : b.begin(k));
  r.runs = rows > 0;
  // one index, which lies at the sender, as long as its rows
  r.first.at[s.axes[0]] = b.owner(k);
  r.sizing.extents.at[x.dims[d].label] = 1;
  r.sizing.element_bytes = mul_sat(r.sizing.element_bytes, rows);
}
/// The owner of a block sends its part of the solution to all.
template <bool forward>
constexpr void spread(Step const& s, Round& r) {
  if (r.step == 0) return cyclic_rounds::solve<forward>(s, r);
  Spec const& x = s.after;
  int const label = x.dims[s.to].label;
  CyclicBlocks const b{r.sizing.extents[label], r.block, r.sizing.sizes.product(s.axes)};
  std::int64_t const k = cyclic_rounds::in_turn<forward>(b, r.number);
  r.sizing.extents.at[label] = b.width(k);
  r.root = static_cast<int>(b.owner(k));
}

}  // namespace cyclic_rounds

/// A loop of a triangle that runs several times.
struct CyclicPasses {
  std::int64_t times = 1;
  Spec const* solutions = nullptr;  ///< where the result is none
  bool halved = false;              ///< in elements of half the size
};

namespace cyclic_rounds {

/// `round` for a loop that passes over the blocks several times.
template <void (*round)(Step const&, Round&)>
constexpr void in_passes(Step const& s, Round& r) {
  Spec const& x = s.move == Move::compute ? s.before : s.after;
  int const d = x.cyclic_dim() >= 0 ? x.cyclic_dim() : s.to;
  r.number %= ceil_div(r.sizing.extents[x.dims[d].label], r.block);
  round(s, r);
}
/// `round` for elements of half the size.
template <void (*round)(Step const&, Round&)>
constexpr void halved(Step const& s, Round& r) {
  r.sizing.element_bytes /= 2;
  round(s, r);
}

}  // namespace cyclic_rounds

/// Repeats the last two steps of a plan, a computation and a move, in a loop over the blocks.
template <void (*round)(Step const&, Round&)>
constexpr void repeat_rounds(Plan& p, CyclicCall const& call, CyclicPasses const& how) {
  std::int64_t const once = call.blocks.count();
  if (how.times == 1) return p.repeat(2, once, call.blocks.block, round, call.blocks.ranks);
  p.repeat(2, once > 0 ? once * how.times : once, call.blocks.block,
           &cyclic_rounds::in_passes<round>);
}
template <void (*round)(Step const&, Round&)>
constexpr void repeat_cyclic(Plan& p, CyclicCall const& call, CyclicPasses const& how) {
  how.halved ? planning::repeat_rounds<&cyclic_rounds::halved<round>>(p, call, how)
             : planning::repeat_rounds<round>(p, call, how);
}

/// A computation of a loop, on the matrix and the right-hand sides.
constexpr Step cyclic_compute(CallSizing const& c) {
  return local_step(Move::compute, Slot::result, c.operands[0], c.result);
}
/// The value of which a loop sends parts, in a slot of its own.
constexpr Step cyclic_move(CallSizing const& c, Move what, AxisList const& axes) {
  Step s;
  s.move = what;
  s.slot = operand_slot(c.count);
  s.axes = axes.suffix(0);
  return s;
}

/// The function that sets sizes, root and work of the steps of the panel loop in each round.
template <bool in_place>
constexpr auto cyclic_factor_round(CyclicFactor how) {
  using R = void (*)(Step const&, Round&);
  return how == CyclicFactor::cholesky ? R(&cyclic_rounds::factor<CyclicFactor::cholesky, in_place>)
         : how == CyclicFactor::lu     ? R(&cyclic_rounds::factor<CyclicFactor::lu, in_place>)
         : how == CyclicFactor::lu_before_solve
             ? R(&cyclic_rounds::factor<CyclicFactor::lu_before_solve, in_place>)
             : R(&cyclic_rounds::factor<CyclicFactor::lu_and_solve, in_place>);
}
/// The loop of panels: one is factorized, sent to all, and applied to the columns behind it, before
/// which the owner of the next panel factorizes that (look-ahead).
constexpr void append_cyclic_panels(Plan& p, CallSizing const& c,
                                    void (*round)(Step const&, Round&)) {
  CyclicCall const call(c.operands[0], c.from.dims[0].label, c.from.dims[1].label, c.common);
  p.push(cyclic_compute(c));
  Step sent = cyclic_move(c, Move::broadcast, call.axes);
  sent.before.add(call.rows);
  sent.before.add(call.columns);
  sent.after = sent.before;
  p.push(sent);
  p.push(cyclic_compute(c));
  p.repeat(3, call.blocks.count(), call.blocks.block, round, call.blocks.ranks,
           {2, call.blocks.ranks});
}
/// The result, at first a copy of the operand, or, `in_place`, its memory, and the loop of panels.
constexpr void append_cyclic_factor(Plan& p, CallSizing const& c, CyclicFactor how, bool in_place) {
  bool const is_factor = how == CyclicFactor::lu || how == CyclicFactor::cholesky;
  append_compute(p, {0, 0, in_place && is_factor});
  append_cyclic_panels(p, c,
                       in_place ? cyclic_factor_round<true>(how) : cyclic_factor_round<false>(how));
}

/// The right-hand sides, copied.
constexpr void append_cyclic_start(Plan& p, CallSizing const&) { append_compute(p, {}); }

/// The loop of a triangle whose columns a rank holds: sums travel from owner to owner.
constexpr void append_cyclic_ring(Plan& p, CallSizing const& c, bool forward,
                                  CyclicPasses const& how = {}) {
  Spec const& a = c.operands[0];
  CyclicCall const call(a, c.from.dims[0].label, c.from.dims[1].label, c.common);
  p.push(cyclic_compute(c));
  Step sent = cyclic_move(c, Move::send_block, call.axes);
  sent.before = sent.after = how.solutions != nullptr ? *how.solutions : c.result;
  sent.before.unreduced = sent.after.unreduced = {};
  sent.before.reduced = sent.after.reduced = {};
  p.push(sent);
  forward ? repeat_cyclic<&cyclic_rounds::ring<true>>(p, call, how)
          : repeat_cyclic<&cyclic_rounds::ring<false>>(p, call, how);
}

/// The loop of its transpose: the part of the solution that an owner finds is sent to all.
constexpr void append_cyclic_spread(Plan& p, CallSizing const& c, bool forward,
                                    CyclicPasses const& how = {}) {
  Spec const& a = c.operands[0];
  CyclicCall const call(a, c.from.dims[0].label, c.from.dims[1].label, c.common);
  p.push(cyclic_compute(c));
  Step sent = cyclic_move(c, Move::broadcast, call.axes);
  sent.after = how.solutions != nullptr ? *how.solutions : c.result;
  sent.after.unreduced = sent.after.reduced = {};
  int d = sent.after.find(call.columns);
  if (d < 0) d = sent.after.find(call.rows);
  sent.to = static_cast<std::int8_t>(d);
  sent.after.dims[d] = {static_cast<std::int8_t>(call.columns), {}};
  sent.before = sent.after;
  p.push(sent);
  forward ? repeat_cyclic<&cyclic_rounds::spread<true>>(p, call, how)
          : repeat_cyclic<&cyclic_rounds::spread<false>>(p, call, how);
}

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

}  // namespace shardtype::planning
