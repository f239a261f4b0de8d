#pragma once
/// A call of a gradient in automatic mode: what it refuses, its program, and its results.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/aux.hpp>
#include <shardtype/autodiff/loss_arguments.hpp>
#include <shardtype/autodiff/value_and_grad.hpp>

namespace shardtype::autodiff {

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
template <class State, class Values>
struct RefusedResults<Updated<State>, Values> : Type<void> {};
template <class... Ls, class... Vs>
  requires(sizeof...(Ls) == sizeof...(Vs))
struct RefusedResults<Outs<Ls...>, shardtype::detail::Pack<Vs...>>
    : decltype(autodiff::first_refused<
               typename decltype(autodiff::refused_result<Ls, Vs>())::type...>()) {};

/// The named types of the results of a loss `Whole`; of gradients void where none is named.
template <class Outputs, class Whole>
struct NamedResults {
  using loss = Whole;
  template <std::size_t>
  using at = void;
};
template <class State, class Whole>
struct NamedResults<Updated<State>, Whole> {
  using loss = Whole;
  template <std::size_t>
  using at = Updated<State>;
};
template <class L, class... Gs, class Whole>
struct NamedResults<Outs<L, Gs...>, Whole> {
  using loss = L;
  template <std::size_t K>
  static constexpr auto type_at() {
    if constexpr (K < sizeof...(Gs)) {
      return Type<nth_t<static_cast<int>(K), Gs...>>{};
    } else {
      return Type<void>{};  // L09
    }
  }
  template <std::size_t K>
  using at = typename decltype(type_at<K>())::type;
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
template <class R, class State>
inline constexpr bool has_axes_of_results<R, Updated<State>> =
    autodiff::has_axes_of_leaves<R, State>();
/// Adds the axes of results that arguments need not mention.
template <class Outputs>
struct Mentioned {
  template <class R>
  static void in(R&) {}
};
template <class State>
struct Mentioned<Updated<State>> {
  template <class R>
  static void in(R& to) {
    to.template mention<State>();
  }
};

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

/// A value that a function gives beside its loss, as a result: of an expression a tensor, in the
/// sharding in which it is computed, or on all ranks if the planner chooses that.
template <class A>
struct AuxForm {
  using type = A;
};
template <class A>
  requires(core::is_lazy<A>)
struct AuxForm<A> : shardtype::detail::LaidOut<shardtype::detail::lazy_t<A>> {};
template <class A>
using aux_of_t = typename AuxForm<A>::type;
template <StdContainer C>
struct AuxForm<C> {
  using type = typename Container<C>::template with<aux_of_t>;
};

/// What the function of a loss gave: the loss, as a value of the program that `R` writes, and
/// values beside it.
template <class F, class Made>
struct MadeLoss {
  static constexpr bool is_pair = LossIn<Made>::is_pair;
  static constexpr auto const& loss(Made const& made) {
    if constexpr (gives_aux<F> && is_pair) {
      return std::get<0>(made);
    } else {
      return made;
    }
  }
  using L =
      shardtype::detail::lazy_t<std::remove_cvref_t<decltype(loss(std::declval<Made const&>()))>>;

