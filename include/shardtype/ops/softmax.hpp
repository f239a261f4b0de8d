#pragma once
/// Softmax and its logarithm.

#include <source_location>
#include <utility>

#include <shardtype/check/normalization.hpp>
#include <shardtype/execute/reduce_instances.hpp>
#include <shardtype/execute/reduce_run.hpp>
#include <shardtype/kernels/softmax.hpp>
#include <shardtype/ops/elementwise.hpp>
#include <shardtype/ops/logsumexp.hpp>

namespace shardtype {

namespace execute {
template <bool Log, class... Labels>
struct Run<op::Normalize<Log, Labels...>> {
  template <class R, class A>
  static typename R::result run(op::Normalize<Log, Labels...> const&,
                                std::source_location const& where, A const& a) {
    AxisMap const axes = map_axes(a.mesh().state(), R::S::names);
    if constexpr (!R::communicates) {
      return made<R>(a, nullptr, axes);
    } else {
      Sizing z{R::S::names.extents(), axes.sizes,
               static_cast<std::int64_t>(sizeof(typename A::element))};
      note_extents(z.extents, R::S::names, R::given, a.extents().data(), "the operand");
      Plan const& plan = plan_of<R>(z);
      NamedRun const run{plan, axes, where};
      Together const together{plan, where};
      auto const met = run.template moved<typename R::met>(Slot::a, a);
      return run.template arrived<typename R::result>(made<R>(met, &together, axes));
    }
  }

 private:
  /// The plan by which ranks that share a row combine its totals; no communication without one.
  struct Together {
    Plan const& plan;
    std::source_location const& where;
  };

  /// The normalized blocks of `a`, in the sharding that `a` has.
  template <class R, class A>
  static auto made(A const& a, [[maybe_unused]] Together const* together,
                   [[maybe_unused]] AxisMap const& axes) {
    using T = typename A::element;
    using Space = typename A::memory_space;
    using Reducer = reducer_t<reductions::LogSumExp, T>;
    using Out = typename R::met;
    static constexpr planning::NormalizationPlan way = R::way();
    static_assert(
        sizeof(typename Reducer::Total) ==
        static_cast<std::size_t>(shardtype::detail::normalization_bytes<typename R::result>));
    Out out = shardtype::detail::uninitialized<Out>(a.mesh(), a.extents());
    if (!a.mesh().here()) return out;
    constexpr KeptDims kept = kept_dims(way.made, way.totals);
    kernels::Layout const block = shardtype::detail::block_layout(a.rows());
    Buffer totals = reduce_block<Reducer, false, Space>(
        a.mesh().state(), static_cast<T const*>(a.buffer().data()),
        kept_first(block, kept.at, kept.count), kept.count);
    if constexpr (R::communicates && !way.totals.unreduced.empty()) {
      using Carries = Carried<Reducer>;
      Sizing const of_totals = together->plan.sizing_of(Slot::b);
      Executor<Carries, Space> executor(a.mesh().state(), axes, of_totals, together->where);
      totals = executor.run_slot(
          together->plan, Slot::b,
          whole_value<Carries>(way.totals, of_totals, axes.coords, std::move(totals)));
    }
    kernels::Layout rows = block;
    std::int64_t stride = 1;
    for (int d = 0; d < rows.rank; ++d) rows.stride[d] = 0;
    for (int k = kept.count - 1; k >= 0; --k) {
      rows.stride[kept.at[k]] = stride;
      stride *= rows.extent[kept.at[k]];
    }
    typename A::execution_space const exec{};
    kernels::normalize<Log>(exec, static_cast<T const*>(a.buffer().data()),
                            static_cast<T*>(out.buffer().data()),
                            static_cast<typename Reducer::Total*>(totals.data()), rows);
    exec.fence();
    return out;
  }
};
}  // namespace execute

/// exp(a) divided by its sum over the named labels; computed relative to the largest element, so that
/// nothing overflows. Of a tensor with one dim no label need be named (of others S06; without an axis
/// JAX runs over the last dim). `A[I@X, J]` -> `softmax<J>(a)` -> `A[I@X, J]`,
/// local. A row that contains NaN or inf, or only -inf, becomes NaN.
///
/// Over a split dim, the result is named after the labels: `A[I, J@Y]` -> `softmax<J, Dim<I>,
/// Dim<J, Y>>(a)` -> `A[I, J@Y]`, one all_reduce of a (maximum, sum) pair for each row. No element
/// is sent, unless the named sharding differs from the operand's: then the result is resharded.
/// Refused: S01 an index that `a` lacks, S02 an unreduced operand, S03 strict over a split dim, P12
/// integers, S04 complex numbers, S06, N05, R01 to R03, V14. As jax.nn.softmax.
template <class... Names, class A>
  requires(detail::are_operands<A>)
constexpr auto softmax(A const& a, checking::CallSite where = std::source_location::current()) {
  return call(op::Softmax<Names...>{}, where, a);
}

/// The logarithm of softmax, a - logsumexp(a); otherwise as softmax. As jax.nn.log_softmax.
template <class... Names, class A>
  requires(detail::are_operands<A>)
constexpr auto log_softmax(A const& a, checking::CallSite where = std::source_location::current()) {
  return call(op::LogSoftmax<Names...>{}, where, a);
}

}  // namespace shardtype
