#pragma once
/// Plans of automatic mode printed as functions of strict mode.

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/evaluate_gradient.hpp>
#include <shardtype/freeze/part_text.hpp>
#include <shardtype/freeze/source_writer.hpp>
#include <shardtype/lazy/dry_run.hpp>
#include <shardtype/lazy/several.hpp>

namespace shardtype::checking {
struct SourceHeader {};  // check/elsewhere.hpp
}  // namespace shardtype::checking

namespace shardtype {

namespace freeze {

/// The text of the plan of the expression `e` on a mesh.
template <class P, class M, class E>
std::string source_of(std::string_view name, M const& mesh, E const& e) {
  TextFinder<execute::PartFinder> finder;
  finder.spelled.add_axes(typename shardtype::detail::MeshAxes<M>::type{});
  runtime::AxisMap const axes = shardtype::detail::program_axes(P::names, mesh);
  shardtype::detail::walk(finder, &e);
  PlannedProgram const planned{shardtype::detail::plan_for<P>(shardtype::detail::program_for(
                                   P::program, P::names, mesh, axes, finder.parts)),
                               P::names, shardtype::detail::planning_machine<P>()};
  return SourceWriter(planned, finder.spelled, finder.texts).text(name);
}
/// The same of an expression whose result is an `Out`; refused as `evaluate`.
template <class Policy, class... Out, class M, class E>
auto checked_source(std::string_view name, M const& mesh, E const& e) {
  using Xs = typename shardtype::detail::MeshAxes<M>::type;
  using R = shardtype::detail::Evaluation<Policy, E, Xs, Out...>;
  if constexpr (R::verdict) {
    return freeze::source_of<shardtype::detail::planned_t<Policy, E, Xs, Out...>>(name, mesh, e);
  } else {
    return checking::Poisoned(shardtype::detail::evaluation_refusal<R>{});
  }
}

/// Writes the program of a loss, and its parts as text.
template <class... Xs>
class TextRecorder : public autodiff::LossWriter<TextRecorder<Xs...>,
                                                 TextFinder<autodiff::GradientFinder>, Xs...> {
 public:
  TextRecorder() { this->finder_.spelled.add_axes(automatic_mode::Axes<Xs...>{}); }
  /// Adds the names of the tensors of an argument.
  template <class P>
  void spell() {
    autodiff::each_leaf_type<P>([&]<class A>(Type<A>) {
      if constexpr (is_tensor<A>) this->finder_.spelled.template add_of<A>();
    });
  }
  SpelledNames const& spelled() const { return this->finder_.spelled; }
  SourceWriter::Parts const& texts() const { return this->finder_.texts; }
};
template <class Xs>
struct TextRecorderOn;
template <class... Xs>
struct TextRecorderOn<automatic_mode::Axes<Xs...>> {
  using type = TextRecorder<Xs...>;
};

/// The text of the plan of a gradient of `f`, with results named by `Outputs`: `given(all, number)`
/// is an argument of the program `all`, `plan(program)` gives the plan.
template <class Outputs, class R, class F, bool value, int... Ks, int... J, class... Ps,
          class Given, class MakePlan>
auto source_of_gradient(std::string_view name, autodiff::Gradient<F, value, Ks...> const& g,
                        std::integer_sequence<int, J...> order,
                        shardtype::detail::Pack<Ps...> types, Given const& given,
                        MakePlan const& plan) {
  using Unfit = typename decltype(autodiff::refused_arguments<R, Ks...>(types, order))::type;
  if constexpr (!std::is_void_v<Unfit>) {
    return checking::Poisoned(Unfit{});
  } else {
    autodiff::LossArguments<R> all;
    (all.to.template mention<Ps>(), ...);
    (all.to.template spell<Ps>(), ...);
    autodiff::KeptIn<
        std::integer_sequence<int, J...>,
        typename autodiff::RecordedForm<R, autodiff::wanted<Ks...>(J)>::template of<Ps>...> const
        args{{given(all, std::integral_constant<int, J>{})}...};
    auto const made = g.f(autodiff::kept<J>(args)...);
    using Made = std::remove_cvref_t<decltype(made)>;
    // NOLINTNEXTLINE(bugprone-branch-clone): what is poisoned must not be asked for more
    if constexpr (shardtype::detail::not_taken<Made> || checking::any_poisoned<Made>) {
      return checking::Poisoned{};
    } else {
      using Refused = typename decltype(autodiff::refused_call<
                                        R, F, Outputs, Made,
                                        typename autodiff::NameableGradient<
                                            autodiff::nth_t<Ks, Ps...>>::type...>())::type;
      if constexpr (!std::is_void_v<Refused>) {
        return checking::Poisoned(Refused{});
      } else {
        using Whole = typename autodiff::MadeLoss<F, Made>::L::whole;
        // the parts, whose texts refer to them, are kept by it
        autodiff::LossProgram program =
            autodiff::loss_program<F, typename autodiff::NamedResults<Outputs, Whole>::loss>(all,
                                                                                             made);
        PlannedProgram const planned = plan(program);
        return SourceWriter(planned, all.to.spelled(), all.to.texts()).text(name);
      }
    }
  }
}
template <class Outputs, class Policy, class M, class F, bool value, int... Ks, int... J,
          class... Ps>
auto source_on_mesh(std::string_view name, M const& mesh,
                    autodiff::Gradient<F, value, Ks...> const& g,
                    std::integer_sequence<int, J...> order, Ps const&... ps) {
  using Asked = autodiff::NamedResults<Outputs, void>;
  using R = typename TextRecorderOn<typename shardtype::detail::MeshAxes<M>::type>::type;
  autodiff::KeptIn<std::integer_sequence<int, J...>, Ps const&...> const given{{ps}...};
  return freeze::source_of_gradient<Outputs, R>(
      name, g, order, shardtype::detail::Pack<Ps...>{},
      [&]<int K>(autodiff::LossArguments<R>& all, std::integral_constant<int, K>) {
        return all.template given<autodiff::wanted<Ks...>(K),
                                  typename Asked::template at<autodiff::place_among<Ks...>(K)>>(
            autodiff::kept<K>(given));
      },
      [&](autodiff::LossProgram& program) {
        program.template plan_by<Policy>();
        shardtype::detail::PlanCache<autodiff::LossKey> plans;
        return PlannedProgram{autodiff::LossRun(mesh, program).plan(plans), program.names,
                              program.planning_machine()};
      });
}

struct AllStatic {
  void operator()(DryRun<autodiff::LossProgram>&) const {}
};
template <class R, class F, bool value, int... Ks, class... Ps, class Sizes>
auto source_of_symbols(std::string_view name, autodiff::Gradient<F, value, Ks...> const& g,
                       shardtype::detail::Pack<Ps...> types, Sizes const& sizes) {
  return freeze::source_of_gradient<void, R>(
      name, g, autodiff::Numbers<static_cast<int>(sizeof...(Ps))>{}, types,
      []<int K>(autodiff::LossArguments<R>& all, std::integral_constant<int, K>) {
        return all.template symbol<autodiff::wanted<Ks...>(K), autodiff::nth_t<K, Ps...>>();
      },
      [&](autodiff::LossProgram const& program) {
        DryRun<autodiff::LossProgram> run(program);
        sizes(run);
        return run.planned();
      });
}

}  // namespace freeze

namespace api {

/// The plan that `evaluate<Out...>(mesh, e)` runs, as C++: a class of this name, whose call takes
/// the tensors of `e` in the order of `explain`, and computes each value of the plan by a call of
/// strict mode, in the sharding that it has in the plan: the same collectives, bytes and bits. An
/// assertion behind it holds the bytes that a rank sends (the number of collectives where types of
/// operands leave sizes open). Functions that C++ text cannot name, such as the user's, and
/// operations whose run-time arguments are no numbers are members `fn1`, `fn2`, ... of a template,
/// for which nothing is asserted. Numbers are printed so that they are read back exactly. The
/// printed function holds its values to its end.
///
///     std::puts(to_source<"layers">(evaluate_to<Samples>, mesh, max(lazy(x) * up, 0.0F) *
///     down).c_str());
///
/// Communicates nothing. Refused and errors: as `evaluate`; E86 a plan without such a text.
template <core::FixedString Name = "frozen", class... Out, class M, class E,
          class Policy = detail::DefaultPolicy>
  requires(std::is_base_of_v<runtime::MeshRef, M>)
auto to_source(automatic_mode::EvaluateTo<Out...> const&, M const& mesh,
               core::Argument<E> const& given, Policy const& = {}) {
  using L = detail::lazy_t<E>;
  if constexpr (checking::any_poisoned<L>) {
    return api::lazy(given.self());
  } else {
    return freeze::checked_source<Policy, Out...>(Name.view(), mesh, api::lazy(given.self()));
  }
}
/// The same of several results: `to_source(evaluate_to<Outs<C, D>>, mesh, std::tuple(e, f))`. The
/// call gives a std::tuple.
template <core::FixedString Name = "frozen", class Outputs, class M, class Several,
          class Policy = detail::DefaultPolicy>
  requires(std::is_base_of_v<runtime::MeshRef, M> && detail::is_several<Several>)
auto to_source(automatic_mode::EvaluateTo<Outputs> const&, M const& mesh, Several const& es,
               Policy const& = {}) {
  auto const e = detail::program_of<Outputs>(nullptr, es);
  if constexpr (checking::any_poisoned<std::remove_cvref_t<decltype(e)>>) {
    return e;
  } else {
    return freeze::checked_source<Policy, Tensor<float>>(Name.view(), mesh, e);
  }
}
/// The same of a function of expressions, as `evaluate<Out...>(mesh, f, a, b)`.
template <core::FixedString Name = "frozen", class... Out, class M, class F, class... As>
  requires(detail::runs_function<M, F, As...>)
auto to_source(automatic_mode::EvaluateTo<Out...> const& to, M const& mesh, F const& f,
               As const&... as) {
  return [&]<int... Number>(std::integer_sequence<int, Number...>) {
    return api::to_source<Name>(
        to, mesh,
        f(automatic_mode::LazyInput<detail::operand_t<As>, Number>(detail::operand(as))...));
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{});
}

/// The plan of both passes that `evaluate(mesh, value_and_grad<0, 1>(f), a, b)` runs, as C++. The
/// call takes the tensors that the loss reads, and gives a std::tuple of the loss, the gradients
/// (but those of parameters that the loss does not read, which are zero) and the values beside the
/// loss. Derivatives are written as functions of elements, too; E86 names an operation whose
/// derivative is none.
template <core::FixedString Name = "frozen", class M, class F, bool value, int... Ks, class... As>
  requires(std::is_base_of_v<runtime::MeshRef, M>)
auto to_source(M const& mesh, autodiff::Gradient<F, value, Ks...> const& g, As const&... as) {
  return freeze::source_on_mesh<void, detail::DefaultPolicy>(
      Name.view(), mesh, g, autodiff::Numbers<static_cast<int>(sizeof...(As))>{},
      autodiff::argument_of(as)...);
}
/// The same of types alone, for machines that need not be here: `to_source<"step", Model,
/// Batch>(value_and_grad<0>(f), sizes)`, where `sizes(run)` gives the dry_run `run` the sizes that
/// the types leave open, and its machine. Error E71.
template <core::FixedString Name, class... Given, class F, bool value, int... Ks,
          class Sizes = freeze::AllStatic>
auto to_source(autodiff::Gradient<F, value, Ks...> const& g, Sizes const& sizes = {}) {
  using By = detail::Symbols<Given...>;
  using R = typename freeze::TextRecorderOn<typename By::axes>::type;
  return freeze::source_of_symbols<R>(Name.view(), g, typename By::given{}, sizes);
}
/// The same of `evaluate<Outs<L, A, B>>(mesh, value_and_grad<0, 1>(f), a, b)`.
template <core::FixedString Name = "frozen", class Outputs, class M, class F, bool value, int... Ks,
          class... As>
  requires(std::is_base_of_v<runtime::MeshRef, M>)
auto to_source(automatic_mode::EvaluateTo<Outputs> const&, M const& mesh,
               autodiff::Gradient<F, value, Ks...> const& g, As const&... as) {
  return freeze::source_on_mesh<Outputs, detail::DefaultPolicy>(
      Name.view(), mesh, g, autodiff::Numbers<static_cast<int>(sizeof...(As))>{},
      autodiff::argument_of(as)...);
}

}  // namespace api

}  // namespace shardtype
