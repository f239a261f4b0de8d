#pragma once
/// Removes dims of extent 1.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/shape.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class... Ls>
struct Run<op::Squeeze<Ls...>> : LocalBlock<Run<op::Squeeze<Ls...>>> {
  template <class Call>
  static Buffer block(op::Squeeze<Ls...> const&, Call const& run) {
    return run.buffer;
  }
};
}  // namespace execute

/// Removes dims of extent 1: `A[I@X, J]` -> `squeeze<J>` -> `A[I@X]`. Local; shares memory.
/// Refused: D01, D03 a split dim, D06. Error E41: another extent.
template <class... Ls, class A>
constexpr auto squeeze(A const& a, checking::CallSite where = std::source_location::current()) {
  return call(op::Squeeze<Ls...>{}, where, a);
}

}  // namespace shardtype
