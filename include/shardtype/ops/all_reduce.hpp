#pragma once
/// AllReduce: every rank of a group receives the reduction of the group's blocks.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/reshard.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class... Xs>
struct Run<op::AllReduce<Xs...>> : ByPlan {};
}  // namespace execute

/// Finishes a pending reduction on all ranks of the group: `A[I]{U:X}` -> `all_reduce<X>` ->
/// `A[I]`, the sum (or maximum, minimum) of the group's blocks. Refused: K03, K07.
///
/// Of a Local: `a[I]{V:X}` -> `all_reduce<X>(a)` -> `[I]`: the sum of the ranks' blocks, on all
/// ranks; also `[I]{U:X}` -> `[I]`. `all_reduce<Max, X>`, `<Min, X>` and `<Mean, X>` (the sum
/// divided by the number of ranks) likewise. One AllReduce, 2 n (p - 1) / p bytes. JAX: psum, pmax,
/// pmin, pmean. Refused: V03 of an invariant block (JAX multiplies it by the number of ranks), V06,
/// V16, C11 of bools, S04, P12.
template <class... Xs, class A>
constexpr auto all_reduce(A const& a, checking::CallSite where = std::source_location::current()) {
  return call(op::AllReduce<Xs...>{}, where, a);
}

}  // namespace shardtype
