#pragma once
/// AllReduce: what a group has together, on all of its ranks.

#include <source_location>

#include <shardtype/check/reshard.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class... Xs>
struct Run<op::AllReduce<Xs...>> : ByPlan {};
}  // namespace execute

/// `A[I]{U:X}` -> `all_reduce<X>` -> `A[I]`: the summands (or maxima, minima) of the group are
/// reduced, on all ranks. Refused: K03.
template <class... Xs, class A>
constexpr auto all_reduce(A const& a,
                          std::source_location where = std::source_location::current()) {
  return call(op::AllReduce<Xs...>{}, where, a);
}

}  // namespace shardtype
