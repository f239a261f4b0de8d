#pragma once
/// Plans of whole expressions as text.

#include <algorithm>
#include <cstdio>
#include <string>
#include <type_traits>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/dim.hpp>
#include <shardtype/lazy/evaluate.hpp>
#include <shardtype/lazy/step_texts.hpp>

namespace shardtype {

namespace detail {

std::string open_text(ProgramNames const& names);

}  // namespace detail
namespace api {

/// The plan as text: operands, result and sizes, its costs, and a line for each step with the bytes
/// it moves or the flops it computes and its predicted time. Bytes and flops are those of the
/// busiest rank. "optimal": no other layouts are predicted faster (ProgramPlan::gap); or "within
/// 0.3 % of the best possible".
///
///     T1[I@X, K] of A[I, J@X], B[J@X, K]
///       on X = 4; I = 1024, J = 512, K = 256
///       1 collective, 786 kB/rank, peak 3.01 MB, 67.1 MFLOP/rank, 1.43 ms predicted, optimal
///       1  product          T1[I, K]{U:X} = A[I, J@X] · B[J@X, K]  67.1 MFLOP   1.34 ms
///       2  ReduceScatter X  T1[I, K]{U:X} -> [I@X, K]                  786 kB   86.6 µs
std::string explain(core::Taken<PlannedProgram> program);

/// The text for plans whose types leave sizes open (plan_traced): the names of these sizes, and the
/// dry_run that has the plan.
template <class P>
std::string explain(automatic_mode::ProgramPlans<P> const&) {
  return detail::open_text(P::names);
}

/// `explain(evaluate_to<Out...>, mesh, e)`: the plan that `evaluate<Out...>(mesh, e)` runs, as
/// text, with the sizes of the tensors and the mesh. Communicates nothing. Refusals and errors as
/// `evaluate`.
template <class... Out, class M, class E, class Policy = detail::DefaultPolicy>
  requires(std::is_base_of_v<runtime::MeshRef, M>)
auto explain(automatic_mode::EvaluateTo<Out...> const& to, M const& mesh,
             core::Argument<E> const& e, Policy const& policy = {}) {
  auto program = api::planned(to, mesh, e.self(), policy);
  if constexpr (checking::any_poisoned<decltype(program)>) {
    return program;
  } else {
    return api::explain(program);
  }
}

}  // namespace api

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/lazy/explain.ipp>
#endif
