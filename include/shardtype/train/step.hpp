#pragma once
/// A whole training step: loss, gradient and update, and its plan.

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <shardtype/autodiff/evaluate_gradient.hpp>
#include <shardtype/autodiff/plan.hpp>
#include <shardtype/train/model_bytes.hpp>
#include <shardtype/train/optimizers.hpp>
#include <shardtype/train/update_plan.hpp>

namespace shardtype {

namespace planning {

/// Result of `plan(train::step(optimizer, value_and_grad<0>(f)), type<Model>, type<A>, ...)`: the
/// passes, the norm of the gradient, and what the optimizer holds. All numbers are those of the
/// busiest rank.
struct StepPlan {
  GradientPlan passes{};
  Plan norm{};              ///< no steps where the optimizer needs no norm
  Plan sums{};              ///< numbers that the optimizer sums over the mesh: Adafactor
  UpdatePlan parameters{};  ///< what the optimizer does with each parameter
  std::int64_t state = 0;   ///< bytes that the optimizer keeps
  std::int64_t update = 0;  ///< bytes that are held while parameters are updated

  /// Number of collectives of this kind.
  constexpr int count(Collective c) const {
    return add_counts(add_counts(passes.count(c), norm.count(c)),
                      add_counts(sums.count(c), parameters.count(c)));
  }
  /// Number of all collectives.
  constexpr int collectives() const {
    return add_counts(add_counts(passes.collectives(), norm.collectives()),
                      add_counts(sums.collectives(), parameters.collectives()));
  }
  constexpr std::int64_t bytes_per_rank() const {
    return add_sat(add_sat(passes.bytes_per_rank(), norm.bytes_per_rank()),
                   add_sat(sums.bytes_per_rank(), parameters.bytes_per_rank()));
  }
  constexpr std::int64_t flops() const { return add_sat(passes.flops(), parameters.flops()); }
  /// Bytes that the optimizer keeps from step to step.
  constexpr std::int64_t state_bytes() const { return state; }
  /// Peak of the bytes that a rank holds: the model, the batch, the state, and what a step needs.
  constexpr std::int64_t peak_bytes() const {
    return std::max(add_sat(passes.peak_bytes(), state), update);
  }
};

/// The plan of a step if sizes are given at run time: bounds that hold for all sizes.
struct OpenStepPlan {
  OpenGradientPlan passes{};
  int sums = 0;  ///< of numbers over the mesh: of the norm, and of the optimizer's
  UpdatePlan parameters{};

  /// Upper bound on the number of collectives of this kind.
  constexpr int count(Collective c) const {
    bool const of_sums = c == Collective::all_reduce || c == Collective::broadcast;
    return add_counts(add_counts(passes.count(c), parameters.count(c)), of_sums ? sums : 0);
  }
  /// Upper bound on the number of all collectives.
  constexpr int collectives() const {
    return add_counts(add_counts(passes.collectives(), parameters.collectives()), 2 * sums);
  }
};

}  // namespace planning
using planning::StepPlan;

namespace train {

namespace detail {

/// `numbers` reduced over all axes of the passes, and sent once more from the first rank, whose
/// sums all take.
constexpr planning::Plan sums_plan(std::string_view name, int numbers,
                                   planning::GradientPlan const& passes) {
  planning::FunctionPlan const& of =
      passes.backward.axes >= passes.forward.axes ? passes.backward : passes.forward;
  planning::Plan out;
  out.name = name;
  out.sizing.element_bytes = static_cast<std::int64_t>(sizeof(double)) * numbers;
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

/// The plan of an optimizer's update of a model, without its sums of numbers over the mesh;
/// `summed` is the number of these numbers.
template <class O, class Model>
constexpr planning::UpdatePlan update_plan(O const& optimizer) {
  planning::UpdatePlan out;
  autodiff::each_type<Model>([&]<class A>(Type<A> of) {
    if constexpr (is_trained<A>) {
      // of a tensor without elements nothing is computed
      if constexpr (Scope<A>::names.all_static())
        if (detail::tensor_bytes<A>().all == 0) return;
      out += optimizer.steps(of);
    }
  });
  return out;
}
template <class O, class Model>
constexpr int summed() {
  int parameters = 0;
  autodiff::each_type<Model>([&]<class A>(Type<A>) { parameters += is_trained<A> ? 1 : 0; });
  return O::sums * parameters;
}

template <class L>
struct Trained : Stepped {
  L loss;
};

}  // namespace detail

/// A training step as a function of the model, the optimizer's state and the batch.
template <class O, class Gradient>
struct Step : core::GradientFunction {
  O optimizer;
  Gradient gradient;

