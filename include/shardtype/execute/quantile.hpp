#pragma once
/// Quantiles of the rows of a tensor, along a dim that ranks may share.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/execute/block_sorter.hpp>
#include <shardtype/execute/distributed_sort.hpp>
#include <shardtype/execute/key_search.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/quantile.hpp>
#include <shardtype/kernels/sort_key.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::execute {

/// One call on the calling rank: sorts its rows, and where ranks share rows finds the elements of
/// the quantile in all of them.
template <class T, class Space>
class RowQuantiles {
  using Int = std::int64_t;

 public:
  RowQuantiles(LocalRun<T, Space> const& run, char const* name, double q)
      : along_(run), caller_(run.where, name, 0), search_(0, 1, sizeof(T), 0), q_(q) {
    core::Layout const largest = planning::packed_layout(run.call.a(), along_.sizing);
    search_ = planning::CutSearch(core::cross_section(largest, along_.dim),
                                  planning::quantile_elements + 1, sizeof(T),
                                  mul_sat(largest.elements(), sizeof(T)));
  }

  /// The result's block.
  Buffer run() {
    Buffer out = run_.take(rows());
    T* const to = run_.writable(out);
    Int const n = along_.extent();
    if (n == 0) {
      kernels::fill(run_.exec(), to, rows(),
                    static_cast<T>(std::numeric_limits<float>::quiet_NaN()));
      runtime::fence(run_.exec());
      return out;
    }
    double const place = q_ * static_cast<double>(n - 1);
    auto const low = std::min(static_cast<Int>(place), n - 1);
    kernels::QuantileElements const at{low, std::min(low + 1, n - 1), n - 1};
    double const weight = place - static_cast<double>(low);
    if (execute::shares_rows(run_)) {
      Buffer const found = found_elements(at);
      kernels::quantiles(run_.exec(), static_cast<T const*>(found.data()), rows(),
                         planning::quantile_elements, {0, 1, 2}, weight, to);
      runtime::fence(run_.exec());
    } else if (rows() > 0) {
      Buffer const sorted = sorted_rows();
      kernels::quantiles(run_.exec(), static_cast<T const*>(sorted.data()), rows(), n, at, weight,
                         to);
      runtime::fence(run_.exec());
    }
    return out;
  }

 private:
  Int rows() const { return in_.row(); }

  /// The own rows, each in order.
  Buffer sorted_rows() const {
    if (run_.in.elements() == 0) return run_.take(0);
    return BlockSorter<T, Space>(run_.mesh, run_.data, run_.in, along_.dim, in_.n,
                                 op::Order::ascending)
        .rows(0, nullptr);
  }
  /// Of each row these elements, of all ranks. Collective.
  Buffer found_elements(kernels::QuantileElements const& at) const {
    Int const numbers[] = {at.low + 1, at.high + 1, at.last + 1};
    Int const all = rows() * planning::quantile_elements;
    Buffer const of_prefix = host_.template take<std::uint64_t>(all);
    auto* const prefix = static_cast<std::uint64_t*>(of_prefix.data());
    {
      Buffer const of_below = host_.template take<Int>(all);
      Buffer const sorted = sorted_rows();
      Buffer const near =
          host_.template near<T>(static_cast<T const*>(sorted.data()), run_.in.elements());
      Buffer const& there = runtime::host_reads<Space> ? sorted : near;
      KeySearch<T, Space>(along_, caller_, search_, false)
          .run(
              static_cast<T const*>(there.data()), in_.n, rows(),
              [&](Int k) { return numbers[k % planning::quantile_elements]; }, prefix,
              static_cast<Int*>(of_below.data()));
    }
    Buffer found = host_.template take<T>(all);
    for (Int k = 0; k < all; ++k)
      static_cast<T*>(found.data())[k] = kernels::detail::element_of_key<T>(
          static_cast<kernels::detail::SortKey<T>>(prefix[k]), false);
    return host_.template back<T>(std::move(found), all);
  }

  AlongDim<T, Space> along_;
  LocalRun<T, Space> const& run_ = along_.run;
  OnHost<Space> host_{run_.mesh};
  Caller caller_;
  Around in_{run_.in, along_.dim};
  planning::CutSearch search_;
  double q_;
};

}  // namespace shardtype::execute
