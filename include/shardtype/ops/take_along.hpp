#pragma once
/// Elements along a dim by tensors of ids. Ids are std::int32_t or std::int64_t,
/// from 0 to extent - 1. Others, negative ones too, find zeros and add nothing; under
/// SHARDTYPE_CHECK=values they are an Error, E50.

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

/// For each place of the ids the element of `a` at that place but along J, where the id says:
/// `a[I@X, J]`, `ids[I@X, J]` -> `take_along<J>(a, ids)` -> `[I@X, J]`, as np.take_along_axis. The ids
/// have the dims of `a`, split alike; in J's place they may have another extent, another index,
/// `take_along<J, K>(a, ids[I@X, K@Y])` -> `[I@X, K@Y]`, and axes along which `a` is the same. J is not
/// split in `a`. What `a` owes stays owed. Communicates nothing. Refused: C10, D01, D03, D12, I01, I02,
/// I06. Errors: E23, E24, E50.
template <class J, class... Into, class A, class Ids>
constexpr auto take_along(A const& a, Ids const& ids,
                          checking::CallSite where = std::source_location::current()) {
  return call(op::TakeAlong<J, Into...>{}, where, a, ids);
}

}  // namespace shardtype
