#pragma once
/// The derivatives of the parts of an expression of automatic mode: what the cotangents of their
/// operands read, and how a rank computes them.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/active_expression.hpp>
#include <shardtype/autodiff/counted.hpp>
#include <shardtype/autodiff/pullback.hpp>
#include <shardtype/autodiff/record.hpp>
#include <shardtype/autodiff/reductions.hpp>
#include <shardtype/check/abstract.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/lazy/operation_properties.hpp>
#include <shardtype/lazy/part_finder.hpp>
#include <shardtype/plan/function_plan.hpp>
#include <shardtype/plan/transposed_program.hpp>

namespace shardtype::autodiff {

/// The tree of an argument of a kernel, whose first operand has the number `First`.
template <int First, class A>
struct TreeIn {
  using type = Input<First, element_t<typename A::whole>>;
  static type make(A const&) { return {}; }
};
template <int First, class N>
struct TreeIn<First, Number<N>> : TreeOf<First, Number<N>> {};
template <class F, class... Args>
inline constexpr int operands_in<automatic_mode::LazyMap<F, Args...>> =
    (operands_in<Args> + ... + 0);
template <int First, class F, class... Args>
struct TreeIn<First, automatic_mode::LazyMap<F, Args...>> {
  using E = automatic_mode::LazyMap<F, Args...>;
  template <int K>
  using Argument = TreeIn<First + autodiff::operands_before<Args...>(K), nth_t<K, Args...>>;
  template <int... K>
  static auto applied(std::integer_sequence<int, K...>)
      -> Applied<F, element_t<typename E::whole>, typename Argument<K>::type...>;
  using Order = std::make_integer_sequence<int, static_cast<int>(sizeof...(Args))>;
  using type = decltype(applied(Order{}));

