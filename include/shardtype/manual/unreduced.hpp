#pragma once
/// Casts to unreduced. Free, but explicit, because the blocks become summands.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/manual/moves.hpp>

namespace shardtype {

/// Declares the blocks to be summands: `a[I]{V:X}` -> `unreduced<X>(a)` -> `[I]{U:X}`, or
/// candidates of a maximum: `unreduced<Max, X>`. Shares memory; communicates nothing. JAX:
/// pcast(to='unreduced'). Refused: V01, V03, V04, V06, V16.
template <class... Named, class A>
  requires(detail::is_field<A>)
constexpr auto unreduced(A const& a, checking::CallSite where = std::source_location::current()) {
  return call(op::ToUnreduced<Named...>{}, where, a);
}

}  // namespace shardtype
