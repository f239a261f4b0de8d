#pragma once
/// Who plans the loops of types_loops.hpp: each verb has steps, and in each round their sizes.

#include <algorithm>
#include <cstdint>
#include <numeric>

#include <shardtype/linalg/types_cyclic_plan.hpp>
#include <shardtype/linalg/types_loops.hpp>

namespace shardtype::planning {

/// The factorizations. LU beside a solve: its factors are not the result; `lu_and_solve`, of split
/// columns, carries the right-hand sides along.
enum class Factor : std::int8_t { lu, lu_and_solve, lu_before_solve, cholesky, ldl };

/// Whether it is of a Hermitian matrix, without pivots.
constexpr bool like_cholesky(Factor f) { return f == Factor::cholesky || f == Factor::ldl; }

/// LU, Cholesky or L D L^H by panels (loops::panels), of split columns or over a grid. Split
/// columns have one message of a panel with its pivots. Over a grid the ranks of a process column
/// factorize it together, and it goes along the process rows in two parts.
template <bool grid, Factor how, bool in_place>
class FactorSteps : public Planned {
 public:
  using Planned::Planned;
  constexpr void rounds(std::int64_t from, std::int64_t to) { loops::panels(from, to, *this); }

  constexpr void panel(std::int64_t k) {
    if (computes()) {
      MatrixCall const c = cyclic_rounds::call_of(*step_, *round_);
      std::int64_t const w = c.of_rows.width(k);
      std::int64_t const flops = mul_sat(w * w, c.most_rows(k, round_->sizing.sizes));
      cyclic_rounds::computes(*round_, grid || cholesky ? flops : flops - w * w * w / 3);
    }
    if constexpr (!grid) return;
    // Cholesky: the triangle, to which its tail belongs; and from each rank where it has a NaN
    if constexpr (cholesky) {
      if (moves(Move::broadcast, Group::down, Split::columns)) {
        SentPart const p(step_, round_, k);
        p.from_owner();
        p.in_its_column(top_elements(p) + panel_tail(0, p.element_bytes()));
      }
      return;
    }
    // the candidates of each column for its pivot, to all
    if (moves(Move::send_rows, Group::down, Split::columns)) {
      SentPart const p(step_, round_, k);
      round_->times = p.w;
      p.in_its_column((round_->sizing.sizes.product(step_->axes) - 1) *
                      (candidate_elements(p.element_bytes()) + p.w));
    }
    // the row that makes room for each, with them
    if (moves(Move::broadcast, Group::down, Split::columns)) {
      SentPart const p(step_, round_, k);
      p.from_owner();
      p.in_its_column(p.w * p.w);
    }
  }
  constexpr bool arrive(std::int64_t k) {
    // the triangle, the pivots and whether it failed, of Cholesky only that; of split columns the
    // whole panel
    if (moves(Move::broadcast, Group::along, Split::none)) {
      SentPart const p(step_, round_, k);
      std::int64_t const bytes = p.element_bytes();
      p.from_owner();
      p.sized(!grid                     ? panel_elements(p.b, k, bytes)
              : how == Factor::cholesky ? panel_tail(0, bytes)
                                        : top_elements(p),
              1);
    }
    // the panel below it
    if constexpr (grid)
      if (moves(Move::broadcast, Group::along, Split::rows)) {
        SentPart const p(step_, round_, k);
        p.from_owner();
        p.first_rows(k + 1);
        p.sized(p.rest, p.w);
      }
    if (to_ == nullptr) return left_ >= 0;  // false: the step is sized
    to_->ahead = to_->steps();
    return true;
  }
  constexpr void row_panel(std::int64_t k) {
    if constexpr (!grid) return;
    if constexpr (cholesky) {
      // the panel as rows: a rank needs those of its columns
      if (sends_rows_of_columns()) {
        SentPart p(step_, round_, k);
        p.along = step_->after.dims[0].axes[0];
        p.first_rows(k + 1);
        p.first_columns(k + 1);
        p.sized(p.rest, p.w);
      }
      return;
    }
    // pivots' rows and the rows that make room for them; where a row stays at most as many come
    if (moves(Move::broadcast, Group::down, Split::columns)) {
      SentPart const p(step_, round_, k);
      p.first_columns(k + 1);
      p.sized(p.w, p.rest);
    }
  }
  constexpr void update(std::int64_t k, std::int64_t, std::int64_t) {
    if (!computes()) return;
    MatrixCall const c = cyclic_rounds::call_of(*step_, *round_);
    Sizes const& sizes = round_->sizing.sizes;
    std::int64_t const w = c.of_rows.width(k);
    std::int64_t const rows = c.most_rows(k + 1, sizes);
    std::int64_t const columns = c.most_columns(k + 1, sizes);
    std::int64_t const right =
        how == Factor::lu_and_solve ? cyclic_rounds::right_of(*step_, *round_, c) : 0;
    // half of the products of Cholesky; split columns are whole on the diagonal
    std::int64_t const each = !cholesky ? w * (2 * rows + w) : w * (grid ? rows : rows + w);
    cyclic_rounds::computes(*round_, mul_sat(each, add_sat(columns, right)));
    round_->work.workspace = core::mul_sat(grid ? held_on_grid(c) : held(c), c.element_bytes);
  }

