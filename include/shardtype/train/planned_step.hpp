#pragma once
/// A training step in automatic mode: the passes, the norm of the gradient and the updates as one
/// program, in which each update is computed where the optimizer's state lies.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/evaluate_gradient.hpp>
#include <shardtype/lazy/run.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/train/alike.hpp>
#include <shardtype/train/free_state.hpp>
#include <shardtype/train/optimizers.hpp>

namespace shardtype::train::detail {

/// What the updates of one step share while its program runs.
struct StepRun {
  Options const* options = nullptr;
  std::int64_t step = 0;
  double scale = 1;
  Stepped did{};
  /// The sum of the squares of the gradients so far, and of each the function that adds it up.
  double squares = 0;
  using Squares = double (*)(execute::ProgramRun& run, int step, int k);
  shardtype::detail::List<Squares> each;
  std::size_t next = 0;

  void admit(double norm) {
    did = detail::admitted(*options, step, scale, [&] { return norm; });
  }
};

/// The block of input `k` of a step, packed.
template <class A>
Buffer packed_block(execute::ProgramRun& run, int step, int k) {
  return autodiff::packed_result<A>(run, step, k);
}
/// Whether the calling rank is the first of those that hold a block with this sharding.
inline bool first_holder(execute::ProgramRun& run, Spec const& spec) {
  auto const& coords = run.mesh().coords();
  for (std::size_t k = 0; k < run.mesh().axes().size(); ++k) {
    bool splits = false;
    for (int x = 0; x < run.plan().program.axes; ++x)
      splits = splits || (run.axes().position[x] == static_cast<int>(k) && spec.dim_of(x) >= 0);
    if (!splits && coords[k] != 0) return false;
  }
  return true;
}
template <class A>
double squares_of_input(execute::ProgramRun& run, int step, int k) {
  if (!detail::first_holder(run, run.plan().spec(run.plan().steps[step].input[k]))) return 0;
  execute::AnyBlock const& block = run.input(step, k);
  return detail::squares_in<A>(run.mesh().pool(), execute::elements_of<typename A::element>(block),
                               block.layout);
}
/// The part of a step that adds the squares of some gradients; `joins`: it is the last one.
template <bool joins>
execute::AnyBlock add_squares(execute::ProgramRun& run, int step, void const* part) {
  StepRun& all = **static_cast<StepRun* const*>(part);
  // the number so far, which further ones read, is their last input
  for (int k = 0; k + 1 < planning::max_operands && all.next < all.each.size(); ++k)
    all.squares += all.each[all.next++](run, step, k);
  if constexpr (joins) {
    double total = 0;
    detail::sum_alike(run.mesh(), "global_norm", run.where(), &all.squares, &total, 1);
    all.admit(std::sqrt(total));
  }
  return execute::any_block(run.template fresh<double, Kokkos::HostSpace>(step));
}

/// The update of a parameter of type `W` by the optimizer `O`.
template <class O, class W>
struct UpdatePart {
  using T = typename W::element;
  using C = shardtype::detail::computed_t<T>;
  StepRun* run = nullptr;
  O const* optimizer = nullptr;
  Group group{};  ///< the factor of the rate, and the decay
  C* moments[static_cast<std::size_t>(O::moments > 0 ? O::moments : 1)]{};
  C* master = nullptr;

  static execute::AnyBlock make(execute::ProgramRun& run, int step, void const* part) {
    auto const& mine = *static_cast<UpdatePart const*>(part);
    using Space = typename W::memory_space;
    execute::Value<T> out = run.template fresh<T, Space>(step);
    auto* const weights = static_cast<T*>(out.keep.data());
    Buffer const gradient = detail::packed_block<W>(run, step, 0);
    Buffer const before = mine.master == nullptr ? detail::packed_block<W>(run, step, 1) : Buffer{};
    kernels::Blocks<T, T, C, O::moments> blocks{weights,
                                                static_cast<T const*>(before.data()),
                                                static_cast<T const*>(gradient.data()),
                                                {},
                                                mine.master};
    for (int k = 0; k < O::moments; ++k) blocks.moments[k] = mine.moments[k];
    std::int64_t const n = out.layout.elements();
    typename W::execution_space const& exec = runtime::instance<typename W::execution_space>();
    if (mine.run->did.applied) {
      kernels::update(exec,
                      mine.optimizer->template body<C>(mine.run->did.rate * mine.group.rate,
                                                       mine.run->step, mine.group.decay),
                      blocks, static_cast<C>(mine.run->scale), n);
    } else {
      shardtype::kernels::fill(exec, weights, n, T{});  // nobody reads it
    }
    return execute::any_block(std::move(out));
  }
};

/// The updates of a step with a state whose tensors are those of a `Structure`, without data.
template <class Model, class Structure>
autodiff::LossUpdates updates_of_types(Options const& options,
                                       automatic_mode::ProgramNames const& names) {
  autodiff::LossUpdates out;
  out.normed = detail::needs_norm(options);
  autodiff::each_type<Structure>([&]<class S>(Type<S>) {
    if constexpr (is_trained<S>) out.states.push_back(shardtype::detail::spec_in<S>(names));
  });
  autodiff::each_type<Model>([&]<class A>(Type<A>) {
    if constexpr (is_trained<A>)
      out.from_values = out.from_values &&
                        std::is_same_v<element_t<A>, shardtype::detail::computed_t<element_t<A>>>;
  });
  return out;
}

/// The updates of one step of the optimizer `O` of a model with its state.
template <class O, class Model, class State>
class StepUpdates {
  static constexpr bool free = is_free_state<State>;
  template <class W>
  using Part = UpdatePart<O, W>;

