#pragma once
/// The gradients of recorded operations: their Vjps, run on blocks in which the dims that they work
/// on are whole.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/record.hpp>
#include <shardtype/check/abstract.hpp>
#include <shardtype/core/error.hpp>
#include <shardtype/lazy/node_properties.hpp>
#include <shardtype/lazy/recorded_value.hpp>
#include <shardtype/lazy/run_operation.hpp>
#include <shardtype/plan/function_plan.hpp>
#include <shardtype/plan/transposed_program.hpp>

namespace shardtype::autodiff {

/// How an operation's gradient is described; void: by a Vjp.
template <class Op>
struct GradientKind {
  using type = void;
};
template <class Op>
  requires requires { typename Op::gradient; }
struct GradientKind<Op> {
  using type = typename Op::gradient;
};
template <class Op>
using gradient_kind = typename GradientKind<Op>::type;

/// The K-th operand of an operation on blocks, as a type of its own.
template <int K, class B>
struct MarkedOperand : B {};
template <int K, class B>
struct TensorOf<MarkedOperand<K, B>> {
  using type = B;
};
/// The operands, as bits, that a kept value of type `X` is or may be.
template <class X>
inline constexpr unsigned operand_kept = is_tensor<shardtype::detail::operand_t<X>> ? ~0U : 0U;
template <int K, class B>
inline constexpr unsigned operand_kept<MarkedOperand<K, B>> = 1U << K;
template <class S>
inline constexpr unsigned operands_kept = ~0U;
template <class Order, class... Xs>
inline constexpr unsigned operands_kept<KeptIn<Order, Xs...>> = (0U | ... | operand_kept<Xs>);

/// Whether an expression reads an argument, so that its gradient may be wanted.
template <class E, class Operands = typename E::operands>
inline constexpr bool reads_argument = true;
template <class A>
inline constexpr bool part_reads_argument = false;
template <class A>
  requires(core::is_lazy<A>)
inline constexpr bool part_reads_argument<A> = reads_argument<A>;
template <class E, class A, class... As>
inline constexpr bool reads_argument<E, shardtype::detail::Pack<A, As...>> =
    part_reads_argument<A> || (part_reads_argument<As> || ...);
template <class A>
inline constexpr bool reads_argument<automatic_mode::LazyTensor<A>, shardtype::detail::Pack<>> =
    false;
template <class Whole, class Pin, class Varies, class Recorder>
inline constexpr bool reads_argument<automatic_mode::RecordedValue<Whole, Pin, Varies, Recorder>,
                                     shardtype::detail::Pack<>> = !std::is_void_v<Varies>;
template <class Tag, class A>
inline constexpr bool
    reads_argument<automatic_mode::LazyShared<Tag, A>, shardtype::detail::Pack<>> =
        reads_argument<A>;
template <std::size_t K, class Whole, class Node>
inline constexpr bool
    reads_argument<automatic_mode::LazyResult<K, Whole, Node>, shardtype::detail::Pack<>> =
        reads_argument<Node>;
template <class A>
inline constexpr bool reads_argument<automatic_mode::LazyMap<functions::StopGradient, A>,
                                     shardtype::detail::Pack<A>> = false;

/// An operation whose Vjp runs on blocks in which the dims that it works on are whole.
template <class Op, class Whole, class... As>
struct OperationGradient {
  using E = automatic_mode::LazyOperation<Op, Whole, As...>;
  using V = automatic_mode::block_t<Whole>;
  using First = FirstResultGradient<Op>;
  using Single = typename First::single;
  using By = Vjp<Single>;
  static constexpr int count = static_cast<int>(sizeof...(As));
  /// The types of the further results that the pulls read.
  static constexpr auto further_results() {
    if constexpr (First::exists) {
      return []<class A, class... More>(Type<std::tuple<A, More...>>) {
        return shardtype::detail::Pack<automatic_mode::whole_t<More>...>{};
      }(Type<typename shardtype::detail::Resolve<Op, typename As::whole...>::results>{});
    } else {
      return shardtype::detail::Pack<>{};
    }
  }
  using Further = decltype(further_results());
  using FurtherOrder = decltype(shardtype::detail::numbers_of(Further{}));
  template <int K>
  using Operand = automatic_mode::block_t<typename nth_t<K, As...>::whole>;
  using Order = std::make_integer_sequence<int, count>;

