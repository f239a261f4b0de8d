#pragma once
/// New dims along which a value is repeated.

#include <array>
#include <cstdint>
#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/shape.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class... Dims>
struct Run<op::Broadcast<Dims...>> : LocalBlock<Run<op::Broadcast<Dims...>>> {
  template <class Call>
  static Buffer block(op::Broadcast<Dims...> const&, Call const& run) {
    return run.rearrange();
  }
};
}  // namespace execute

/// Adds dims before the others, along which the value is repeated: `A[I@X]` -> `broadcast<Dim<K,
/// Y>>(a, {n})` -> `A[K@Y, I@X]`. A new dim may be split over axes along which `a` is replicated
/// or reduced: each rank creates its own part, `[I]{R:X}` -> `broadcast<Dim<K, X>>` -> `[K@X, I]`.
/// Extents may be left out where the labels have static ones. Local; copies. Refused: D02, T01,
/// T07. Error E20.
template <class... Dims, class A>
constexpr auto broadcast(
    A const& a,
    std::array<std::int64_t, sizeof...(Dims)> const& extents = detail::static_extents<Dims...>(),
    checking::CallSite where = std::source_location::current()) {
  return call(op::Broadcast<Dims...>{extents}, where, a);
}

}  // namespace shardtype
