#pragma once
/// Gradients in automatic mode: the forward and the backward pass as one program, whose plan
/// chooses the shardings of both together.

#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/loss_arguments.hpp>
#include <shardtype/autodiff/value_and_grad.hpp>
#include <shardtype/lazy/dry_run.hpp>

namespace shardtype {

namespace autodiff {

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

/// The named types of the results of a loss `Whole`, or void.
template <class Outputs, class Whole>
struct NamedResults {
  using loss = Whole;
  template <std::size_t>
  using at = void;
};
template <class L, class... Gs, class Whole>
struct NamedResults<Outs<L, Gs...>, Whole> {
  using loss = L;
  template <std::size_t K>
  using at = nth_t<static_cast<int>(K), Gs..., void, void, void, void, void, void>;
};
/// The place of `j` among the numbers `Ks`, or 0.
template <int... Ks>
constexpr std::size_t place_among(int j) {
  int const each[] = {Ks...};
  for (std::size_t k = 0; k < sizeof...(Ks); ++k)
    if (each[k] == j) return k;
  return 0;
}
template <class R, class Outputs>
inline constexpr bool has_axes_of_results = true;
template <class R, class... Ls>
inline constexpr bool has_axes_of_results<R, Outs<Ls...>> = (R::template has_axes<Ls>() && ...);

/// The recorder of programs on axes `Xs`, an Axes. More axes than a program can have are those that
/// the arguments mention.
template <class Xs>
struct RecorderOn;
template <class... Xs>
struct RecorderOn<automatic_mode::Axes<Xs...>> {
  using type = LossRecorder<Xs...>;
};
template <class... Xs>
  requires(sizeof...(Xs) > shardtype::detail::searched_axes)
struct RecorderOn<automatic_mode::Axes<Xs...>> {
  using type = LossRecorder<>;
};

/// The refusal of a loss `L` with results `Outputs`, the loss's and gradients of types `Gs`; or void.
template <class R, class Outputs, class L, class... Gs>
constexpr auto refused_call() {
  if constexpr (!core::is_lazy<L>) {
    return Type<refused<Code::X04_loss, false, L>>{};
  } else if constexpr (!autodiff::is_loss<typename L::whole>()) {
    return Type<refused<Code::X04_loss, false, typename L::whole>>{};
  } else {
    using Named =
        typename RefusedResults<Outputs,
                                shardtype::detail::Pack<typename L::whole, Gs...>>::type;
    if constexpr (!std::is_void_v<Named>) {
      return Type<Named>{};
    } else if constexpr (!has_axes_of_results<R, Outputs>) {
      return Type<refused<Code::M01_axis_not_in_mesh, false, typename L::whole, Outputs>>{};
    } else {
      return Type<void>{};
    }
  }
}
/// The type of an argument's gradient as named results have it; of a structure none is named.
template <class P>
struct NameableGradient {
  using type = P;
};
template <class P>
  requires(is_tensor<P>)
struct NameableGradient<P> {
  using type = cotangent_t<P>;
};

/// The program of the loss `made`, which as a result is an `L`.
template <class L, class R, class Made>
LossProgram loss_program(LossArguments<R>& all, Made const& made) {
  int number = -1;
  if constexpr (std::is_void_v<typename Made::recorder>) {
    number = all.to.record(made);  // it hangs on no argument
  } else {
    number = made.number();
  }
  shardtype::detail::List<WantedValue> wanted;
  wanted.push_back(WantedValue::of<L>(number));
  for (WantedValue const& w : all.wanted) wanted.push_back(w);
  return {all.to.template finish<L>(number), std::move(wanted)};
}

/// The plans of the losses that `Call` distinguishes.
template <class... Call>
inline shardtype::detail::PlanCache<LossKey> loss_plans;

/// `evaluate` of a gradient, called at `where`.
template <class Outputs, class F, bool value, int... Ks, int... J, class M, class... Ps>
auto evaluate_gradient(std::source_location const& where, M const& mesh,
                       Gradient<F, value, Ks...> const& g, std::integer_sequence<int, J...>,
                       Ps const&... ps) {
  using Given = shardtype::detail::Pack<Ps...>;
  using R = typename RecorderOn<typename shardtype::detail::MeshAxes<M>::type>::type;
  using Asked = NamedResults<Outputs, void>;
  if constexpr (!((!autodiff::wanted<Ks...>(J) || is_known<Ps>)&&...)) {
    static_cast<void>(alignof(refused<Code::X10_no_parameters, false, Ps...>));
    return autodiff::no_gradient<value, Ks...>(Given{});
  } else if constexpr (!(autodiff::has_axes_of_leaves<R, Ps>() && ...)) {
    static_cast<void>(alignof(refused<Code::M01_axis_not_in_mesh, false, Ps...>));
    return autodiff::no_gradient<value, Ks...>(Given{});
  } else {
    core::RunningCall const running("evaluate", where);
    LossArguments<R> all;
    (all.to.template mention<Ps>(), ...);
    KeptIn<std::integer_sequence<int, J...>,
           typename RecordedForm<R, autodiff::wanted<Ks...>(J)>::template of<Ps>...> const args{
        {all.template given<autodiff::wanted<Ks...>(J),
                            typename Asked::template at<autodiff::place_among<Ks...>(J)>>(ps)}...};
    auto const made = api::lazy(g.f(autodiff::kept<J>(args)...));
    using L = std::remove_cvref_t<decltype(made)>;
    if constexpr (any_poisoned<L>) {
      return autodiff::no_gradient<value, Ks...>(Given{});
    } else {
      using Refused = typename decltype(autodiff::refused_call<
          R, Outputs, L, typename NameableGradient<nth_t<Ks, Ps...>>::type...>())::type;
      if constexpr (!std::is_void_v<Refused>) {
        static_cast<void>(alignof(Refused));
        return autodiff::no_gradient<value, Ks...>(Given{});
      } else {
        using Loss = typename NamedResults<Outputs, typename L::whole>::loss;
        LossProgram const program = autodiff::loss_program<Loss>(all, made);
        LossRun run(mesh, program);
        run.run(run.plan(loss_plans<F, M, Outputs, Ps...>), where);
        KeptIn<std::integer_sequence<int, J...>, Ps const&...> const arguments{{ps}...};
        auto const of = [&]<int K>(std::integral_constant<int, K>) {
          return GradientTaker(program, run, all.first[K])
              .template take<typename Asked::template at<autodiff::place_among<Ks...>(K)>>(
                  autodiff::kept<K>(arguments));
        };
        auto grads = [&] {
          if constexpr (sizeof...(Ks) == 1) {
            return of(std::integral_constant<int, Ks>{}...);
          } else {
            return std::tuple{of(std::integral_constant<int, Ks>{})...};
          }
        }();
        if constexpr (value) {
          return ValueAndGradient<Loss, decltype(grads)>{run.template result<Loss>(0),
                                                         std::move(grads)};
        } else {
          return grads;
        }
      }
    }
  }
}

template <class R, class F, bool value, int... Ks, class... Ps, int... J>
auto dry_gradient(Gradient<F, value, Ks...> const& g, shardtype::detail::Pack<Ps...>,
                  std::integer_sequence<int, J...>) {
  if constexpr (!((!autodiff::wanted<Ks...>(J) || is_known<Ps>)&&...)) {
    return automatic_mode::RefusedDryRun(refused<Code::X10_no_parameters, false, Ps...>{});
  } else if constexpr (!(autodiff::has_axes_of_leaves<R, Ps>() && ...)) {
    return automatic_mode::RefusedDryRun(refused<Code::M01_axis_not_in_mesh, false, Ps...>{});
  } else {
    LossArguments<R> all;
    (all.to.template mention<Ps>(), ...);
    KeptIn<std::integer_sequence<int, J...>,
           typename RecordedForm<R, autodiff::wanted<Ks...>(J)>::template of<Ps>...> const args{
        {all.template symbol<autodiff::wanted<Ks...>(J), Ps>()}...};
    auto const made = api::lazy(g.f(autodiff::kept<J>(args)...));
    using L = std::remove_cvref_t<decltype(made)>;
    if constexpr (any_poisoned<L>) {
      return automatic_mode::RefusedDryRun();
    } else {
      using Refused = typename decltype(autodiff::refused_call<R, void, L>())::type;
      if constexpr (!std::is_void_v<Refused>) {
        return automatic_mode::RefusedDryRun(Refused{});
      } else {
        return DryRun<LossProgram>(autodiff::loss_program<typename L::whole>(all, made));
      }
    }
  }
}
template <class R, class G, class... Ps>
auto dry_gradient(G const& g, shardtype::detail::Pack<Ps...> given) {
  return autodiff::dry_gradient<R>(g, given, Numbers<static_cast<int>(sizeof...(Ps))>{});
}

template <class M, class G, class... As>
inline constexpr bool runs_gradient =
    std::is_base_of_v<MeshRef, M> && std::is_base_of_v<core::GradientFunction, G> &&
    sizeof...(As) > 0;

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
  return autodiff::evaluate_gradient<Outputs>(where, mesh, g, autodiff::Numbers<1>{}, autodiff::argument_of(a));
}
template <class Outputs = void, class M, class G, class A, class B>
  requires(autodiff::runs_gradient<M, G, A, B>)
auto evaluate(M const& mesh, G const& g, A const& a, B const& b,
              std::source_location const& where = std::source_location::current()) {
  return autodiff::evaluate_gradient<Outputs>(where, mesh, g, autodiff::Numbers<2>{}, autodiff::argument_of(a), autodiff::argument_of(b));
}
template <class Outputs = void, class M, class G, class A, class B, class C>
  requires(autodiff::runs_gradient<M, G, A, B, C>)
auto evaluate(M const& mesh, G const& g, A const& a, B const& b, C const& c,
              std::source_location const& where = std::source_location::current()) {
  return autodiff::evaluate_gradient<Outputs>(where, mesh, g, autodiff::Numbers<3>{}, autodiff::argument_of(a), autodiff::argument_of(b), autodiff::argument_of(c));
}
template <class Outputs = void, class M, class G, class A, class B, class C, class D>
  requires(autodiff::runs_gradient<M, G, A, B, C, D>)
auto evaluate(M const& mesh, G const& g, A const& a, B const& b, C const& c, D const& d,
              std::source_location const& where = std::source_location::current()) {
  return autodiff::evaluate_gradient<Outputs>(where, mesh, g, autodiff::Numbers<4>{}, autodiff::argument_of(a), autodiff::argument_of(b), autodiff::argument_of(c), autodiff::argument_of(d));
}
// of more a line cannot be known
template <class Outputs = void, class M, class G, class... As>
  requires(sizeof...(As) > 4 && autodiff::runs_gradient<M, G, As...>)
auto evaluate(M const& mesh, G const& g, As const&... as) {
  return autodiff::evaluate_gradient<Outputs>(
      {}, mesh, g, autodiff::Numbers<static_cast<int>(sizeof...(As))>{}, autodiff::argument_of(as)...);
}

/// Both passes of `value_and_grad<0, 1>(f)` on symbols of the types `Given`, tensors or structures of
/// them, to be planned for sizes and machines that need not exist here. Refused: as `evaluate`.
template <class... Given, class F, bool value, int... Ks>
auto dry_run(autodiff::Gradient<F, value, Ks...> const& g) {
  using By = detail::Symbols<Given...>;
  return autodiff::dry_gradient<typename autodiff::RecorderOn<typename By::axes>::type>(
      g, typename By::given{});
}

}  // namespace api

}  // namespace shardtype
