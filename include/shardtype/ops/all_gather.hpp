#pragma once
/// AllGather: the blocks of a group, on all of its ranks.

#include <source_location>

#include <shardtype/check/reshard.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class... Xs>
struct Run<op::AllGather<Xs...>> : ByPlan {};
}  // namespace execute

/// `A[I@(X,Y)]` -> `all_gather<Y>` -> `A[I@X]`: each rank receives the blocks of its group. Each axis
/// must be the minor-most of the dim it splits. Refused: K01, K02.
template <class... Xs, class A>
constexpr auto all_gather(A const& a,
                          std::source_location where = std::source_location::current()) {
  return call(op::AllGather<Xs...>{}, where, a);
}

}  // namespace shardtype
