#pragma once
/// An invariant block, cut into pieces.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/manual/moves.hpp>

namespace shardtype {

namespace execute {
template <class... XI>
struct RunBlocks<op::Shard<XI...>> : MovesBlock<RunBlocks<op::Shard<XI...>>> {
  template <class R, class Call>
  static auto move(op::Shard<XI...> const&, Call const& c) {
    return c.run([&](auto& moves) { return moves.shard(c.a.buffer(), c.around(R::dim(0))); });
  }
};
}  // namespace execute

/// Cuts an invariant block along I; each rank keeps its piece: `a[I]` -> `shard<X, I>(a)` ->
/// `[I]{V:X}`. Communicates nothing. Refused: V01, V05 a block that varies, K04. Error E61.
template <class... XI, class A>
  requires(detail::is_field<A>)
constexpr auto shard(A const& a, checking::CallSite where = std::source_location::current()) {
  return call(op::Shard<XI...>{}, where, a);
}

}  // namespace shardtype