  /// Calls `f` with each value beside the loss; a tuple of what it gives.
  template <class G>
  static auto each_aux(Made const& made, G const& f) {
    if constexpr (gives_aux<F>) {
      return std::apply([&](auto const&, auto const&... aux) { return std::tuple(f(aux)...); },
                        made);
    } else {
      return std::tuple();
    }
  }
};

template <class E>
constexpr auto refused_part(Type<automatic_mode::HasNoGradient<E>>) {
  return Type<refused<Code::X03_not_differentiable, false, E>>{};
}
/// The refusal of a loss that is of type `Made`, whose results are `Outputs` and gradients of types
/// `Gs`; or void.
template <class R, class F, class Outputs, class Made, class... Gs>
constexpr auto refused_call() {
  using L = typename MadeLoss<F, Made>::L;
  if constexpr (gives_aux<F> && !MadeLoss<F, Made>::is_pair) {
    return Type<refused<Code::X04_loss, false, Made>>{};
  } else if constexpr (!core::is_lazy<L>) {
    return Type<refused<Code::X04_loss, false, L>>{};
  } else if constexpr (!autodiff::is_loss<typename L::whole>()) {
    return Type<refused<Code::X04_loss, false, typename L::whole>>{};
  } else if constexpr (has_no_gradient<operand_varies<L>>) {
    return autodiff::refused_part(Type<operand_varies<L>>{});
  } else {
    using Named =
        typename RefusedResults<Outputs, shardtype::detail::Pack<typename L::whole, Gs...>>::type;
    if constexpr (!std::is_void_v<Named>) {
      return Type<Named>{};
    } else if constexpr (!has_axes_of_results<R, Outputs>) {
      return Type<refused<Code::M01_axis_not_in_mesh, false, typename L::whole, Outputs>>{};
    } else {
      return Type<void>{};
    }
  }
}
/// The refusal of arguments `Ps`, of which those of numbers `Ks` are differentiated; or void.
template <class R, int... Ks, class... Ps, int... J>
constexpr auto refused_arguments(shardtype::detail::Pack<Ps...>, std::integer_sequence<int, J...>) {
  if constexpr (!((!autodiff::wanted<Ks...>(J) || is_known<Ps>) && ...)) {
    return Type<refused<Code::X10_no_parameters, false, Ps...>>{};
  } else if constexpr (!(autodiff::has_axes_of_leaves<R, Ps>() && ...)) {
    return Type<refused<Code::M01_axis_not_in_mesh, false, Ps...>>{};
  } else {
    return Type<void>{};
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

/// The number of the value of an expression.
template <class R, class E>
int number_in(R& to, E const& e) {
  if constexpr (std::is_void_v<typename E::recorder>) {
    return to.record(e);  // it hangs on no argument
  } else {
    return to.number_of(shardtype::detail::as_recorded(e));
  }
}
/// The program of what the function `F` gave; the loss as a result is an `L`.
template <class F, class L, class R, class Made>
LossProgram loss_program(LossArguments<R>& all, Made const& made) {
  using Of = MadeLoss<F, Made>;
  int const number = autodiff::number_in(all.to, Of::loss(made));
  shardtype::detail::List<WantedValue> wanted;
  wanted.push_back(WantedValue::of<L>(number));
  for (WantedValue const& w : all.wanted) wanted.push_back(w);
  std::size_t const gradients = all.wanted.size();
  Of::each_aux(made, [&](auto const& aux) {
    autodiff::each_value(
        [&]<class A>(A const& a) {
          if constexpr (core::is_lazy<A>)
            wanted.push_back(WantedValue::of<aux_of_t<A>>(autodiff::number_in(all.to, a)));
        },
        aux);
    return 0;
  });
  return {all.to.template finish<L>(number), std::move(wanted), gradients};
}

/// Takes the results of a run, one after the other from place `next` of the wanted values.
class ResultTaker {
 public:
  ResultTaker(LossProgram const& program, LossRun const& run, std::size_t next)
      : program_(program), run_(run), next_(next) {}
  /// The gradient with respect to `p`: a structure of gradients, or a `Named`.
  template <class Named, class P>
  auto gradient(P const& p) {
    if constexpr (std::is_void_v<Named>) {
      return autodiff::map_values<gradient_t, P>(
          [&]<class A>(Type<A>, A const& a) { return one<gradient_t<A>>(a); }, p);
    } else {
      return one<Named>(p);
    }
  }
  /// A value beside the loss.
  template <class A>
  aux_of_t<A> aux(A const& a) {
    if constexpr (is_structure<A>) {
      return autodiff::map_values<aux_of_t, A>([&]<class E>(Type<E>, E const& e) { return aux(e); },
                                               a);
    } else if constexpr (core::is_lazy<A>) {
      return run_.result<aux_of_t<A>>(next_++);
    } else {
      return a;
    }
  }

 private:
  template <class G, class A>
  G one(A const& a) {
    if constexpr (autodiff::has_gradient_as<A>()) {
      std::size_t const place = next_++;
      if (!program_.is_read[place]) return autodiff::filled<G>(a, 0);
      return run_.result<G>(place);
    } else {
      return {};
    }
  }

  LossProgram const& program_;
  LossRun const& run_;
  std::size_t next_;
};

/// The loss, the gradients and the values beside the loss, in the form of strict mode.
template <bool value, class L, class G, class Aux>
constexpr auto loss_results(L loss, G grads, std::tuple<Aux> aux) {
  if constexpr (value) {
    using Both = std::pair<L, Aux>;
    return ValueAndGradient<Both, G>{Both(std::move(loss), std::get<0>(std::move(aux))),
                                     std::move(grads)};
  } else {
    return std::pair<G, Aux>(std::move(grads), std::get<0>(std::move(aux)));
  }
}
template <bool value, class L, class G>
constexpr auto loss_results(L loss, G grads, std::tuple<>) {
  if constexpr (value) {
    return ValueAndGradient<L, G>{std::move(loss), std::move(grads)};
  } else {
    return grads;
  }
}
template <bool value, class L, class G, class Aux, class More, class... Others>
constexpr auto loss_results(L loss, G grads, std::tuple<Aux, More, Others...> aux) {
  return autodiff::loss_results<value>(
      std::move(loss), std::move(grads),
      std::tuple<std::tuple<Aux, More, Others...>>(std::move(aux)));
}

}  // namespace shardtype::autodiff
