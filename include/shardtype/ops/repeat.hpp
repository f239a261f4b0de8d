#pragma once
/// Each row of a dim repeated.

#include <cstdint>
#include <source_location>

#include <shardtype/check/along.hpp>
#include <shardtype/check/call_site.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class I, class... Result>
struct Run<op::Repeat<I, Result...>> : LocalBlock<Run<op::Repeat<I, Result...>>> {
  template <class Call>
  static Buffer block(op::Repeat<I, Result...> const& op, Call const& run) {
    return run.repeat(op.times);
  }
};
}  // namespace execute

/// Repeats each row `times` times, as np.repeat: `A[I@X, J]` -> `repeat<J>(a, 2)`. Local; copies.
/// Refused: D01, D02, D03, D05, D07. Error E41: a negative number.
template <class I, class... Result, class A>
constexpr auto repeat(A const& a, std::int64_t times,
                      checking::CallSite where = std::source_location::current()) {
  return call(op::Repeat<I, Result...>{times}, where, a);
}

}  // namespace shardtype
