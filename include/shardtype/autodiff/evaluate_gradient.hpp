#pragma once
/// Gradients in automatic mode: the forward and the backward pass as one program, whose plan
/// chooses the shardings of both together.

#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/loss_program.hpp>
#include <shardtype/autodiff/value_and_grad.hpp>
#include <shardtype/lazy/dry_run.hpp>

namespace shardtype {

namespace autodiff {

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
/// The refusal of a program, or void: what the planner refuses.
template <class P, class E>
constexpr auto refused_program() {
  if constexpr (P::written.fault == Code::ok && !P::has_axes) {
    return Type<refused<Code::M01_axis_not_in_mesh, false, E, typename P::results>>{};
  } else if constexpr (P::written.fault == Code::ok) {
    return Type<void>{};
  } else if constexpr (P::written.fault == Code::L03_too_large) {
    return Type<refused<Code::L03_too_large, false, checking::Exceeds<P::program.passed>, E,
                        typename P::Loss>>{};
  } else {
    return Type<refused<P::written.fault, false, E, typename P::Loss>>{};
  }
}
template <class P, class E>
using refused_program_t = typename decltype(autodiff::refused_program<P, E>())::type;
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
    if constexpr (!std::is_void_v<refused_program_t<P, E>>) {
      static_cast<void>(alignof(refused_program_t<P, E>));
      return autodiff::no_gradient<value, Ks...>(Given{});
    } else {
      core::RunningCall const running("evaluate", where);
      GradientRun<P> run(mesh, e);
      return autodiff::together<value>(run.run(
          run.plan(), where, autodiff::nth_argument<Ks>(shardtype::detail::operand(as)...)...));
    }
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
    using P = typename decltype(autodiff::loss_program<E, typename By::axes>(
        std::integer_sequence<int, Ks...>{}, typename By::given{}))::type;
    if constexpr (!std::is_void_v<autodiff::refused_program_t<P, E>>) {
      return automatic_mode::RefusedDryRun(autodiff::refused_program_t<P, E>{});
    } else {
      return DryRun<P>();
    }
  }
}

}  // namespace api

}  // namespace shardtype
