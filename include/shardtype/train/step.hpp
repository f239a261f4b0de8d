#pragma once
/// A whole training step: loss, gradient and update, and its plan.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/plan.hpp>
#include <shardtype/train/optimizers.hpp>

namespace shardtype {

namespace planning {

/// Result of `plan(train::step(optimizer, value_and_grad<0>(f)), type<Model>, type<A>, ...)`: the passes, the norm of the
/// gradient, and what the optimizer holds. All numbers are those of the busiest rank.
struct StepPlan {
  GradientPlan passes{};
  Plan norm{};              ///< no steps where the optimizer needs no norm
  std::int64_t state = 0;   ///< bytes that the optimizer keeps
  std::int64_t update = 0;  ///< bytes that are held while parameters are updated

  /// Number of collectives of this kind.
  constexpr int count(Collective c) const { return add_counts(passes.count(c), norm.count(c)); }
  /// Number of all collectives.
  constexpr int collectives() const { return add_counts(passes.collectives(), norm.collectives()); }
  constexpr std::int64_t bytes_per_rank() const {
    return add_sat(passes.bytes_per_rank(), norm.bytes_per_rank());
  }
  constexpr std::int64_t flops() const { return passes.flops(); }
  /// Bytes that the optimizer keeps from step to step.
  constexpr std::int64_t state_bytes() const { return state; }
  /// Peak of the bytes that a rank holds: the model, the batch, the state, and what a step needs.
  constexpr std::int64_t peak_bytes() const {
    return std::max(add_sat(passes.peak_bytes(), state), update);
  }
};

/// As above, if sizes are given at run time: bounds that hold for all sizes.
struct OpenStepPlan {
  OpenGradientPlan passes{};
  bool norm = false;

  /// Upper bound on the number of collectives of this kind.
  constexpr int count(Collective c) const {
    bool const of_norm = c == Collective::all_reduce || c == Collective::broadcast;
    return add_counts(passes.count(c), norm && of_norm ? 1 : 0);
  }
  /// Upper bound on the number of all collectives.
  constexpr int collectives() const { return add_counts(passes.collectives(), norm ? 2 : 0); }
};

}  // namespace planning
using planning::StepPlan;

namespace train {

namespace detail {

/// The bytes of a rank's blocks of a structure: of all tensors, of those with a gradient, and of these in the element
/// type of a state.
struct ModelBytes {
  std::int64_t all = 0;
  std::int64_t trained = 0;
  std::int64_t state = 0;
  bool small = false;     ///< whether an element type is computed in a larger one
  std::int64_t norm = 0;  ///< most that the norm of a tensor takes besides

  constexpr ModelBytes& operator+=(ModelBytes const& o) {
    all = add_sat(all, o.all);
    trained = add_sat(trained, o.trained);
    state = add_sat(state, o.state);
    small = small || o.small;
    norm = std::max(norm, o.norm);
    return *this;
  }
};
template <class P>
struct BytesOf;
template <class T, class... Parts>
struct BytesOf<Tensor<T, Parts...>> {
  using A = Tensor<T, Parts...>;
  static constexpr ModelBytes value() {
    using C = shardtype::detail::computed_t<T>;
    Spec const& spec = Scope<A>::readings[0].spec;
    std::int64_t const elements =
        core::largest_elements(spec, Scope<A>::names.extents(), Scope<A>::names.sizes());
    std::int64_t const own = mul_sat(elements, static_cast<std::int64_t>(sizeof(T)));
    if constexpr (!is_trained<A>) return {own, 0, 0, false, 0};
    return {own, own, mul_sat(elements, static_cast<std::int64_t>(sizeof(C))),
            !std::is_same_v<T, C>, detail::squares_bytes<A>()};
  }
};
template <class... Ps>
struct BytesOf<shardtype::detail::Pack<Ps...>> {
  static constexpr ModelBytes value() {
    ModelBytes out;
    ((out += BytesOf<Ps>::value()), ...);
    return out;
  }
};
template <class... Ps>
struct BytesOf<std::tuple<Ps...>> : BytesOf<shardtype::detail::Pack<Ps...>> {};
template <class A, class B>
struct BytesOf<std::pair<A, B>> : BytesOf<shardtype::detail::Pack<A, B>> {};
template <class P, std::size_t N>
struct BytesOf<std::array<P, N>> {
  static constexpr ModelBytes value() {
    ModelBytes const one = BytesOf<P>::value();
    auto const n = static_cast<std::int64_t>(N);
    return {mul_sat(n, one.all), mul_sat(n, one.trained), mul_sat(n, one.state), one.small,
            one.norm};
  }
};
template <template <template <class> class> class M>
struct BytesOf<M<value_t>> : BytesOf<autodiff::members_t<M>> {};

/// One number reduced over all axes of the passes, and sent once more from the first rank, whose sum all take.
constexpr planning::Plan norm_plan(planning::FunctionPlan const& forward,
                                   planning::FunctionPlan const& backward) {
  planning::FunctionPlan const& of = backward.axes >= forward.axes ? backward : forward;
  planning::Plan out;
  out.name = "global_norm";
  out.sizing.element_bytes = sizeof(double);
  out.sizing.sizes = of.sizes;
  Spec parts;
  AxisList all;
  for (int x = 0; x < of.axes; ++x) {
    parts.unreduced.insert(x);
    all.push(x);
  }
  out.push(planning::shared_step(planning::Move::reduce, planning::Slot::a, all, parts, {}));
  out.push(planning::shared_step(planning::Move::broadcast, planning::Slot::a, all, {}, {}));
  return out;
}

template <class L>
struct Trained : Stepped {
  L loss;
};

}  // namespace detail

/// A training step as a function of the model, the optimizer's state and the batch.
template <class Optimizer, class Gradient>
struct Step {
  Optimizer optimizer;
  Gradient gradient;

