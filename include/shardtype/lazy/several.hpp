#pragma once
/// Programs with several results.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/manual.hpp>
#include <shardtype/lazy/evaluate.hpp>

namespace shardtype {

namespace automatic_mode {

/// Reads results of a program, each in its sharding, and stores their blocks.
struct KeepResults {
  static constexpr char const* program_name = "results";
  static constexpr bool keeps = true;
  runtime::Buffer* kept = nullptr;
};
/// Reads the steps that store results.
struct JoinResults {
  static constexpr char const* program_name = "results";
};
/// The program of several results: a node without dims that reads all of them.
template <class... Es>
using LazyResults = LazyShardMap<KeepResults, Tensor<float>, Es...>;
/// The same of more results than a node may read: it reads such nodes.
template <class... Groups>
using LazyJoin = LazyShardMap<JoinResults, Tensor<float>, Groups...>;

}  // namespace automatic_mode

namespace execute {

template <class... As>
struct ShardMapRun<automatic_mode::LazyResults<As...>> {
  static AnyBlock make(ProgramRun& run, int step, void const* part) {
    Buffer* const kept =
        static_cast<automatic_mode::LazyResults<As...> const*>(part)->function().kept;
    [&]<int... K>(std::integer_sequence<int, K...>) {
      ((kept[K] = execute::packed_input<shardtype::detail::pin_t<As>>(run, step, K)), ...);
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{});
    return any_block(run.template fresh<float, typename Tensor<float>::memory_space>(step));
  }
};
template <class... Groups>
struct ShardMapRun<automatic_mode::LazyJoin<Groups...>> {
  static AnyBlock make(ProgramRun& run, int step, void const*) {
    return any_block(run.template fresh<float, typename Tensor<float>::memory_space>(step));
  }
};

}  // namespace execute

namespace detail {

template <class Outputs>
inline constexpr std::size_t parts_named = 0;
template <class... Tensors>
inline constexpr std::size_t parts_named<Outs<Tensors...>> = sizeof...(Tensors);

/// Replaces refused results: a tuple of Poisoned, so that structured bindings still compile.
template <class Outputs>
struct RefusedSeveral {
  using type = std::tuple<Poisoned>;
};
template <class... Tensors>
struct RefusedSeveral<Outs<Tensors...>> {
  template <class T>
  struct One {
    using type = Poisoned;
  };
  using type = std::tuple<typename One<Tensors>::type...>;
};
template <class Outputs>
using refused_several = typename RefusedSeveral<Outputs>::type;

/// Each expression of a tuple, constrained to its named Tensor type.
template <class... Tensors, class... Es, std::size_t... K>
auto constrained_to(Outs<Tensors...>, std::tuple<Es...> const& es, std::index_sequence<K...>) {
  return std::tuple(detail::pinned<Tensors>(api::lazy(std::get<K>(es)))...);
}
/// Divides a tuple into parts of `max_operands` values, the last of fewer: `make(part, first)` is
/// the value of a part that begins at `first`, with its values as arguments.
template <std::size_t First, class Make, class... Es, std::size_t... K>
auto part_of_results(std::tuple<Es...> const& es, Make const& make, std::index_sequence<K...>) {
  return make(First, std::get<First + K>(es)...);
}
template <std::size_t First = 0, class Make, class... Es>
auto by_parts(std::tuple<Es...> const& es, Make const& make) {
  constexpr std::size_t left = sizeof...(Es) - First;
  constexpr auto most = static_cast<std::size_t>(planning::max_operands);
  auto part =
      detail::part_of_results<First>(es, make, std::make_index_sequence<std::min(left, most)>{});
  if constexpr (left <= most) {
    return std::tuple(std::move(part));
  } else {
    return std::tuple_cat(std::tuple(std::move(part)), detail::by_parts<First + most>(es, make));
  }
}
struct JoinPart {
  template <class G>
  auto operator()(std::size_t, G const& group) const {
    return group;
  }
  template <class... Groups>
  auto operator()(std::size_t, Groups const&... groups) const {
    return automatic_mode::LazyJoin<Groups...>(automatic_mode::JoinResults{}, groups...);
  }
};
template <class... Groups>
auto joined_results(std::tuple<Groups...> const& groups) {
  if constexpr (sizeof...(Groups) == 1) {
    return std::get<0>(groups);
  } else {
    return detail::joined_results(detail::by_parts(groups, JoinPart{}));
  }
}
/// The node that reads all results; Poisoned if one is refused, or if their number is not that of
/// the types.
template <class... Es>
auto results_of(Buffer* kept, std::tuple<Es...> const& es) {
  if constexpr (any_poisoned<Es...>) {
    return Poisoned{};
  } else {
    return detail::joined_results(detail::by_parts(es, [&]<class... As>(std::size_t first,
                                                                        As const&... e) {
      return automatic_mode::LazyResults<As...>(automatic_mode::KeepResults{kept + first}, e...);
    }));
  }
}
/// The node of result `k` of `size`, which the node `root` reads.
inline int node_of_result(RecordedProgram const& p, int root, int k, int size) {
  if (size <= planning::max_operands) return p.operand(root, 0, k);
  int each = planning::max_operands;
  while (each * planning::max_operands < size) each *= planning::max_operands;
  int const first = k / each * each;
  return node_of_result(p, p.operand(root, 0, k / each), k - first, std::min(each, size - first));
}
template <class Outputs, class... Es>
auto program_of(Buffer* kept, std::tuple<Es...> const& es) {
  if constexpr (parts_named<Outputs> != sizeof...(Es)) {
    return Poisoned(refused<Code::L09_results_named, false, Outputs, std::tuple<Es...>>{});
  } else {
    return detail::results_of(
        kept, detail::constrained_to(Outputs{}, es, std::index_sequence_for<Es...>{}));
  }
}

/// The tensor of result `k` of `size`, from its stored block.
template <class Out>
Out result_of(MeshRef const& mesh, ProgramPlan const& plan, LabelPart const* labels, int k,
              int size, Buffer const& kept) {
  RecordedProgram const& p = plan.program;
  ProgramNode const& n = p.nodes.at[node_of_result(p, p.root, k, size)];
  int place[max_dims]{};
  execute::places_of<Out>(n, labels, place);
  std::array<std::int64_t, Out::rank> extents{};
  for (std::size_t d = 0; d < Out::rank; ++d) extents[d] = p.extents.at[n.labels[place[d]]];
  return Out(mesh, extents, kept);
}

template <class P, class... Tensors, class E>
std::tuple<Tensors...> run_results(Outs<Tensors...>, MeshRef const& mesh, E const& e, Buffer* kept,
                                   std::source_location const& where) {
  core::RunningCall const running("evaluate", where);
  execute::PartFinder finder;
  AxisMap const axes = detail::program_axes(P::names, mesh);
  ProgramPlan const& plan = detail::plan_at_sizes<P>(mesh, axes, e, finder);
  if (mesh.here())
    static_cast<void>(detail::run_plan<P, Tensor<float>>(mesh, axes, plan, finder, where));
  return [&]<int... K>(std::integer_sequence<int, K...>) {
    return std::tuple<Tensors...>{
        detail::result_of<Tensors>(mesh, plan, P::names.label.data(), K, sizeof...(K), kept[K])...};
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Tensors))>{});
}

}  // namespace detail

