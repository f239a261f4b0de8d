#pragma once
/// Other labels for the dims of a tensor.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/shape.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class... Ls>
struct Run<op::Relabel<Ls...>> : LocalBlock<Run<op::Relabel<Ls...>>> {
  template <class Call>
  static Buffer block(op::Relabel<Ls...> const&, Call const& run) {
    return run.buffer;
  }
};
}  // namespace execute

/// Renames dims, in pairs: `A[I@X, J]` -> `relabel<I, K>` -> `A[K@X, J]`; `relabel<I, J, J, I>`
/// swaps names. Local; shares memory. Refused: D01, D02, D06, D07. Error E20: an extent that does
/// not fit the new label.
template <class... Pairs, class A>
constexpr auto relabel(A const& a, checking::CallSite where = std::source_location::current()) {
  return call(op::Relabel<Pairs...>{}, where, a);
}

}  // namespace shardtype
