#pragma once
/// Gradients in automatic mode: the forward and the backward pass as one program, whose plan
/// chooses the shardings of both together.

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/program_gradient.hpp>
#include <shardtype/autodiff/value_and_grad.hpp>
#include <shardtype/lazy/dry_run.hpp>
#include <shardtype/lazy/evaluate.hpp>
#include <shardtype/lazy/several.hpp>
#include <shardtype/plan/program_planner.hpp>

namespace shardtype {

namespace autodiff {

/// The results of a program with a backward pass, while it runs: `keep` packs each block.
struct KeptResults {
  using Pack = Buffer (*)(execute::ProgramRun& run, int step, int k);
  shardtype::detail::List<int> values;
  shardtype::detail::List<Pack> pack;
  shardtype::detail::List<Buffer> kept;

  static execute::AnyBlock keep(execute::ProgramRun& run, int step, void const* part) {
    auto& results = *static_cast<KeptResults*>(const_cast<void*>(part));
    ProgramStep const& s = run.plan().steps[step];
    for (int k = 0; k < s.inputs; ++k)
      for (std::size_t r = 0; r < results.values.size(); ++r)
        if (results.values[r] == run.plan().steps[s.input[k]].node)
          results.kept[r] = results.pack[r](run, step, k);
    return execute::any_block(run.template fresh<float, Tensor<float>::memory_space>(step));
  }
};
/// The block of input `k`, packed, with its dims in their order.
template <class A>
Buffer packed_result(execute::ProgramRun& run, int step, int k) {
  using T = typename A::element;
  execute::AnyBlock const& from = run.input(step, k);
  if (from.layout.contiguous() && from.data == from.keep.data()) return from.keep;
  Buffer memory = run.mesh().pool().template take<typename A::memory_space>(
      static_cast<std::size_t>(from.layout.elements()) * sizeof(T));
  typename A::execution_space const exec{};
  kernels::copy_packed(exec, execute::elements_of<T>(from), from.layout,
                       static_cast<T*>(memory.data()));
  exec.fence();
  return memory;
}

/// The first part of an expression that has no gradient; void: all have one.
template <class E, class Operands = typename E::operands>
struct RefusedPart;
template <class A>
struct RefusedIn {
  using type = void;
};
template <class A>
  requires(core::is_lazy<A>)
struct RefusedIn<A> : RefusedPart<A> {};
template <class E, class... As>
struct RefusedPart<E, shardtype::detail::Pack<As...>> {
  template <class First, class... Rest>
  static constexpr auto first_of() {
    using Here = typename RefusedIn<First>::type;
    if constexpr (!std::is_void_v<Here> || sizeof...(Rest) == 0) {
      return Type<Here>{};
    } else {
      return first_of<Rest...>();
    }
  }
  static constexpr auto find() {
    if constexpr (autodiff::part_gradient<E>().refused) {
      return Type<E>{};
    } else if constexpr (sizeof...(As) == 0) {
      return Type<void>{};
    } else {
      return first_of<As...>();
    }
  }
  using type = typename decltype(find())::type;
};

/// The sharding of a `A` in the axes of a program, with its dims' numbers as labels.
template <class A>
Spec spec_in(automatic_mode::ProgramNames const& names) {
  using S = Scope<A>;
  Spec const s = S::template spec<0>;
  auto const number = [&](int x) { return names.find_axis(S::names.axis_id[x]); };
  Spec out;
  for (int d = 0; d < s.rank; ++d) {
    AxisList list;
    for (int k = 0; k < s.dims[d].axes.size; ++k) list.push(number(s.dims[d].axes[k]));
    list.cyclic = s.dims[d].axes.cyclic;
    out.add(d, list);
  }
  for (int x = 0; x < S::names.axes; ++x)
    if (s.unreduced.contains(x)) out.unreduced.insert(number(x));
  if (!out.unreduced.empty()) out.kind = s.kind;
  return out;
}

template <class Tag, class A>
struct RefusedPart<automatic_mode::LazyShared<Tag, A>, shardtype::detail::Pack<>> : RefusedPart<A> {
};

/// The labels of a value of the program, in the order of the dims of `A`.
template <class A>
planning::ProgramLabels labels_in(automatic_mode::ProgramNames const& names, ProgramNode const& n) {
  using S = Scope<A>;
  Spec const s = S::template spec<0>;
  planning::ProgramLabels out;
  for (int d = 0; d < s.rank; ++d)
    for (int e = 0; e < n.rank; ++e)
      if (names.label[n.labels[e]].id == S::names.label_id[s.dims[d].label]) out.push(n.labels[e]);
  return out;
}

/// The program of the loss `E`, which as a result is a `Loss`, and of its gradients of types
/// `Gradients` with respect to the arguments of these numbers.
template <class E, class Results, class Numbers, class Xs>
struct LossProgram;
template <class E, class L, class... Gradients, int... Ks, class... Xs>
struct LossProgram<E, Outs<L, Gradients...>, std::integer_sequence<int, Ks...>,
                   automatic_mode::Axes<Xs...>> {
  using Loss = L;
  using results = std::tuple<Loss, Gradients...>;
  static constexpr int wanted = static_cast<int>(sizeof...(Gradients));
  static constexpr shardtype::detail::WrittenProgram const& written =
      shardtype::detail::ProgramConstant<E, typename E::whole, Xs...>::value;
  static constexpr auto const& program = written.program;
  static constexpr auto const& names = written.names;
  static constexpr Machine machine{};
  static constexpr bool machine_known = false;
  static constexpr std::int64_t memory_limit = -1;

  /// The values of the forward pass that are the arguments whose gradients are wanted; -1: the loss
  /// does not read it.
  static shardtype::detail::List<int> operands() {
    GradientRules const rules(Type<E>{});
    shardtype::detail::List<int> out;
    for (int const number : {Ks...}) {
      int value = -1;
      for (int k = 0; k < program.size; ++k)
        if (program.nodes[k].making == planning::Making::given &&
            rules.arguments[static_cast<std::size_t>(program.nodes[k].origin)] == number)
          value = k;
      out.push_back(value);
    }
    return out;
  }
  /// The plan of both passes; `sized`: the forward pass with its sizes.
  static ProgramPlan plan(RecordedProgram const& sized, planning::Rates const& rates) {
    GradientRules const rules(Type<E>{});
    // chains of products are associated as the forward pass alone would
    shardtype::detail::List<int> const ways =
        planning::ways_in(planning::plan_program(sized, rates));
    shardtype::detail::List<int> const all = operands();
    shardtype::detail::List<int> read;
    shardtype::detail::List<planning::WantedResult> wanted_results;
    wanted_results.push_back({{}, autodiff::spec_in<Loss>(names)});
    std::size_t k = 0;
    auto const want = [&]<class G>(Type<G>) {
      int const value = all[k++];
      if (value < 0) return;
      read.push_back(value);
      wanted_results.push_back(
          {autodiff::labels_in<G>(names, sized.nodes[value]), autodiff::spec_in<G>(names)});
    };
    (want(Type<Gradients>{}), ...);
    planning::Transposition const both(
        sized, rules.gradients, read,
        [&](int value) { return ways[static_cast<std::size_t>(value)]; }, wanted_results);
    return planning::plan_program(both.program, rates);
  }
};

/// Plans both passes of a loss together, and runs them.
template <class P>
class GradientRun {
  using Loss = typename P::Loss;

