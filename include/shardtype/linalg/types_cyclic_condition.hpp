#pragma once
/// The estimated condition of one matrix over many ranks, as an operation: its rule, and its plan.

#include <string_view>
#include <type_traits>

#include <shardtype/check/functions.hpp>
#include <shardtype/linalg/types_condition.hpp>
#include <shardtype/linalg/types_cyclic.hpp>

namespace shardtype {

namespace planning {

/// `times` sums of parts of a whole vector over the process columns of a grid.
constexpr void append_vector_sums(Plan& p, CallSizing const& c, std::int64_t times) {
  MatrixCall const call(c);
  Spec x;
  x.add(call.rows);
  Step s = cyclic_move(c, Move::reduce, call.down, x);
  s.before.unreduced.insert(call.down[0]);
  p.push(s);
  p.repeat(1, times, 1, [](Step const&, Round&) {});
}

}  // namespace planning

namespace op {

/// 1 / (|a|_1 |a^-1|_1), estimated by factors and pivots of CyclicLu and |a|_1, a number. How many
/// solutions it takes depends on the values; plans have the most.
template <class I, class J>
struct CyclicLuRcond : detail::OnOneMatrix<I, J> {
  using operation = CyclicLuRcond;
  static constexpr std::string_view name = "rcond";
  template <class A, class P, class N>
  static constexpr Code elements() {
    using R = detail::real_of<element_t<A>>;
    return std::is_same_v<element_t<N>, R> && std::is_same_v<element_t<P>, std::int32_t>
               ? detail::factorized_elements<A>()
               : Code::C10_element_types_differ;
  }
  template <class A, class P, class N>
  using element = detail::real_of<element_t<A>>;
  constexpr void extents(ResultExtents const& c) const {
    if (c.given[0][0] != c.given[0][1]) ResultExtents::fail("the matrix is not square");
  }
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::lu_number(q, rules::one_matrix(q));
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    constexpr int rounds = linalg::condition_rounds;
    planning::MatrixCall const call(c);
    Spec x, b;
    x.add(call.columns, call.along);
    b.add(call.rows, call.down);
    planning::append_cyclic_start(p, c);
    if (call.grid()) {
      planning::append_solutions<false, rounds + 1, 3>(p, c, x, b);
      planning::append_solutions<true, rounds, 3>(p, c, x, b);
      planning::append_vector_sums(p, c, rounds);
    } else {
      planning::append_passes<false, true>(p, c, x, rounds + 1);
      planning::append_passes<false, false>(p, c, x, rounds + 1);
      planning::append_passes<true, true>(p, c, x, rounds);
      planning::append_passes<true, false>(p, c, x, rounds);
    }
    planning::append_cyclic_sums(p, c, rounds + 1, 2);
  }
};

}  // namespace op

}  // namespace shardtype
