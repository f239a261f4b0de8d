#pragma once
/// Writes the plan of a whole expression, from the candidates that the search has found.

#include <cstdint>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/frontier.hpp>
#include <shardtype/plan/program_plan.hpp>

namespace shardtype::planning {

/// Writes the steps that compute the program's root in the requested layout.
class PlanWriter {
 public:
  /// `fronts`: the Pareto front of every value as its readers see it. `made`: of shared values, the
  /// Pareto front when they are computed.
  constexpr PlanWriter(ProgramPlan& plan, Frontier const* const* fronts,
                       Frontier const* const* made)
      : plan_(plan),
        fronts_(fronts),
        made_(made),
        newest_(static_cast<std::size_t>(plan.program.size), 0) {}

  constexpr void write(int root, int wanted) {
    Frontier const& f = *fronts_[root];
    std::int32_t best = f.first[f.graph.index[wanted]];
    plan_.possible = best >= 0;
    for (std::int32_t k = best; k >= 0; k = f.ways[k].next) {
      Option const& a = f.ways[k];
      Option const& b = f.ways[best];
      if (a.time < b.time || (a.time == b.time && a.moved < b.moved)) best = k;
    }
    if (best < 0) return;
    plan_.searched = f.ways[best].time;
    emit(root, best);
  }

 private:
  /// A step whose inputs are being written.
  struct Begun {
    ProgramStep step{};
    Frontier const* front = nullptr;
    std::int32_t number = 0;  ///< of its candidate
    int order[max_inputs]{};
    int next = 0;  ///< number of inputs begun
  };

  /// Emits the steps for a candidate of value `root`: a loop, because recursion as deep as a long
  /// program exceeds what compilers evaluate.
  constexpr void emit(int root, std::int32_t number) {
    begin(root, fronts_[root], number);
    while (!begun_.empty()) {
      Begun& b = begun_.back();
      if (b.next > 0) b.step.input[b.order[b.next - 1]] = emitted_;
      if (b.next == b.step.inputs) {
        if (b.step.kind == ProgramStep::Kind::make) exchange(b.step);
        finish(b.step);
        begun_.pop_back();
        continue;
      }
      int const k = b.order[b.next++];
      int const node = b.step.node;
      Option const& w = b.front->ways[b.number];
      if (w.from >= 0) {
        begin(node, b.front, w.from);
      } else {
        std::int32_t const* const making = b.front->makings + w.making;
        int const operand = plan_.program.operand(node, making[0], k);
        begin(operand, fronts_[operand], making[1 + k]);
      }
    }
  }
  /// Begins the step for a candidate of value `node`, or finds it.
  constexpr void begin(int node, Frontier const* front, std::int32_t number) {
    Begun b;
    int const code = front->graph.codes[front->ways[number].layout];
    // a shared value is computed, and brought to a layout, only once
    for (int k = newest_[static_cast<std::size_t>(node)] - 1; k >= 0;
         k = before_[static_cast<std::size_t>(k)] - 1)
      if (plan_.steps.at[k].layout == code) {
        emitted_ = k;
        return;
      }
    if (front->ways[number].from < 0 && front->ways[number].making < 0 && made_[node] != nullptr) {
      // the fastest candidate for this layout
      int const layout = front->ways[number].layout;
      front = made_[node];
      number = front->first[layout];
    }
    Option const& w = front->ways[number];
    b.front = front;
    b.number = number;
    ProgramStep& s = b.step;
    s.node = node;
    s.layout = code;
    if (w.from >= 0) {
      Edge const& e = front->graph.edges[w.edge];
      Fan const& fan = front->graph.fans[e.fan];
      s.kind = ProgramStep::Kind::move;
      s.collective = fan.collective;
      s.axes = fan.group();
      s.from = fan.from_dim;
      s.to = e.to_dim;
      s.inputs = 1;
    } else if (w.making >= 0) {
      std::int32_t const* const making = front->makings + w.making;
      int const n = plan_.program.nodes.at[node].operands;
      std::int64_t peaks[max_inputs]{};
      std::int64_t helds[max_inputs]{};
      for (int k = 0; k < n; ++k) {
        Option const& operand =
            fronts_[plan_.program.operand(node, making[0], k)]->ways[making[1 + k]];
        peaks[k] = operand.peak;
        helds[k] = operand.held;
      }
      MakingOrder const order(peaks, helds, n);
      s.kind = ProgramStep::Kind::make;
      s.inputs = static_cast<std::int8_t>(n);
      for (int k = 0; k < n; ++k) b.order[k] = order.at[k];
    }
    begun_.push_back(b);
  }
  /// For an operation on split rows: adds the steps of their totals, which `s` reads as well.
  constexpr void exchange(ProgramStep& s) {
    ProgramNode const& n = plan_.program.nodes.at[s.node];
    if (!n.rereads) return;
    RowExchange const e =
        planning::exchange_of(plan_.program, s.node, plan_.steps.at[s.input[0]].layout);
    if (e.axes == 0) return;
    ProgramStep totals;
    totals.kind = ProgramStep::Kind::make;
    totals.node = n.totals;
    totals.layout = e.parts;
    totals.inputs = n.totals_of;
    for (int k = 0; k < totals.inputs; ++k) totals.input[k] = s.input[k];
    finish(totals);
    totals.kind = ProgramStep::Kind::move;
    totals.inputs = 1;
    totals.collective = Collective::all_reduce;
    totals.axes = e.group();
    totals.layout = e.joined;
    totals.input[0] = emitted_;
    finish(totals);
    s.input[s.inputs++] = emitted_;
  }
  /// Adds a step whose inputs are known.
  constexpr void finish(ProgramStep const& s) {
    int& newest = newest_[static_cast<std::size_t>(s.node)];
    before_.push_back(newest);
    emitted_ = plan_.size++;
    plan_.steps.push_back(s);
    newest = plan_.size;
  }

  ProgramPlan& plan_;
  Frontier const* const* fronts_;
  Frontier const* const* made_;
  int emitted_ = 0;                       ///< number of the step that was emitted or found last
  shardtype::detail::List<Begun> begun_;  ///< each an input of the one before
  shardtype::detail::List<int> newest_;   ///< of each value: the number of its last step, plus 1
  shardtype::detail::List<int> before_;   ///< of each step: that of its value before it, plus 1
};

}  // namespace shardtype::planning
