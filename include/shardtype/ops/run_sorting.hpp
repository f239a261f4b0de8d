#pragma once
/// Execution of sorting.

#include <cstdint>
#include <source_location>

#include <shardtype/execute/block_sorter.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/distributed_sort.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/ops/sorting.hpp>

namespace shardtype::op {

template <bool Places, class I>
template <class Call>
auto Sorted<Places, I>::block(Call const& run) const {
  using T = typename Call::element;
  using Space = typename Call::memory_space;
  if (execute::shares_rows(run))
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): names are literals
    return execute::DistributedSort<T, Space, Places>(run, name.data(), order).run();
  using Made = std::conditional_t<Places, std::int64_t, T>;
  runtime::Buffer out = run.mesh.pool().template take<Space>(
      static_cast<std::size_t>(run.out.elements()) * sizeof(Made));
  if (run.out.elements() == 0) return out;
  int const d = run.call.dim();
  execute::BlockSorter<T, Space> sorter(run.mesh, run.data, run.in, d, run.in.extent[d], order);
  if constexpr (Places) {
    sorter.first(nullptr, static_cast<Made*>(out.data()));
  } else {
    sorter.values(static_cast<Made*>(out.data()));
  }
  return out;
}

template <class I, class... Result>
template <class Values, class Places, class A>
void TopK<I, Result...>::fill(Values& values, Places& places, A const& a) const {
  if (a.local_size() > 0)
    execute::block_sorter<I>(a, k, op::Order::descending)
        .first(execute::written(values), execute::written(places));
}

}  // namespace shardtype::op
