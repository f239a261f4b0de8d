#pragma once
/// Another sharding of the same value.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/reshard.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class... Out>
struct Run<op::Reshard<Out...>> : ByPlan {};
}  // namespace execute

/// The same value with another sharding, named by dims and attributes or by a Tensor type:
/// `reshard<Dim<I>, Dim<J, X>>(a)`. Dims may be listed in another order. Runs the cheapest sequence
/// of collectives (plan/reshard_plan.hpp); a finer sharding of the same blocks is a local slice.
/// One all_to_all converts `A[I@X]` to the block-cyclic `A[I@X%64]` (`Dim<I, Cyclic<X, 64>>`), and
/// back. Refused: R01 to R04, N05.
template <class... Out, class A>
constexpr auto reshard(A const& a, checking::CallSite where = std::source_location::current()) {
  return call(op::Reshard<Out...>{}, where, a);
}

}  // namespace shardtype