 public:
  template <class E>
  GradientRun(MeshRef const& mesh, E const& e)
      : mesh_(mesh), axes_(shardtype::detail::program_axes<P>(mesh)), operands_(P::operands()) {
    shardtype::detail::walk(finder_, &e);
    sized_ = shardtype::detail::program_for<P>(mesh, axes_, finder_.parts);
  }
  /// The forward pass with its sizes.
  RecordedProgram const& sized() const { return sized_; }
  AxisMap const& axes() const { return axes_; }
  ProgramPlan const& plan() const {
    return shardtype::detail::program_cache<P>.get(sized_, [&] {
      shardtype::detail::check_countable(sized_);
      return P::plan(sized_, shardtype::detail::rates_for(shardtype::detail::planning_machine<P>(),
                                                          P::memory_limit, sized_.sizes, P::names));
    });
  }

  /// The loss and the gradients with respect to `as`, by this plan.
  template <class... As>
  typename P::results run(ProgramPlan const& plan, std::source_location const& where,
                          As const&... as) {
    RecordedProgram const& p = plan.program;
    KeptResults results;
    auto const pack = []<class... Rs>(Type<std::tuple<Rs...>>) {
      return std::array<KeptResults::Pack, sizeof...(Rs)>{&packed_result<Rs>...};
    }(Type<typename P::results>{});
    int count = 1;
    for (int const value : operands_) count += value >= 0 ? 1 : 0;
    for (std::size_t k = 0; k <= operands_.size(); ++k) {
      if (k > 0 && operands_[k - 1] < 0) continue;
      auto const number = static_cast<int>(results.values.size());
      results.values.push_back(shardtype::detail::node_of_result(p, p.root, number, count));
      results.pack.push_back(pack[k]);
      results.kept.push_back({});
    }
    shardtype::detail::List<execute::ProgramPart> parts = finder_.parts;
    execute::ProgramPart last;
    last.make = &KeptResults::keep;
    last.part = &results;
    parts.push_back(last);
    if (mesh_.here()) {
      shardtype::detail::TracedRun const traced(&P::names, plan, P::names,
                                                shardtype::detail::planning_machine<P>(), where);
      execute::ProgramRun(mesh_, axes_, plan, P::names.label.data(), P::names.axis, parts, where)
          .run();
    }
    std::size_t next = 1;
    std::size_t operand = 0;
    auto const gradient = [&]<class Out, class A>(Type<Out>, A const& a) {
      if (operands_[operand++] < 0)
        return autodiff::filled<Out>(a, 0);  // the loss does not read it
      return tensor<Out>(p, results, next++);
    };
    return [&]<class... Gs>(Type<std::tuple<Loss, Gs...>>) {
      return std::tuple<Loss, Gs...>{tensor<Loss>(p, results, 0), gradient(Type<Gs>{}, as)...};
    }(Type<typename P::results>{});
  }

