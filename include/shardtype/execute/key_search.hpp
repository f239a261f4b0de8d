#pragma once
/// Finds elements by their number in the order of rows that ranks share
/// (plan/distributed_sort.hpp).

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/execute/on_host.hpp>
#include <shardtype/execute/window.hpp>
#include <shardtype/kernels/distributed_sort.hpp>
#include <shardtype/plan/distributed_sort.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::execute {

/// The keys of some elements of each row, digit by digit: in each round ranks add up how many of
/// their elements have at most each of the keys that are still possible. Collective.
template <class T, class Space>
class KeySearch {
  using HostExec = Kokkos::DefaultHostExecutionSpace;
  using Int = std::int64_t;

 public:
  KeySearch(AlongDim<T, Space> const& along, Caller const& caller,
            planning::CutSearch const& search, bool descending)
      : along_(along), caller_(caller), search_(search), descending_(descending) {}

  /// `sorted`: the rank's own `rows` rows of `n` elements. Search `k` of the `search.ranks - 1` of
  /// each row is for the element with which there are `number(k)` up to it: `prefix[k]` becomes its
  /// key, `below[k]` the number of elements with lesser keys.
  template <class Number>
  void run(T const* sorted, Int n, Int rows, Number number, std::uint64_t* prefix,
           Int* below) const {
    Int const each = search_.ranks - 1;
    Int const all = rows * each;
    Int const keys = search_.keys();
    for (Int k = 0; k < all; ++k) {
      prefix[k] = 0;
      below[k] = 0;
    }
    MeshState& mesh = along_.run.mesh;
    Buffer const of_counts = OnHost<Space>{mesh}.template take<Int>(all * keys);
    auto* const counts = static_cast<Int*>(of_counts.data());
    core::Extents extents = along_.sizing.extents;
    Spec const& a = along_.run.call.a();
    planning::Step const step = planning::counts_step(a, along_.dim, extents, search_);
    for (int shift = search_.key_bits - search_.digit; shift >= 0; shift -= search_.digit) {
      kernels::launch(
          runtime::instance<HostExec>(), "shardtype::count_up_to", all * keys,
          kernels::detail::CountUpTo<T>{sorted, prefix, counts, n, each, keys, shift, descending_});
      if (mesh.agreement().begin_step())
        execute::agree_on_collective(mesh, along_.map, along_.sizing, step, caller_);
      execute::group_of(mesh, along_.map, a.dims[along_.dim].axes)
          .template all_reduce<Int>(counts, counts, all * keys, ReduceKind::sum);
      for (Int k = 0; k < all; ++k) {
        Int const* const up_to = counts + k * keys;
        // the first digit up to which there are enough elements
        auto const digit = std::lower_bound(up_to, up_to + keys, number(k)) - up_to;
        if (digit > 0) below[k] = up_to[digit - 1];
        prefix[k] |= static_cast<std::uint64_t>(digit) << shift;
      }
    }
  }

 private:
  AlongDim<T, Space> const& along_;
  Caller const& caller_;
  planning::CutSearch const& search_;
  bool descending_;
};

}  // namespace shardtype::execute
