#pragma once
/// Sums of elements at the positions along a dim that ids name. Ids are std::int32_t or
/// std::int64_t, from 0 to extent - 1. Updates with other ids, negative ones included, are ignored;
/// with SHARDTYPE_CHECK=values such ids are an Error, E50.

#include <cstdint>
#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/indexing.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/scatter.hpp>

namespace shardtype {

namespace execute {
template <class J, class... At>
struct Run<op::ScatterAlong<J, At...>> : Filled<Run<op::ScatterAlong<J, At...>>> {
  template <class Out, class A, class Ids>
  static void fill(op::ScatterAlong<J, At...> const& op, Out& out, A const& updates,
                   Ids const& ids) {
    using T = typename A::element;
    constexpr auto at = static_cast<std::size_t>(dim_of<Out, J>);
    check_values_of<J>(ids, op.n);
    typename A::execution_space const exec{};
    auto* const to = static_cast<T*>(out.buffer().data());
    kernels::fill(exec, to, out.local_size(), T{});
    kernels::add_along(exec, data_of(updates), data_of(ids), to,
                       numbered_rows(detail::block_layout(out.rows()), static_cast<int>(at),
                                     out.rows()[at].range(), updates.rows()[at].size()));
    exec.fence();
  }
};
}  // namespace execute

/// Adds each update to the element of a zero tensor whose index along J is the id and whose other
/// indices are those of the position, the transpose of `take_along<J, K>`: `updates[I@X, K@Y]`,
/// `ids[I@X, K@Y]` -> `scatter_along<J, K>(updates, ids, n)` -> `[I@X, J]{U:Y}`, where J has `n`
/// rows and the place of K. K may be left out if it is J itself, `n` if J has a static extent. The
/// ids have the dims and shardings of the updates. Unreduced and reduced axes of the updates are
/// kept. Communicates nothing; updates of one element are added in their order along K, the same
/// bits for any number of threads. Refused: C10, C11, D01, D02, D12, I01, I02, I07. Errors: E20,
/// E23, E24, E50. As numpy.add.at of a zero array.
template <class J, class... At, class A, class Ids>
constexpr auto scatter_along(A const& updates, Ids const& ids,
                             std::int64_t n = detail::static_extents<J>()[0],
                             checking::CallSite where = std::source_location::current()) {
  return call(op::ScatterAlong<J, At...>{n}, where, updates, ids);
}

}  // namespace shardtype
