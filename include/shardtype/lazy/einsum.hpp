#pragma once
/// Named products of three and more operands: recorded, planned and run as a program of automatic
/// mode.

#include <source_location>
#include <string>
#include <type_traits>

#include <shardtype/lazy/evaluate.hpp>
#include <shardtype/lazy/explain.hpp>

namespace shardtype {

namespace detail {

/// A named product of several operands that is legal: `Strict` is the einsum of its labels.
template <class R, class Strict, class Out, class E>
struct ProductsProgram : R {
  static constexpr bool communicates = true;
  using result = Out;
  using program = planned_t<DefaultPolicy, E, Axes<>, Out>;
  using evaluation = R;
  template <class A, class... As>
  static Out run(std::source_location const& where, A const& a, As const&... as) {
    return api::evaluate<Out>(a.mesh(), api::call(Strict{}, where, api::lazy(a), api::lazy(as)...),
                              DefaultPolicy{}, where);
  }
  template <class A, class... As>
  static PlannedProgram planned(A const& a, As const&... as) {
    return shardtype::planned(
        automatic_mode::EvaluateTo<Out>{}, a.mesh(),
        api::call(Strict{}, std::source_location{}, api::lazy(a), api::lazy(as)...));
  }
};
template <class R>
struct RefusedProgram : R {
  using sentence = evaluation_refusal<R>;
};

template <class... Out, class A, class... As>
constexpr auto resolve_program(Pack<Out...>, Type<A>, Type<As>...) {
  using Named = named_t<A, Out...>;
  if constexpr (is_local<A> || (is_local<As> || ...)) {
    return Type<Plainly<Code::V14_named_result>>{};
  } else if constexpr (!rules::lawful(Scope<Named>::names, Scope<Named>::parsed, 1)) {
    return Type<UnlawfulProducts<Scope<Named>, 1>>{};
  } else {
    using Strict = einsum_like_t<Named>;
    using Whole = Resolve<Strict, automatic_mode::whole_t<A>, automatic_mode::whole_t<As>...>;
    if constexpr (!Whole::verdict) {
      return Type<Whole>{};
    } else {
      using E = decltype(api::call(Strict{}, std::source_location{},
                                   std::declval<automatic_mode::LazyTensor<A> const&>(),
                                   std::declval<automatic_mode::LazyTensor<As> const&>()...));
      using R = Evaluation<DefaultPolicy, E, Axes<>, Named>;
      if constexpr (!R::verdict) {
        return Type<RefusedProgram<R>>{};
      } else {
        return Type<ProductsProgram<R, Strict, Named, E>>{};
      }
    }
  }
}
template <class... Out, class... As>
struct NamedProducts<Pack<Out...>, As...>
    : decltype(detail::resolve_program(Pack<Out...>{}, Type<As>{}...))::type{};

}  // namespace detail

namespace api {

/// The plan of a named einsum of three and more operands: a ProgramPlan where the types settle all
/// sizes, else a ProgramPlans. Refused: what it refuses.
template <class... Out, class A, class B, class C, class... More>
  requires(!detail::all_labels_named<Out...>)
constexpr auto plan(op::Einsum<Out...> const&, Type<A>, Type<B>, Type<C>, Type<More>...) {
  using R = checking::Resolve<op::Einsum<Out...>, A, B, C, More...>;
  if constexpr (requires { typename R::sentence; }) {
    static_cast<void>(typename R::sentence{});
    return automatic_mode::NamedProgramPlan<void>{};
  } else if constexpr (!R::verdict) {
    static_cast<void>(checking::refusal<R, A, B, C, More...>{});
    return automatic_mode::NamedProgramPlan<void>{};
  } else {
    return detail::plan_of_evaluation<typename R::evaluation, typename R::program>();
  }
}

}  // namespace api

namespace detail {

/// The plan of a named einsum of several tensors with its names. Refused: what it refuses.
template <class... Out, class A, class... As>
PlannedProgram planned_products(A const& a, As const&... as) {
  using R = Resolve<op::Einsum<Out...>, A, As...>;
  if constexpr (requires { typename R::sentence; }) {
    static_cast<void>(typename R::sentence{});
    return {};
  } else if constexpr (!R::verdict) {
    static_cast<void>(refusal<R, A, As...>{});
    return {};
  } else {
    return R::planned(a, as...);
  }
}

}  // namespace detail

namespace api {

/// The plan that a named einsum of three and more operands runs on these tensors.
template <class... Out, class A, class B, class C, class... More>
  requires(!detail::all_labels_named<Out...>)
ProgramPlan plan_at(op::Einsum<Out...> const&, core::Argument<A> const& a, B const& b, C const& c,
                    More const&... more) {
  return detail::planned_products<Out...>(detail::operand(a.self()), detail::operand(b),
                                          detail::operand(c), detail::operand(more)...)
      .plan;
}

/// The same as text.
template <class... Out, class A, class B, class C, class... More>
  requires(!detail::all_labels_named<Out...>)
std::string explain(op::Einsum<Out...> const&, core::Argument<A> const& a, B const& b, C const& c,
                    More const&... more) {
  return api::explain(detail::planned_products<Out...>(
      detail::operand(a.self()), detail::operand(b), detail::operand(c), detail::operand(more)...));
}

}  // namespace api

}  // namespace shardtype
