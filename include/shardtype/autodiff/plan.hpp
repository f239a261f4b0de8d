#pragma once
/// Plans of both passes, from types alone.

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/value_and_grad.hpp>
#include <shardtype/check/dry.hpp>
#include <shardtype/plan/explain_function.hpp>
#include <shardtype/plan/gradient_plan.hpp>

namespace shardtype {

namespace autodiff {

/// An argument without data, of a tensor type or of a structure of them.
template <class P, class Notes>
struct DryArgument {
  using type = Dry<P, Notes>;
  static constexpr bool sized = Scope<P>::names.all_static();
  static constexpr type make(Notes& notes) { return shardtype::detail::dry_argument<P>(notes); }
};
template <class P, std::size_t N, class Notes>
struct DryArgument<std::array<P, N>, Notes> {
  using type = std::array<typename DryArgument<P, Notes>::type, N>;
  static constexpr bool sized = DryArgument<P, Notes>::sized;
  static constexpr type make(Notes& notes) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return type{(static_cast<void>(K), DryArgument<P, Notes>::make(notes))...};
    }(std::make_index_sequence<N>{});
  }
};
template <template <class...> class Tuple, class Notes, class... Ps>
struct DryTuple {
  using type = Tuple<typename DryArgument<Ps, Notes>::type...>;
  static constexpr bool sized = (DryArgument<Ps, Notes>::sized && ...);
  static constexpr type make(Notes& notes) { return type{DryArgument<Ps, Notes>::make(notes)...}; }
};
template <class... Ps, class Notes>
struct DryArgument<std::tuple<Ps...>, Notes> : DryTuple<std::tuple, Notes, Ps...> {};
template <class A, class B, class Notes>
struct DryArgument<std::pair<A, B>, Notes> : DryTuple<std::pair, Notes, A, B> {};

// How structs of parameters hold members without data: of sizes that the types determine, and others.
template <class P>
using sized_t = typename DryArgument<P, planning::FunctionWriter>::type;
template <class P>
using sized_active_t = typename Parameters<sized_t<P>>::active;
template <class P>
using sized_gradient_t = typename Parameters<sized_t<P>>::gradient;
template <class P>
using open_t = typename DryArgument<P, planning::OpenFunctionPlan>::type;
template <class P>
using open_active_t = typename Parameters<open_t<P>>::active;
template <class P>
using open_gradient_t = typename Parameters<open_t<P>>::gradient;

template <template <template <class> class> class M>
struct PlainOf<M<sized_active_t>> {
  using type = M<sized_t>;
};
template <template <template <class> class> class M>
struct PlainOf<M<open_active_t>> {
  using type = M<open_t>;
};
template <template <template <class> class> class M>
inline constexpr int level_of_struct<M<sized_active_t>> = 1;
template <template <template <class> class> class M>
inline constexpr int level_of_struct<M<open_active_t>> = 1;
template <int Top, template <template <class> class> class M>
struct Plain<Top, M<sized_active_t>> : PlainStruct<Top, M<sized_active_t>, M<sized_t>> {};
template <int Top, template <template <class> class> class M>
struct Plain<Top, M<open_active_t>> : PlainStruct<Top, M<open_active_t>, M<open_t>> {};
template <template <template <class> class> class M>
struct Parameters<M<sized_t>>
    : StructOfParameters<M<sized_t>, M<sized_active_t>, M<sized_gradient_t>> {};
template <template <template <class> class> class M>
struct Parameters<M<open_t>> : StructOfParameters<M<open_t>, M<open_active_t>, M<open_gradient_t>> {
};

/// The members' types, as a Pack.
struct MemberTypes {
  template <class... Ps>
  constexpr shardtype::detail::Pack<Ps...> operator()(Ps const&...) const {
    return {};
  }
};
template <class S, class Notes, class Members>
struct DryStruct;
template <class S, class Notes, class... Ps>
struct DryStruct<S, Notes, shardtype::detail::Pack<Ps...>> {
  using type = S;
  static constexpr bool sized = (DryArgument<Ps, Notes>::sized && ...);
  static constexpr type make(Notes& notes) { return type{DryArgument<Ps, Notes>::make(notes)...}; }
};
template <template <template <class> class> class M>
using members_t =
    decltype(autodiff::with_members(std::declval<M<value_t> const&>(), MemberTypes{}));
