#pragma once
/// Execution of quantiles.

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/quantile.hpp>
#include <shardtype/ops/quantiles.hpp>

namespace shardtype::op {

template <class I>
template <class Call>
auto QuantileOfRows<I>::block(Call const& run) const {
  using T = typename Call::element;
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): names are literals
  return execute::RowQuantiles<T, typename Call::memory_space>(run, name.data(), q).run();
}

}  // namespace shardtype::op
