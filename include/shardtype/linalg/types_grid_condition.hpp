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
    planning::GridPlan plan(p, c);
    plan.start();
    plan.solutions<rounds + 1, 3>(false);
    plan.solutions<rounds, 3>(true);
    plan.vector_sums(rounds);
    planning::append_cyclic_sums(p, c, rounds + 1, 2);
  }
};

}  // namespace shardtype::op