  static type make(E const& e) {
    return [&]<int... K>(std::integer_sequence<int, K...>) {
      return type{e.function(), {{Argument<K>::make(e.template argument<K>())}...}};
    }(Order{});
  }
};

/// Whether the way from an expression to its operand `K` has a derivative.
enum class WayTo : std::int8_t {
  differentiable,
  flat,    ///< a function on it is constant around each point, or has no real values
  unknown  ///< a function on it has no Derivative
};
template <int K, class E>
inline constexpr WayTo way_to = WayTo::differentiable;
template <int K, class F, class T, class... Args>
inline constexpr WayTo way_to<K, Applied<F, T, Args...>> = [] {
  using Next = typename Path<K, Applied<F, T, Args...>>::Next;
  if (std::is_base_of_v<Flat, Derivative<F>> || !shardtype::detail::is_floating<T>)
    return WayTo::flat;
  if (!Derivative<F>::exists) return WayTo::unknown;
  return way_to<K, Next>;
}();
template <int K, class F, class T, class... Args>
  requires(!Derivative<F>::exists || std::is_base_of_v<Flat, Derivative<F>>)
inline constexpr WayTo way_to<K, Applied<F, T, Args...>> =
    std::is_base_of_v<Flat, Derivative<F>> || !shardtype::detail::is_floating<T> ? WayTo::flat
                                                                                 : WayTo::unknown;

/// Elements of type `T` in a memory space.
template <class T, class Space>
struct ElementsIn {
  using element = T;
  using memory_space = Space;
};

/// A sum of cotangents, in the order in which the backward pass finds them.
template <class T, class Space>
execute::AnyBlock add_blocks(execute::ProgramRun& run, int step, void const*) {
  using Types = kernels::Elements<T, T>;
  execute::Value<T> out = run.template fresh<T, Space>(step);
  typename Space::execution_space const exec{};
  auto const plus =
      autodiff::on(functions::Add{}, Part(kernels::Leaf<T, 0>{}), Part(kernels::Leaf<T, 1>{}))
          .expression;
  auto* const to = static_cast<T*>(out.keep.data());
  kernels::Sources<2> in;
  for (int k = 0; k < run.plan().steps[step].inputs; ++k) {
    int const slot = k == 0 ? 0 : 1;
    execute::AnyBlock const& b = run.input(step, k);
    ProgramNode const& operand = run.node(run.plan().steps[step].input[k]);
    ProgramNode const& n = run.node(step);
    in.data[slot] = b.data;
    for (int d = 0; d < n.rank; ++d)
      for (int e = 0; e < operand.rank; ++e)
        if (operand.labels[e] == n.labels[d]) in.stride[slot][d] = b.layout.stride[e];
    if (k == 0) continue;
    kernels::evaluate<Types>(exec, plus, to, out.layout, in);
    in.data[0] = to;
    for (int d = 0; d < n.rank; ++d) in.stride[0][d] = out.layout.stride[d];
  }
  exec.fence();
  return execute::any_block(std::move(out));
}
/// The same number everywhere.
template <class T, class Space, int number>
execute::AnyBlock filled_block(execute::ProgramRun& run, int step, void const*) {
  execute::Value<T> out = run.template fresh<T, Space>(step);
  typename Space::execution_space const exec{};
  kernels::fill(exec, static_cast<T*>(out.keep.data()), out.layout.elements(),
                static_cast<T>(number));
  exec.fence();
  return execute::any_block(std::move(out));
}
template <class T, class Space>
constexpr void set_elements(execute::BackwardKernels& to) {
  using planning::Backward;
  auto const set = [&](Backward how, execute::MakeBlock make) {
    to.of_elements[static_cast<int>(how)] = make;
  };
  set(Backward::add, &add_blocks<T, Space>);
  set(Backward::sum, &execute::reduction_block<reductions::Sum, ElementsIn<T, Space>, T>);
  set(Backward::spread, &execute::reorder_block<T, Space>);
  set(Backward::one, &filled_block<T, Space, 1>);
  set(Backward::zero, &filled_block<T, Space, 0>);
}

/// The element type of the value of number `N` that a derivative reads: an operand, or the result.
template <int N, class E>
struct ReadElement {
  static constexpr auto find() {
    if constexpr (N == E::inputs) {
      return Type<typename E::element>{};
    } else {
      return Type<typename ElementOfInput<N, E>::type>{};
    }
  }
  using type = typename decltype(find())::type;
};
/// The cotangent of operand `K` of the elementwise expression `M`.
template <class M, int K>
execute::AnyBlock pull_map(execute::ProgramRun& run, int step, void const* part) {
  using Tree = TreeIn<0, M>;
  using E = typename Tree::type;
  using Space = typename M::whole::memory_space;
  using Numbers = typename Reads<K, E>::Numbers;
  using T = typename ElementOfInput<K, E>::type;
  using Ct = element_t<typename M::whole>;
  return
      [&]<int... I, int... N>(std::integer_sequence<int, I...>, std::integer_sequence<int, N...>) {
        using Types = kernels::Elements<Ct, typename ReadElement<N, E>::type...>;
        auto const expression =
            autodiff::pulled<K>(Tree::make(*static_cast<M const*>(part)), Numbers{},
                                Part(kernels::Leaf<Ct, 0>{}),
                                Part(kernels::Leaf<typename ReadElement<N, E>::type, 1 + I>{})...)
                .expression;
        execute::Value<T> out = run.template fresh<T, Space>(step);
        typename Space::execution_space const exec{};
        kernels::evaluate<Types>(exec, expression, static_cast<T*>(out.keep.data()), out.layout,
                                 execute::sources(run, step, Types{}));
        exec.fence();
        return execute::any_block(std::move(out));
      }(std::make_integer_sequence<int, static_cast<int>(Numbers::size())>{}, Numbers{});
}

/// The cotangent of a mean, at each element.
template <class T, class Space>
execute::AnyBlock pull_mean(execute::ProgramRun& run, int step, void const*) {
  using Types = kernels::Elements<T>;
  ProgramNode const& n = run.node(step);
  int const ct = run.plan().steps[step].input[0];
  double terms = 1;
  Extents const extents = run.extents(step);
  for (int d = 0; d < n.rank; ++d)
    if (run.plan().program.find(run.plan().steps[ct].node, n.labels[d]) < 0)
      terms *= static_cast<double>(extents[d]);
  execute::Value<T> out = run.template fresh<T, Space>(step);
  typename Space::execution_space const exec{};
  auto const expression =
      autodiff::on(functions::Multiply{}, Part(kernels::Leaf<T, 0>{}), 1 / terms).expression;
  kernels::evaluate<Types>(exec, expression, static_cast<T*>(out.keep.data()), out.layout,
                           execute::sources(run, step, Types{}));
  exec.fence();
  return execute::any_block(std::move(out));
}

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

/// The derivatives of a part `E` of an expression; of an operand, none.
template <class E>
struct PartDerivative {
  static constexpr planning::PartGradient rules{};
  static constexpr void set(execute::BackwardKernels&) {}
};
/// Not recorded: results of operations that have several, operations that communicate by
/// themselves, and shard_map.
template <class Whole>
struct NotRecorded {
  static constexpr planning::PartGradient rules = [] {
    planning::PartGradient out;
    out.refused = shardtype::detail::is_floating<element_t<Whole>>;
    return out;
  }();
  static constexpr void set(execute::BackwardKernels&) {}
};
template <std::size_t K, class Whole, class Node>
struct PartDerivative<automatic_mode::LazyResult<K, Whole, Node>> : NotRecorded<Whole> {};
template <class Op, class Results, class Result, class... As>
struct PartDerivative<automatic_mode::LazyOwnCall<Op, Results, Result, As...>>
    : NotRecorded<Result> {};
template <class F, class Result, class... As>
struct PartDerivative<automatic_mode::LazyShardMap<F, Result, As...>> : NotRecorded<Result> {};

template <class F, class... Args>
struct PartDerivative<automatic_mode::LazyMap<F, Args...>> {
  using M = automatic_mode::LazyMap<F, Args...>;
  using E = typename TreeIn<0, M>::type;
  using Order = std::make_integer_sequence<int, E::inputs>;
  static constexpr planning::PartGradient rules = []<int... K>(std::integer_sequence<int, K...>) {
    planning::PartGradient out;
    auto const one = [&]<int J>(std::integral_constant<int, J>) {
      if constexpr (way_to<J, E> == WayTo::differentiable &&
                    shardtype::detail::is_floating<typename ElementOfInput<J, E>::type>) {
        out.of[J].exists = true;
        out.of[J].passes = Path<J, E>::passes;
        out.of[J].reads = Reads<J, E>::mask;
      } else if (way_to<J, E> == WayTo::unknown) {
        out.refused = true;
      }
    };
    (one(std::integral_constant<int, K>{}), ...);
    return out;
  }(Order{});
  static constexpr void set(execute::BackwardKernels& to) {
    [&]<int... K>(std::integer_sequence<int, K...>) { (set_pull<K>(to), ...); }(Order{});
  }

