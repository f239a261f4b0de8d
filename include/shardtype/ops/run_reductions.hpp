#pragma once
/// Execution of softmax and its logarithm.

#include <utility>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/reduce_instances.hpp>
#include <shardtype/execute/reduce_run.hpp>
#include <shardtype/kernels/softmax.hpp>
#include <shardtype/ops/reductions.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::op {

/// Ranks that share a row of a named result combine its totals.
template <bool Log, class... Ls>
template <class Call, class... Named>
auto Normalize<Log, Ls...>::block(Call const& run, Named const&... named) const {
  using T = typename Call::element;
  using Space = typename Call::Exec::memory_space;
  using Reducer = execute::reducer_t<reductions::LogSumExp, T>;
  using Total = detail::sent_t<Reducer>;
  static_assert(sizeof(Total) == static_cast<std::size_t>(sent_bytes(sizeof(T))));
  execute::KeptDims const k =
      execute::kept_dims(run.call.a(), totals(run.call.a(), run.call.from()));
  kernels::Layout const rows = execute::rows_of_totals(run.in, k);
  // no rank has a part of a row only
  bool const whole =
      sizeof...(Named) == 0 && kernels::has_whole_rows<Log, T, typename Call::Exec>(rows);
  if (whole) {
    runtime::Buffer out = run.fresh();
    kernels::normalize_whole_rows<Log>(run.exec(), run.data, run.writable(out), rows);
    runtime::fence(run.exec());
    return out;
  }
  runtime::Buffer sums = execute::reduce_block<Reducer, false, Space>(
      run.mesh, run.data, execute::kept_first(run.in, k.at, k.count), k.count);
  ((sums = named.template steps<execute::Carried<Reducer>, Space>(planning::Slot::b, run.mesh,
                                                                  std::move(sums))),
   ...);
  runtime::Buffer out = run.fresh();
  kernels::normalize<Log>(run.exec(), run.data, run.writable(out), static_cast<Total*>(sums.data()),
                          rows);
  runtime::fence(run.exec());
  return out;
}
template <bool Log, class... Ls>
template <class T, class Space, class A>
auto Normalize<Log, Ls...>::joined(execute::JoinedRows<T, Space> const& rows, A const& a) const {
  using Total = detail::sent_t<execute::reducer_t<reductions::LogSumExp, T>>;
  typename Space::execution_space const& exec =
      runtime::instance<typename Space::execution_space>();
  // an equal operation may read them, and the kernel overwrites them
  bool const read_again = rows.totals.holders() > 2;
  runtime::Buffer totals = rows.totals;
  if (read_again) {
    kernels::Layout line;
    line.rank = 1;
    line.extent[0] = rows.count();
    totals = rows.template take<Total>(rows.count());
    kernels::copy_packed(exec, static_cast<Total const*>(rows.totals.data()), line.packed(),
                         static_cast<Total*>(totals.data()));
  }
  runtime::Buffer out = rows.template take<T>(rows.layout.elements());
  kernels::normalize<Log>(exec, static_cast<T const*>(a.buffer().data()),
                          static_cast<T*>(out.data()), static_cast<Total*>(totals.data()),
                          execute::rows_of_totals(rows.layout, rows.kept));
  runtime::fence(exec);
  return out;
}

}  // namespace shardtype::op
