#pragma once
/// The inverse and the determinant of one matrix over a grid of ranks, as operations: their rules,
/// and their plans.

#include <shardtype/linalg/types_cyclic_inverse.hpp>
#include <shardtype/linalg/types_grid.hpp>

namespace shardtype {

namespace planning {

namespace grid_rounds {

/// A panel of L or U goes along the process rows. The ranks with its triangle solve a block of the
/// inverse by it, which goes down the process columns, and all subtract their product of both.
template <bool lower>
constexpr void factors_come_by(Step const& s, Round& r) {
  bool const computes = r.step == 2;
  std::int64_t const n = r.sizing.extents[s.before.dims[computes ? s.to : 1].label];
  r.number = cyclic_rounds::in_turn<lower>({n, r.block, 1}, r.number);
  if (!computes) {
    Panel const p(s, r);
    p.from_block(p.k);
    if (r.step == 1) return p.sized(p.w, n);
    if (lower) p.first_rows(p.k);
    return p.sized(lower ? p.rest + p.w : n - p.rest, p.w);
  }
  GridCall const c = call_of(s, r);
  Sizes const& sizes = r.sizing.sizes;
  std::int64_t const w = c.of_rows.width(r.number);
  std::int64_t const columns = c.most_columns(0, sizes);
  std::int64_t const rows = lower ? c.most_rows(r.number, sizes)
                                  : largest_block(c.of_rows.begin(r.number) + w, c.down, sizes);
  cyclic_rounds::computes(r, mul_sat(2 * w * rows, columns));
  std::int64_t const panel = std::min(n, c.of_rows.block);
  std::int64_t const held = add_sat(mul_sat(panel, factor_slots * c.most_rows(0, sizes) + columns),
                                    grid_indices(n, c.element_bytes));
  r.work.workspace = mul_sat(held, c.element_bytes);
}

}  // namespace grid_rounds

/// One pass over the factors, by L or by U.
template <bool lower>
constexpr void append_factors_over_grid(GridPlan const& plan) {
  plan.along(Move::broadcast, plan.call().down, {});
  plan.down(Move::broadcast, {}, plan.call().along);
  plan.compute();
  plan.repeat(3, &grid_rounds::factors_come_by<lower>);
}

}  // namespace planning

namespace op {

/// The inverse of `a[I@X%n, J@Y%n]`, `[J@X%n, I@Y%n]`, by the factors and pivots of GridLu.
template <class I, class J>
struct GridInverse : detail::OfFactors<I, J> {
  using operation = GridInverse;
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::inverse_of(q, rules::one_matrix(q, rules::Over::grid));
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::GridPlan const plan(p, c);
    plan.start();
    planning::append_factors_over_grid<true>(plan);
    planning::append_factors_over_grid<false>(plan);
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
