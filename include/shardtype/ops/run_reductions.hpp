#pragma once
/// Execution of softmax and its logarithm.

#include <utility>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/reduce_instances.hpp>
#include <shardtype/execute/reduce_run.hpp>
#include <shardtype/kernels/softmax.hpp>
#include <shardtype/ops/reductions.hpp>

namespace shardtype::op {

/// Ranks that share a row of a named result combine its totals.
template <bool Log, class... Ls>
template <class Call, class... Named>
auto Normalize<Log, Ls...>::block(Call const& run, Named const&... named) const {
  using T = typename Call::element;
  using Space = typename Call::Exec::memory_space;
  using Reducer = execute::reducer_t<reductions::LogSumExp, T>;
  using Total = typename Reducer::Total;
  static_assert(sizeof(Total) == static_cast<std::size_t>(total_bytes));
  execute::KeptDims const k =
      execute::kept_dims(run.call.a(), totals(run.call.a(), run.call.from()));
  runtime::Buffer sums = execute::reduce_block<Reducer, false, Space>(
      run.mesh, run.data, execute::kept_first(run.in, k.at, k.count), k.count);
  ((sums = named.template steps<execute::Carried<Reducer>, Space>(planning::Slot::b, run.mesh,
                                                                  std::move(sums))),
   ...);
  kernels::Layout rows = run.in;
  std::int64_t stride = 1;
  for (int d = 0; d < rows.rank; ++d) rows.stride[d] = 0;
  for (int n = k.count - 1; n >= 0; --n) {
    rows.stride[k.at[n]] = stride;
    stride *= rows.extent[k.at[n]];
  }
  runtime::Buffer out = run.fresh();
  kernels::normalize<Log>(run.exec(), run.data, run.writable(out), static_cast<Total*>(sums.data()),
                          rows);
  run.exec().fence();
  return out;
}

}  // namespace shardtype::op
