#pragma once
/// Lookups by tensors of ids. Ids are std::int32_t or std::int64_t, from 0 to extent - 1. Other
/// ids, negative ones included, give zeros; with SHARDTYPE_CHECK=values they are an Error, E50.

#include <cstdint>
#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/indexing.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>

namespace shardtype {

namespace execute {
template <class V>
struct Run<op::Take<V>> : Filled<Run<op::Take<V>>> {
  template <class Out, class A, class Ids>
  static void fill(op::Take<V> const&, Out& out, A const& table, Ids const& ids) {
    constexpr auto at = static_cast<std::size_t>(dim_of<A, V>);
    check_values_of<V>(ids, table.extents()[at]);
    typename A::execution_space const exec{};
    kernels::look_up(exec, data_of(table), data_of(ids),
                     static_cast<typename A::element*>(out.buffer().data()),
                     numbered_rows(detail::block_layout(table.rows()), static_cast<int>(at),
                                   table.rows()[at].range(), ids.local_size()));
    exec.fence();
  }
};
template <class V, class Out, class... More>
struct Run<op::Take<V, Out, More...>> {
  template <class R, class A, class Ids>
  static auto run(op::Take<V, Out, More...> const& op, std::source_location const& where,
                  A const& table, Ids const& ids) {
    return run_named<R, Run<op::Take<V>>>(op.strict(), where, table, ids);
  }
};
}  // namespace execute

/// Takes the rows of a table that ids name: `table[V, D@Y]`, `ids[B@X, S]` -> `take<V>(table, ids)`
/// -> `[B@X, S, D@Y]`; the dims of the ids replace V, as in np.take. Communicates nothing.
///
/// If V is split over Z, each rank looks up the ids of its own rows and uses zeros for the others:
/// the result is an unreduced sum, `{U:Z}` (for bool an unreduced maximum). Axes over which the
/// table is unreduced or reduced are kept.
///
/// `take<V, Dim<B, X>, Dim<D>>(table, ids)` names the result: ids are gathered over axes that the
/// table uses, both operands are sliced to the result's sharding if that is free, and the lookup's
/// result is resharded.
///
/// Refused: D01, I01 to I07, C10, R01 to R04 for the result. Errors: E23, E50.
template <class V, class... Out, class A, class Ids>
constexpr auto take(A const& table, Ids const& ids,
                    checking::CallSite where = std::source_location::current()) {
  return call(op::Take<V, Out...>{}, where, table, ids);
}

}  // namespace shardtype
