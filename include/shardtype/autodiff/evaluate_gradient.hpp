#pragma once
/// Gradients in automatic mode: the forward and the backward pass as one program, whose plan
/// chooses the shardings of both together.

#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/loss_call.hpp>
#include <shardtype/lazy/dry_run.hpp>

namespace shardtype {

namespace autodiff {

/// The plans of the losses that `Call` distinguishes.
template <class... Call>
inline shardtype::detail::PlanCache<LossKey> program_cache;

/// The call of a gradient of `f` with arguments `Ps`, by a plan of this policy: `f` is to be called
/// with `argument<0>()` and so on, by the front door, because compilers print every function
/// between the user's line and a refusal in `f`; `finish` gives the results of what it gave.
template <class Outputs, class Policy, class M, class G, class J, class... Ps>
class GradientCall;
template <class Outputs, class Policy, class M, class F, bool value, int... Ks, int... J,
          class... Ps>
class GradientCall<Outputs, Policy, M, Gradient<F, value, Ks...>, std::integer_sequence<int, J...>,
                   Ps...> {
  using Given = shardtype::detail::Pack<Ps...>;
  using R = typename RecorderOn<typename shardtype::detail::MeshAxes<M>::type>::type;
  using Asked = NamedResults<Outputs, void>;
  using Order = std::integer_sequence<int, J...>;
  using Unfit = typename decltype(autodiff::refused_arguments<R, Ks...>(Given{}, Order{}))::type;

 public:
  /// Whether the arguments fit; else `refuse()` is the result.
  static constexpr bool fits = std::is_void_v<Unfit>;
  static constexpr auto refuse() {
    static_cast<void>(alignof(Unfit));
    return autodiff::no_gradient<value, Ks...>(Given{});
  }

  GradientCall(std::source_location const& where, M const& mesh, Ps const&... ps)
      : where_(where),
        mesh_(mesh),
        running_("evaluate", where),
        given_{{ps}...},
        args_{{given<J>(ps)}...} {}
  template <int K>
  auto const& argument() const {
    return autodiff::kept<K>(args_);
  }
  /// `updates`: those of a training step (train/planned_step.hpp); `Outputs` is Updated then.
  template <class Made, class... Updates>
  auto finish(Made const& made, Updates&... updates) {
    static_cast<void>(Untaken<Made const, Ps...>{});
    // NOLINTNEXTLINE(bugprone-branch-clone): what is poisoned must not be asked for more
    if constexpr (shardtype::detail::not_taken<Made> || any_poisoned<Made>) {
      return autodiff::no_gradient<value, Ks...>(Given{});
    } else {
      using Refused =
          typename decltype(autodiff::refused_call<
                            R, F, Outputs, Made,
                            typename NameableGradient<nth_t<Ks, Ps...>>::type...>())::type;
      if constexpr (!std::is_void_v<Refused>) {
        static_cast<void>(alignof(Refused));
        return autodiff::no_gradient<value, Ks...>(Given{});
      } else {
        return run(made, updates...);
      }
    }
  }

 private:
  template <int K, class P>
  auto given(P const& p) {
    if (K == 0) {
      (all_.to.template mention<Ps>(), ...);
      Mentioned<Outputs>::in(all_.to);
    }
    return all_.template given<autodiff::wanted<Ks...>(K),
                               typename Asked::template at<autodiff::place_among<Ks...>(K)>>(p);
  }
  template <class Made>
  auto run(Made const& made) {
    using Of = MadeLoss<F, Made>;
    using Loss = typename NamedResults<Outputs, typename Of::L::whole>::loss;
    LossProgram program = autodiff::loss_program<F, Loss>(all_, made);
    program.template plan_by<Policy>();
    LossRun run(mesh_, program);
    run.run(run.plan(program_cache<F, M, Outputs, Policy, Ps...>), where_);
    auto const gradient = [&]<int K>(std::integral_constant<int, K>) {
      return ResultTaker(program, run, 1 + all_.first[K])
          .template gradient<typename Asked::template at<autodiff::place_among<Ks...>(K)>>(
              autodiff::kept<K>(given_));
    };
    auto grads = [&] {
      if constexpr (sizeof...(Ks) == 1) {
        return gradient(std::integral_constant<int, Ks>{}...);
      } else {
        return std::tuple{gradient(std::integral_constant<int, Ks>{})...};
      }
    }();
    ResultTaker beside(program, run, 1 + program.gradients);
    return autodiff::loss_results<value>(
        run.template result<Loss>(0), std::move(grads),
        Of::each_aux(made, [&](auto const& aux) { return beside.aux(aux); }));
  }
  /// The loss, and values beside it, of a training step, whose results `updates` takes.
  template <class Made, class Updates>
  auto run(Made const& made, Updates& updates) {
    using Of = MadeLoss<F, Made>;
    using Loss = typename Of::L::whole;
    LossProgram program = autodiff::loss_program<F, Loss>(all_, made);
    program.template plan_by<Policy>();
    program.update_by(updates.of_program(program.names));
    LossRun run(mesh_, program);
    ProgramPlan const& plan = run.plan(program_cache<F, M, Updates, Policy, Ps...>);
    updates.lay_out(program, plan);
    run.run(plan, where_, updates.parts());
    updates.take(run);
    ResultTaker beside(program, run, 1 + program.gradients);
    return autodiff::loss_results<true>(
               run.template result<Loss>(0), NoGradient{},
               Of::each_aux(made, [&](auto const& aux) { return beside.aux(aux); }))
        .value;
  }

  std::source_location where_;
  M const& mesh_;
  core::RunningCall running_;
  KeptIn<Order, Ps const&...> given_;
  LossArguments<R> all_;
  KeptIn<Order, typename RecordedForm<R, autodiff::wanted<Ks...>(J)>::template of<Ps>...> args_;
};
/// The same with arguments as they are given: named expressions of elements are tensors.
template <class Outputs, class M, class G, class... As>
using CallOf = GradientCall<Outputs, shardtype::detail::DefaultPolicy, M, G,
                            Numbers<static_cast<int>(sizeof...(As))>, argument_value<As>...>;
/// The results of a call of `g` with these arguments, at `where`.
template <class Outputs, class Policy, class M, class G, int... J, class... Ps>
auto evaluate_gradient(std::source_location const& where, M const& mesh, G const& g,
                       std::integer_sequence<int, J...>, Ps const&... ps) {
  using Call = GradientCall<Outputs, Policy, M, G, std::integer_sequence<int, J...>, Ps...>;
  if constexpr (!Call::fits) {
    return Call::refuse();
  } else {
    Call call(where, mesh, ps...);
    return call.finish(g.f(call.template argument<J>()...));
  }
}

/// `Outputs`: Updated of a training step, whose updates are `updates(names)`; or void.
template <class R, class Outputs, class F, bool value, int... Ks, class... Ps, int... J,
          class... Updates>
auto dry_gradient(Gradient<F, value, Ks...> const& g, shardtype::detail::Pack<Ps...> given,
                  std::integer_sequence<int, J...> order, Updates const&... updates) {
  using Unfit = typename decltype(autodiff::refused_arguments<R, Ks...>(given, order))::type;
  if constexpr (!std::is_void_v<Unfit>) {
    return automatic_mode::RefusedDryRun(Unfit{});
  } else {
    LossArguments<R> all;
    (all.to.template mention<Ps>(), ...);
    Mentioned<Outputs>::in(all.to);
    KeptIn<std::integer_sequence<int, J...>,
           typename RecordedForm<R, autodiff::wanted<Ks...>(J)>::template of<Ps>...> const args{
        {all.template symbol<autodiff::wanted<Ks...>(J), Ps, Outputs>()}...};
    auto const made = g.f(autodiff::kept<J>(args)...);
    using Made = std::remove_cvref_t<decltype(made)>;
    static_cast<void>(Untaken<decltype(made), Ps...>{});
    // NOLINTNEXTLINE(bugprone-branch-clone): what is poisoned must not be asked for more
    if constexpr (shardtype::detail::not_taken<Made> || any_poisoned<Made>) {
      return automatic_mode::RefusedDryRun();
    } else {
      using Refused = typename decltype(autodiff::refused_call<R, F, Outputs, Made>())::type;
      if constexpr (!std::is_void_v<Refused>) {
        return automatic_mode::RefusedDryRun(Refused{});
      } else {
        LossProgram program =
            autodiff::loss_program<F, typename MadeLoss<F, Made>::L::whole>(all, made);
        (program.update_by(updates(program.names)), ...);
        return DryRun<LossProgram>(std::move(program));
      }
    }
  }
}
template <class R, class Outputs = void, class G, class... Ps, class... Updates>
auto dry_gradient(G const& g, shardtype::detail::Pack<Ps...> given, Updates const&... updates) {
  return autodiff::dry_gradient<R, Outputs>(g, given, Numbers<static_cast<int>(sizeof...(Ps))>{},
                                            updates...);
}

template <class G>
inline constexpr bool is_gradient = false;
template <class F, bool value, int... Ks>
inline constexpr bool is_gradient<Gradient<F, value, Ks...>> = true;
template <class... As>
using last_t = nth_t<static_cast<int>(sizeof...(As)) - 1, As...>;
template <class M, class G, class... As>
concept RunsGradient = std::is_base_of_v<MeshRef, M> && is_gradient<G> &&
                       !PlanPolicy<last_t<As...>> && !(has_under_way<As> || ...);

/// The same of arguments, the last of which is the policy.
template <class Outputs, class M, class G, class... As, int... J>
auto evaluate_gradient_by(M const& mesh, G const& g, std::integer_sequence<int, J...> numbers,
                          As const&... as) {
  Kept<As const&...> const all{{as}...};
  return autodiff::evaluate_gradient<Outputs, last_t<As...>>(
      std::source_location{}, mesh, g, numbers, autodiff::argument_of(autodiff::kept<J>(all))...);
}

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
  requires autodiff::RunsGradient<M, G, A>
auto evaluate(M const& mesh, G const& g, A const& a,
              std::source_location const& where = std::source_location::current()) {
  using Call = autodiff::CallOf<Outputs, M, G, A>;
  if constexpr (!Call::fits) {
    return Call::refuse();
  } else {
    Call call(where, mesh, autodiff::argument_of(a));
    return call.finish(g.f(call.template argument<0>()));
  }
}
template <class Outputs = void, class M, class G, class A, class B>
  requires autodiff::RunsGradient<M, G, A, B>
auto evaluate(M const& mesh, G const& g, A const& a, B const& b,
              std::source_location const& where = std::source_location::current()) {
  using Call = autodiff::CallOf<Outputs, M, G, A, B>;
  if constexpr (!Call::fits) {
    return Call::refuse();
  } else {
    Call call(where, mesh, autodiff::argument_of(a), autodiff::argument_of(b));
    return call.finish(g.f(call.template argument<0>(), call.template argument<1>()));
  }
}
template <class Outputs = void, class M, class G, class A, class B, class C>
  requires autodiff::RunsGradient<M, G, A, B, C>
auto evaluate(M const& mesh, G const& g, A const& a, B const& b, C const& c,
              std::source_location const& where = std::source_location::current()) {
  using Call = autodiff::CallOf<Outputs, M, G, A, B, C>;
  if constexpr (!Call::fits) {
    return Call::refuse();
  } else {
    Call call(where, mesh, autodiff::argument_of(a), autodiff::argument_of(b),
              autodiff::argument_of(c));
    return call.finish(
        g.f(call.template argument<0>(), call.template argument<1>(), call.template argument<2>()));
  }
}
template <class Outputs = void, class M, class G, class A, class B, class C, class D>
  requires autodiff::RunsGradient<M, G, A, B, C, D>
auto evaluate(M const& mesh, G const& g, A const& a, B const& b, C const& c, D const& d,
              std::source_location const& where = std::source_location::current()) {
  using Call = autodiff::CallOf<Outputs, M, G, A, B, C, D>;
  if constexpr (!Call::fits) {
    return Call::refuse();
  } else {
    Call call(where, mesh, autodiff::argument_of(a), autodiff::argument_of(b),
              autodiff::argument_of(c), autodiff::argument_of(d));
    return call.finish(g.f(call.template argument<0>(), call.template argument<1>(),
                           call.template argument<2>(), call.template argument<3>()));
  }
}
// of more a line cannot be known
template <class Outputs = void, class M, class G, class... As>
  requires(sizeof...(As) > 4 && autodiff::RunsGradient<M, G, As...>)
auto evaluate(M const& mesh, G const& g, As const&... as) {
  return autodiff::evaluate_gradient<Outputs, detail::DefaultPolicy>(
      std::source_location{}, mesh, g, autodiff::Numbers<static_cast<int>(sizeof...(As))>{},
      autodiff::argument_of(as)...);
}

/// The same, planned by a policy, the last argument: `evaluate(mesh, value_and_grad<0>(f), a,
/// MemoryLimit<1'000'000'000>{})`. Of values that f computes within `remat`, as few as the limit
/// demands are computed again in the backward pass. Error E69: no plan keeps to the limit.
template <class Outputs = void, class M, class G, class... As>
  requires(sizeof...(As) > 1 && std::is_base_of_v<runtime::MeshRef, M> &&
           autodiff::is_gradient<G> && PlanPolicy<autodiff::last_t<As...>>)
auto evaluate(M const& mesh, G const& g, As const&... as) {
  return autodiff::evaluate_gradient_by<Outputs>(
      mesh, g, autodiff::Numbers<static_cast<int>(sizeof...(As)) - 1>{}, as...);
}

/// Refused, L10: a value of a loss that is planned already.
template <class Outputs = void, class M, class G, class... As>
  requires(std::is_base_of_v<runtime::MeshRef, M> && autodiff::is_gradient<G> &&
           (autodiff::has_under_way<As> || ...))
auto evaluate(M const&, G const&, As const&...) {
  return checking::Poisoned(checking::refused<rules::Code::L10_active, false, As...>{});
}

/// Both passes of `value_and_grad<0, 1>(f)` on symbols of the types `Given`, tensors or structures
/// of them, to be planned for sizes and machines that need not exist here. Refused: as `evaluate`.
template <class... Given, class F, bool value, int... Ks>
auto dry_run(autodiff::Gradient<F, value, Ks...> const& g) {
  using By = detail::Symbols<Given...>;
  return autodiff::dry_gradient<typename autodiff::RecorderOn<typename By::axes>::type>(
      g, typename By::given{});
}

}  // namespace api

}  // namespace shardtype
