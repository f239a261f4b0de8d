#pragma once
/// Runs recorded operations, as parts of a program.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/lazy/located_block.hpp>
#include <shardtype/lazy/node_properties.hpp>
#include <shardtype/lazy/own_call.hpp>
#include <shardtype/lazy/run.hpp>

namespace shardtype::execute {

/// An operand in the form that the operation expects: packed, its dims in the order of its type.
template <class A>
automatic_mode::block_t<A> local_input(ProgramRun& run, int step, int k) {
  kernels::Layout const layout = execute::input_layout<A>(run, step, k);
  std::array<std::int64_t, A::rank> extents{};
  for (std::size_t d = 0; d < A::rank; ++d) extents[d] = layout.extent[d];
  return {run.mesh_ref(), extents, execute::packed_input<A>(run, step, k)};
}
/// The places of the elements of the block of a step's value.
template <class A>
PlacesInWhole places_of_value(ProgramRun& run, int step) {
  Spec const spec = run.plan().spec(step);
  Extents const extents = run.extents(step);
  int place[max_dims]{};
  execute::places_of<A>(run.node(step), run.labels(), place);
  PlacesInWhole out;
  out.rank = static_cast<int>(A::rank);
  for (int d = 0; d < out.rank; ++d) {
    out.extents[d] = extents[place[d]];
    out.rows[d] = core::rows_of(out.extents[d], spec.dims[place[d]].axes, run.axes().sizes,
                                run.axes().coords);
  }
  return out;
}
/// Keeps the results of a step's operation; `block_of`: their blocks.
template <class Op, class Out, class Blocks>
AnyBlock keep_results(ProgramRun& run, int step, Out const& out, Blocks const& block_of) {
  if constexpr (shardtype::detail::HasResults<Op>) {
    return std::apply(
        [&](auto const& first, auto const&... further) {
          (run.further(step).push_back(block_of(further)), ...);
          run.drop_unread_results(step);
          return block_of(first);
        },
        out);
  } else {
    return block_of(out);
  }
}
/// A result whose block has these extents, for each dim.
template <class Out, class Extent>
AnyBlock block_with(Out const& out, Extent const& extent) {
  kernels::Layout extents;
  extents.rank = static_cast<int>(Out::rank);
  for (std::size_t d = 0; d < Out::rank; ++d) extents.extent[d] = extent(d);
  return execute::packed_block(out.buffer(), extents);
}
/// Runs an operation on rows that are split over ranks (lazy/run_totals.hpp).
template <class E>
struct TotalsRun;

/// Runs an operation `Op` on one rank, on blocks in which the dims that it works on are not split,
/// as on blocks of manual mode.
template <class E>
struct OperationRun;
template <class Op, class Whole, class... As>
struct OperationRun<automatic_mode::LazyOperation<Op, Whole, As...>> {
  using E = automatic_mode::LazyOperation<Op, Whole, As...>;
  using R = Resolve<Op, typename As::whole...>;
  using OnBlocks = Resolve<Op, automatic_mode::block_t<typename As::whole>...>;