  template <int... K>
  static constexpr bool forwards(std::integer_sequence<int, K...>) {
    return !First::exists && RunsForward<Op, Operand<K>...>;
  }
  static constexpr bool runs_forward = forwards(Order{});
  /// The operands, as bits, that the pulls read, and after them the value.
  template <int... K>
  static constexpr unsigned reads(std::integer_sequence<int, K...>) {
    constexpr unsigned operands = (1U << count) - 1;
    if constexpr (First::exists) {
      return (1U << (count + 1 + static_cast<int>(FurtherOrder::size()))) - 1;
    } else if constexpr (runs_forward) {
      return operands;
    } else {
      using Saved =
          decltype(Vjp<Op>::template save<MarkedOperand<count, V>, MarkedOperand<K, Operand<K>>...>(
              std::declval<Op const&>(), std::declval<MarkedOperand<count, V> const&>(),
              std::declval<MarkedOperand<K, Operand<K>> const&>()...));
      return operands_kept<Saved> & (2 * operands + 1);
    }
  }
  template <class A>
  static constexpr std::uint8_t worked_on() {
    using D = shardtype::detail::OperationDims<Op, Whole, As...>;
    using S = Scope<A>;
    unsigned out = 0;
    for (int d = 0; d < S::parsed[0].spec.rank; ++d)
      if (D::mentioned.contains(S::names.label_id[S::parsed[0].spec.dims[d].label])) out |= 1U << d;
    return static_cast<std::uint8_t>(out);
  }
  static constexpr planning::PartGradient rules() {
    planning::PartGradient out;
    if constexpr (!shardtype::detail::is_floating<element_t<Whole>> || is_constant<Op>) {
      return out;
    } else if constexpr (!First::exists &&
                         (!Vjp<Op>::exists || shardtype::detail::HasResults<Op> ||
                          std::is_same_v<gradient_kind<Op>, checking::ByOthers>)) {
      out.refused = true;
    } else {
      unsigned const read = reads(Order{});
      out.worked_on[0] = worked_on<Whole>();
      int k = 0;
      auto const one = [&]<class A>(Type<A>) {
        out.of[k].reads = read;
        out.worked_on[++k] = worked_on<A>();
      };
      (one(Type<typename As::whole>{}), ...);
      [&]<int... K>(std::integer_sequence<int, K...>) { (set_operand<K>(out), ...); }(Order{});
    }
    return out;
  }

