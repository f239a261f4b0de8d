#pragma once
/// The dims of a tensor in another order.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/shape.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class... Ls>
struct Run<op::Transpose<Ls...>> : LocalBlock<Run<op::Transpose<Ls...>>> {
  template <class Call>
  static Buffer block(op::Transpose<Ls...> const&, Call const& run) {
    return run.rearrange();
  }
};
}  // namespace execute

/// Reorders the dims: `A[I@X, J]{U:Y}` -> `transpose<J, I>` -> `A[J, I@X]{U:Y}`. Local; copies the
/// block if its elements move. Refused: D01, D07, T02. As jnp.transpose.
template <class... Ls, class A>
constexpr auto transpose(A const& a, checking::CallSite where = std::source_location::current()) {
  return call(op::Transpose<Ls...>{}, where, a);
}

}  // namespace shardtype
