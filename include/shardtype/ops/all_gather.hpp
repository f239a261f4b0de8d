#pragma once
/// AllGather: the blocks of a group, on all of its ranks.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/reshard.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class... Xs>
struct Run<op::AllGather<Xs...>> : ByPlan {};
/// Of Locals: manual/collectives.hpp.
template <class... Xs>
struct RunBlocks<op::AllGather<Xs...>>;
}  // namespace execute

/// `A[I@(X,Y)]` -> `all_gather<Y>` -> `A[I@X]`: each rank receives the blocks of its group. Each axis
/// must be the minor-most of the dim it splits. Refused: K01, K02, K07.
///
/// Of a Local: `a[I, J]{V:X}` -> `all_gather<X, I>(a)` -> `[I, J]`, invariant: the blocks of the group behind one
/// another along I. An index that `a` lacks becomes a new first dim of one row per rank (JAX: untiled).
/// `all_gather<X, I>(a, to_varying)` leaves it typed `{V:X}` (JAX's default), `to_reduced` `{R:X}` (its
/// cotangent is then a reduce_scatter). Receives n (p - 1) bytes. Refused: V03, V06; V01 of a Tensor where the call
/// says a state.
template <class... Xs, class A>
constexpr auto all_gather(A const& a, checking::CallSite where = std::source_location::current()) {
  return call(op::AllGather<Xs...>{}, where, a);
}

template <class... Xs, class A>
constexpr auto all_gather(A const& a, checking::ToVarying,
                          checking::CallSite where = std::source_location::current()) {
  return call(op::AllGather<Xs..., checking::ToVarying>{}, where, a);
}
template <class... Xs, class A>
constexpr auto all_gather(A const& a, checking::ToReduced,
                          checking::CallSite where = std::source_location::current()) {
  return call(op::AllGather<Xs..., checking::ToReduced>{}, where, a);
}

}  // namespace shardtype
