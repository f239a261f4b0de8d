#pragma once
/// Runs operations on rows that are split over ranks: each rank computes totals of its part, the
/// plan joins them, and the result is made of these.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/lazy/run_operation.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::execute {

/// The reducer of the totals `F` of elements `T`; a reduction of an operation may have its own.
template <class F, class T>
struct ReducerOfTotals {
  using type = reducer_t<F, T>;
};
template <class F, class T>
  requires requires { typename F::template reducer<T>; }
struct ReducerOfTotals<F, T> {
  using type = typename F::template reducer<T>;
};

template <class Op, class Whole, class... As>
struct TotalsRun<automatic_mode::LazyOperation<Op, Whole, As...>> {
  using E = automatic_mode::LazyOperation<Op, Whole, As...>;
  using Rows = typename shardtype::detail::FirstOperand<As...>::type;
  using Reducer = typename ReducerOfTotals<typename Op::row_totals, typename Rows::element>::type;

  /// The totals of the rank's part of each row.
  static AnyBlock totals(ProgramRun& run, int step, [[maybe_unused]] void const* part) {
    if constexpr (shardtype::detail::totals_of<Op> > 1) {
      return totals(run, step, static_cast<E const*>(part)->function(),
                    std::make_integer_sequence<int, shardtype::detail::totals_of<Op>>{});
    } else {
      return totals(run, step);
    }
  }
  /// The result, by the totals of whole rows.
  static AnyBlock joined(ProgramRun& run, int step, void const* part) {
    return joined(run, step, static_cast<E const*>(part)->function(),
                  std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{});
  }
  /// A move of the result, or of totals.
  static AnyBlock move(ProgramRun& run, int step) {
    using Space = typename Whole::memory_space;
    if (run.node(step).making != Making::reduction)
      return execute::move_block<typename Whole::element, Space>(run, step);
    return execute::move_block<Carried<Reducer>, Space>(run, step);
  }

 private:
  /// The block of totals that the operation makes of several operands.
  template <int... K>
  static AnyBlock totals(ProgramRun& run, int step, Op const& op,
                         std::integer_sequence<int, K...>) {
    using Space = typename Rows::memory_space;
    kernels::Layout const from = execute::input_layout<Rows>(run, step, 0);
    KeptDims const k = kept(run, run.node(run.plan().steps.at[step].input[0]), run.node(step));
    JoinedRows<typename Rows::element, Space> const in{run.mesh(), from, k, {}, 1};
    kernels::Layout extents;
    extents.rank = k.count;
    for (int d = 0; d < k.count; ++d) extents.extent[d] = from.extent[k.at[d]];
    return execute::packed_block(
        op.totals(in, execute::places_of_value<Rows>(run, run.plan().steps.at[step].input[0]),
                  execute::local_input<std::tuple_element_t<static_cast<std::size_t>(K),
                                                            std::tuple<typename As::whole...>>>(
                      run, step, K)...),
        extents);
  }
  static AnyBlock totals(ProgramRun& run, int step) {
    using Space = typename Rows::memory_space;
    using T = typename Rows::element;
    int const input = run.plan().steps.at[step].input[0];
    kernels::Layout const from = execute::input_layout<Rows>(run, step, 0);
    KeptDims const k = kept(run, run.node(input), run.node(step));
    Buffer out = execute::reduce_block<Reducer, false, Space>(
        run.mesh(), execute::elements_of<T>(run.input(step, 0)),
        execute::kept_first(from, k.at, k.count), k.count);
    using Total = typename Reducer::Total;
    if constexpr (std::is_same_v<Total, kernels::Placed<T>>) {
      PlacesInWhole const at =
          execute::places_of_value<Rows>(run, run.plan().steps.at[step].input[0]);
      execute::place_in_whole<typename Space::execution_space>(at, k,
                                                               static_cast<Total*>(out.data()));
    }
    kernels::Layout extents;
    extents.rank = k.count;
    for (int d = 0; d < k.count; ++d) extents.extent[d] = from.extent[k.at[d]];
    return execute::packed_block(std::move(out), extents);
  }
  /// The dims of the operand that the totals have, as dims of type `Rows`.
  static KeptDims kept(ProgramRun& run, ProgramNode const& rows, ProgramNode const& totals) {
    int place[max_dims]{};
    execute::places_of<Rows>(rows, run.labels(), place);
    KeptDims out;
    for (int d = 0; d < totals.rank; ++d)
      for (int e = 0; e < rows.rank; ++e)
        if (rows.labels[place[e]] == totals.labels[d]) out.at[out.count++] = e;
    return out;
  }
  template <int... K>
  static AnyBlock joined(ProgramRun& run, int step, Op const& op,
                         std::integer_sequence<int, K...>) {
    using Space = typename Rows::memory_space;
    using Total = Carried<Reducer>;
    RecordedProgram const& p = run.plan().program;
    ProgramNode const& rows = p.nodes.at[p.operand(run.plan().steps.at[step].node, 0, 0)];
    ProgramNode const& of = p.nodes.at[run.node(step).totals];
    int const last = run.plan().steps.at[step].inputs - 1;
    JoinedRows<typename Rows::element, Space> in{run.mesh(), {}, kept(run, rows, of), {}, 1};
    AnyBlock const& totals = run.input(step, last);
    if (totals.layout.contiguous() && totals.data == totals.keep.data()) {
      in.totals = totals.keep;
    } else {
      in.totals = in.template take<Total>(totals.layout.elements());
      typename Space::execution_space const& exec =
          runtime::instance<typename Space::execution_space>();
      kernels::copy_packed(exec, execute::elements_of<Total>(totals), totals.layout,
                           static_cast<Total*>(in.totals.data()));
      runtime::fence(exec);
    }
    for (int d = 0; d < rows.rank; ++d)
      if (p.find(run.node(step).totals, rows.labels[d]) < 0)
        in.terms *= p.extents.at[rows.labels[d]];
    kernels::Layout out;
    out.rank = run.node(step).rank;
    if constexpr (shardtype::detail::rereads_rows<Op>) {
      in.layout = execute::input_layout<Rows>(run, step, 0);
      bool const like_rows = out.rank == rows.rank;
      for (int d = 0; d < out.rank; ++d)
        out.extent[d] = like_rows ? in.layout.extent[d] : totals.layout.extent[d];
      return execute::packed_block(
          op.joined(in, execute::local_input<typename As::whole>(run, step, K)...), out);
    } else {
      for (int d = 0; d < out.rank; ++d)
        in.layout.extent[in.kept.at[d]] = out.extent[d] = totals.layout.extent[d];
      return execute::packed_block(op.joined(in), out);
    }
  }
};

}  // namespace shardtype::execute
