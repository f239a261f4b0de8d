#pragma once
/// Plans of both passes, from types alone.

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/value_and_grad.hpp>
#include <shardtype/check/abstract.hpp>
#include <shardtype/plan/explain_function.hpp>
#include <shardtype/plan/gradient_plan.hpp>

namespace shardtype {

namespace autodiff {

/// An argument without data, of a tensor type or of a structure of them.
template <class P, class Recorder>
struct AbstractArgument {
  using type = Abstract<P, Recorder>;
};
// The structure `P` with values without data: sized_t if types determine all sizes, else open_t.
template <class P>
using sized_t = typename AbstractArgument<P, planning::FunctionWriter>::type;
template <class P>
using sized_active_t = typename Parameters<sized_t<P>>::active;
template <class P>
using sized_gradient_t = typename Parameters<sized_t<P>>::gradient;
template <class P>
using open_t = typename AbstractArgument<P, planning::OpenFunctionPlan>::type;
template <class P>
using open_active_t = typename Parameters<open_t<P>>::active;
template <class P>
using open_gradient_t = typename Parameters<open_t<P>>::gradient;

template <StdContainer C>
  requires SizedStructure<C>
struct AbstractArgument<C, planning::FunctionWriter> {
  using type = typename Container<C>::template with<sized_t>;
};
template <StdContainer C>
  requires SizedStructure<C>
struct AbstractArgument<C, planning::OpenFunctionPlan> {
  using type = typename Container<C>::template with<open_t>;
};
template <template <template <class> class> class M>
struct AbstractArgument<M<value_t>, planning::FunctionWriter> {
  using type = M<sized_t>;
};
template <template <template <class> class> class M>
struct AbstractArgument<M<value_t>, planning::OpenFunctionPlan> {
  using type = M<open_t>;
};
template <template <template <class> class> class M>
struct PlainOf<M<sized_active_t>> {
  using type = M<sized_t>;
};
template <template <template <class> class> class M>
struct PlainOf<M<open_active_t>> {
  using type = M<open_t>;
};
template <template <template <class> class> class M>
struct Parameters<M<sized_t>>
    : StructureOfParameters<M<sized_t>, M<sized_active_t>, M<sized_gradient_t>> {};
template <template <template <class> class> class M>
struct Parameters<M<open_t>>
    : StructureOfParameters<M<open_t>, M<open_active_t>, M<open_gradient_t>> {};

template <class P>
constexpr sized_t<P> abstract_argument(planning::FunctionWriter& recorder) {
  return autodiff::map_values<sized_t, P>(
      [&]<class A>(Type<A>) { return shardtype::detail::abstract_argument<A>(recorder); });
}
template <class P>
constexpr open_t<P> abstract_argument(planning::OpenFunctionPlan& recorder) {
  return autodiff::map_values<open_t, P>(
      [&]<class A>(Type<A>) { return shardtype::detail::abstract_argument<A>(recorder); });
}
/// Whether types determine the sizes of all tensors.
template <class... Ps>
constexpr bool are_sized() {
  bool out = true;
  (autodiff::each_type<Ps>([&]<class A>(Type<A>) { out = out && Scope<A>::names.all_static(); }),
   ...);
  return out;
}

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
  Open recorder;
  recorder.reading.unknown = unknown;
  static_cast<void>(g.run(
      std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{},
      [&](std::int64_t) {
        out.plans.forward = recorder;
        recorder = {};
        recorder.reading.unknown = unknown;
      },
      autodiff::abstract_argument<As>(recorder)...));
  out.plans.backward = recorder;
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

/// The plan of both passes of a gradient, from types: `plan(value_and_grad<0>(f), type<A>,
/// type<B>)` runs the forward and the backward pass at compile time on tensors without data, C++
/// loops included. Types of tensors, or of arrays, tuples and structs (`Mlp<value_t>`) of them. A
/// GradientPlan if the types determine all sizes, else an OpenGradientPlan, whose counts are bounds
/// for all sizes. `forward` and `backward` are the plans of the two passes. Refused: as
/// value_and_grad, and A05.
template <class F, bool value, int... Ks, class... As>
constexpr auto plan(autodiff::Gradient<F, value, Ks...> const& g, Type<As>...) {
  using Writer = planning::FunctionWriter;
  if constexpr (autodiff::are_sized<As...>()) {
    planning::GradientPlan out;
    if constexpr (!checking::any_poisoned<decltype(g(
                      std::declval<autodiff::sized_t<As> const&>()...))>) {
      Writer recorder({});
      // no std::tuple, into which g++ 12 would move an array bytewise
      autodiff::Kept<autodiff::sized_t<As>...> const arguments{
          {autodiff::abstract_argument<As>(recorder)}...};
      std::int64_t const given = recorder.held();
      [&]<int... K>(std::integer_sequence<int, K...> numbers) {
        static_cast<void>(g.run(
            numbers,
            [&](std::int64_t loss_bytes) {
              out.forward = recorder.plan();
              out.tape = recorder.held() - given - loss_bytes;
              recorder.begin_pass();
            },
            autodiff::kept<K>(arguments)...));
      }(std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{});
      out.backward = recorder.plan();
    }
    return out;
  } else {
    if constexpr (checking::any_poisoned<decltype(g(
                      std::declval<autodiff::open_t<As> const&>()...))>) {
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

/// The same as text: the steps of both passes with their bytes and flops, and what is saved
/// between.
template <class F, bool value, int... Ks, class... As>
std::string explain(autodiff::Gradient<F, value, Ks...> const& g, Type<As>... types) {
  return api::explain(api::plan(g, types...));
}

}  // namespace api

}  // namespace shardtype
