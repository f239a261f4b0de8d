#pragma once
/// `evaluate` on types: whether it is legal, its result type, and its plan before anything runs.

#include <cstdint>
#include <type_traits>
#include <utility>

#include <shardtype/check/valid_on.hpp>
#include <shardtype/lazy/compiled_plan.hpp>
#include <shardtype/lazy/planned_program.hpp>
#include <shardtype/lazy/record.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype {

namespace detail {

template <class M>
struct MeshAxes {
  using type = Axes<>;
};
template <class... Xs>
struct MeshAxes<Mesh<Xs...>> {
  using type = Axes<Xs...>;
};
template <class... Xs>
struct MeshAxes<Axes<Xs...>> {
  using type = Axes<Xs...>;
};

template <class Policy, class E, class Out, class Xs>
struct PlannedOn;
template <class Policy, class E, class Out, class... Xs>
struct PlannedOn<Policy, E, Out, Axes<Xs...>> {
  using type = Planned<Policy, E, Out, Xs...>;
};

/// `evaluate<Out...>` of an expression of type `E` on axes `Xs`: the verdict and the planned
/// program.
template <class Policy, class E, class Xs, class... Out>
struct Evaluation {
  using whole = typename E::whole;
  using result = named_t<whole, Out...>;
  using S = Scope<whole, result>;
  static constexpr Verdict law = rules::lawful(S::names, S::parsed, 2);
  static constexpr Verdict labels() {
    if constexpr (!law) {
      return law;
    } else {
      Verdict v = Resolve<op::Reshard<whole_t<result>>, whole>::verdict;
      if (v.code == Code::R01_indices_differ) v.code = Code::L07_other_indices;
      return v;
    }
  }
  static constexpr Verdict decide() {
    if constexpr (!PlanPolicy<Policy>) {
      return refuse(Code::L06_not_a_policy);
    } else if constexpr (!labels()) {
      return labels();
    } else {
      using P = typename PlannedOn<Policy, E, result, Xs>::type;
      if (P::written.fault != Code::ok) return rules::refuse(P::written.fault);
      if constexpr (P::written.fault == Code::ok && P::is_static) {
        if constexpr (!P::program.countable())
          return refuse(Code::T10_too_many_elements);
        else if (!compiled_program_plan<P>.possible)
          return refuse(Code::L04_memory_limit);
      }
      return {};
    }
  }
  static constexpr Verdict verdict = decide();
  using expression = E;
  /// The limit that a program exceeds which is too large.
  static constexpr rules::ProgramLimit passed() {
    using P = typename PlannedOn<Policy, E, result, Xs>::type;
    return P::written.program.passed;
  }
};
/// The refusal of an `evaluate`, with the types at fault. A result type that breaks a law is left
/// out, because naming it would cause a second refusal.
template <class R>
constexpr auto refused_evaluation() {
  if constexpr (!R::law) {
    return Type<refusal<R, typename R::whole>>{};
  } else if constexpr (!R::labels()) {
    return Type<refusal<R, typename R::whole, typename R::result>>{};
  } else if constexpr (R::verdict.code == Code::L03_too_large) {
    return Type<refused<Code::L03_too_large, false, Exceeds<R::passed()>, typename R::expression,
                        typename R::result>>{};
  } else {
    return Type<refusal<R, typename R::expression, typename R::result>>{};
  }
}
template <class R>
using evaluation_refusal = typename decltype(detail::refused_evaluation<R>())::type;
template <class R, class... Given>
constexpr bool evaluation_exists() {
  if constexpr (!R::verdict) {
    return false;
  } else {
    return detail::exists_on<typename R::result, Given...>();
  }
}
template <class Policy, class E, class Xs, class... Out>
using planned_t = typename PlannedOn<Policy, E, named_t<typename E::whole, Out...>, Xs>::type;

}  // namespace detail

}  // namespace shardtype

