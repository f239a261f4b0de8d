#pragma once
/// The order of the steps of a program with a backward pass.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/program_plan.hpp>

namespace shardtype::planning {

/// Writes the steps of a plan in the order of the program: the forward pass, then the backward
/// pass, each move before its first reader, and what only results read as soon as it can be made.
/// So a gradient is made, and reduced, when its layer has been left, and the activations that it
/// reads are given back; a search from the results down makes each gradient when the result is
/// written.
class TapeOrder {
 public:
  /// The plan in this order if that takes less memory, else as it is.
  static ProgramPlan of(ProgramPlan plan) {
    if (!plan.possible) return plan;
    ProgramPlan other = plan;
    TapeOrder(plan).write(other);
    return other.temporary_bytes() < plan.temporary_bytes() ? other : plan;
  }

 private:
  template <class T>
  using List = shardtype::detail::List<T>;

  explicit TapeOrder(ProgramPlan const& plan)
      : plan_(plan), places_(at(plan.size), -1), keys_(at(plan.program.size), 0) {
    find_keys();
  }

  static std::size_t at(int k) { return static_cast<std::size_t>(k); }

  /// The place of each value in the order: its own, or of what only results read, that of the last
  /// of its operands.
  void find_keys() {
    RecordedProgram const& p = plan_.program;
    List<bool> other(at(p.size), false);  // whether something reads it that is no result
    List<bool> of_results(at(p.size), false);
    for (int k = p.size - 1; k >= 0; --k) {
      ProgramNode const& n = p.nodes[k];
      of_results[at(k)] = k == p.root || n.keeps || (n.readers > 0 && !other[at(k)]);
      if (of_results[at(k)]) continue;
      for (int m = 0; m < n.ways * n.operands; ++m) other[at(p.uses[n.first_use + m])] = true;
    }
    for (int k = 0; k < p.size; ++k) {
      ProgramNode const& n = p.nodes[k];
      // what is computed again is made where it is read
      keys_[at(k)] = of_results[at(k)] && n.operands > 0 && !n.again ? 0 : k;
      for (int m = 0; m < n.ways * n.operands; ++m)
        keys_[at(k)] = std::max(keys_[at(k)], keys_[at(p.uses[n.first_use + m])]);
    }
  }
  void write(ProgramPlan& to) {
    List<int> makes;
    for (int s = 0; s < plan_.size; ++s)
      if (plan_.steps[s].kind == ProgramStep::Kind::make) makes.push_back(s);
    // by key, then by value, then by step
    makes = by(makes, [this](int s) { return plan_.steps[s].node; });
    makes = by(makes, [this](int s) { return keys_[at(plan_.steps[s].node)]; });
    for (int const s : makes) emit(s);
    emit(plan_.size - 1);
    to.size = static_cast<int>(order_.size());
    for (int k = 0; k < to.size; ++k) {
      ProgramStep s = plan_.steps[order_[at(k)]];
      for (int m = 0; m < s.inputs; ++m) s.input[m] = places_[at(s.input[m])];
      to.steps.edit(k) = s;
    }
  }
  /// Steps by a number of a value, those of equal numbers in their order.
  template <class Key>
  List<int> by(List<int> const& steps, Key const& key) const {
    List<int> first(at(plan_.program.size) + 1, 0);
    for (int const s : steps) ++first[at(key(s)) + 1];
    for (int k = 0; k < plan_.program.size; ++k) first[at(k) + 1] += first[at(k)];
    List<int> out(steps.size(), 0);
    for (int const s : steps) out[at(first[at(key(s))]++)] = s;
    return out;
  }
  void emit(int step) {
    if (places_[at(step)] >= 0) return;
    for (int m = 0; m < plan_.steps[step].inputs; ++m) emit(plan_.steps[step].input[m]);
    places_[at(step)] = static_cast<int>(order_.size());
    order_.push_back(step);
  }

  ProgramPlan const& plan_;
  List<int> places_;  ///< of each step its new number
  List<int> keys_;    ///< of each value
  List<int> order_;
};

}  // namespace shardtype::planning
