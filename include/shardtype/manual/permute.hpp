#pragma once
/// Blocks sent from rank to rank, pair by pair.

#include <initializer_list>
#include <source_location>
#include <span>

#include <shardtype/check/call_site.hpp>
#include <shardtype/manual/moves.hpp>

namespace shardtype {

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
