#pragma once
/// Blocks sent round a group of ranks.

#include <cstdint>
#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/manual/moves.hpp>

namespace shardtype {

namespace execute {
template <class... Xs>
struct RunBlocks<op::Rotate<Xs...>> : MovesBlock<RunBlocks<op::Rotate<Xs...>>> {
  template <class R, class Call>
  static auto move(op::Rotate<Xs...> const& op, Call const& c) {
    std::int64_t const p = c.group.size;
    std::int64_t const step = (op.by % p + p) % p;
    std::int64_t const me = c.group.place();
    return c.run([&](auto& moves) {
      return moves.permute(c.a.buffer(), c.elements(), static_cast<int>((me + step) % p),
                           static_cast<int>((me + p - step) % p));
    });
  }
};
}  // namespace execute

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
