#pragma once
/// AllToAll: an axis moves from one dim to another.

#include <source_location>

#include <shardtype/check/reshard.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class... XFromTo>
struct Run<op::AllToAll<XFromTo...>> : ByPlan {};
}  // namespace execute

/// `A[I@X, J]` -> `all_to_all<X, I, J>` -> `A[I, J@X]`: the axis moves from one dim to another, as
/// the minor-most there. Refused: K01, K02, K04, B04.
template <class... XFromTo, class A>
constexpr auto all_to_all(A const& a,
                          std::source_location where = std::source_location::current()) {
  return call(op::AllToAll<XFromTo...>{}, where, a);
}

}  // namespace shardtype
