#pragma once
/// Steps of plans for operations on one matrix over a grid of ranks.

#include <cstdint>
#include <numeric>
#include <utility>

#include <shardtype/linalg/types_grid_rounds.hpp>

namespace shardtype::planning {

/// Appends the steps of one such operation to a plan.
class GridPlan {
 public:
  constexpr GridPlan(Plan& p, CallSizing const& c)
      : p_(p),
        c_(c),
        call_(c.operands[0], c.from.dims[0].label, c.from.dims[1].label, c.common),
        solution_(c.result) {}

  constexpr void lu(bool in_place, bool before_solve) const {
    append_compute(p_, {0, 0, in_place && !before_solve});
    steps_of_lu();
    using grid_rounds::lu;
    using R = void (*)(Step const&, Round&);
    R const round = !before_solve
                        ? (in_place ? R(&lu<true, GridFactor::lu>) : R(&lu<false, GridFactor::lu>))
                    : in_place ? R(&lu<true, GridFactor::lu_before_solve>)
                               : R(&lu<false, GridFactor::lu_before_solve>);
    repeat(7, round, 5);
    exchanges_of_left(&grid_rounds::left);
  }
  /// LU in elements of half the size.
  constexpr void lu_of_half() const {
    using cyclic_rounds::halved;
    start();
    steps_of_lu();
    repeat(7, &halved<&grid_rounds::lu<false, GridFactor::lu_before_solve>>, 5);
    exchanges_of_left(&halved<&grid_rounds::left>);
  }
  constexpr void cholesky(bool in_place) const {
    append_compute(p_, {0, 0, in_place});
    compute(call_);
    move(Move::broadcast, call_.down, value({}, call_.along));
    move(Move::broadcast, call_.along, value({}, {}));
    move(Move::broadcast, call_.along, value(call_.down, {}));
    Step s = sent(Move::broadcast_rows, call_.down, value(call_.down, {}));
    s.after.dims[0].axes = call_.along;
    s.from = s.to = 0;
    p_.push(s);
    compute(call_);
    repeat(6, in_place ? &grid_rounds::cholesky<true> : &grid_rounds::cholesky<false>, 4);
  }
  constexpr void start() const { append_compute(p_, {}); }
  /// The rows of right-hand sides or solutions that pivots exchange: at most all.
  constexpr void exchange(Spec of) const {
    of.unreduced = of.reduced = {};
    move(Move::send_rows, call_.down, of);
  }
  /// A triangle of the matrix or of its transpose. `keeps`: whether it is a copy of the operand.
  constexpr void triangle(bool transposed, bool forward, bool keeps = false) const {
    steps_of_triangle(transposed);
    using grid_rounds::triangle;
    repeat(3, forward ? (keeps ? &triangle<true, true> : &triangle<true, false>)
                      : (keeps ? &triangle<false, true> : &triangle<false, false>));
  }
  /// `times` solutions with the factors of lu_factor for one right-hand side, which is no operand,
  /// or with the transposed matrix; `vectors`: whole ones that a rank holds beside.
  template <int times, int vectors>
  constexpr void solutions(bool transposed) {
    solution_ = {};
    solution_.add(call_.columns, call_.along);
    Spec b;
    b.add(call_.rows, call_.down);
    passes(transposed, b, &grid_rounds::solutions<times, vectors, false>);
  }
  /// `times` solutions for the right-hand sides in elements of half the size.
  template <int times>
  constexpr void solutions_of_half() const {
    Spec b = c_.operands[c_.count - 1];
    b.unreduced = b.reduced = {};
    passes(false, b, &grid_rounds::solutions<times, 0, true>);
  }
  /// `times` sums of parts of a whole vector over the process columns.
  constexpr void vector_sums(std::int64_t times) const {
    Spec x;
    x.add(call_.rows);
    Step s = sent(Move::reduce, call_.down, x);
    s.before.unreduced.insert(call_.down[0]);
    p_.push(s);
    p_.repeat(1, times, 1, [](Step const&, Round&) {});
  }
  /// Solutions that the process rows have, to the columns.
  constexpr void spread() const {
    right(Move::broadcast, call_.down, call_.columns, call_.along);
    repeat(1, &grid_rounds::spread);
  }

