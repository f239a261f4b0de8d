#pragma once
/// A dim repeated as a whole.

#include <cstdint>
#include <source_location>

#include <shardtype/check/along.hpp>
#include <shardtype/check/call_site.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class I, class... Result>
struct Run<op::Tile<I, Result...>> : LocalBlock<Run<op::Tile<I, Result...>>> {
  template <class Call>
  static Buffer block(op::Tile<I, Result...> const& op, Call const& run) {
    return run.tile(op.times);
  }
};
}  // namespace execute

/// Repeats the sequence of rows `times` times, as np.tile: `A[I@X, J]` -> `tile<J>(a, 2)`. Local;
/// copies. Refusals and errors as repeat.
template <class I, class... Result, class A>
constexpr auto tile(A const& a, std::int64_t times,
                    checking::CallSite where = std::source_location::current()) {
  return call(op::Tile<I, Result...>{times}, where, a);
}

}  // namespace shardtype
