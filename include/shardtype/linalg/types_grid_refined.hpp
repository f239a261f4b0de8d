#pragma once
/// Solves of one matrix over a grid of ranks by factors of half the precision, as an operation: its
/// rule, and its plan.

#include <cstdint>
#include <string_view>

#include <shardtype/linalg/types_cyclic_refined.hpp>
#include <shardtype/linalg/types_grid.hpp>

namespace shardtype {

namespace op {

/// CyclicRefinedSolve of `a[I@X%n, J@Y%n]`.
template <class I, class J>
struct GridRefinedSolve : detail::OnOneMatrix<I, J, rules::Over::grid> {
  using operation = GridRefinedSolve;
  static constexpr std::string_view name = "solve";
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_cyclic_refined(p, c);
    GridSolve<I, J>{}.steps(p, c, 0);
  }
};

}  // namespace op

}  // namespace shardtype
