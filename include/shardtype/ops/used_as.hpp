#pragma once
/// A parameter as a computation uses it: the cast that fits all parallelisms.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/reshard.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class... Out>
struct Run<op::UsedAs<Out...>> : ByPlan {};
}  // namespace execute

/// The value of a parameter, whole along `Xs` and reduced over them, so that its gradient stays
/// unreduced until the parameter's own sharding says how to reduce it. One model source serves
/// every way to store `w`; for `used_as<Reduced<X>>(w)`:
///
/// | w | result | forward | backward |
/// |---|---|---|---|
/// | `[I, J]`, replicated (data parallel) | `[I, J]{R:X}` | nothing | AllReduce |
/// | `[I@X, J]`, split (FSDP) | `[I, J]{R:X}` | AllGather | ReduceScatter |
/// | `[I, J]{R:X}`, reduced already | `[I, J]{R:X}` | nothing | nothing |
/// | `[I, J@Y]`, split over another axis (Megatron) | `[I, J@Y]{R:X}` | nothing | AllReduce |
///
/// `used_as<Dim<I>, Dim<J, Y>, Reduced<X>>(w)` and `used_as<W>(w)` with a Tensor type name the whole
/// sharding, as in reshard, which also plans and runs it. Automatic mode does not record it: there
/// the planner chooses. Refused: K07 no axis, T05; R01 to R04, N05 as reshard; V14 of Locals (use
/// `reduced<X>`, or `all_gather<X, I>(w, to_reduced)`).
template <class... Out, class A>
constexpr auto used_as(A const& w, checking::CallSite where = std::source_location::current()) {
  return call(op::UsedAs<Out...>{}, where, w);
}

}  // namespace shardtype
