#pragma once
/// Sorting along one dim that is not split. Stable: equal elements keep their order. A NaN comes last,
/// in both orders.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/sort.hpp>
#include <shardtype/execute/block_sorter.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class I>
struct Run<op::Sort<I>> : Filled<Run<op::Sort<I>>> {
  template <class Out, class A>
  static void fill(op::Sort<I> const& op, Out& out, A const& a) {
    if (a.local_size() > 0)
      block_sorter<I>(a, -1, op.order)
          .values(static_cast<typename A::element*>(out.buffer().data()));
  }
};
}  // namespace execute

/// Sorts the elements along I: `a[I, J@X]` -> `sort<I>(a)` -> `[I, J@X]`. Local. Refused: D01, D03
/// along a split dim (reshard first), I10 while unreduced, I11 complex numbers.
template <class I, class A>
constexpr auto sort(A const& a, op::Order order = op::Order::ascending,
                    checking::CallSite where = std::source_location::current()) {
  return call(op::Sort<I>{order}, where, a);
}

}  // namespace shardtype