  template <int K, int... Q>
  static constexpr bool refuses(std::integer_sequence<int, Q...>) {
    if constexpr (requires { By::template judge<K, V, Operand<Q>...>(); }) {
      return By::template judge<K, V, Operand<Q>...>().code == Code::X03_not_differentiable;
    } else {
      return false;
    }
  }
  template <int K>
  static constexpr void set_operand(planning::PartGradient& to) {
    if constexpr (!shardtype::detail::is_floating<typename Operand<K>::element>) {
      return;
    } else if constexpr (refuses<K>(Order{})) {
      if (reads_argument<nth_t<K, As...>>) to.refused = true;
    } else {
      to.of[K].exists = true;
      if constexpr (shardtype::detail::HasVariant<Op>) to.of[K].work = &pull_work<K>;
    }
  }
  /// The value whose operand's cotangent is value `n`: the last of its part, behind its totals.
  static int pulled_value(RecordedProgram const& p, ProgramNode const& n) {
    int made = -1;
    for (int k = 0; k < p.size; ++k)
      if (p.nodes[k].origin == n.pulled && p.nodes[k].backward == planning::Backward::none &&
          p.nodes[k].making != planning::Making::relabel)
        made = k;
    return made;
  }
  /// What the pull of operand `K` computes and holds, as a strict plan counts it.
  template <int K>
  static planning::Work pull_work(RecordedProgram const& p, ProgramNode const& n,
                                  std::int64_t const* extents) {
    int const made = pulled_value(p, n);
    std::int64_t each[sizeof...(As) + 1 + FurtherOrder::size()][max_dims]{};
    for (int q = 0; q < count; ++q) {
      ProgramNode const& from = p.nodes[p.operand(made, 0, q)];
      for (int d = 0; d < from.rank; ++d)
        each[q][d] = extents[from.labels[is_operation(p, made) ? p.nodes[made].place(q, d) : d]];
    }
    for (int d = 0; d < p.nodes[made].rank; ++d) each[count][d] = extents[p.nodes[made].labels[d]];
    for (int r = 0; r < static_cast<int>(FurtherOrder::size()); ++r) {
      ProgramNode const& from = p.nodes[planning::further_result(p, made, r + 1)];
      for (int d = 0; d < from.rank; ++d) each[count + 1 + r][d] = extents[from.labels[d]];
    }
    try {
      return planned_work<K>(shardtype::detail::of_variant<Op>(n.variant), n.pulls_too, each,
                             Order{}, FurtherOrder{}, Further{});
    } catch (Error const&) {
      return {};  // run-time arguments decide about extents, such as those of a repeat
    }
  }
  static bool is_operation(RecordedProgram const& p, int value) {
    return p.nodes[value].making == planning::Making::operation;
  }
  template <int K, int... Q, int... R, class... Rs>
  static planning::Work planned_work(Op const& op, unsigned too,
                                     std::int64_t const (*extents)[max_dims],
                                     std::integer_sequence<int, Q...>,
                                     std::integer_sequence<int, R...>,
                                     shardtype::detail::Pack<Rs...>) {
    using Writer = planning::FunctionWriter;
    using AbstractV = Abstract<V, Writer>;
    Writer recorder({});
    AbstractV const ct(recorder, extents[count]);
    AbstractV const value(recorder, extents[count]);
    KeptIn<Order, Abstract<Operand<Q>, Writer>...> const operands{
        {Abstract<Operand<Q>, Writer>(recorder, extents[Q])}...};
    KeptIn<FurtherOrder, Abstract<automatic_mode::block_t<Rs>, Writer>...> const further{
        {Abstract<automatic_mode::block_t<Rs>, Writer>(recorder, extents[count + 1 + R])}...};
    std::int64_t const given = recorder.held();
    auto const saved = [&] {
      if constexpr (First::exists) {
        return autodiff::keep(autodiff::kept<Q>(operands)..., value, autodiff::kept<R>(further)...);
      } else if constexpr (runs_forward) {
        return Vjp<Op>::forward(op, std::source_location{}, autodiff::kept<Q>(operands)...).saved;
      } else {
        return Vjp<Op>::template save<AbstractV, Abstract<Operand<Q>, Writer>...>(
            op, value, autodiff::kept<Q>(operands)...);
      }
    }();
    auto const begin = autodiff::prepared<Single, AbstractV, Abstract<Operand<Q>, Writer>...>(
        First::of(op), saved, ct, K == 0 || (too & 1U) != 0);
    std::int64_t most = 0;
    pulls_from<0, AbstractV, Abstract<Operand<Q>, Writer>...>(op, saved, begin, (1U << K) | too,
                                                              [&] { most = recorder.most(); });
    std::int64_t made = sizeof(typename Operand<K>::element);
    for (std::size_t d = 0; d < Operand<K>::rank; ++d) made = core::mul_sat(made, extents[K][d]);
    return {recorder.plan().flops(), std::max<std::int64_t>(most - given - made, 0), false};
  }
  /// Pulls the cotangents of the operands `which` from number `K` on, and then calls `end`; all are
  /// held until then.
  template <int K, class Value, class... Operands, class S, class C, class F>
  static void pulls_from(Op const& op, S const& saved, C const& begin, unsigned which,
                         F const& end) {
    if constexpr (K == count) {
      end();
    } else {
      if constexpr (rules().of[K].exists) {
        if (((which >> K) & 1U) != 0) {
          auto const g = pulled_tensor<K, Value, Operands...>(op, saved, begin);
          pulls_from<K + 1, Value, Operands...>(op, saved, begin, which, end);
          return;
        }
      }
      pulls_from<K + 1, Value, Operands...>(op, saved, begin, which, end);
    }
  }
  template <int K, class Value, class... Operands, class S, class C>
  static auto pulled_tensor(Op const& op, S const& saved, C const& begin) {
    auto const g = By::template pull<K, Value, Operands...>(First::of(op), saved, begin);
    if constexpr (requires { g.tensor(); }) {
      return std::remove_cvref_t<decltype(g.tensor())>(g.tensor());
    } else {
      return g;
    }
  }