  constexpr Step(O const& by, Gradient const& of) : optimizer(by), gradient(of) {}
  template <class Model, class State, class... As>
  auto operator()(Model& model, State& state, As const&... as) const {
    return update(model, state, gradient(model, as...));
  }
  /// The step with this loss and gradient.
  template <class Model, class State, class Both>
  auto update(Model& model, State& state, Both const& both) const {
    Stepped const did = optimizer.update(model, both.grad, state);
    return detail::Trained<std::remove_cvref_t<decltype(both.value)>>{did, both.value};
  }
};

/// Loss, gradient and update in one: `gradient` is `value_and_grad<0>(f)`, whose first argument is
/// the model.
///
///     constexpr train::AdamW adam{{.rate = 1e-3, .clip = 1}};
///     constexpr auto step = train::step(adam, value_and_grad<0>(loss));
///     static_assert(plan(step, type<Model>, type<Ids>, type<Ids>).peak_bytes() < 40'000'000);
///     auto const done = step(model, state, ids, targets);   // done.loss, .norm, .rate, .applied
///
/// Communicates as both passes and the optimizer.
template <class O, class F>
constexpr auto step(O const& optimizer, autodiff::Gradient<F, true, 0> const& gradient) {
  return Step<O, autodiff::Gradient<F, true, 0>>{optimizer, gradient};
}

}  // namespace train

namespace api {

/// A training step in automatic mode: `evaluate(mesh, train::step(adam, value_and_grad<0>(loss)),
/// model, state, ids, targets)` plans both passes as one program, whose loss names no sharding, and
/// updates the model in the shardings of its parameters, as the step of strict mode. The last
/// argument may be a policy. Refused and errors: as `evaluate` of a gradient, and the optimizer's.
template <class M, class O, class G, class Model, class State, class... As>
  requires std::is_base_of_v<runtime::MeshRef, M>
auto evaluate(M const& mesh, train::Step<O, G> const& step, Model& model, State& state,
              As const&... as) {
  auto const both = [&] {
    constexpr int count = 1 + static_cast<int>(sizeof...(As));
    if constexpr (PlanPolicy<autodiff::last_t<Model, As...>>) {
      return autodiff::evaluate_gradient_by<void>(mesh, step.gradient,
                                                  autodiff::Numbers<count - 1>{}, model, as...);
    } else {
      return autodiff::evaluate_gradient<void, detail::DefaultPolicy>(
          std::source_location{}, mesh, step.gradient, autodiff::Numbers<count>{}, model,
          autodiff::argument_of(as)...);
    }
  }();
  if constexpr (checking::any_poisoned<std::remove_cvref_t<decltype(both)>>) {
    return both;
  } else {
    return step.update(model, state, both);
  }
}

/// The plan of a whole training step, from types: `plan(train::step(adam, value_and_grad<0>(f)),
/// type<Model>, type<A>,
/// ...)`. A StepPlan if they determine all sizes, else an OpenStepPlan. The norm of the gradient is
/// reduced over the axes that the passes name. Refused: as value_and_grad.
template <class O, class Gradient, class Model, class... As>
  requires train::Optimizer<O, Model>
constexpr auto plan(train::Step<O, Gradient> const& step, Type<Model> model, Type<As>... as) {
  bool const normed = step.optimizer.clip > 0 || step.optimizer.skip_not_finite;
  constexpr int summed = train::detail::summed<O, Model>();
  auto const passes = api::plan(step.gradient, model, as...);
  auto const parameters = train::detail::update_plan<O, Model>(step.optimizer);
  if constexpr (!std::is_same_v<std::remove_const_t<decltype(passes)>, GradientPlan>) {
    return planning::OpenStepPlan{passes, (normed ? 1 : 0) + (summed > 0 ? 1 : 0), parameters};
  } else {
    StepPlan out;
    out.passes = passes;
    out.parameters = parameters;
    if (normed) out.norm = train::detail::sums_plan("global_norm", 1, passes);
    if constexpr (summed > 0) out.sums = train::detail::sums_plan(O::name, summed, passes);
    using train::detail::ModelBytes;
    ModelBytes const bytes = train::detail::model_bytes<Model>();
    ModelBytes const kept =
        train::detail::model_bytes<typename O::template StateOf<Model>::parts>();
    out.state = core::add_sat(kept.all, bytes.small ? bytes.state : 0);
    // model, batch, gradient, state, loss, and the totals of the norm or what an update needs
    ModelBytes const batch = train::detail::model_bytes<As...>();
    out.update =
        core::add_sat(core::add_sat(bytes.all, batch.all), core::add_sat(bytes.trained, out.state));
    auto const loss = static_cast<std::int64_t>(sizeof(double));
    out.update = core::add_sat(
        out.update, core::add_sat(loss, std::max(normed ? bytes.norm : 0, parameters.workspace)));
    return out;
  }
}

}  // namespace api

}  // namespace shardtype
