#pragma once
/// The estimated condition of one matrix over many ranks, as an operation: its rule, and its plan.

#include <string_view>
#include <type_traits>

#include <shardtype/check/functions.hpp>
#include <shardtype/linalg/types_condition.hpp>
#include <shardtype/linalg/types_cyclic.hpp>

namespace shardtype {

namespace detail {

/// 1 / (|a|_1 |a^-1|_1), estimated by factors and pivots and |a|_1, a number. How many solutions it
/// takes depends on the values; plans have the most.
template <class I, class J>
struct OfCondition : OnOneMatrix<I, J> {
  static constexpr std::string_view name = "rcond";
  template <class A, class P, class N>
  static constexpr Code elements() {
    using R = real_of<element_t<A>>;
    return std::is_same_v<element_t<N>, R> && std::is_same_v<element_t<P>, std::int32_t>
               ? detail::factorized_elements<A>()
               : Code::C10_element_types_differ;
  }
  template <class A, class P, class N>
  using element = real_of<element_t<A>>;
  constexpr void extents(ResultExtents const& c) const {
    if (c.given[0][0] != c.given[0][1]) ResultExtents::fail("the matrix is not square");
  }
};

}  // namespace detail

namespace op {

/// The condition, by the factors and pivots of CyclicLu.
template <class I, class J>
struct CyclicLuRcond : detail::OfCondition<I, J> {
  using operation = CyclicLuRcond;
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::lu_number(q, rules::one_matrix(q, rules::Over::columns));
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    constexpr int rounds = linalg::condition_rounds;
    Spec x;
    int const columns = c.from.dims[1].label;
    x.add(columns, c.operands[0].dims[c.operands[0].find(columns)].axes);
    planning::append_cyclic_start(p, c);
    planning::append_passes<false, true>(p, c, x, rounds + 1);
    planning::append_passes<false, false>(p, c, x, rounds + 1);
    planning::append_passes<true, true>(p, c, x, rounds);
    planning::append_passes<true, false>(p, c, x, rounds);
    planning::append_cyclic_sums(p, c, rounds + 1, 2);
  }
};

}  // namespace op

}  // namespace shardtype
