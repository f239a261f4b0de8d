#pragma once
/// The rows of a dim shifted cyclically.

#include <cstdint>
#include <source_location>

#include <shardtype/check/along.hpp>
#include <shardtype/check/call_site.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class I>
struct Run<op::Roll<I>> : LocalBlock<Run<op::Roll<I>>> {
  template <class Call>
  static Buffer block(op::Roll<I> const& op, Call const& run) {
    return run.roll(op.n);
  }
};
}  // namespace execute

/// Shifts rows cyclically along I: row i of the result is row (i - n) mod extent. Local; copies.
/// Refused: D01, D04 along a split dim (use `shift<I>(a, n, Edge::wrap)`). As jnp.roll.
template <class I, class A>
constexpr auto roll(A const& a, std::int64_t n,
                    checking::CallSite where = std::source_location::current()) {
  return call(op::Roll<I>{n}, where, a);
}

}  // namespace shardtype