  /// A block of the value of a step of type `A`, with its places.
  template <class A, class L>
  static LocatedBlock<L> placed(ProgramRun& run, int step, L block) {
    PlacesInWhole const at = execute::places_of_value<A>(run, step);
    std::array<std::int64_t, A::rank> whole{};
    std::array<core::Rows, A::rank> rows{};
    std::copy_n(at.extents, A::rank, whole.begin());
    std::copy_n(at.rows, A::rank, rows.begin());
    return {std::move(block), whole, rows};
  }
  template <class A>
  static LocatedBlock<automatic_mode::block_t<A>> placed_input(ProgramRun& run, int step, int k) {
    return placed<A>(run, run.plan().steps.at[step].input[k],
                     execute::local_input<A>(run, step, k));
  }
  template <int... K>
  static auto result(ProgramRun& run, int step, Op const& op, std::integer_sequence<int, K...>) {
    if constexpr (shardtype::detail::reads_places<Op>) {
      using Out = typename OnBlocks::result;
      Spec const spec = run.plan().spec(step);
      Extents const whole = run.extents(step);
      std::array<std::int64_t, Out::rank> extents{};
      for (int d = 0; d < static_cast<int>(Out::rank); ++d)
        extents[static_cast<std::size_t>(d)] =
            core::held(whole[d], spec.dims[d].axes, run.axes().sizes, run.axes().coords);
      if constexpr (shardtype::detail::HasResults<Op>) {
        return results_at(Type<typename OnBlocks::results>{}, run, op, extents,
                          placed_input<typename As::whole>(run, step, K)...);
      } else {
        return result_at<Out>(run, step, op, extents,
                              placed_input<typename As::whole>(run, step, K)...);
      }
    } else if constexpr (shardtype::detail::exchanges_rows<Op>) {
      if (run.plan().is_own_call(step)) return exchanged(run, step, op);
      return RunBlocks<Op>::template run<OnBlocks>(
          op, run.where(), execute::local_input<typename As::whole>(run, step, K)...);
    } else {
      return RunBlocks<Op>::template run<OnBlocks>(
          op, run.where(), execute::local_input<typename As::whole>(run, step, K)...);
    }
  }
  /// The result of an operation along a dim that ranks split, in the operand's sharding.
  static auto exchanged(ProgramRun& run, int step, Op const& op) {
    using A = typename shardtype::detail::FirstOperand<As...>::type;
    using Out = typename OnBlocks::result;
    using OnRows = shardtype::detail::CallOnRows<Op, A>;
    ProgramNode const& n = run.node(step);
    auto const a = placed_input<A>(run, step, 0);
    typename OnRows::Types const types(n, run.plan().spec(run.plan().steps.at[step].input[0]));
    Names const names = run.with_axes(OnRows::S::names);
    std::int64_t const* const given[] = {a.extents().data()};
    ResultExtents const call{names, types.at, 1, types.result, run.axes().sizes, given, nullptr};
    Buffer const* const buffers[] = {&a.buffer()};
    PlacesInWhole const at = execute::places_of_value<Whole>(run, step);
    std::array<std::int64_t, Out::rank> extents{};
    kernels::Layout out;
    out.rank = static_cast<int>(Out::rank);
    for (std::size_t d = 0; d < Out::rank; ++d) out.extent[d] = extents[d] = at.rows[d].size();
    LocalRun<typename A::element, typename A::memory_space> const local(
        run.mesh(), call, run.where(), shardtype::detail::block_layout(a.rows()), out.packed(),
        buffers, a.rows().data());
    return Out(run.mesh_ref(), extents, op.block(local));
  }
  /// All results, of operands that know their places; further ones have dims of the first, which
  /// has these local extents.
  template <class First, class... Outs, std::size_t rank, class... Located>
  static auto results_at(Type<std::tuple<First, Outs...>>, ProgramRun& run, Op const& op,
                         std::array<std::int64_t, rank> const& extents, Located const&... as) {
    auto const of = [&]<class Out>(Type<Out>) {
      std::array<std::int64_t, Out::rank> out{};
      for (std::size_t d = 0; d < Out::rank; ++d) {
        using S = core::Scope<Out>;
        int const label = S::parsed[0].spec.dims[d].label;
        out[d] = extents[static_cast<std::size_t>(
            shardtype::detail::place_of<First>(S::names.label_id[label]))];
      }
      return shardtype::detail::uninitialized<Out>(run.mesh_ref(), out);
    };
    std::tuple<First, Outs...> all{of(Type<First>{}), of(Type<Outs>{})...};
    std::apply([&](auto&... out) { RunBlocks<Op>::fill(op, out..., as...); }, all);
    return all;
  }
  /// The result, of these local extents, of operands that know their places.
  template <class Out, class... Located>
  static Out result_at(ProgramRun& run, int step, Op const& op,
                       std::array<std::int64_t, Out::rank> const& extents, Located const&... as) {
    if constexpr (MapsBlocks<Op, Located...>) {
      return Out(run.mesh_ref(), extents,
                 execute::local_block(op, run.where(), OnBlocks::S::names, OnBlocks::S::parsed,
                                      OnBlocks::verdict.result,
                                      Out::local_rows(run.mesh_ref(), extents), nullptr, as...));
    } else {
      Out out = shardtype::detail::uninitialized<Out>(run.mesh_ref(), extents);
      if constexpr (shardtype::detail::makes_parts<Op>) {
        auto located = placed<Whole>(run, step, out);
        RunBlocks<Op>::fill(op, located, as...);
      } else {
        RunBlocks<Op>::fill(op, out, as...);
      }
      return out;
    }
  }
  static AnyBlock make(ProgramRun& run, int step, void const* part) {
    if constexpr (shardtype::detail::joins_totals<Op>) {
      if (run.node(step).making == Making::reduction) return TotalsRun<E>::totals(run, step, part);
      if (run.plan().reads_totals(step)) return TotalsRun<E>::joined(run, step, part);
    }
    auto const out = result(run, step, static_cast<E const*>(part)->function(),
                            std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{});
    return execute::keep_results<Op>(run, step, out, [](auto const& one) {
      return execute::block_with(one, [&](std::size_t d) { return one.extents()[d]; });
    });
  }

