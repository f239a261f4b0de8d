#pragma once
/// Blocks sent from rank to rank, pair by pair.

#include <initializer_list>
#include <source_location>
#include <span>

#include <shardtype/check/call_site.hpp>
#include <shardtype/manual/moves.hpp>

namespace shardtype {

namespace execute {
template <class... Xs>
struct RunBlocks<op::Permute<Xs...>> : MovesBlock<RunBlocks<op::Permute<Xs...>>> {
  template <class R, class Call>
  static auto move(op::Permute<Xs...> const& op, Call const& c) {
    int const me = static_cast<int>(c.group.place());
    int to = -1;
    int from = -1;
    for (SourceDestination const& p : op.pairs) {
      if (p.source == me) to = p.destination;
      if (p.destination == me) from = p.source;
    }
    return c.run([&](auto& moves) { return moves.permute(c.a.buffer(), c.elements(), to, from); });
  }
};
}  // namespace execute

/// Sends blocks from rank to rank: `a[I]{V:X}` -> `permute<X>(a, {{0, 1}, {1, 2}})` -> `[I]{V:X}`
/// sends the block of rank 0 of the group to rank 1, and so on. A rank that receives none gets
/// zeros. Each rank sends n bytes. JAX: ppermute. Refused: V01, V03, V06. Error E64: a rank outside
/// the group, or listed twice as source or as destination.
template <class... Xs, class A>
  requires(detail::is_field<A>)
constexpr auto permute(A const& a, std::span<SourceDestination const> pairs,
                       checking::CallSite where = std::source_location::current()) {
  return call(op::Permute<Xs...>{pairs}, where, a);
}
template <class... Xs, class A>
  requires(detail::is_field<A>)
constexpr auto permute(A const& a, std::initializer_list<SourceDestination> pairs,
                       checking::CallSite where = std::source_location::current()) {
  return permute<Xs...>(a, std::span<SourceDestination const>(pairs.begin(), pairs.size()), where);
}

}  // namespace shardtype
