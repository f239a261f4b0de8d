#pragma once
/// Automatic mode: finds the fastest plan for a whole expression, at compile time if all sizes are
/// static.

#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include <shardtype/check/call_site.hpp>
#include <shardtype/lazy/evaluation.hpp>
#include <shardtype/lazy/part_finder.hpp>
#include <shardtype/lazy/planned_program.hpp>
#include <shardtype/lazy/record.hpp>
#include <shardtype/lazy/run.hpp>
#include <shardtype/lazy/traced_run.hpp>
#include <shardtype/runtime/machine_file.hpp>

namespace shardtype {

namespace detail {

/// The plans found so far, by `Key`: for one program, its sizes.
template <class Key>
class PlanCache {
 public:
  template <class Make>
  ProgramPlan const& get(Key const& key, Make make) {
    for (auto const& known : known_)
      if (known->key == key) return known->plan;
    if (known_.size() == 64) known_.erase(0);
    return known_.push_back(Owned(new Known const {key, make()}))->plan;
  }

 private:
  struct Known {
    Key key;
    ProgramPlan plan;
  };
  List<Owned<Known const>> known_;
};
template <class P>
inline PlanCache<RecordedProgram> program_cache;

/// The machine that `P` is planned for: that of the policy, or else that of SHARDTYPE_MACHINE.
template <class P>
Machine const& planning_machine() {
  if constexpr (P::machine_known) {
    return P::machine;
  } else {
    return machine_here();
  }
}

/// The plan of program `P` for these sizes. Errors: E20 a value has more than 2^58 elements, E69 no
/// plan keeps to the memory limit.
template <class P>
ProgramPlan const& plan_for(RecordedProgram const& p) {
  if constexpr (P::is_static) {
    if constexpr (!P::program.varies()) return compiled_program_plan<P>;
    // run-time arguments of operations may decide about their plans
    if (p == P::program) return compiled_program_plan<P>;
  }
  if constexpr (!P::is_static || P::program.varies()) {
    return program_cache<P>.get(p, [&] {
      check_countable(p);
      planning::Rates rates =
          detail::rates_for(detail::planning_machine<P>(), P::memory_limit, p.sizes, P::names);
      ProgramPlan plan = planning::plan_program(p, rates);
      if (plan.possible) return plan;
      rates.memory_limit = -1;
      throw Error("E69",
                  "no plan of the expression keeps to " + std::to_string(P::memory_limit) +
                      " bytes of temporaries on a rank; the fastest one takes " +
                      std::to_string(planning::plan_program(p, rates).temporary_bytes()),
                  FailedOn::every_rank);
    });
  }
}

/// The program `p` with the sizes of the tensors and the mesh. Errors: E13, E23, E24.
RecordedProgram program_for(RecordedProgram p, ProgramNames const& names, MeshRef const& mesh,
                            AxisMap const& axes, List<execute::ProgramPart> const& parts);

/// The axes of a program on a mesh. Error E22.
AxisMap program_axes(ProgramNames const& program, MeshRef const& mesh);

/// The plan of `e` for the sizes of its tensors, which `finder` collects. Errors: E13, E20, E23,
/// E24, E69, E70.
template <class P, class E>
ProgramPlan const& plan_at_sizes(MeshRef const& mesh, AxisMap const& axes, E const& e,
                                 execute::PartFinder& finder) {
  detail::walk(finder, &e);
  return detail::plan_for<P>(detail::program_for(P::program, P::names, mesh, axes, finder.parts));
}

/// Runs the plan of an expression whose result is like `Out`.
template <class P, class Out>
execute::AnyBlock run_plan(MeshRef const& mesh, AxisMap const& axes, ProgramPlan const& plan,
                           execute::PartFinder& finder, std::source_location const& where) {
  // a reorder of the result is not part of the expression
  execute::ProgramPart last;
  last.make = &execute::reorder_block<typename Out::element, typename Out::memory_space>;
  last.move = &execute::move_block<typename Out::element, typename Out::memory_space>;
  finder.parts.push_back(last);
  TracedRun const traced(&P::names, plan, P::names, detail::planning_machine<P>(), where);
  return execute::ProgramRun(mesh, axes, plan, P::names.label.data(), P::names.axis, finder.parts,
                             where)
      .run();
}

/// The tensor of the block that a plan gave.
template <class Out>
Out packed_result(MeshRef const& mesh, RecordedProgram const& p, execute::AnyBlock block) {
  std::array<std::int64_t, Out::rank> extents{};
  for (std::size_t d = 0; d < Out::rank; ++d)
    extents[d] = p.extents.at[p.nodes.at[p.root].labels[d]];
  typename Out::execution_space const& exec = runtime::instance<typename Out::execution_space>();
  if (mesh.here() && (!block.layout.contiguous() || block.data != block.keep.data())) {
    auto const bytes =
        static_cast<std::size_t>(block.layout.elements()) * sizeof(typename Out::element);
    Buffer packed = mesh.state().pool().template take<typename Out::memory_space>(bytes);
    kernels::copy_packed(exec, execute::elements_of<typename Out::element>(block), block.layout,
                         static_cast<typename Out::element*>(packed.data()));
    block.keep = std::move(packed);
  }
  runtime::fence(exec);
  return Out(mesh, extents, std::move(block.keep));
}

template <class P, class Out, class E>
Out run_program(MeshRef const& mesh, E const& e, std::source_location const& where) {
  core::RunningCall const running("evaluate", where, detail::element_name<typename Out::element>(),
                                  &Out::spec, &Scope<Out>::names);
  execute::PartFinder finder;
  AxisMap const axes = detail::program_axes(P::names, mesh);
  ProgramPlan const& plan = detail::plan_at_sizes<P>(mesh, axes, e, finder);
  execute::AnyBlock block;
  if (mesh.here()) block = detail::run_plan<P, Out>(mesh, axes, plan, finder, where);
  return detail::packed_result<Out>(mesh, plan.program, std::move(block));
}

}  // namespace detail

namespace api {

/// Computes an expression on a mesh; the result's sharding is named by dims and attributes or by a
/// Tensor type. Runs the fastest plan, by the cost model, for the policy's machine within its
/// memory limit. The plan chooses the shardings of all intermediates, the loop over which each mesh
/// axis is spread in each product, the order of chains of products, and when sums are reduced. If
/// the types determine all sizes, the plan is found at compile time, unless values that are read
/// several times have too many layouts; else at the first call of each shape, for the machine of
/// SHARDTYPE_MACHINE unless the policy names one. Exact for chains and trees (plan/frontier.hpp).
/// May use all axes of the mesh if there are at most four. The plan fixes the order of summation,
/// so results may differ in rounding between plans.
///
/// `plan(evaluate_to<Out...>, mesh, e)` is that plan. Refused: L07 other labels, M01 an axis the
/// mesh lacks, L02 cyclic dims, L03 too large, L04 no plan keeps to the memory limit. Errors: E13,
/// E20, E23, E24, E69, E70, E84.
template <class... Out, class M, class E, class Policy = detail::DefaultPolicy>
  requires(std::is_base_of_v<runtime::MeshRef, M>)
auto evaluate(M const& mesh, core::Argument<E> const& given, Policy const& = {},
              checking::CallSite where = {}) {
  E const& e = given.self();
  using L = detail::lazy_t<E>;
  if constexpr (checking::any_poisoned<L>) {
    return api::lazy(e);
  } else if constexpr (detail::is_under_way<L>) {
    return checking::Poisoned(
        checking::refused<rules::Code::L10_active, false, typename L::whole>{});
  } else {
    using Xs = typename detail::MeshAxes<M>::type;
    using R = detail::Evaluation<Policy, L, Xs, Out...>;
    if constexpr (R::verdict) {
      using P = detail::planned_t<Policy, L, Xs, Out...>;
      return detail::run_program<P, typename R::result>(mesh, api::lazy(e), where);
    } else {
      return checking::Poisoned(detail::evaluation_refusal<R>{});
    }
  }
}

/// A number is no expression: T09.
template <class... Out, class M, class E>
  requires(std::is_base_of_v<runtime::MeshRef, M> && detail::is_number<E>)
auto evaluate(M const&, E const&) {
  return checking::Poisoned(checking::refusal<detail::NotATensor<E>, E>{});
}

/// `planned(evaluate_to<Out...>, mesh, e)`: the plan that `evaluate<Out...>(mesh, e)` runs for the
/// sizes of the tensors and the mesh, for `explain`, `to_json`, `to_html`. Communicates nothing.
/// Refusals and errors as `evaluate`.
template <class... Out, class M, class E, class Policy = detail::DefaultPolicy>
  requires(std::is_base_of_v<runtime::MeshRef, M>)
auto planned(automatic_mode::EvaluateTo<Out...> const&, M const& mesh,
             core::Argument<E> const& given, Policy const& = {}) {
  E const& e = given.self();
  using L = detail::lazy_t<E>;
  if constexpr (checking::any_poisoned<L>) {
    return api::lazy(e);
  } else {
    using Xs = typename detail::MeshAxes<M>::type;
    using R = detail::Evaluation<Policy, L, Xs, Out...>;
    if constexpr (R::verdict) {
      using P = detail::planned_t<Policy, L, Xs, Out...>;
      execute::PartFinder finder;
      runtime::AxisMap const axes = detail::program_axes(P::names, mesh);
      return PlannedProgram{detail::plan_at_sizes<P>(mesh, axes, api::lazy(e), finder), P::names,
                            detail::planning_machine<P>()};
    } else {
      return checking::Poisoned(detail::evaluation_refusal<R>{});
    }
  }
}

}  // namespace api

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/lazy/evaluate.ipp>
#include <shardtype/runtime/instance.hpp>
#endif