  // single steps, and what repeats the last ones, once for each block
  constexpr void compute() const { compute(call_); }
  constexpr void along(Move what, AxisList const& rows, AxisList const& columns) const {
    move(what, call_.along, value(rows, columns));
  }
  constexpr void down(Move what, AxisList const& rows, AxisList const& columns) const {
    move(what, call_.down, value(rows, columns));
  }
  constexpr GridCall const& call() const { return call_; }
  /// `ahead`: how many of the steps look ahead.
  constexpr void repeat(int steps, void (*round)(Step const&, Round&), int ahead = 0) const {
    p_.repeat(steps, call_.of_rows.count(), call_.of_rows.block, round, call_.period(),
              {ahead, call_.of_columns.ranks});
  }

 private:
  constexpr void passes(bool transposed, Spec const& exchanged,
                        void (*round)(Step const&, Round&)) const {
    for (int triangles = 0; triangles < 2; ++triangles) steps_of_triangle(transposed);
    move(Move::send_rows, call_.down, exchanged);
    repeat(7, round);
  }
  constexpr void steps_of_lu() const {
    compute(call_);
    move(Move::send_rows, call_.down, value({}, call_.along));
    move(Move::broadcast, call_.down, value({}, call_.along));
    move(Move::broadcast, call_.along, value({}, {}));
    move(Move::broadcast, call_.along, value(call_.down, {}));
    move(Move::broadcast, call_.down, value({}, call_.along));
    compute(call_);
  }
  constexpr void exchanges_of_left(void (*round)(Step const&, Round&)) const {
    move(Move::send_rows, call_.down, value(call_.down, {}));
    CyclicBlocks const& rows = call_.of_rows;
    std::int64_t const columns = call_.of_columns.ranks;
    p_.repeat(1, ceil_div(rows.count(), columns), rows.block * columns, round,
              rows.ranks / std::gcd(rows.ranks, columns));
  }
  constexpr void steps_of_triangle(bool transposed) const {
    GridCall c = call_;
    if (transposed) {
      std::swap(c.rows, c.columns);
      std::swap(c.down, c.along);
      std::swap(c.of_rows, c.of_columns);
    }
    compute(c);
    right(Move::send_block, c.along, c.rows, c.down);
    right(Move::broadcast, c.down, c.columns, c.along);
  }
  constexpr void compute(GridCall const& c) const {
    Step s = cyclic_compute(c_);
    s.from = static_cast<std::int8_t>(s.before.find(c.rows));
    s.to = static_cast<std::int8_t>(s.before.find(c.columns));
    p_.push(s);
  }
  constexpr Spec value(AxisList const& rows, AxisList const& columns) const {
    Spec s;
    s.add(call_.rows, rows);
    s.add(call_.columns, columns);
    return s;
  }
  constexpr Step sent(Move what, AxisList const& group, Spec const& value) const {
    Step s = cyclic_move(c_, what, group);
    s.before = s.after = value;
    return s;
  }
  constexpr void move(Move what, AxisList const& group, Spec const& value) const {
    p_.push(sent(what, group, value));
  }
  /// Right-hand sides, split along `label`.
  constexpr void right(Move what, AxisList const& group, int label, AxisList const& axes) const {
    Spec x = solution_;
    x.unreduced = x.reduced = {};
    int d = x.find(call_.columns);
    if (d < 0) d = x.find(call_.rows);
    x.dims[d] = {static_cast<std::int8_t>(label), axes};
    Step s = sent(what, group, x);
    s.to = static_cast<std::int8_t>(d);
    p_.push(s);
  }

  Plan& p_;
  CallSizing const& c_;
  GridCall call_;
  Spec solution_;  ///< a value like those of a solve
};

}  // namespace shardtype::planning
