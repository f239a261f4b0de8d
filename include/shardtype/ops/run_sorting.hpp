#pragma once
/// Execution of sorting.

#include <cstdint>
#include <source_location>

#include <shardtype/execute/block_sorter.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/ops/sorting.hpp>

namespace shardtype::op {

template <bool Places, class I>
template <class Out, class A>
void Sorted<Places, I>::fill(Out& out, A const& a) const {
  if (a.local_size() == 0) return;
  auto sorter = execute::block_sorter<I>(a, -1, order);
  auto* const to = execute::written(out);
  if constexpr (Places) {
    sorter.first(nullptr, to);
  } else {
    sorter.values(to);
  }
}

template <class I, class... Result>
template <class Values, class Places, class A>
void TopK<I, Result...>::fill(Values& values, Places& places, A const& a) const {
  if (a.local_size() > 0)
    execute::block_sorter<I>(a, k, op::Order::descending)
        .first(execute::written(values), execute::written(places));
}

}  // namespace shardtype::op