  template <class Model, class State, class... As>
  auto operator()(Model& model, State& state, As const&... as) const {
    auto const both = gradient(model, as...);
    Stepped const did = optimizer.update(model, both.grad, state);
    return detail::Trained<std::remove_cvref_t<decltype(both.value)>>{did, both.value};
  }
};

/// Loss, gradient and update in one: `gradient` is `value_and_grad<0>(f)`, whose first argument is the model.
///
///     constexpr train::AdamW adam{{.rate = 1e-3, .clip = 1}};
///     constexpr auto step = train::step(adam, value_and_grad<0>(loss));
///     static_assert(plan(step, type<Model>, type<Ids>, type<Ids>).peak_bytes() < 40'000'000);
///     auto const done = step(model, state, ids, targets);   // done.loss, done.norm, done.rate, done.applied
///
/// Communicates as both passes and the optimizer.
template <class Optimizer, class F>
constexpr auto step(Optimizer const& optimizer, autodiff::Gradient<F, true, 0> const& gradient) {
  return Step<Optimizer, autodiff::Gradient<F, true, 0>>{optimizer, gradient};
}

}  // namespace train

namespace api {

/// The plan of a whole training step, from types: `plan(train::step(adam, value_and_grad<0>(f)), type<Model>, type<A>,
/// ...)`. A StepPlan if they determine all sizes, else an OpenStepPlan. The norm of the gradient is reduced over the axes
/// that the passes name. Refused: as value_and_grad.
template <class Optimizer, class Gradient, class Model, class... As>
constexpr auto plan(train::Step<Optimizer, Gradient> const& step, Type<Model> model,
                    Type<As>... as) {
  bool const normed = step.optimizer.clip > 0 || step.optimizer.skip_not_finite;
  auto const passes = api::plan(step.gradient, model, as...);
  if constexpr (!std::is_same_v<std::remove_const_t<decltype(passes)>, GradientPlan>) {
    return planning::OpenStepPlan{passes, normed};
  } else {
    StepPlan out;
    out.passes = passes;
    if (normed) out.norm = train::detail::norm_plan(passes.forward, passes.backward);
    train::detail::ModelBytes const bytes = train::detail::BytesOf<Model>::value();
    out.state = core::mul_sat(bytes.state, Optimizer::moments + (bytes.small ? 1 : 0));
    // model, batch, gradient, state, loss, and the totals of the norm
    train::detail::ModelBytes const batch =
        train::detail::BytesOf<shardtype::detail::Pack<As...>>::value();
    out.update =
        core::add_sat(core::add_sat(bytes.all, batch.all), core::add_sat(bytes.trained, out.state));
    auto const loss = static_cast<std::int64_t>(sizeof(double));
    out.update = core::add_sat(out.update, core::add_sat(loss, normed ? bytes.norm : 0));
    return out;
  }
}

}  // namespace api

}  // namespace shardtype