 private:
  static constexpr bool cholesky = planning::like_cholesky(how);

  /// Of the triangle and its tail, over a grid.
  static constexpr std::int64_t top_elements(SentPart const& p) {
    return p.w * p.w + panel_tail(how == Factor::cholesky ? 0 : p.w, p.element_bytes());
  }
  /// L D L^H: the diagonal of D, the second result, as if of n elements; complex ones take half.
  static constexpr std::int64_t diagonal(std::int64_t n) { return how == Factor::ldl ? n : 0; }
  constexpr bool sends_rows_of_columns() {
    if (to_ == nullptr) return left_-- == 0;
    Step s =
        planning::cyclic_move(to_->call, Move::broadcast_rows, to_->matrix.down, part(Split::rows));
    s.after.dims[0].axes = to_->matrix.along;
    s.from = s.to = 0;
    to_->plan.push(s);
    return false;
  }
  /// Elements in memory, of split columns, but for the panel itself, which is a value of the plan.
  constexpr std::int64_t held(MatrixCall const& c) const {
    CyclicBlocks const& b = c.of_columns;
    std::int64_t const bytes = c.element_bytes;
    std::int64_t const panels = b.n == 0 ? 0 : mul_sat(panel_slots, panel_elements(b, 0, bytes));
    std::int64_t const now = panels - panel_elements(b, round_->number, bytes);
    if (cholesky) return add_sat(now, cholesky_scratch(b) + diagonal(b.n));
    std::int64_t const lu = add_sat(now, pivot_elements(b.n, bytes));
    if (how == Factor::lu) return lu;
    // the factors, and the right-hand sides
    std::int64_t const factors = in_place ? 0 : c.most_columns(0, round_->sizing.sizes);
    return add_sat(lu, mul_sat(b.n, add_sat(factors, cyclic_rounds::right_of(*step_, *round_, c))));
  }
  constexpr std::int64_t held_on_grid(MatrixCall const& c) const {
    Sizes const& sizes = round_->sizing.sizes;
    GridRoom const room(c.of_rows, c.most_rows(0, sizes), c.most_columns(0, sizes),
                        c.element_bytes);
    if (cholesky) return add_sat(room.all(), diagonal(c.of_rows.n));
    std::int64_t const lu = add_sat(room.all(), grid_indices(c.of_rows.n, c.element_bytes));
    return how == Factor::lu || in_place ? lu : add_sat(lu, c.matrix_elements(sizes));
  }
};

namespace cyclic_rounds {

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

}  // namespace cyclic_rounds

/// Exchanges of rows in the columns before each panel, over a grid.
template <void (*round)(Step const&, Round&) = &cyclic_rounds::left>
constexpr void append_exchanges_of_left(Plan& p, CallSizing const& c) {
  MatrixCall const call(c);
  Spec rows;
  rows.add(call.rows, call.down);
  rows.add(call.columns);
  p.push(cyclic_move(c, Move::send_rows, call.down, rows));
  std::int64_t const columns = call.of_columns.ranks;
  p.repeat(1, ceil_div(call.of_rows.count(), columns), call.of_rows.block * columns, round,
           call.of_rows.ranks / std::gcd(call.of_rows.ranks, columns));
}
/// The loop of panels, without the result.
template <Factor how, bool in_place>
constexpr void append_panels(Plan& p, CallSizing const& c) {
  if (!MatrixCall(c).grid())
    return planning::append_rounds<FactorSteps<false, how, in_place>>(p, c);
  planning::append_rounds<FactorSteps<true, how, in_place>>(p, c);
  if constexpr (!planning::like_cholesky(how)) append_exchanges_of_left(p, c);
}
/// The result, at first a copy of the operand, or, `in_place`, its memory, and the loop of panels.
template <Factor how>
constexpr void append_factor(Plan& p, CallSizing const& c, bool in_place) {
  constexpr bool result = how == Factor::lu || planning::like_cholesky(how);
  append_compute(p, {0, 0, in_place && result});
  in_place ? planning::append_panels<how, true>(p, c) : planning::append_panels<how, false>(p, c);
}

/// A triangle (loops::triangle), of split columns or over a grid. Of split columns the sums travel
/// from owner to owner, of as many blocks behind its own as there are other ranks; `transposed`
/// each part of the solution goes to all. Over a grid the sums for a block come together along its
/// process row, and the solution goes down the process column. `keeps`: whether the triangle is a
/// copy of the operand; `vectors`: whole ones that a rank holds beside.
template <bool grid, bool transposed, bool forward, bool keeps = false, int vectors = 0>
class TriangleSteps : public Planned {
 public:
  using Planned::Planned;
  constexpr void rounds(std::int64_t from, std::int64_t to) { loops::triangle(from, to, *this); }

