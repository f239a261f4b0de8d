#pragma once
/// An invariant block, cut into pieces.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/manual/moves.hpp>

namespace shardtype {

/// Cuts an invariant block along I; each rank keeps its piece: `a[I]` -> `shard<X, I>(a)` ->
/// `[I]{V:X}`. Communicates nothing. Refused: V01, V05 a block that varies, K04. Error E61.
template <class... XI, class A>
  requires(detail::is_field<A>)
constexpr auto shard(A const& a, checking::CallSite where = std::source_location::current()) {
  return call(op::Shard<XI...>{}, where, a);
}

}  // namespace shardtype
