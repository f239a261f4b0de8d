#pragma once
/// New dims of extent 1.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/shape.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class... Ls>
struct Run<op::Expand<Ls...>> : LocalBlock<Run<op::Expand<Ls...>>> {
  template <class Call>
  static Buffer block(op::Expand<Ls...> const&, Call const& run) {
    return run.buffer;
  }
};
}  // namespace execute

/// Adds dims of extent 1 before the others: `A[I@X]` -> `expand<K>` -> `A[K, I@X]`. Local; shares
/// memory. Refused: D02, D06, T07.
template <class... Ls, class A>
constexpr auto expand(A const& a, checking::CallSite where = std::source_location::current()) {
  return call(op::Expand<Ls...>{}, where, a);
}

}  // namespace shardtype