  static bool equal(void const* part, void const* other) {
    return execute::equal_arguments(static_cast<E const*>(part)->function(),
                                    static_cast<E const*>(other)->function());
  }

  static void set_extents(void const* part, RecordedProgram& p, int node, LabelPart const* labels) {
    Op const& op = static_cast<E const*>(part)->function();
    p.nodes.edit(node).variant = shardtype::detail::variant_of(op);
    if constexpr (shardtype::detail::Ruled<Op>) set_extents_of<0>(op, p, node, node, labels);
  }
  /// Those of result `K` of `op`, which is the value `node`; `made`: the first result.
  template <std::size_t K>
  static void set_extents_of(Op const& op, RecordedProgram& p, int node, int made,
                             LabelPart const* labels) {
    std::int64_t each[sizeof...(As)][max_dims]{};
    std::int64_t const* given[sizeof...(As)];
    int k = 0;
    auto const read = [&]<class A>(Type<A>) {
      ProgramNode const& n = p.nodes.at[p.operand(made, 0, k)];
      int place[max_dims]{};
      execute::places_of<A>(n, labels, place);
      for (int d = 0; d < n.rank; ++d) each[k][d] = p.extents.at[n.labels[place[d]]];
      given[k] = each[k];
      ++k;
    };
    (read(Type<typename As::whole>{}), ...);
    std::int64_t out[max_dims]{};
    if constexpr (shardtype::detail::HasResults<Op>) {
      auto const all = R::extents(op, p.sizes, given);
      std::copy_n(all.at[K], max_dims, out);
    } else {
      R::set_extents(op, p.sizes, given, out);
    }
    execute::set_extents_of_result(p, node, out, Op::name, labels);
  }
};

/// A further result, beside the operation's own value.
template <class E>
struct ResultRun;
template <std::size_t K, class Whole, class Node>
struct ResultRun<automatic_mode::LazyResult<K, Whole, Node>> {
  using E = automatic_mode::LazyResult<K, Whole, Node>;
  static AnyBlock make(ProgramRun& run, int step, void const*) { return run.take_result(step); }
  static void set_extents(void const* part, RecordedProgram& p, int node, LabelPart const* labels) {
    OperationRun<Node>::template set_extents_of<K>(static_cast<E const*>(part)->node().function(),
                                                   p, node, p.operand(node, 0, 0), labels);
  }
};

}  // namespace shardtype::execute
