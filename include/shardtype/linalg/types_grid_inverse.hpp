#pragma once
/// The inverse and the determinant of one matrix over a grid of ranks, as operations: their rules,
/// and their plans.

#include <shardtype/linalg/types_cyclic_inverse.hpp>
#include <shardtype/linalg/types_grid.hpp>

namespace shardtype {

namespace op {

/// The inverse of `a[I@X%n, J@Y%n]`, `[J@X%n, I@Y%n]`, by the factors and pivots of GridLu.
template <class I, class J>
struct GridInverse : detail::OfFactors<I, J> {
  using operation = GridInverse;
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::inverse_of(q, rules::one_matrix(q, rules::Over::grid));
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_cyclic_start(p, c);
    planning::append_factors_come_by<true, true>(p, c);
    planning::append_factors_come_by<false, false>(p, c);
  }
};

/// CyclicLuProduct of `a[I@X%n, J@Y%n]`, by the factors and pivots of GridLu.
template <class I, class J, linalg::detail::Product what>
struct GridLuProduct : detail::OfDiagonal<I, J, what> {
  using operation = GridLuProduct;
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::number_of(q, rules::one_matrix(q, rules::Over::grid));
  }
};

}  // namespace op

}  // namespace shardtype
