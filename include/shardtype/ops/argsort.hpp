#pragma once
/// The positions that sort a dim. Stable: equal elements keep their order. A NaN comes last, in
/// both orders.

#include <cstdint>
#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/sort.hpp>
#include <shardtype/execute/block_sorter.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class I>
struct Run<op::ArgSort<I>> : Filled<Run<op::ArgSort<I>>> {
  template <class Out, class A>
  static void fill(op::ArgSort<I> const& op, Out& out, A const& a) {
    if (a.local_size() > 0)
      block_sorter<I>(a, -1, op.order)
          .first(nullptr, static_cast<std::int64_t*>(out.buffer().data()));
  }
};
}  // namespace execute

/// The positions of the sorted elements along I, as std::int64_t: `a[I, J@X]` -> `argsort<I>(a)` ->
/// `i64[I, J@X]`; `take_along<I>(a, argsort<I>(a))` is `sort<I>(a)`. Local. Refused as sort.
template <class I, class A>
constexpr auto argsort(A const& a, op::Order order = op::Order::ascending,
                       checking::CallSite where = std::source_location::current()) {
  return call(op::ArgSort<I>{order}, where, a);
}

}  // namespace shardtype
