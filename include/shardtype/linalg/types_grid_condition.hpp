#pragma once
/// The estimated condition of one matrix over a grid of ranks, as an operation: its rule, and its
/// plan.

#include <shardtype/linalg/types_cyclic_condition.hpp>
#include <shardtype/linalg/types_grid.hpp>

namespace shardtype::op {

/// CyclicLuRcond of `a[I@X%n, J@Y%n]`, by the factors and pivots of GridLu.
template <class I, class J>
struct GridLuRcond : detail::OfCondition<I, J> {
  using operation = GridLuRcond;
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::lu_number(q, rules::one_matrix(q, rules::Over::grid));
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    constexpr int rounds = linalg::condition_rounds;
    planning::MatrixCall const call(c);
    Spec x, b;
    x.add(call.columns, call.along);
    b.add(call.rows, call.down);
    planning::append_cyclic_start(p, c);
    planning::append_solutions<false, rounds + 1, 3>(p, c, x, b);
    planning::append_solutions<true, rounds, 3>(p, c, x, b);
    // parts of a whole vector, from the process columns
    Spec whole;
    whole.add(call.rows);
    planning::Step sum = planning::cyclic_move(c, planning::Move::reduce, call.down, whole);
    sum.before.unreduced.insert(call.down[0]);
    p.push(sum);
    p.repeat(1, rounds, 1, [](planning::Step const&, planning::Round&) {});
    planning::append_cyclic_sums(p, c, rounds + 1, 2);
  }
};

}  // namespace shardtype::op
