#pragma once
/// Blocks sent round a group of ranks.

#include <cstdint>
#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/manual/moves.hpp>

namespace shardtype {

/// Sends each block to the rank `by` further in the group, cyclically: `a[I]{V:X}` -> `rotate<X>(a,
/// 1)` -> `[I]{V:X}`. Each rank sends n bytes. A permute in which every rank takes part. Refused:
/// V01, V03, V06.
template <class... Xs, class A>
  requires(detail::is_field<A>)
constexpr auto rotate(A const& a, std::int64_t by,
                      checking::CallSite where = std::source_location::current()) {
  return call(op::Rotate<Xs...>{by}, where, a);
}

}  // namespace shardtype