namespace api {

/// Evaluates several expressions on a mesh as one program: `auto [c, d] = evaluate<Outs<C,
/// D>>(mesh, std::tuple(e, f))`; each result has its named Tensor type. A value with readers in
/// several expressions is computed once if it is a `share`. All results are stored until the last
/// one is complete. `plan_traced` plans `evaluate<Outs<C, D>>(std::tuple(e, f))`. Refused, errors
/// and policy: as `evaluate`; L09 if the numbers of types and expressions differ.
template <class Outputs, class M, class Several, class Policy = detail::DefaultPolicy>
  requires(std::is_base_of_v<runtime::MeshRef, M> && detail::is_several<Several>)
auto evaluate(M const& mesh, Several const& es, Policy const& = {}, checking::CallSite where = {}) {
  runtime::Buffer kept[std::tuple_size_v<Several> + 1];
  auto const e = detail::program_of<Outputs>(kept, es);
  using E = std::remove_cvref_t<decltype(e)>;
  if constexpr (checking::any_poisoned<E>) {
    return detail::refused_several<Outputs>{};
  } else {
    using Xs = typename detail::MeshAxes<M>::type;
    using R = detail::Evaluation<Policy, E, Xs, Tensor<float>>;
    if constexpr (R::verdict) {
      using P = detail::planned_t<Policy, E, Xs, Tensor<float>>;
      return detail::run_results<P>(Outputs{}, mesh, e, kept, where);
    } else {
      static_cast<void>(checking::Poisoned(detail::evaluation_refusal<R>{}));
      return detail::refused_several<Outputs>{};
    }
  }
}

}  // namespace api

