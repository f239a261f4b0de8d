#pragma once
/// Casts to reduced: free, and named, for it says what a gradient will do.

#include <source_location>

#include <shardtype/check/reshard.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class... Xs>
struct Run<op::ToReduced<Xs...>> : ByPlan {};
}  // namespace execute

/// The same bytes, reduced over `Xs` instead of replicated: the cotangent of the result stays unreduced
/// over them. `A[I]` -> `reduced<X>` -> `A[I]{R:X}`. Communicates nothing. Refused: K05, K06.
template <class... Xs, class A>
constexpr auto reduced(A const& a, std::source_location where = std::source_location::current()) {
  return call(op::ToReduced<Xs...>{}, where, a);
}

}  // namespace shardtype
