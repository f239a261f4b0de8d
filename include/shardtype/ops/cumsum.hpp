#pragma once
/// Running sums, products, maxima and minima.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/window.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/window.hpp>
#include <shardtype/ops/max.hpp>
#include <shardtype/ops/min.hpp>
#include <shardtype/ops/prod.hpp>
#include <shardtype/ops/sum.hpp>

namespace shardtype::op {

/// Whether a running value includes its own element.
enum class Cumulate { inclusive, exclusive };
/// Whether running values begin at the first row or at the last.
enum class Direction { forward, reverse };

}  // namespace shardtype::op

namespace shardtype {

namespace execute {
template <class I, class F>
struct Run<op::Cumulative<I, F>> : LocalBlock<Run<op::Cumulative<I, F>>> {
  template <class Call>
  static Buffer block(op::Cumulative<I, F> const& op, Call const& run) {
    using Reducer = typename ReducerOf<F, typename Call::element>::type;
    return running_values<Reducer>(run, op.name.data(), op.exclusive, op.reverse);
  }
};
}  // namespace execute

/// Running sums along I, split or not: `A[I@X, J]` -> `cumsum<I>(a)` -> `A[I@X, J]`. Exclusive
/// sums, `cumsum<I>(a, op::Cumulate::exclusive)`, begin with 0. `cumsum<I>(a,
/// op::Cumulate::inclusive, op::Direction::reverse)` sums from the last row to the first, as
/// jax.lax.cumsum(reverse=True): the transpose of the same sums forward. Each rank sums its block,
/// then exchanges totals: it receives one row from every other rank along I, in both directions. The
/// order of additions depends on the number of ranks. Refused: D01, B03, D14 a pending maximum or
/// minimum, D15 sums of bool. As jnp.cumsum.
template <class I, class A>
constexpr auto cumsum(A const& a, op::Cumulate how = op::Cumulate::inclusive,
                      op::Direction from = op::Direction::forward,
                      checking::CallSite where = std::source_location::current()) {
  return call(op::CumSum<I>{how == op::Cumulate::exclusive, from == op::Direction::reverse}, where,
              a);
}

/// Running products, as cumsum, in either direction; exclusive products begin with 1. Refused: D01,
/// B03, D14 an unreduced operand (the product of sums is not the sum of products), D15 products of
/// bool (`cummin` tells whether all were true). As jnp.cumprod.
template <class I, class A>
constexpr auto cumprod(A const& a, op::Cumulate how = op::Cumulate::inclusive,
                       op::Direction from = op::Direction::forward,
                       checking::CallSite where = std::source_location::current()) {
  return call(op::CumProd<I>{how == op::Cumulate::exclusive, from == op::Direction::reverse}, where,
              a);
}

/// Running maxima, as cumsum, in either direction; exclusive maxima begin with the least number.
/// Refused: D01, B03, D14 a pending sum, D15 complex numbers. As jnp.cummax (jax.lax.cummax).
template <class I, class A>
constexpr auto cummax(A const& a, op::Cumulate how = op::Cumulate::inclusive,
                      op::Direction from = op::Direction::forward,
                      checking::CallSite where = std::source_location::current()) {
  return call(op::CumMax<I>{how == op::Cumulate::exclusive, from == op::Direction::reverse}, where,
              a);
}

/// Running minima, as cummax; exclusive minima begin with the largest number.
template <class I, class A>
constexpr auto cummin(A const& a, op::Cumulate how = op::Cumulate::inclusive,
                      op::Direction from = op::Direction::forward,
                      checking::CallSite where = std::source_location::current()) {
  return call(op::CumMin<I>{how == op::Cumulate::exclusive, from == op::Direction::reverse}, where,
              a);
}

}  // namespace shardtype
