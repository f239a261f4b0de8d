#pragma once
/// Execution of sorting.

#include <cstdint>
#include <source_location>

#include <shardtype/execute/block_sorter.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/ops/sorting.hpp>

namespace shardtype::execute {

template <bool Places, class I>
struct Run<op::Sorted<Places, I>> : Filled<Run<op::Sorted<Places, I>>> {
  template <class Out, class A>
  static void fill(op::Sorted<Places, I> const& op, Out& out, A const& a) {
    if (a.local_size() == 0) return;
    auto sorter = execute::block_sorter<I>(a, -1, op.order);
    auto* const to = static_cast<typename Out::element*>(out.buffer().data());
    if constexpr (Places) {
      sorter.first(nullptr, to);
    } else {
      sorter.values(to);
    }
  }
};

template <class I, class... Result>
struct Run<op::TopK<I, Result...>> : Filled<Run<op::TopK<I, Result...>>> {
  template <class Values, class Places, class A>
  static void fill(op::TopK<I, Result...> const& op, Values& values, Places& places, A const& a) {
    if (a.local_size() > 0)
      execute::block_sorter<I>(a, op.k, op::Order::descending)
          .first(static_cast<typename A::element*>(values.buffer().data()),
                 static_cast<std::int64_t*>(places.buffer().data()));
  }
};

}  // namespace shardtype::execute
