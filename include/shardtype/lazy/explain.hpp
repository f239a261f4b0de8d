#pragma once
/// Plans of whole expressions as text.

#include <algorithm>
#include <cstdio>
#include <string>
#include <type_traits>

#include <shardtype/lazy/evaluate.hpp>
#include <shardtype/lazy/step_texts.hpp>

namespace shardtype {

/// The plan as text: operands, result and sizes, its costs, and a line for each step with the bytes
/// it moves or the flops it computes and its predicted time. Bytes and flops are those of the
/// busiest rank.
///
///     T1[I@X, K] of A[I, J@X], B[J@X, K]
///       on X = 4; I = 1024, J = 512, K = 256
///       1 collective, 786 kB/rank, peak 3.01 MB, 67.1 MFLOP/rank, 1.43 ms predicted
///       1  product          T1[I, K]{U:X} = A[I, J@X] · B[J@X, K]  67.1 MFLOP   1.34 ms
///       2  ReduceScatter X  T1[I, K]{U:X} -> [I@X, K]                  786 kB   86.6 µs
inline std::string explain(PlannedProgram const& program) {
  using namespace detail;
  ProgramPlan const& plan = program.plan;
  if (!plan.possible)
    return plan.program.countable() ? "no plan keeps to the memory limit\n"
                                    : "every plan needs a value of more than 2^58 elements\n";
  StepTexts const texts(program);
  std::string given;
  std::size_t widest[2] = {0, 0};
  for (int k = 0; k < plan.size; ++k) {
    if (plan.steps[k].kind == ProgramStep::Kind::given) continue;
    widest[0] = std::max(widest[0], columns(texts.kind(k)));
    widest[1] = std::max(widest[1], columns(texts.change(k)));
  }
  for (int k : texts.given()) given += (given.empty() ? "" : ", ") + texts.value(k);
  std::string out = texts.value(plan.size - 1) + " of " + given + "\n  " + texts.sizes() + "\n  " +
                    collectives_text(plan.collectives()) + ", " +
                    bytes_text(plan.bytes_per_rank()) + "/rank, peak " +
                    bytes_text(plan.peak_bytes()) + ", " + flops_text(plan.flops()) + "/rank, " +
                    seconds_text(program.seconds()) + " predicted\n";
  auto right = [&](std::string const& text, std::size_t width) {
    return std::string(width - std::min(width, columns(text)), ' ') + text;
  };
  int line = 0;
  for (int k = 0; k < plan.size; ++k) {
    if (plan.steps[k].kind == ProgramStep::Kind::given) continue;
    out += right(std::to_string(++line), 3) + "  " + padded(texts.kind(k), widest[0] + 2) +
           padded(texts.change(k), widest[1] + 1) + right(texts.amount(k), 11) +
           right(seconds_text(program.seconds(k)), 10) + "\n";
  }
  return out;
}

/// `explain(evaluate_to<Out...>, mesh, e)`: the plan that `evaluate<Out...>(mesh, e)` runs, as
/// text, with the sizes of the tensors and the mesh. Communicates nothing. Refusals and errors as
/// `evaluate`.
template <class... Out, class M, class E, class Policy = detail::DefaultPolicy>
  requires(std::is_base_of_v<runtime::MeshRef, M>)
auto explain(automatic_mode::EvaluateTo<Out...> const& to, M const& mesh, E const& e,
             Policy const& policy = {}) {
  auto program = planned(to, mesh, e, policy);
  if constexpr (checking::any_poisoned<decltype(program)>) {
    return program;
  } else {
    return explain(program);
  }
}

}  // namespace shardtype
