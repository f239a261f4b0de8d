#pragma once
/// The rows of a dim shifted, across ranks if it is split.

#include <cstdint>
#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/window.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/window.hpp>

namespace shardtype {

namespace execute {
template <class I>
struct Run<op::Shift<I>> : LocalBlock<Run<op::Shift<I>>> {
  template <class Call>
  static Buffer block(op::Shift<I> const& op, Call const& run) {
    return run_neighbor<false>(run, "shift", op.window(run.call.extent()));
  }
};
}  // namespace execute

/// Shifts rows along I, split or not: `A[I@X, J]` -> `shift<I>(a, 1)` -> `A[I@X, J]`; row i of the
/// result is row i - n of `a`. Rows from beyond the ends are zeros, or, with `op::Edge::wrap`, rows
/// of the other end. Each rank sends the rows that other ranks need (the plan gives the bytes): at
/// most |n| rows while n is no larger than a block, never more than its block; nothing if the dim
/// is not split. Unreduced and reduced axes of `a` are kept. Refused: D01, B03.
template <class I, class A>
constexpr auto shift(A const& a, std::int64_t n, op::Edge edge = op::Edge::fill_zero,
                     checking::CallSite where = std::source_location::current()) {
  return call(op::Shift<I>{n, edge}, where, a);
}

}  // namespace shardtype
