#pragma once
/// Casts to unreduced: free, and named, for the blocks become summands.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/manual/moves.hpp>

namespace shardtype {

namespace execute {
template <class... Named>
struct RunBlocks<op::ToUnreduced<Named...>> : CastsBlock {};
}  // namespace execute

/// `a[I]{V:X}` -> `unreduced<X>(a)` -> `[I]{U:X}`: the blocks are taken as summands, or with
/// `unreduced<Max, X>` as candidates. Shares memory. JAX: pcast(to='unreduced'). Refused: V01, V03, V04, V06,
/// V16.
template <class... Named, class A>
  requires(detail::is_field<A>)
constexpr auto unreduced(A const& a, checking::CallSite where = std::source_location::current()) {
  return call(op::ToUnreduced<Named...>{}, where, a);
}

}  // namespace shardtype
