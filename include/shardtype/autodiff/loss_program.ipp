#pragma once
/// Definitions of loss_program.hpp.

#include <algorithm>
#include <string>

#include <shardtype/autodiff/loss_program.hpp>

namespace shardtype::autodiff {

SHARDTYPE_INLINE execute::AnyBlock KeptResults::keep(execute::ProgramRun& run, int step,
                                                     void const* part) {
  auto const& results = *static_cast<KeptResults const*>(part);
  ProgramStep const& s = run.plan().steps[step];
  for (int k = 0; k < s.inputs; ++k)
    for (std::size_t r = 0; r < results.values.size(); ++r)
      if (results.values[r] == run.plan().steps[s.input[k]].node)
        results.kept[r] = results.pack[r](run, step, k);
  return execute::any_block(run.template fresh<float, Tensor<float>::memory_space>(step));
}

/// Error: a program that cannot be planned, by the code of its refusal.
inline void check_fault(Code fault) {
  switch (fault) {
    case Code::ok:
      return;
    case Code::M01_axis_not_in_mesh:
      throw Error("M01",
                  "the loss uses a mesh axis that its arguments do not mention; name the axes "
                  "first: dry_run<Axes<X, Y>, ...>",
                  FailedOn::every_rank);
    case Code::T07_too_many:
      throw Error("T07",
                  "the loss uses more mesh axes than a program can be planned for, " +
                      std::to_string(searched_axes),
                  FailedOn::every_rank);
    case Code::L02_cyclic:
      throw Error("L02",
                  "the loss reads a block-cyclic tensor otherwise than as it is; reshard it to "
                  "blocks first",
                  FailedOn::every_rank);
    case Code::R02_replicated_to_unreduced:
      throw Error("R02",
                  "the loss needs an unreduced sum that no operation gives; leave out Unreduced in "
                  "a constraint",
                  FailedOn::every_rank);
    case Code::R04_kind_differs:
      throw Error(
          "R04",
          "a constraint of the loss names a pending reduction of another kind than the value has",
          FailedOn::every_rank);
    default:
      throw Error("L03", "the loss is too large for a program", FailedOn::every_rank);
  }
}

SHARDTYPE_INLINE LossProgram::LossProgram(RecordedLoss loss,
                                          shardtype::detail::List<WantedValue> results,
                                          std::size_t gradient_count)
    : program(std::move(loss.program)),
      names(std::move(loss.names)),
      wanted(std::move(results)),
      gradients(gradient_count),
      is_read(wanted.size(), false),
      loss_(std::move(loss)) {
  autodiff::check_fault(loss_.fault);
  wanted[0].value = program.root;
  shardtype::detail::List<bool> read(static_cast<std::size_t>(program.size), false);
  read[static_cast<std::size_t>(program.root)] = true;
  for (int k = program.size - 1; k >= 0; --k) {
    ProgramNode const& n = program.nodes[k];
    if (!read[static_cast<std::size_t>(k)]) continue;
    for (planning::PullByHand const& by : loss_.by_hand)
      if (std::find(by.results.begin(), by.results.end(), k) != by.results.end())
        for (int const a : by.arguments) read[static_cast<std::size_t>(a)] = true;
    for (int w = 0; w < n.ways; ++w)
      for (int m = 0; m < n.operands; ++m)
        read[static_cast<std::size_t>(program.operand(k, w, m))] = true;
  }
  for (std::size_t r = 0; r < wanted.size(); ++r)
    is_read[r] = r > gradients || read[static_cast<std::size_t>(wanted[r].value)];
}

SHARDTYPE_INLINE ProgramPlan LossProgram::plan(RecordedProgram const& sized,
                                               planning::Rates const& rates) const {
  planning::Rates free = rates;
  free.memory_limit = -1;
  auto const fits = [&](ProgramPlan const& plan) {
    return plan.possible &&
           (rates.memory_limit < 0 || plan.temporary_bytes() <= rates.memory_limit);
  };
  ProgramPlan best = plan_again(sized, free, 0);
  if (fits(best)) return best;
  if (loss_.segments > 0) {
    best = plan_again(sized, free, loss_.segments);
    if (fits(best)) {
      // `few` segments are too few, `enough` are not
      int few = 0;
      int enough = loss_.segments;
      while (enough - few > 1) {
        int const middle = few + (enough - few) / 2;
        ProgramPlan plan = plan_again(sized, free, middle);
        bool const fit = fits(plan);
        (fit ? enough : few) = middle;
        if (fit) best = std::move(plan);
      }
      return best;
    }
  }
  return plan_again(sized, rates, loss_.segments);
}

SHARDTYPE_INLINE ProgramPlan LossProgram::plan_again(RecordedProgram const& sized,
                                                     planning::Rates const& rates,
                                                     int again) const {
  // chains of products are associated as the forward pass alone would, without a memory limit
  shardtype::detail::List<int> ways(static_cast<std::size_t>(sized.size), 0);
  bool chosen = true;
  for (int k = 0; k < sized.size; ++k) chosen = chosen && sized.nodes[k].ways <= 1;
  if (!chosen) {
    planning::Rates free = rates;
    free.memory_limit = -1;
    ways = planning::ways_in(planning::plan_program(sized, free));
  }
  planning::WantedResults of_results;
  of_results.again = again;
  for (std::size_t r = 0; r < wanted.size(); ++r) {
    if (!is_read[r]) continue;
    if (r > 0) (r > gradients ? of_results.beside : of_results.wrt).push_back(wanted[r].value);
    of_results.each.push_back(wanted[r].wanted(names, sized.nodes[wanted[r].value]));
  }
  auto const planned = [&] {
    planning::Transposition const both(
        sized, {loss_.gradients, loss_.by_hand},
        [&](int value) { return ways[static_cast<std::size_t>(value)]; }, of_results);
    return planning::TapeOrder::of(planning::plan_program(both.program, rates));
  };
  auto part = static_cast<int>(loss_.parts.size());
  for (Spec const& state : updates.states)
    of_results.updates.push_back({part++, state, updates.chosen, updates.from_values});
  if (updates.chosen) {
    ProgramPlan const free = planned();
    if (!free.possible) return free;
    for (std::size_t k = 0; k < updates.states.size(); ++k) {
      of_results.updates[k].spec = sharding_of_update(free, k);
      of_results.updates[k].chosen = false;
    }
  }
  if (updates.normed) of_results.norm = {part, part + 1};
  return planned();
}

SHARDTYPE_INLINE Spec LossProgram::sharding_of_update(ProgramPlan const& plan,
                                                      std::size_t k) const {
  auto const part = static_cast<std::int32_t>(loss_.parts.size() + k);
  for (int s = 0; s < plan.size; ++s)
    if (plan.steps[s].kind == planning::ProgramStep::Kind::make &&
        planning::is_update(plan.program.nodes[plan.steps[s].node]) &&
        plan.program.nodes[plan.steps[s].node].origin == part)
      return plan.spec(s);
  return {};
}

SHARDTYPE_INLINE bool operator==(LossKey const& a, LossKey const& b) {
  RecordedProgram const& p = a.sized;
  RecordedProgram const& q = b.sized;
  if (p.size != q.size || p.root != q.root || !(p == q)) return false;
  if (!(a.types == b.types) || !(a.wanted == b.wanted) || p.uses.size() != q.uses.size())
    return false;
  for (int k = 0; k < p.uses.size(); ++k)
    if (p.uses[k] != q.uses[k]) return false;
  for (int k = 0; k < p.size; ++k) {
    ProgramNode const& n = p.nodes[k];
    ProgramNode const& m = q.nodes[k];
    if (n.making != m.making || n.rank != m.rank || n.pinned != m.pinned || n.origin != m.origin ||
        n.cyclic != m.cyclic || n.segment != m.segment)
      return false;
    for (int d = 0; d < n.rank; ++d)
      if (n.labels[d] != m.labels[d]) return false;
  }
  return true;
}

SHARDTYPE_INLINE LossRun::LossRun(MeshRef const& mesh, LossProgram const& program)
    : mesh_(mesh),
      program_(program),
      axes_(shardtype::detail::program_axes(program.names, mesh)),
      key_{shardtype::detail::program_for(program.program, program.names, mesh, axes_,
                                          program.parts()),
           program.types(),
           {}} {
  for (WantedValue const& w : program.wanted) key_.wanted.push_back(w.value);
  for (planning::PullByHand const& by : program.by_hand())
    for (shardtype::detail::List<int> const* each :
         {&by.results, &by.stand_ins, &by.arguments, &by.cotangents})
      for (int const value : *each) key_.wanted.push_back(value);
  key_.wanted.push_back((program.updates.normed ? 1 : 0) + (program.updates.chosen ? 2 : 0));
  for (std::size_t k = 0; k < program.updates.states.size(); ++k)
    key_.wanted.push_back(
        program.program.code(program.wanted[1 + k].value).of(program.updates.states[k]));
}

SHARDTYPE_INLINE ProgramPlan const& LossRun::plan(
    shardtype::detail::PlanCache<LossKey>& cache) const {
  return cache.get(key_, [&] {
    shardtype::detail::check_countable(key_.sized);
    planning::Rates rates = shardtype::detail::rates_for(
        program_.planning_machine(), program_.memory_limit, key_.sized.sizes, program_.names);
    ProgramPlan plan = program_.plan(key_.sized, rates);
    if (plan.possible) return plan;
    rates.memory_limit = -1;
    throw Error("E69",
                "no plan of the loss and its gradients keeps to " +
                    std::to_string(program_.memory_limit) +
                    " bytes of temporaries on a rank; the fastest one takes " +
                    std::to_string(program_.plan(key_.sized, rates).temporary_bytes()),
                FailedOn::every_rank);
  });
}

SHARDTYPE_INLINE void LossRun::run(ProgramPlan const& plan, std::source_location const& where,
                                   shardtype::detail::List<execute::ProgramPart> const& updates) {
  plan_ = &plan;
  RecordedProgram const& p = plan.program;
  int count = 0;
  for (bool const read : program_.is_read) count += read ? 1 : 0;
  results_ = {};
  kept_ = shardtype::detail::List<Buffer>(static_cast<std::size_t>(count));
  results_.kept = kept_.data();
  for (std::size_t r = 0; r < program_.wanted.size(); ++r) {
    if (!program_.is_read[r]) continue;
    auto const number = static_cast<int>(results_.values.size());
    results_.values.push_back(shardtype::detail::node_of_result(p, p.root, number, count));
    results_.pack.push_back(program_.wanted[r].pack);
  }
  shardtype::detail::List<execute::ProgramPart> parts = program_.parts();
  for (execute::ProgramPart const& u : updates) parts.push_back(u);
  execute::ProgramPart last;
  last.make = &KeptResults::keep;
  last.part = &results_;
  parts.push_back(last);
  if (!mesh_.here()) return;
  shardtype::detail::TracedRun const traced(&plan, plan, program_.names,
                                            program_.planning_machine(), where);
  execute::ProgramRun(mesh_, axes_, plan, program_.names.label.data(), program_.names.axis, parts,
                      where)
      .run();
}

}  // namespace shardtype::autodiff