  constexpr void solve(std::int64_t turn) {
    if (computes(grid && transposed)) solve_work(turn);
    if constexpr (grid)
      if (moves_right(Move::send_block)) right_sized(turn, false);
  }
  constexpr void spread(std::int64_t turn) {
    if constexpr (grid || transposed) {
      if (moves_right(Move::broadcast)) right_sized(turn, false);
    } else {
      if (moves_right(Move::send_block)) right_sized(turn, true);
    }
  }
  constexpr void subtract(std::int64_t) const {}

 private:
  constexpr bool moves_right(Move what) {
    if (to_ == nullptr) return left_-- == 0;
    MatrixCall const& m = to_->matrix;
    MatrixCall const c = grid && transposed ? m.transposed() : m;
    bool const sums = what == Move::send_block;
    bool const of_rows = grid && sums;
    AxisList const axes = of_rows ? c.down : grid || sums ? c.along : AxisList{};
    RightValue const x(to_->solution, c, of_rows ? c.rows : c.columns, axes);
    Step s = planning::cyclic_move(to_->call, what, grid && !sums ? c.down : c.along, x.spec);
    s.to = static_cast<std::int8_t>(x.dim);
    to_->plan.push(s);
    return false;
  }
  /// The block of this turn, at one rank of the group, or sums for those `behind` it: one index, as
  /// long as its rows, where the dim is split.
  constexpr void right_sized(std::int64_t turn, bool behind) const {
    DimSpec const& d = step_->before.dims[step_->to];
    Sizing& z = round_->sizing;
    CyclicBlocks const b{z.extents[d.label], round_->block, z.sizes.product(step_->axes)};
    std::int64_t const k = cyclic_rounds::in_turn<forward>(b, turn);
    std::int64_t const rest = forward ? b.n - b.begin(k) - b.width(k) : b.begin(k);
    std::int64_t const rows = behind ? std::min((b.ranks - 1) * b.block, rest) : b.width(k);
    if (!behind) round_->root = static_cast<int>(b.owner(k));
    round_->runs = rows > 0;
    if (d.axes.size == 0) {
      z.extents.at[d.label] = rows;
      return;
    }
    round_->first.at[d.axes[0]] = k % z.sizes[d.axes[0]];
    z.extents.at[d.label] = 1;
    z.element_bytes = mul_sat(z.element_bytes, rows);
  }
  /// Flops of a block and of its product with all rows behind it.
  constexpr void solve_work(std::int64_t turn) const {
    MatrixCall const c = cyclic_rounds::call_of(*step_, *round_);
    Sizes const& sizes = round_->sizing.sizes;
    CyclicBlocks const& b = c.of_rows;
    std::int64_t const k = cyclic_rounds::in_turn<forward>(b, turn);
    std::int64_t const w = b.width(k);
    std::int64_t const right = cyclic_rounds::right_of(*step_, *round_, c);
    std::int64_t const rows =
        forward ? c.most_rows(k + 1, sizes) : largest_block(b.begin(k), c.down, sizes);
    cyclic_rounds::computes(*round_, mul_sat(w * w + 2 * w * rows, right));
    std::int64_t held = 0;
    if constexpr (grid) {
      std::int64_t const own = c.most_rows(0, sizes), across = c.most_columns(0, sizes);
      held = grid_vectors(b, own, across, right);
      if (keeps) held = add_sat(held, c.matrix_elements(sizes));
      held = add_sat(held, grid_indices(b.n, c.element_bytes));
      if (vectors > 0) held = add_sat(held, mul_sat(vectors, b.n) + own + across);
    } else {
      // all right-hand sides, and what goes to and comes from the neighbours
      CyclicBlocks const& all = c.of_columns;
      held = mul_sat(b.n + 2 * std::min(b.n, all.ranks * all.block), right);
    }
    round_->work.workspace = mul_sat(held, c.element_bytes);
  }
};

namespace cyclic_rounds {

/// `round` for a loop that passes over the blocks several times.
template <void (*round)(Step const&, Round&)>
constexpr void in_passes(Step const& s, Round& r) {
  r.number %= ceil_div(r.sizing.extents[s.before.dims[s.to].label], r.block);
  round(s, r);
}
/// Both triangles of `times` solutions, forward and back, over a grid, and their exchanges of rows.
template <int times, int vectors, bool half>
constexpr void solutions(Step const& s, Round& r) {
  r.times = times;
  if (half) r.sizing.element_bytes /= 2;
  if (r.step == 6) {
    r.runs = r.number == 0;
  } else if (r.step < 3) {
    planning::sized_round<TriangleSteps<true, false, true, false, vectors>>(s, r);
  } else {
    r.step -= 3;
    planning::sized_round<TriangleSteps<true, false, false, false, vectors>>(s, r);
  }
  if (r.work.flops > 0) computes_again(r, times);
}
/// The block of solutions of a round, from the process row that has it.
constexpr void spread(Step const& s, Round& r) {
  DimSpec const& d = s.before.dims[s.to];
  r.first.at[d.axes[0]] = r.number % r.sizing.sizes[d.axes[0]];
  r.root = static_cast<int>(r.number % r.sizing.sizes.product(s.axes));
  std::int64_t const n = r.sizing.extents[d.label];
  r.sizing.extents.at[d.label] = 1;
  r.sizing.element_bytes =
      mul_sat(r.sizing.element_bytes, CyclicBlocks{n, r.block, 1}.width(r.number));
}

}  // namespace cyclic_rounds

/// A loop of a triangle, or of its transpose. `keeps`: whether it is a copy of the operand.
template <bool transposed, bool forward>
constexpr void append_triangle(Plan& p, CallSizing const& c, bool keeps = false) {
  if (!MatrixCall(c).grid())
    return planning::append_rounds<TriangleSteps<false, transposed, forward>>(p, c);
  keeps ? planning::append_rounds<TriangleSteps<true, transposed, forward, true>>(p, c)
        : planning::append_rounds<TriangleSteps<true, transposed, forward>>(p, c);
}
/// The same of split columns, `times` times for solutions x.
template <bool transposed, bool forward, bool half = false>
constexpr void append_passes(Plan& p, CallSizing const& c, Spec const& x, std::int64_t times) {
  using Steps = TriangleSteps<false, transposed, forward>;
  constexpr auto round =
      half ? &cyclic_rounds::halved<&planning::sized_round<Steps>> : &planning::sized_round<Steps>;
  MatrixCall const call(c);
  AppendedLoop loop{p, c, call, x};
  Steps(loop).rounds(0, 1);
  std::int64_t const once = call.of_columns.count();
  p.repeat(loop.steps(), once > 0 ? once * times : once, call.of_columns.block,
           &cyclic_rounds::in_passes<round>);
}
/// `times` solutions x over a grid, with the transposed matrix if `transposed`: the rows that are
/// exchanged are those of `exchanged`.
template <bool transposed, int times, int vectors, bool half = false>
constexpr void append_solutions(Plan& p, CallSizing const& c, Spec const& x,
                                Spec const& exchanged) {
  MatrixCall const call(c);
  AppendedLoop loop{p, c, call, x};
  TriangleSteps<true, transposed, true>(loop).rounds(0, 1);
  TriangleSteps<true, transposed, false>(loop).rounds(0, 1);
  p.push(cyclic_move(c, Move::send_rows, call.down, exchanged));
  p.repeat(7, call.of_rows.count(), call.of_rows.block,
           &cyclic_rounds::solutions<times, vectors, half>, call.period(),
           {0, call.of_columns.ranks});
}
/// The rows of right-hand sides or solutions that pivots exchange over a grid: at most all.
constexpr void append_exchange(Plan& p, CallSizing const& c, Spec const& of) {
  MatrixCall const call(c);
  if (call.grid()) p.push(cyclic_move(c, Move::send_rows, call.down, whole_sums(of)));
}
/// Solutions that the process rows of a grid have, to the columns.
constexpr void append_spread(Plan& p, CallSizing const& c) {
  MatrixCall const call(c);
  if (!call.grid()) return;
  RightValue const x(c.result, call, call.columns, call.along);
  Step s = cyclic_move(c, Move::broadcast, call.down, x.spec);
  s.to = static_cast<std::int8_t>(x.dim);
  p.push(s);
  p.repeat(1, call.of_rows.count(), call.of_rows.block, &cyclic_rounds::spread, call.period(),
           {0, call.of_columns.ranks});
}
/// A solve by factors and pivots, or with the transposed matrix.
template <bool transposed>
constexpr void append_solve(Plan& p, CallSizing const& c) {
  append_cyclic_start(p, c);
  if (!transposed) append_exchange(p, c, c.operands[c.count - 1]);
  planning::append_triangle<transposed, true>(p, c);
  planning::append_triangle<transposed, false>(p, c);
  if (transposed) append_exchange(p, c, c.result);
}
/// One by the factor of Cholesky.
constexpr void append_cholesky_solve(Plan& p, CallSizing const& c) {
  append_cyclic_start(p, c);
  planning::append_triangle<false, true>(p, c);
  planning::append_triangle<true, false>(p, c);
  append_spread(p, c);
}
/// One by a triangle, or by its transpose.
template <bool transposed>
constexpr void append_triangle_solve(Plan& p, CallSizing const& c, bool lower) {
  append_cyclic_start(p, c);
  lower != transposed ? planning::append_triangle<transposed, true>(p, c)
                      : planning::append_triangle<transposed, false>(p, c);
}

}  // namespace shardtype::planning