 public:
  StepUpdates(O const& optimizer, Model& model, State& state, std::source_location const& where)
      : optimizer_(optimizer), model_(model), state_(state) {
    run_.options = &optimizer;
    run_.step = state.step;
    program_.normed = detail::needs_norm(optimizer);
    if (!program_.normed) run_.admit(0);
    train::for_each_tensor(
        [&]<class W>(std::string_view path, W&) {
          if constexpr (is_trained<W>) add<W>(optimizer.group_of(path, static_cast<int>(W::rank)));
        },
        model);
    for (bool const joins : {false, true}) {
      execute::ProgramPart& to = parts_.push_back({});
      to.make = joins ? &add_squares<true> : &add_squares<false>;
      to.part = &shared_;
    }
    if constexpr (free) {
      program_.from_values = !detail::has_small_elements(model);
    } else {
      program_.from_values = !state.master;
      find_moments(std::make_index_sequence<static_cast<std::size_t>(O::moments)>{}, where);
    }
  }
  StepUpdates(StepUpdates const&) = delete;
  StepUpdates& operator=(StepUpdates const&) = delete;

  autodiff::LossUpdates of_program(automatic_mode::ProgramNames const& names) {
    if constexpr (free) {
      state_.check(model_);
      program_.chosen = !state_.is_laid_out();
      for (std::size_t k = 0; k < run_.each.size(); ++k)
        program_.states.push_back(state_.sharding(names, k));
    } else {
      train::for_each_tensor(
          [&]<class W, class S>(std::string_view, W&, S&) {
            if constexpr (is_trained<W>)
              program_.states.push_back(shardtype::detail::spec_in<S>(names));
          },
          model_, state_.moments[0]);
    }
    return program_;
  }
  /// Finds the blocks of a free state; at the first step makes them, where the plan has the
  /// updates.
  void lay_out([[maybe_unused]] autodiff::LossProgram const& program,
               [[maybe_unused]] ProgramPlan const& plan) {
    if constexpr (free) {
      std::size_t k = 0;
      train::for_each_tensor(
          [&]<class W>(std::string_view, W& w) {
            if constexpr (is_trained<W>) {
              if (program_.chosen)
                state_.lay_out(program.names, program.sharding_of_update(plan, k), w,
                               !program_.from_values);
              if (w.mesh().here()) state_.find(k, part_of<W>(k));
              ++k;
            }
          },
          model_);
    }
  }
  shardtype::detail::List<execute::ProgramPart> const& parts() const { return parts_; }
  /// Takes the new parameters, if the step is applied.
  void take(autodiff::LossRun const& run) {
    if (!run_.did.applied) return;
    std::size_t place = 1;
    train::for_each_tensor(
        [&]<class W>(std::string_view, W& w) {
          if constexpr (is_trained<W>) w = run.result<W>(place++);
        },
        model_);
    ++state_.step;
  }
  Stepped const& did() const { return run_.did; }

 private:
  template <class W>
  void add(Group const& group) {
    auto part = std::make_shared<Part<W>>();
    part->run = &run_;
    part->optimizer = &optimizer_;
    part->group = group;
    execute::ProgramPart& to = parts_.push_back({});
    to.make = &Part<W>::make;
    to.move = &execute::move_block<typename W::element, typename W::memory_space>;
    to.part = part.get();
    run_.each.push_back(&squares_of_input<W>);
    kept_.push_back(std::move(part));
  }
  template <class W>
  Part<W>& part_of(std::size_t k) {
    return *static_cast<Part<W>*>(kept_[k].get());
  }
  /// Finds the blocks of a state of tensors.
  template <std::size_t... K>
  void find_moments(std::index_sequence<K...>, std::source_location const& where) {
    std::size_t next = 0;
    train::for_each_tensor(
        [&]<class W>(std::string_view, W& w, auto&... ms) {
          if constexpr (is_trained<W>) {
            std::size_t k = 0;
            Part<W>& part = part_of<W>(next++);
            (detail::check_state_of(w, ms.mesh(), ms.extents().data()), ...);
            if (w.mesh().here()) ((part.moments[k++] = detail::block_of(ms, where)), ...);
          }
        },
        model_, state_.moments[K]...);
    next = 0;
    if (!state_.master) return;
    train::for_each_tensor(
        [&]<class W>(std::string_view, W& w, auto& master) {
          if constexpr (is_trained<W>) {
            Part<W>& part = part_of<W>(next++);
            detail::check_state_of(w, master.mesh(), master.extents().data());
            if (w.mesh().here()) part.master = detail::block_of(master, where);
          }
        },
        model_, *state_.master);
  }

  O const& optimizer_;
  Model& model_;
  State& state_;
  StepRun run_;
  StepRun* shared_ = &run_;
  autodiff::LossUpdates program_;
  shardtype::detail::List<execute::ProgramPart> parts_;
  shardtype::detail::List<std::shared_ptr<void>> kept_;
};

/// Whether the updates of a step are values of its program: the optimizer changes each element by
/// itself, and its state has the model's tensors, in whatever shardings.
template <class O, class Model, class State>
constexpr bool plans_updates() {
  if constexpr (autodiff::is_known<Model> && requires {
                  typename State::model;
                  O::moments;
                  typename O::template StateOf<typename State::model>;
                }) {
    if constexpr (std::is_base_of_v<ElementOptimizer<O, O::moments>, O> && O::moments > 0 &&
                  Update<Model, gradient_t<Model>>::accepted)
      return std::is_same_v<State, FreeState<Model, O::moments>> ||
             (std::is_same_v<State, typename O::template StateOf<typename State::model>> &&
              same_tensors<typename State::model, Model>);
  }
  return false;
}

}  // namespace shardtype::train::detail