 private:
  template <class Out>
  Out tensor(RecordedProgram const& p, KeptResults const& results, std::size_t k) const {
    std::array<std::int64_t, Out::rank> extents{};
    for (std::size_t d = 0; d < Out::rank; ++d)
      extents[d] = p.extents[p.nodes[results.values[k]].labels[d]];
    return Out(mesh_, extents, results.kept[k]);
  }

  MeshRef const& mesh_;
  AxisMap axes_;
  shardtype::detail::List<int> operands_;
  GradientFinder finder_;
  RecordedProgram sized_;
};

template <int K, class A, class... As>
auto const& nth_argument(A const& a, As const&... as) {
  if constexpr (K == 0) {
    return a;
  } else {
    return autodiff::nth_argument<K - 1>(as...);
  }
}
/// The results as strict mode gives them.
template <bool value, class L, class... Gs>
constexpr auto together(std::tuple<L, Gs...>&& all) {
  auto const grads = [](L const&, Gs const&... g) {
    if constexpr (sizeof...(Gs) == 1) {
      return std::get<0>(std::tuple<Gs...>{g...});
    } else {
      return std::tuple<Gs...>{g...};
    }
  };
  auto g = std::apply(grads, all);
  if constexpr (value) {
    return ValueAndGradient<L, decltype(g)>{std::get<0>(all), std::move(g)};
  } else {
    return g;
  }
}

/// The result types: the named ones, or by default a loss on all ranks and gradients like their
/// operands `As`.
template <class E, class... As, class L, class... Gs>
constexpr auto results_of(Type<Outs<L, Gs...>>) {
  return Type<Outs<L, Gs...>>{};
}
template <class E, class... As>
constexpr auto results_of(Type<void>) {
  return Type<Outs<typename E::whole, cotangent_t<As>...>>{};
}
/// The refusal of a named result type that has other indices than the value, or void.
template <class Named, class Value>
constexpr auto refused_result() {
  using R = shardtype::detail::Resolve<op::Reshard<automatic_mode::whole_t<Named>>,
                                       automatic_mode::whole_t<Value>>;
  if constexpr (R::verdict.code == Code::R01_indices_differ) {
    return Type<refused<Code::L07_other_indices, false, Named, Value>>{};
  } else if constexpr (!R::verdict) {
    return Type<refusal<R, Named, Value>>{};
  } else {
    return Type<void>{};
  }
}
template <class Results, class Values>
constexpr auto refused_results() {
  return Type<refused<Code::L09_results_named, false, Results, Values>>{};
}
template <class Results, class Values>
  requires(std::is_void_v<Results>)
constexpr auto refused_results() {
  return Type<void>{};
}
template <class First, class... Rest>
constexpr auto first_refused() {
  if constexpr (!std::is_void_v<First> || sizeof...(Rest) == 0) {
    return Type<First>{};
  } else {
    return autodiff::first_refused<Rest...>();
  }
}
template <class Outputs, class Values>
struct RefusedResults : decltype(autodiff::refused_results<Outputs, Values>()) {};
template <class... Ls, class... Vs>
  requires(sizeof...(Ls) == sizeof...(Vs))
struct RefusedResults<Outs<Ls...>, shardtype::detail::Pack<Vs...>>
    : decltype(autodiff::first_refused<
               typename decltype(autodiff::refused_result<Ls, Vs>())::type...>()) {};

/// Whether `e`, the loss of `evaluate` or `dry_run`, has gradients; else the refusal, as a type.
template <class E>
constexpr auto refused_loss() {
  if constexpr (!core::is_lazy<E>) {
    return Type<refused<Code::X04_loss, false, E>>{};
  } else if constexpr (!autodiff::is_loss<typename E::whole>()) {
    return Type<refused<Code::X04_loss, false, typename E::whole>>{};
  } else if constexpr (!std::is_void_v<typename RefusedPart<E>::type>) {
    return Type<refused<Code::X03_not_differentiable, false, typename RefusedPart<E>::type>>{};
  } else {
    return Type<void>{};
  }
}
template <class E>
using refused_loss_t = typename decltype(autodiff::refused_loss<E>())::type;

/// The program of the loss `E` of arguments `As`, with respect to those of numbers `Ks`.
/// `Outputs`: the named result types, or void.
template <class E, class Xs, class Outputs = void, int... Ks, class... As>
constexpr auto loss_program(std::integer_sequence<int, Ks...>, shardtype::detail::Pack<As...>) {
  using Results =
      typename decltype(autodiff::results_of<E, nth_t<Ks, As...>...>(Type<Outputs>{}))::type;
  return Type<LossProgram<E, Results, std::integer_sequence<int, Ks...>, Xs>>{};
}
template <class E, class Outputs, int... Ks, class... As>
constexpr auto refused_outputs(std::integer_sequence<int, Ks...>, shardtype::detail::Pack<As...>) {
  using Values = shardtype::detail::Pack<typename E::whole, cotangent_t<nth_t<Ks, As...>>...>;
  return Type<typename RefusedResults<Outputs, Values>::type>{};
}
template <class E, class Outputs, class Numbers, class Given>
using refused_outputs_t =
    typename decltype(autodiff::refused_outputs<E, Outputs>(Numbers{}, Given{}))::type;

/// `evaluate` of a gradient, called at `where`.
template <class Outputs, class F, bool value, int... Ks, int... J, class M, class... As>
auto evaluate_gradient(std::source_location const& where, M const& mesh,
                       Gradient<F, value, Ks...> const& g, std::integer_sequence<int, J...>,
                       As const&... as) {
  using shardtype::detail::operand_t;
  using Given = shardtype::detail::Pack<operand_t<As>...>;
  using Numbers = std::integer_sequence<int, Ks...>;
  auto const e =
      g.f(automatic_mode::LazyInput<operand_t<As>, J>(shardtype::detail::operand(as))...);
  using E = std::remove_cvref_t<decltype(e)>;
  if constexpr (any_poisoned<E>) {
    return autodiff::no_gradient<value, Ks...>(Given{});
  } else if constexpr (!std::is_void_v<refused_loss_t<E>>) {
    static_cast<void>(alignof(refused_loss_t<E>));
    return autodiff::no_gradient<value, Ks...>(Given{});
  } else if constexpr (!std::is_void_v<refused_outputs_t<E, Outputs, Numbers, Given>>) {
    static_cast<void>(alignof(refused_outputs_t<E, Outputs, Numbers, Given>));
    return autodiff::no_gradient<value, Ks...>(Given{});
  } else {
    using Xs = typename shardtype::detail::MeshAxes<M>::type;
    using P = typename decltype(autodiff::loss_program<E, Xs, Outputs>(Numbers{}, Given{}))::type;
    core::RunningCall const running("evaluate", where);
    GradientRun<P> run(mesh, e);
    return autodiff::together<value>(run.run(
        run.plan(), where, autodiff::nth_argument<Ks>(shardtype::detail::operand(as)...)...));
  }
}

template <class M, class G, class... As>
inline constexpr bool runs_gradient =
    std::is_base_of_v<MeshRef, M> && std::is_base_of_v<core::GradientFunction, G> &&
    (is_tensor<shardtype::detail::operand_t<As>> && ...);

}  // namespace autodiff

namespace api {

/// The value and the gradients of a function of expressions, planned and run as one program:
/// `evaluate(mesh, value_and_grad<0, 1>(f), a, b)` is what `value_and_grad<0, 1>(f)(a, b)` is in
/// strict mode, but that the shardings of all values of both passes are chosen together. The loss
/// is on all ranks, each gradient in its operand's sharding, with `Unreduced` and `Reduced`
/// swapped; or all are named, the loss first: `evaluate<Outs<L, A, B>>(mesh, ...)`.
///
/// Refused: X03 a part without a gradient, X04 a loss that is none, L07 a named result with other
/// indices, L09 another number of results, and what `evaluate` refuses.
template <class Outputs = void, class M, class G, class A>
  requires(autodiff::runs_gradient<M, G, A>)
auto evaluate(M const& mesh, G const& g, A const& a,
              std::source_location const& where = std::source_location::current()) {
  return autodiff::evaluate_gradient<Outputs>(where, mesh, g, autodiff::Numbers<1>{}, a);
}
template <class Outputs = void, class M, class G, class A, class B>
  requires(autodiff::runs_gradient<M, G, A, B>)
auto evaluate(M const& mesh, G const& g, A const& a, B const& b,
              std::source_location const& where = std::source_location::current()) {
  return autodiff::evaluate_gradient<Outputs>(where, mesh, g, autodiff::Numbers<2>{}, a, b);
}
template <class Outputs = void, class M, class G, class A, class B, class C>
  requires(autodiff::runs_gradient<M, G, A, B, C>)
auto evaluate(M const& mesh, G const& g, A const& a, B const& b, C const& c,
              std::source_location const& where = std::source_location::current()) {
  return autodiff::evaluate_gradient<Outputs>(where, mesh, g, autodiff::Numbers<3>{}, a, b, c);
}
template <class Outputs = void, class M, class G, class A, class B, class C, class D>
  requires(autodiff::runs_gradient<M, G, A, B, C, D>)
auto evaluate(M const& mesh, G const& g, A const& a, B const& b, C const& c, D const& d,
              std::source_location const& where = std::source_location::current()) {
  return autodiff::evaluate_gradient<Outputs>(where, mesh, g, autodiff::Numbers<4>{}, a, b, c, d);
}
// of more a line cannot be known
template <class Outputs = void, class M, class G, class... As>
  requires(sizeof...(As) > 4 && autodiff::runs_gradient<M, G, As...>)
auto evaluate(M const& mesh, G const& g, As const&... as) {
  return autodiff::evaluate_gradient<Outputs>(
      {}, mesh, g, autodiff::Numbers<static_cast<int>(sizeof...(As))>{}, as...);
}

/// Both passes of `value_and_grad<0, 1>(f)` on symbols of the types `Given`, to be planned for
/// sizes and machines that need not exist here.
template <class... Given, class F, bool value, int... Ks>
auto dry_run(autodiff::Gradient<F, value, Ks...> const& g) {
  using By = detail::Symbols<Given...>;
  using E = decltype(By::call(g.f));
  if constexpr (checking::any_poisoned<E>) {
    return automatic_mode::RefusedDryRun();
  } else if constexpr (!std::is_void_v<autodiff::refused_loss_t<E>>) {
    return automatic_mode::RefusedDryRun(autodiff::refused_loss_t<E>{});
  } else {
    return DryRun<typename decltype(autodiff::loss_program<E, typename By::axes>(
        std::integer_sequence<int, Ks...>{}, typename By::given{}))::type>();
  }
}

}  // namespace api

}  // namespace shardtype