template <template <template <class> class> class M>
struct DryArgument<M<value_t>, planning::FunctionWriter>
    : DryStruct<M<sized_t>, planning::FunctionWriter, members_t<M>> {};
template <template <template <class> class> class M>
struct DryArgument<M<value_t>, planning::OpenFunctionPlan>
    : DryStruct<M<open_t>, planning::OpenFunctionPlan, members_t<M>> {};

/// The plans of both passes where sizes are given at run time.
struct OpenPasses {
  planning::OpenGradientPlan plans;

  constexpr bool reads() const { return plans.forward.reads() || plans.backward.reads(); }
  constexpr bool counts_as(OpenPasses const& other) const {
    return plans.forward.counts_as(other.plans.forward) &&
           plans.backward.counts_as(other.plans.backward);
  }
};
template <class... As, class G>
constexpr OpenPasses open_passes(G const& g, std::int64_t unknown) {
  using Open = planning::OpenFunctionPlan;
  OpenPasses out;
  Open notes;
  notes.reading.unknown = unknown;
  static_cast<void>(g.run(
      std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{},
      [&](std::int64_t) {
        out.plans.forward = notes;
        notes = {};
        notes.reading.unknown = unknown;
      },
      DryArgument<As, Open>::make(notes)...));
  out.plans.backward = notes;
  return out;
}
template <class G, class... As>
struct TryOpenPasses {
  static constexpr OpenPasses plan(std::int64_t unknown)
    requires(std::is_empty_v<G> && std::is_default_constructible_v<G>)
  {
    return autodiff::open_passes<As...>(G{}, unknown);
  }
};

}  // namespace autodiff

namespace api {

/// The plan of both passes of a gradient, from types: `plan(value_and_grad<0>(f), type<A>, type<B>)`
/// runs the forward and the backward pass at compile time on tensors without data, C++ loops
/// included. Types of tensors, or of arrays, tuples and structs (`Mlp<value_t>`) of them. A GradientPlan if the types determine
/// all sizes, else an OpenGradientPlan, whose counts are bounds for all sizes. `forward` and
/// `backward` are the plans of the two passes. Refused: as value_and_grad, and A05.
template <class F, bool value, int... Ks, class... As>
constexpr auto plan(autodiff::Gradient<F, value, Ks...> const& g, Type<As>...) {
  using Writer = planning::FunctionWriter;
  using Open = planning::OpenFunctionPlan;
  if constexpr ((autodiff::DryArgument<As, Writer>::sized && ...)) {
    planning::GradientPlan out;
    if constexpr (!checking::any_poisoned<decltype(g(std::declval<typename autodiff::DryArgument<
                                                         As, Writer>::type const&>()...))>) {
      Writer notes({});
      // no std::tuple, into which g++ 12 would move an array bytewise
      autodiff::Kept<typename autodiff::DryArgument<As, Writer>::type...> const arguments{
          {autodiff::DryArgument<As, Writer>::make(notes)}...};
      std::int64_t const given = notes.held();
      [&]<int... K>(std::integer_sequence<int, K...> numbers) {
        static_cast<void>(g.run(
            numbers,
            [&](std::int64_t loss_bytes) {
              out.forward = notes.plan();
              out.tape = notes.held() - given - loss_bytes;
              notes.begin_pass();
            },
            autodiff::kept<K>(arguments)...));
      }(std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{});
      out.backward = notes.plan();
    }
    return out;
  } else {
    if constexpr (checking::any_poisoned<decltype(g(
                      std::declval<typename autodiff::DryArgument<As, Open>::type const&>()...))>) {
      return planning::OpenGradientPlan{};
    } else if constexpr (checking::depends_on_extents<autodiff::TryOpenPasses<
                             autodiff::Gradient<F, value, Ks...>, As...>>()) {
      static_cast<void>(alignof(checking::refused<rules::Code::A05_run_time_extent, false, As...>));
      return planning::OpenGradientPlan{};
    } else {
      return autodiff::open_passes<As...>(g, dynamic).plans;
    }
  }
}

/// The same as text: the steps of both passes with their bytes and flops, and what is saved between.
template <class F, bool value, int... Ks, class... As>
std::string explain(autodiff::Gradient<F, value, Ks...> const& g, Type<As>... types) {
  return api::explain(api::plan(g, types...));
}

}  // namespace api

}  // namespace shardtype
