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
  /// The normalized block of `a`, of totals.
  template <class T, class Space, class A>
  static Buffer joined(Op const&, JoinedRows<T, Space> const& rows, A const& a) {
    // an equal operation may read these totals, which the kernel overwrites
    bool const read_again = rows.totals.holders() > 2;
    Buffer totals = rows.totals;
    if (read_again) {
      typename Space::execution_space const exec{};
      using Total = typename Reducer<T>::Total;
      kernels::Layout line;
      line.rank = 1;
      line.extent[0] = rows.count();
      totals = rows.template take<Total>(rows.count());
      kernels::copy_packed(exec, static_cast<Total const*>(rows.totals.data()), line.packed(),
                           static_cast<Total*>(totals.data()));
    }
    Buffer out = rows.template take<T>(rows.layout.elements());
    normalize<Space>(rows.layout, rows.kept, static_cast<T const*>(a.buffer().data()), totals,
                     static_cast<T*>(out.data()));
    return out;
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
    Buffer out = run.fresh();
    normalize<Space>(run.in, kept(run.call), run.data, totals, run.writable(out));
    return out;
  }
  /// The same of a packed block with these extents.
  template <class Space, class T>
  static void normalize(kernels::Layout rows, KeptDims const& k, T const* from,
                        Buffer const& totals, T* to) {
    std::int64_t stride = 1;
    for (int d = 0; d < rows.rank; ++d) rows.stride[d] = 0;
    for (int n = k.count - 1; n >= 0; --n) {
      rows.stride[k.at[n]] = stride;
      stride *= rows.extent[k.at[n]];
    }
    typename Space::execution_space const exec{};
    kernels::normalize<Log>(exec, from, to,
                            static_cast<typename Reducer<T>::Total*>(totals.data()), rows);
    exec.fence();
  }
};

}  // namespace shardtype::execute