namespace shardtype::automatic_mode {

/// The type of `evaluate_to`.
template <class... Out>
struct EvaluateTo {};

}  // namespace shardtype::automatic_mode

namespace shardtype {

/// Stands for `evaluate<Out...>` of an expression, as an argument of `plan`, `planned` and
/// `explain`.
template <class... Out>
inline constexpr automatic_mode::EvaluateTo<Out...> evaluate_to{};

}  // namespace shardtype

namespace shardtype::automatic_mode {

/// The result of `evaluate<Out...>(e)` without a mesh: a program on types, for plan_traced and
/// dry_run.
template <class E, class Policy, class... Out>
struct Traced {
  /// The program on axes `Xs` (an Axes).
  template <class Xs>
  using evaluation = detail::Evaluation<Policy, E, Xs, Out...>;
  template <class Xs>
  using planned = detail::planned_t<Policy, E, Xs, Out...>;
  /// For check/valid_on.hpp: whether the call is legal for these axis sizes, and its result can
  /// exist.
  template <class... Given>
  static constexpr bool valid_on =
      detail::evaluation_exists<detail::Evaluation<Policy, E, Axes<>, Out...>, Given...>();
};

}  // namespace shardtype::automatic_mode

namespace shardtype {

namespace api {

/// The program of an expression of symbols, for plan_traced and dry_run.
template <class... Out, class E, class Policy = detail::DefaultPolicy>
  requires(core::is_lazy<E> || checking::any_poisoned<E>)
constexpr auto evaluate(core::Argument<E> const&, Policy const& = {}) {
  if constexpr (checking::any_poisoned<E>) {
    return checking::Poisoned{};
  } else {
    return automatic_mode::Traced<E, Policy, Out...>{};
  }
}

}  // namespace api

}  // namespace shardtype

namespace shardtype::automatic_mode {

/// The plan of program `P` with its names: what `plan` and `plan_traced` return. `explain`,
/// `to_json` and `to_html` take it as a PlannedProgram.
template <class P>
struct NamedProgramPlan : ProgramPlan {
  constexpr explicit NamedProgramPlan(ProgramPlan const& plan) : ProgramPlan(plan) {}
  operator PlannedProgram() const { return {*this, P::names, P::machine}; }
};
/// That of a refused program; nothing is defined for it.
template <>
struct NamedProgramPlan<void> : ProgramPlan {
  operator PlannedProgram() const;
};

/// The plans of a program whose sizes are known only at run time: `at` returns the plan for given
/// sizes (plan/program.hpp).
template <class P>
struct ProgramPlans {
  static constexpr ProgramNames const& names = P::names;
  /// The plan for the sizes in `sized`, a copy of `P::program` with sizes filled in.
  static ProgramPlan at(RecordedProgram const& sized, Machine const& m = P::machine) {
    return planning::plan_program(sized,
                                  detail::rates_for(m, P::memory_limit, sized.sizes, P::names));
  }
};

}  // namespace shardtype::automatic_mode

