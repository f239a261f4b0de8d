#pragma once
/// Elements along a dim by tensors of ids. Ids are std::int32_t or std::int64_t, from 0 to extent -
/// 1. Other ids, negative ones included, give zeros; with SHARDTYPE_CHECK=values they are an Error,
/// E50.

#include <cstdint>
#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/indexing.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>

namespace shardtype {

namespace execute {
template <class J, class... Into>
struct Run<op::TakeAlong<J, Into...>> : Filled<Run<op::TakeAlong<J, Into...>>> {
  template <class Out, class A, class Ids>
  static void fill(op::TakeAlong<J, Into...> const&, Out& out, A const& a, Ids const& ids) {
    constexpr auto at = static_cast<std::size_t>(dim_of<A, J>);
    check_values_of<J>(ids, a.extents()[at]);
    typename A::execution_space const exec{};
    kernels::take_along(exec, data_of(a), data_of(ids),
                        static_cast<typename A::element*>(out.buffer().data()),
                        numbered_rows(detail::block_layout(a.rows()), static_cast<int>(at),
                                      a.rows()[at].range(), ids.rows()[at].size()));
    exec.fence();
  }
};
}  // namespace execute

/// For each position of the ids, the element of `a` whose index along J is the id and whose other
/// indices are those of the position: `a[I@X, J]`, `ids[I@X, J]` -> `take_along<J>(a, ids)` ->
/// `[I@X, J]`, as np.take_along_axis. The ids have the dims and shardings of `a`, except along J:
/// there they may have another extent, another index, `take_along<J, K>(a, ids[I@X, K@Y])` ->
/// `[I@X, K@Y]`, and axes along which `a` is replicated. J is not split in `a`. Unreduced axes of
/// `a` are kept. Communicates nothing. Refused: C10, D01, D03, D12, I01, I02, I06. Errors: E23,
/// E24, E50.
template <class J, class... Into, class A, class Ids>
constexpr auto take_along(A const& a, Ids const& ids,
                          checking::CallSite where = std::source_location::current()) {
  return call(op::TakeAlong<J, Into...>{}, where, a, ids);
}

}  // namespace shardtype
