#pragma once
/// Casts to reduced. Free, but explicit, because the cast determines the gradient's sharding.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/reshard.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class... Xs>
struct Run<op::ToReduced<Xs...>> : ByPlan {};
}  // namespace execute

/// The same bytes, reduced over `Xs` instead of replicated: the cotangent of the result stays unreduced
/// over them. `A[I]` -> `reduced<X>` -> `A[I]{R:X}`. Communicates nothing. Refused: K05, K06.
///
/// Of a Local: `a[I]` -> `reduced<X>(a)` -> `[I]{R:X}`. JAX: pcast(to='reduced'). Refused: V04, V05, V06.
template <class... Xs, class A>
constexpr auto reduced(A const& a, checking::CallSite where = std::source_location::current()) {
  return call(op::ToReduced<Xs...>{}, where, a);
}

}  // namespace shardtype