namespace shardtype {

namespace detail {

template <class R, class P>
constexpr auto plan_of_evaluation() {
  if constexpr (!R::verdict) {
    static_cast<void>(evaluation_refusal<R>{});
    return NamedProgramPlan<void>{};
  } else if constexpr (P::is_static) {
    return NamedProgramPlan<P>(compiled_program_plan<P>);
  } else if constexpr (P::names.all_static()) {
    static_cast<void>(refused<Code::L03_too_large, false, Exceeds<rules::ProgramLimit::constant>,
                              typename R::expression, typename R::result>{});
    return NamedProgramPlan<void>{};
  } else {
    return ProgramPlans<P>{};
  }
}
template <class T>
inline constexpr bool is_traced = false;
template <class E, class Policy, class... Out>
inline constexpr bool is_traced<Traced<E, Policy, Out...>> = true;

template <class Numbers, class... Given>
struct NumberedSymbols;
template <int... Number, class... Given>
struct NumberedSymbols<std::integer_sequence<int, Number...>, Given...> {
  using axes = Axes<>;
  using given = Pack<Given...>;
  template <class F>
  static constexpr auto call(F const& f) {
    return f(LazySymbol<Given, Number>()...);
  }
};
/// Calls functions with symbols of the types `Given`, on the axes given first or on those that the
/// symbols mention.
template <class... Given>
struct Symbols
    : NumberedSymbols<std::make_integer_sequence<int, static_cast<int>(sizeof...(Given))>,
                      Given...> {};
template <class... Xs, class... Given>
struct Symbols<Axes<Xs...>, Given...> : Symbols<Given...> {
  using axes = Axes<Xs...>;
};

}  // namespace detail

namespace api {

/// `plan(evaluate_to<Out...>, mesh, e)`: the plan of `evaluate<Out...>(mesh, e)`: a constant
/// `ProgramPlan` (a TracedPlan) if the types determine all sizes, else a ProgramPlans. Refused,
/// L03: a program that is planned at its first call, because values that are read several times
/// have too many layouts. The arguments' values are not used; in functions that take them by
/// reference use plan_traced. Refused: as `evaluate`.
template <class... Out, class M, class E, class Policy = detail::DefaultPolicy>
  requires(std::is_base_of_v<runtime::MeshRef, M>)
constexpr auto plan(automatic_mode::EvaluateTo<Out...> const&, M const&,
                    [[maybe_unused]] core::Argument<E> const& e, Policy const& = {}) {
  using L = detail::lazy_t<E>;
  if constexpr (checking::any_poisoned<L>) {
    static_cast<void>(api::lazy(e.self()));
    return automatic_mode::NamedProgramPlan<void>{};
  } else {
    using Xs = typename detail::MeshAxes<M>::type;
    return detail::plan_of_evaluation<detail::Evaluation<Policy, L, Xs, Out...>,
                                      detail::planned_t<Policy, L, Xs, Out...>>();
  }
}

/// The plan of a program from types alone: `plan_traced<A, B>([](auto a, auto b) { return
/// evaluate<Dim<I, X>, Dim<K>>(a * b); })`. It may use the axes that the types mention, or those
/// given first: `plan_traced<Axes<X, Y>, A, B>(f)`. `explain(plan_traced<A, B>(f))` is its text.
template <class... Given, class F>
constexpr auto plan_traced([[maybe_unused]] F f) {
  using By = detail::Symbols<Given...>;
  // reports a refusal inside of the function: after this condition clang stops
  if constexpr (checking::any_poisoned<decltype(By::call(f))>) {
    return automatic_mode::NamedProgramPlan<void>{};
  } else if constexpr (!detail::is_traced<decltype(By::call(f))>) {
    static_cast<void>(
        checking::refused<rules::Code::L05_not_evaluated, false, decltype(By::call(f))>{});
    return automatic_mode::NamedProgramPlan<void>{};
  } else {
    using T = decltype(By::call(f));
    using Xs = typename By::axes;
    return detail::plan_of_evaluation<typename T::template evaluation<Xs>,
                                      typename T::template planned<Xs>>();
  }
}

}  // namespace api

/// Whether two tensor types have the same sharding of the same labels. A loop whose body returns
/// the sharding it takes needs no reshard between iterations: `static_assert(same_spec<In,
/// decltype(step(in))>)`.
template <class A, class B>
inline constexpr bool same_spec = [] {
  // also accepts the type of `auto const& in`
  using Left = std::remove_cvref_t<A>;
  using Right = std::remove_cvref_t<B>;
  if constexpr (is_tensor<Left> && is_tensor<Right>) {
    using S = core::Scope<Left, Right>;
    return S::template spec<0> == S::template spec<1>;
  } else {
    return false;
  }
}();

}  // namespace shardtype
