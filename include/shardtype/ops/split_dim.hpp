#pragma once
/// One dim split into two.

#include <array>
#include <cstdint>
#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/shape.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class I, class First, class Second>
struct Run<op::SplitDim<I, First, Second>> : LocalBlock<Run<op::SplitDim<I, First, Second>>> {
  template <class Call>
  static Buffer block(op::SplitDim<I, First, Second> const&, Call const& run) {
    return run.buffer;
  }
};
}  // namespace execute

/// Splits one dim into two, the second running fastest: `A[I@(X,Y)]` -> `split_dim<I, Dim<J, X>,
/// Dim<K, Y>>(a, {nj, nk})` -> `A[J@X, K@Y]`. The axes of I are assigned to J and K from major to
/// minor. With bare labels, `split_dim<I, J, K>`, J gets axes until its blocks have one row, if the
/// types determine that, else all axes. Legal if the blocks line up: ceil(nj nk / p) == ceil(nj /
/// p) nk at each cut through J, and at most one row of J per block where K is cut. Local; shares
/// memory. Refused: D01, D02, D06, D09, D10, B03. Errors: E40 blocks that do not line up, E41 a
/// product that is not I's extent. As jnp.reshape.
template <class I, class First, class Second, class A>
constexpr auto split_dim(
    A const& a,
    std::array<std::int64_t, 2> const& extents = detail::static_extents<First, Second>(),
    checking::CallSite where = std::source_location::current()) {
  return call(op::SplitDim<I, First, Second>{extents}, where, a);
}

}  // namespace shardtype