  /// The extents of the block of operand `q` of the operation, on this rank.
  template <class A>
  static std::array<std::int64_t, A::rank> block_extents(execute::ProgramRun& run, int step,
                                                         int q) {
    RecordedProgram const& p = run.plan().program;
    int const made = pulled_value(p, run.node(step));
    ProgramNode const& n = p.nodes[p.operand(made, 0, q)];
    std::array<std::int64_t, A::rank> out{};
    for (std::size_t d = 0; d < A::rank; ++d) {
      int const of_type = static_cast<int>(d);
      int const label = n.labels[is_operation(p, made) ? p.nodes[made].place(q, of_type) : of_type];
      out[d] = p.extents[label];
      for (int k = 0; k < run.plan().steps[step].inputs; ++k) {
        ProgramNode const& input = run.node(run.plan().steps[step].input[k]);
        for (int e = 0; e < input.rank; ++e)
          if (input.labels[e] == label) out[d] = run.input(step, k).layout.extent[e];
      }
    }
    return out;
  }
  /// The number of the input that is operand `q`, or after them the value or a further result.
  static constexpr int input_of(int q) {
    return 1 + std::popcount(reads(Order{}) & ((1U << q) - 1));
  }
  template <int Q>
  static Operand<Q> operand(execute::ProgramRun& run, int step) {
    using A = typename nth_t<Q, As...>::whole;
    constexpr unsigned read = reads(Order{});
    if constexpr (((read >> Q) & 1U) != 0) {
      return execute::local_input<A>(run, step, input_of(Q));
    } else {
      return Operand<Q>(run.mesh_ref(), block_extents<A>(run, step, Q), Buffer{});
    }
  }
  static V value(execute::ProgramRun& run, int step) {
    if constexpr (((reads(Order{}) >> count) & 1U) != 0) {
      return execute::local_input<Whole>(run, step, input_of(count));
    } else {
      kernels::Layout const layout = execute::input_layout<Whole>(run, step, 0);
      std::array<std::int64_t, Whole::rank> extents{};
      for (std::size_t d = 0; d < Whole::rank; ++d) extents[d] = layout.extent[d];
      return V(run.mesh_ref(), extents, Buffer{});
    }
  }
  template <int K>
  static execute::AnyBlock pull(execute::ProgramRun& run, int step, void const* part) {
    return pulled<K>(run, step, static_cast<E const*>(part)->function(), Order{}, FurtherOrder{},
                     Further{});
  }
  template <int K, int... Q, int... R, class... Rs>
  static execute::AnyBlock pulled(execute::ProgramRun& run, int step, Op const& op,
                                  std::integer_sequence<int, Q...>,
                                  std::integer_sequence<int, R...>,
                                  shardtype::detail::Pack<Rs...>) {
    auto const ct = execute::local_input<Whole>(run, step, 0);
    auto const saved = [&] {
      if constexpr (First::exists) {
        return autodiff::keep(operand<Q>(run, step)..., value(run, step),
                              execute::local_input<Rs>(run, step, input_of(count + 1 + R))...);
      } else if constexpr (runs_forward) {
        return Vjp<Op>::forward(op, run.where(), operand<Q>(run, step)...).saved;
      } else {
        return Vjp<Op>::template save<V, Operand<Q>...>(op, value(run, step),
                                                        operand<Q>(run, step)...);
      }
    }();
    unsigned const too = run.node(step).pulls_too;
    auto const begin = autodiff::prepared<Single, V, Operand<Q>...>(First::of(op), saved, ct,
                                                                    K == 0 || (too & 1U) != 0);
    auto const block = [](auto const& out) {
      return execute::block_with(out, [&](std::size_t d) { return out.extents()[d]; });
    };
    auto const one = [&]<int J>(std::integral_constant<int, J>) {
      if constexpr (rules().of[J].exists)
        if (((too >> J) & 1U) != 0)
          run.further(step).push_back(block(pulled_tensor<J, V, Operand<Q>...>(op, saved, begin)));
    };
    execute::AnyBlock out = block(pulled_tensor<K, V, Operand<Q>...>(op, saved, begin));
    (one(std::integral_constant<int, Q>{}), ...);
    return out;
  }
};

}  // namespace shardtype::autodiff
