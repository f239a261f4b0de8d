#pragma once
/// AllGather: every rank of a group receives the blocks of the whole group.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/reshard.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class... Xs>
struct Run<op::AllGather<Xs...>> : ByPlan {};
}  // namespace execute

/// Gathers the blocks of a group on all of its ranks: `A[I@(X,Y)]` -> `all_gather<Y>` -> `A[I@X]`.
/// Each axis must be the minor-most axis of the dim it splits. `all_gather<Y>(w, to_reduced)` gives
/// `A[I@X]{R:Y}`, whose cotangent is then a reduce_scatter. Refused: K01, K02, K07.
///
/// Of a Local: `a[I, J]{V:X}` -> `all_gather<X, I>(a)` -> `[I, J]`, invariant: the blocks of the
/// group, concatenated along I in rank order. An index that `a` lacks becomes a new first dim with
/// one row per rank (JAX: untiled). `all_gather<X, I>(a, to_varying)` gives the result the type
/// `{V:X}` (JAX's default), `to_reduced` the type `{R:X}` (its cotangent is then a reduce_scatter).
/// Each rank receives n (p - 1) bytes. Refused: V03, V06; V01 if `to_varying` is passed with a
/// Tensor.
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
