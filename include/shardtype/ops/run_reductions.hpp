#pragma once
/// Execution of softmax and its logarithm.

#include <utility>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/reduce_instances.hpp>
#include <shardtype/execute/reduce_run.hpp>
#include <shardtype/kernels/softmax.hpp>
#include <shardtype/ops/reductions.hpp>

namespace shardtype::execute {

template <bool Log, class... Ls>
struct Run<op::Normalize<Log, Ls...>> : LocalBlock<Run<op::Normalize<Log, Ls...>>> {
  using Op = op::Normalize<Log, Ls...>;
  template <class T>
  using Reducer = reducer_t<reductions::LogSumExp, T>;

  template <class T, class Space>
  static Buffer block(Op const&, LocalRun<T, Space> const& run) {
    return made(run, totals(run));
  }
  /// Ranks that share a row combine its totals.
  template <class T, class Space>
  static Buffer block(Op const&, LocalRun<T, Space> const& run, NamedRun const& named) {
    return made(run, named.steps<Carried<Reducer<T>>, Space>(Slot::b, run.mesh, totals(run)));
  }

 private:
  static KeptDims kept(ResultExtents const& call) {
    return execute::kept_dims(call.a(), Op::totals(call.a(), call.from()));
  }
  template <class T, class Space>
  static Buffer totals(LocalRun<T, Space> const& run) {
    static_assert(sizeof(typename Reducer<T>::Total) == static_cast<std::size_t>(Op::total_bytes));
    KeptDims const k = kept(run.call);
    return execute::reduce_block<Reducer<T>, false, Space>(
        run.mesh, run.data, execute::kept_first(run.in, k.at, k.count), k.count);
  }
  /// The normalized block.
  template <class T, class Space>
  static Buffer made(LocalRun<T, Space> const& run, Buffer const& totals) {
    KeptDims const k = kept(run.call);
    kernels::Layout rows = run.in;
    std::int64_t stride = 1;
    for (int d = 0; d < rows.rank; ++d) rows.stride[d] = 0;
    for (int n = k.count - 1; n >= 0; --n) {
      rows.stride[k.at[n]] = stride;
      stride *= rows.extent[k.at[n]];
    }
    Buffer out = run.fresh();
    kernels::normalize<Log>(run.exec(), run.data, run.writable(out),
                            static_cast<typename Reducer<T>::Total*>(totals.data()), rows);
    run.exec().fence();
    return out;
  }
};

}  // namespace shardtype::execute
