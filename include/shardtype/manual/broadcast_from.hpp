#pragma once
/// Broadcast: every rank of a group receives the block of one rank.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/manual/moves.hpp>

namespace shardtype {

/// Broadcasts the block of rank `root` of the group: `a[I]{V:X}` -> `broadcast_from<X>(a, 0)` ->
/// `[I]`; `(a, 0, to_varying)` gives it the type `{V:X}`. Each rank receives n bytes. JAX:
/// pbroadcast. Refused: V01, V03, V06. Error E64: no such rank.
template <class... Xs, class A>
  requires(detail::is_field<A>)
constexpr auto broadcast_from(A const& a, int root,
                              checking::CallSite where = std::source_location::current()) {
  return call(op::BroadcastFrom<Xs...>{root}, where, a);
}
template <class... Xs, class A>
  requires(detail::is_field<A>)
constexpr auto broadcast_from(A const& a, int root, checking::ToVarying,
                              checking::CallSite where = std::source_location::current()) {
  return call(op::BroadcastFrom<Xs..., checking::ToVarying>{root}, where, a);
}

}  // namespace shardtype
