#pragma once
/// The rows of a dim in reverse order.

#include <source_location>

#include <shardtype/check/along.hpp>
#include <shardtype/check/call_site.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class I>
struct Run<op::Flip<I>> : LocalBlock<Run<op::Flip<I>>> {
  template <class Call>
  static Buffer block(op::Flip<I> const&, Call const& run) {
    return run.flip();
  }
};
}  // namespace execute

/// Reverses the order of the rows of a dim: `A[I@X, J]` -> `flip<J>` -> `A[I@X, J]`. Local; copies.
/// Refused: D01, D03.
template <class I, class A>
constexpr auto flip(A const& a, checking::CallSite where = std::source_location::current()) {
  return call(op::Flip<I>{}, where, a);
}

}  // namespace shardtype
