#pragma once
/// Execution of counts and of searches in sorted tables.

#include <cstdint>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/kernels/counts.hpp>
#include <shardtype/ops/counts.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::op {

template <class V, class Bins>
template <class Out, class A>
void CountRows<V, Bins>::fill(Out& out, A const& a) const {
  if constexpr (Bins::of_ids) execute::check_values_of<V>(a, n);
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  kernels::Counts const counts{execute::written(out), out.rows()[0].range().begin,
                               out.rows()[0].size()};
  if constexpr (Bins::of_ids) {
    kernels::count(exec, execute::data_of(a), a.local_size(), kernels::BinOfId{}, counts);
  } else {
    using Edge = kernels::edge_of<typename A::element>;
    kernels::count(exec, execute::data_of(a), a.local_size(),
                   kernels::EqualBin<Edge>(bins.low, bins.high, n), counts);
  }
  runtime::fence(exec);
}

template <class V>
template <class Out, class A, class Queries>
void SearchSorted<V>::fill(Out& out, A const& table, Queries const& queries) const {
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  kernels::search_sorted(exec, execute::data_of(table), table.local_size(),
                         execute::data_of(queries), execute::written(out), queries.local_size(),
                         side == Side::right);
  runtime::fence(exec);
}

}  // namespace shardtype::op