namespace detail {

template <class M, class F, class... As>
inline constexpr bool runs_function =
    std::is_base_of_v<runtime::MeshRef, M> && is_function_of_expressions<F> &&
    (is_tensor<operand_t<As>> && ...);
/// `evaluate` of a function, called at `where`.
template <class... Out, class M, class F, class... As>
auto evaluate_function(std::source_location const& where, M const& mesh, F const& f,
                       As const&... as) {
  return [&]<int... Number>(std::integer_sequence<int, Number...>) {
    return api::evaluate<Out...>(
        mesh, f(automatic_mode::LazyInput<operand_t<As>, Number>(detail::operand(as))...),
        DefaultPolicy{}, where);
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{});
}

}  // namespace detail

namespace api {

/// A function of expressions on tensors, planned and run as one program, as `jit` of JAX:
/// `evaluate<Dim<I, X>, Dim<K>>(mesh, f, a, b)` is `evaluate<Dim<I, X>, Dim<K>>(mesh, f(lazy(a),
/// lazy(b)))`, but for what `f` computes twice: products, reductions and operations on the same
/// arguments are computed once, without `share`. A function that returns a std::tuple has several
/// results: `evaluate<Outs<C, D>>(mesh, f, a, b)`. Operations with equal run-time arguments (two
/// slices of the same rows) are found when the plan runs: the later ones, and what they read, are
/// neither sent nor computed again, though the plan counts them. What hangs on a C++ number needs
/// `share`.
template <class... Out, class M, class F, class A>
  requires(detail::runs_function<M, F, A>)
auto evaluate(M const& mesh, F const& f, A const& a,
              std::source_location const& where = std::source_location::current()) {
  return detail::evaluate_function<Out...>(where, mesh, f, a);
}
template <class... Out, class M, class F, class A, class B>
  requires(detail::runs_function<M, F, A, B>)
auto evaluate(M const& mesh, F const& f, A const& a, B const& b,
              std::source_location const& where = std::source_location::current()) {
  return detail::evaluate_function<Out...>(where, mesh, f, a, b);
}
template <class... Out, class M, class F, class A, class B, class C>
  requires(detail::runs_function<M, F, A, B, C>)
auto evaluate(M const& mesh, F const& f, A const& a, B const& b, C const& c,
              std::source_location const& where = std::source_location::current()) {
  return detail::evaluate_function<Out...>(where, mesh, f, a, b, c);
}
template <class... Out, class M, class F, class A, class B, class C, class D>
  requires(detail::runs_function<M, F, A, B, C, D>)
auto evaluate(M const& mesh, F const& f, A const& a, B const& b, C const& c, D const& d,
              std::source_location const& where = std::source_location::current()) {
  return detail::evaluate_function<Out...>(where, mesh, f, a, b, c, d);
}
template <class... Out, class M, class F, class A, class B, class C, class D, class G>
  requires(detail::runs_function<M, F, A, B, C, D, G>)
auto evaluate(M const& mesh, F const& f, A const& a, B const& b, C const& c, D const& d, G const& g,
              std::source_location const& where = std::source_location::current()) {
  return detail::evaluate_function<Out...>(where, mesh, f, a, b, c, d, g);
}
template <class... Out, class M, class F, class A, class B, class C, class D, class G, class H>
  requires(detail::runs_function<M, F, A, B, C, D, G, H>)
auto evaluate(M const& mesh, F const& f, A const& a, B const& b, C const& c, D const& d, G const& g,
              H const& h, std::source_location const& where = std::source_location::current()) {
  return detail::evaluate_function<Out...>(where, mesh, f, a, b, c, d, g, h);
}
/// Refused, L10: a value whose gradient is wanted.
template <class... Out, class M, class F, class... As>
  requires(std::is_base_of_v<runtime::MeshRef, M> && detail::is_function_of_expressions<F> &&
           ((core::is_active<As> || detail::is_under_way<As>) || ...))
auto evaluate(M const&, F const&, As const&...) {
  return checking::Poisoned(checking::refused<rules::Code::L10_active, false, As...>{});
}
// of more a line cannot be known
template <class... Out, class M, class F, class... As>
  requires(sizeof...(As) > 6 && detail::runs_function<M, F, As...>)
auto evaluate(M const& mesh, F const& f, As const&... as) {
  return detail::evaluate_function<Out...>({}, mesh, f, as...);
}
/// The program of several results from types alone, for plan_traced and dry_run.
template <class Outputs, class Several, class Policy = detail::DefaultPolicy>
  requires detail::is_several<Several>
constexpr auto evaluate(Several const&, Policy const& = {}) {
  using E = decltype(detail::program_of<Outputs>(nullptr, std::declval<Several>()));
  if constexpr (checking::any_poisoned<E>) {
    return checking::Poisoned{};
  } else {
    return automatic_mode::Traced<E, Policy, Tensor<float>>{};
  }
}

}  // namespace api

}  // namespace shardtype
