#pragma once
/// A whole training step: loss, gradient and update, and its plan.

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <shardtype/autodiff/evaluate_gradient.hpp>
#include <shardtype/autodiff/plan.hpp>
#include <shardtype/plan/update_writer.hpp>
#include <shardtype/train/model_bytes.hpp>
#include <shardtype/train/optimizers.hpp>
#include <shardtype/train/planned_step.hpp>
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
  return planning::alike_sums_plan(name, numbers, of.axes, of.sizes);
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

namespace detail {

/// The step with the plan of a policy; `J`: the numbers of the arguments of the loss, the first of
/// which is the model.
template <class Policy, class M, class O, class G, class Model, class State, int... J, class... As>
auto evaluate_by(M const& mesh, Step<O, G> const& step, Model& model, State& state,
                 std::integer_sequence<int, J...> order, As const&... as) {
  autodiff::Kept<Model const&, As const&...> const all{{model}, {as}...};
  if constexpr (detail::plans_updates<O, Model, State>()) {
    using Call = autodiff::GradientCall<
        autodiff::Updated<typename State::moment>, Policy, M, G, std::integer_sequence<int, J...>,
        std::remove_cvref_t<decltype(autodiff::argument_of(autodiff::kept<J>(all)))>...>;
    if constexpr (!Call::fits) {
      return Call::refuse();
    } else {
      std::source_location const where{};
      Call call(where, mesh, autodiff::argument_of(autodiff::kept<J>(all))...);
      StepUpdates<O, Model, State> updates(step.optimizer, model, state, where);
      auto loss = call.finish(step.gradient.f(call.template argument<J>()...), updates);
      if constexpr (checking::any_poisoned<decltype(loss)>) {
        return loss;
      } else {
        return Trained<decltype(loss)>{updates.did(), std::move(loss)};
      }
    }
  } else {
    auto const both = autodiff::evaluate_gradient<void, Policy>(
        std::source_location{}, mesh, step.gradient, order,
        autodiff::argument_of(autodiff::kept<J>(all))...);
    if constexpr (checking::any_poisoned<std::remove_cvref_t<decltype(both)>>) {
      return both;
    } else {
      return step.update(model, state, both);
    }
  }
}

/// The program of a step; by types.
template <class R, class O, class G, class Model, class State, class... As>
auto dry_step(Step<O, G> const& step, shardtype::detail::Pack<Model, State, As...>) {
  if constexpr (detail::plans_updates<O, Model, State>()) {
    return autodiff::dry_gradient<R, autodiff::Updated<typename State::moment>>(
        step.gradient, shardtype::detail::Pack<Model, As...>{},
        [&](automatic_mode::ProgramNames const& names) {
          autodiff::LossUpdates out =
              detail::updates_of_types<Model, typename State::moment>(step.optimizer, names);
          out.chosen = is_free_state<State>;
          return out;
        });
  } else {
    return automatic_mode::RefusedDryRun(
        checking::refused<rules::Code::X13_no_such_update, false, Model, State>{});
  }
}

}  // namespace detail

}  // namespace train

namespace api {

/// A training step in automatic mode: `evaluate(mesh, train::step(adam, value_and_grad<0>(loss)),
/// model, state, ids, targets)` plans both passes, the norm and the updates as one program, whose
/// loss names no sharding. Each update is computed where the optimizer's state lies, which may be
/// another sharding than the parameter's (`adam.init_as<Layout>(model)`): the gradient is brought
/// there, and the new parameter back. The last argument may be a policy.
///
/// Optimizers that do not change each element by itself (Muon, Adafactor) take the gradients in the
/// shardings of the parameters, as the step of strict mode. Refused and errors: as `evaluate` of a
/// gradient, and the optimizer's; X13 a state of another model; E21 another tensor shares the
/// memory of the state; E23, E24 a state for another mesh or for other extents.
template <class M, class O, class G, class Model, class State, class... As>
  requires std::is_base_of_v<runtime::MeshRef, M>
auto evaluate(M const& mesh, train::Step<O, G> const& step, Model& model, State& state,
              As const&... as) {
  if constexpr (PlanPolicy<autodiff::last_t<Model, As...>>) {
    return train::detail::evaluate_by<autodiff::last_t<Model, As...>>(
        mesh, step, model, state, autodiff::Numbers<static_cast<int>(sizeof...(As))>{}, as...);
  } else {
    return train::detail::evaluate_by<detail::DefaultPolicy>(
        mesh, step, model, state, autodiff::Numbers<1 + static_cast<int>(sizeof...(As))>{}, as...);
  }
}

/// The program of such a step on symbols of the types `Given`, first the model and the state, then
/// what else the loss takes, to be planned for sizes and machines that need not exist here.
/// `dry_run<Axes<X, Y>, Model, State, A>(step)` names the axes first. Refused: as `evaluate`.
template <class... Given, class O, class G>
auto dry_run(train::Step<O, G> const& step) {
  using By = detail::Symbols<Given...>;
  return train::detail::dry_step<typename autodiff::RecorderOn<typename By::axes>::type>(
      step, typename By::given{});
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