 private:
  template <int K>
  static constexpr void set_pull(execute::BackwardKernels& to) {
    if constexpr (rules.of[K].exists && !rules.of[K].passes) to.pulls[K] = &pull_map<M, K>;
  }
};
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

/// An operation whose Vjp runs on blocks in which the dims that it works on are whole.
template <class Op, class Whole, class... As>
struct OperationGradient {
  using E = automatic_mode::LazyOperation<Op, Whole, As...>;
  using V = automatic_mode::block_t<Whole>;
  static constexpr int count = static_cast<int>(sizeof...(As));
  template <int K>
  using Operand = automatic_mode::block_t<typename nth_t<K, As...>::whole>;
  using Order = std::make_integer_sequence<int, count>;

  template <int... K>
  static constexpr bool forwards(std::integer_sequence<int, K...>) {
    return RunsForward<Op, Operand<K>...>;
  }
  static constexpr bool runs_forward = forwards(Order{});
  /// The operands, as bits, that the pulls read, and after them the value.
  template <int... K>
  static constexpr unsigned reads(std::integer_sequence<int, K...>) {
    constexpr unsigned operands = (1U << count) - 1;
    if constexpr (runs_forward) {
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
    } else if constexpr (!Vjp<Op>::exists || shardtype::detail::HasResults<Op> ||
                         std::is_same_v<gradient_kind<Op>, checking::ByOthers>) {
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
    if constexpr (requires { Vjp<Op>::template judge<K, V, Operand<Q>...>(); }) {
      return Vjp<Op>::template judge<K, V, Operand<Q>...>().code == Code::X03_not_differentiable;
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
    std::int64_t each[sizeof...(As) + 1][max_dims]{};
    for (int q = 0; q < count; ++q) {
      ProgramNode const& from = p.nodes[p.operand(made, 0, q)];
      for (int d = 0; d < from.rank; ++d)
        each[q][d] = extents[from.labels[is_operation(p, made) ? p.nodes[made].place(q, d) : d]];
    }
    for (int d = 0; d < p.nodes[made].rank; ++d) each[count][d] = extents[p.nodes[made].labels[d]];
    try {
      return planned_work<K>(shardtype::detail::of_variant<Op>(n.variant), each, Order{});
    } catch (Error const&) {
      return {};  // run-time arguments decide about extents, such as those of a repeat
    }
  }
  static bool is_operation(RecordedProgram const& p, int value) {
    return p.nodes[value].making == planning::Making::operation;
  }
  template <int K, int... Q>
  static planning::Work planned_work(Op const& op, std::int64_t const (*extents)[max_dims],
                                     std::integer_sequence<int, Q...>) {
    using Writer = planning::FunctionWriter;
    using AbstractV = Abstract<V, Writer>;
    Writer recorder({});
    AbstractV const ct(recorder, extents[count]);
    AbstractV const value(recorder, extents[count]);
    KeptIn<Order, Abstract<Operand<Q>, Writer>...> const operands{
        {Abstract<Operand<Q>, Writer>(recorder, extents[Q])}...};
    std::int64_t const given = recorder.held();
    auto const saved = [&] {
      if constexpr (runs_forward) {
        return Vjp<Op>::forward(op, std::source_location{}, autodiff::kept<Q>(operands)...).saved;
      } else {
        return Vjp<Op>::template save<AbstractV, Abstract<Operand<Q>, Writer>...>(
            op, value, autodiff::kept<Q>(operands)...);
      }
    }();
    auto const g = Vjp<Op>::template pull<K, AbstractV, Abstract<Operand<Q>, Writer>...>(
        op, saved,
        autodiff::prepared<Op, AbstractV, Abstract<Operand<Q>, Writer>...>(op, saved, ct, K == 0));
    auto const out = [&] {
      if constexpr (requires { g.tensor(); }) {
        return g.tensor();
      } else {
        return g;
      }
    }();
    std::int64_t made = sizeof(typename Operand<K>::element);
    for (std::size_t d = 0; d < Operand<K>::rank; ++d) made = core::mul_sat(made, extents[K][d]);
    return {recorder.plan().flops(), std::max<std::int64_t>(recorder.most() - given - made, 0),
            false};
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
  template <int Q>
  static Operand<Q> operand(execute::ProgramRun& run, int step) {
    using A = typename nth_t<Q, As...>::whole;
    constexpr unsigned read = reads(Order{});
    if constexpr (((read >> Q) & 1U) != 0) {
      int input = 1;
      for (int q = 0; q < Q; ++q) input += ((read >> q) & 1U) != 0 ? 1 : 0;
      return execute::local_input<A>(run, step, input);
    } else {
      return Operand<Q>(run.mesh_ref(), block_extents<A>(run, step, Q), Buffer{});
    }
  }
  static V value(execute::ProgramRun& run, int step) {
    if constexpr (((reads(Order{}) >> count) & 1U) != 0) {
      return execute::local_input<Whole>(run, step, run.plan().steps[step].inputs - 1);
    } else {
      kernels::Layout const layout = execute::input_layout<Whole>(run, step, 0);
      std::array<std::int64_t, Whole::rank> extents{};
      for (std::size_t d = 0; d < Whole::rank; ++d) extents[d] = layout.extent[d];
      return V(run.mesh_ref(), extents, Buffer{});
    }
  }
  template <int K>
  static execute::AnyBlock pull(execute::ProgramRun& run, int step, void const* part) {
    return pulled<K>(run, step, static_cast<E const*>(part)->function(), Order{});
  }
  template <int K, int... Q>
  static execute::AnyBlock pulled(execute::ProgramRun& run, int step, Op const& op,
                                  std::integer_sequence<int, Q...>) {
    auto const ct = execute::local_input<Whole>(run, step, 0);
    auto const saved = [&] {
      if constexpr (runs_forward) {
        return Vjp<Op>::forward(op, run.where(), operand<Q>(run, step)...).saved;
      } else {
        return Vjp<Op>::template save<V, Operand<Q>...>(op, value(run, step),
                                                        operand<Q>(run, step)...);
      }
    }();
    auto const g = Vjp<Op>::template pull<K, V, Operand<Q>...>(
        op, saved, autodiff::prepared<Op, V, Operand<Q>...>(op, saved, ct, K == 0));
    auto const out = [&] {
      if constexpr (requires { g.tensor(); }) {
        return g.tensor();
      } else {
        return g;
      }
    }();
    return execute::block_with(out, [&](std::size_t d) { return out.extents()[d]; });
  }
};
template <class Op, class Whole, class... As>
struct PartDerivative<automatic_mode::LazyOperation<Op, Whole, As...>> {
  using G = OperationGradient<Op, Whole, As...>;
  static constexpr planning::PartGradient rules = G::rules();
  static constexpr void set(execute::BackwardKernels& to) {
    [&]<int... K>(std::integer_sequence<int, K...>) {
      (set_pull<K>(to), ...);
    }(typename G::Order{});
  }

 private:
  template <int K>
  static constexpr void set_pull(execute::BackwardKernels& to) {
    if constexpr (rules.of[K].exists) to.pulls[K] = &G::template pull<K>;
  }
};

/// Sums and means have kernels; other reductions have their Vjp.
template <class F, class Whole, class A>
struct PartDerivative<automatic_mode::LazyReduction<F, Whole, A>> {
  using T = element_t<typename A::whole>;
  using Space = typename Whole::memory_space;
  using Op = shardtype::detail::reduction_to<F, typename A::whole, Whole>;
  using G = OperationGradient<Op, Whole, A>;
  static constexpr bool sums = std::is_same_v<F, reductions::Sum>;
  static constexpr bool means = std::is_same_v<F, reductions::Mean>;
  static constexpr planning::PartGradient rules = [] {
    planning::PartGradient out;
    if constexpr (sums || means) {
      out.of[0].exists = shardtype::detail::is_floating<T>;
    } else {
      out = G::rules();
      out.of[0].rows = true;
    }
    return out;
  }();
  static constexpr void set(execute::BackwardKernels& to) {
    if constexpr (!rules.of[0].exists) {
      return;
    } else if constexpr (sums) {
      to.pulls[0] = &execute::reorder_block<T, Space>;
    } else if constexpr (means) {
      to.pulls[0] = &pull_mean<T, Space>;
    } else {
      to.pulls[0] = &G::template pull<0>;
    }
  }
};

/// The rules of part `E`, with those of its elements.
template <class E>
constexpr planning::PartGradient part_gradient() {
  planning::PartGradient out = PartDerivative<E>::rules;
  using T = element_t<typename E::whole>;
  if constexpr (shardtype::detail::is_floating<T>)
    out.total_bytes = static_cast<std::int32_t>(reductions::Sum::total_bytes<T>);
  return out;
}
template <class E>
inline constexpr execute::BackwardKernels backward_kernels = [] {
  execute::BackwardKernels out;
  using Whole = typename E::whole;
  if constexpr (shardtype::detail::is_floating<element_t<Whole>>)
    autodiff::set_elements<element_t<Whole>, typename Whole::memory_space>(out);
  PartDerivative<E>::set(out);
  return out;
}();

/// The number of the argument that an operand of a program is, or -1.
template <class E>
inline constexpr int argument_number = -1;
template <class A, int Number>
inline constexpr int argument_number<automatic_mode::LazyInput<A, Number>> = Number;
template <class A, int Number>
inline constexpr int argument_number<automatic_mode::LazySymbol<A, Number>> = Number;

/// The derivatives of the parts of an expression, by its type.
class GradientRules {
 public:
  shardtype::detail::List<planning::PartGradient> gradients;
  shardtype::detail::List<int> arguments;

  template <class E>
  explicit GradientRules(Type<E>) {
    shardtype::detail::walk(*this, static_cast<E const*>(nullptr));
  }
  template <class E>
  int visit(E const*, shardtype::detail::WalkedOperands const&) {
    gradients.push_back(autodiff::part_gradient<E>());
    arguments.push_back(argument_number<E>);
    return 0;
  }
  template <class Pin, class A>
  int visit(automatic_mode::LazyConstrained<Pin, A> const*,
            shardtype::detail::WalkedOperands const&) {
    return 0;
  }
  bool found(Identity type, int&) const { return among(seen_, type); }
  void remember(Identity type, int) { seen_.push_back(type); }
  bool is_known(Identity tag, void const*, int&) const { return among(tags_, tag); }
  int share(Identity tag, void const*, int value) {
    tags_.push_back(tag);
    return value;
  }
  void read_again(int) const {}

 private:
  static bool among(shardtype::detail::List<Identity> const& all, Identity one) {
    for (Identity const id : all)
      if (id == one) return true;
    return false;
  }
  shardtype::detail::List<Identity> seen_;
  shardtype::detail::List<Identity> tags_;
};

/// Collects the parts of an expression, with the kernels of their derivatives.
class GradientFinder : public execute::PartFinder {
 public:
  template <class E>
  int visit(E const* e, shardtype::detail::WalkedOperands const& operands) {
    execute::PartFinder::visit(e, operands);
    parts.back().backward = &backward_kernels<E>;
    return 0;
  }
  template <class Pin, class A>
  int visit(automatic_mode::LazyConstrained<Pin, A> const*,
            shardtype::detail::WalkedOperands const&) {
    return 0;
  }
};

}  // namespace shardtype::autodiff
