#pragma once
/// The program of a loss and its gradients in automatic mode: its plan, and its run.

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/loss_recorder.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/lazy/evaluate.hpp>
#include <shardtype/lazy/several.hpp>
#include <shardtype/plan/program_planner.hpp>
#include <shardtype/plan/tape_order.hpp>

namespace shardtype::autodiff {

/// The results of a program with a backward pass, while it runs: `keep` packs each block.
struct KeptResults {
  using Pack = Buffer (*)(execute::ProgramRun& run, int step, int k);
  shardtype::detail::List<int> values;
  shardtype::detail::List<Pack> pack;
  Buffer* kept = nullptr;

  static execute::AnyBlock keep(execute::ProgramRun& run, int step, void const* part);
};
/// The block of input `k`, packed, with its dims in their order.
template <class A>
Buffer packed_result(execute::ProgramRun& run, int step, int k) {
  using T = typename A::element;
  execute::AnyBlock const& from = run.input(step, k);
  if (from.layout.contiguous() && from.data == from.keep.data()) return from.keep;
  Buffer memory = run.mesh().pool().template take<typename A::memory_space>(
      static_cast<std::size_t>(from.layout.elements()) * sizeof(T));
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  kernels::copy_packed(exec, execute::elements_of<T>(from), from.layout,
                       static_cast<T*>(memory.data()));
  runtime::fence(exec);
  return memory;
}

/// A result that is wanted: the loss, the gradient of an argument, or a value beside the loss.
struct WantedValue {
  int value = -1;  ///< that value, or the argument
  planning::WantedResult (*wanted)(automatic_mode::ProgramNames const&, ProgramNode const&);
  KeptResults::Pack pack;

  template <class G>
  static WantedValue of(int value) {
    return {value, &as<G>, &packed_result<G>};
  }

 private:
  /// The labels of a value in the order of the dims of `G`, and the sharding of `G`.
  template <class G>
  static planning::WantedResult as(automatic_mode::ProgramNames const& names,
                                   ProgramNode const& n) {
    using S = Scope<G>;
    Spec const s = S::template spec<0>;
    planning::WantedResult out;
    for (int d = 0; d < s.rank; ++d)
      for (int e = 0; e < n.rank; ++e)
        if (names.label[n.labels[e]].id == S::names.label_id[s.dims[d].label])
          out.labels.push(n.labels[e]);
    out.spec = shardtype::detail::spec_in<G>(names);
    return out;
  }
};

/// What the program of a training step has besides: the updates of the arguments whose gradients
/// are wanted.
struct LossUpdates {
  /// The sharding in which each is computed, in the axes of the program; none: no updates.
  shardtype::detail::List<Spec> states;
  bool chosen = false;      ///< whether the planner chooses these
  bool from_values = true;  ///< whether the new values are computed from the old
  bool normed = false;      ///< whether they read the norm of all gradients
};

/// The program of a loss, and which gradients are wanted.
class LossProgram {
 public:
  RecordedProgram program;
  automatic_mode::ProgramNames names;
  /// First the loss, then the gradients, then values beside the loss.
  shardtype::detail::List<WantedValue> wanted;
  std::size_t gradients = 0;              ///< number of these
  shardtype::detail::List<bool> is_read;  ///< of each whether it is computed: the loss reads it
  LossUpdates updates{};
  Machine machine{};
  bool machine_known = false;  ///< else it is that of SHARDTYPE_MACHINE
  std::int64_t memory_limit = -1;

  /// Errors: the refusals of `evaluate` that are found when the program is known, by their codes.
  LossProgram(RecordedLoss loss, shardtype::detail::List<WantedValue> results,
              std::size_t gradient_count);

  template <class Policy>
  void plan_by() {
    machine = shardtype::detail::machine_of<Policy>();
    machine_known = shardtype::detail::names_machine<Policy>;
    memory_limit = shardtype::detail::limit_of<Policy>();
  }
  /// Makes it a training step: the arguments after their updates are results in the place of their
  /// gradients. The parts of the updates, and two of the norm (WantedNorm), follow those of the
  /// loss.
  void update_by(LossUpdates by) {
    updates = std::move(by);
    for (bool& read : is_read) read = true;
  }
  /// The sharding in which a plan of this program computes update `k`.
  Spec sharding_of_update(ProgramPlan const& plan, std::size_t k) const;
  Machine const& planning_machine() const { return machine_known ? machine : machine_here(); }
  /// The plan of both passes; `sized`: the forward pass with its sizes. Within a memory limit as
  /// few of the marked segments are computed again as it demands, the first ones first.
  ProgramPlan plan(RecordedProgram const& sized, planning::Rates const& rates) const;
  shardtype::detail::List<execute::ProgramPart> const& parts() const { return loss_.parts; }
  shardtype::detail::List<Identity> const& types() const { return loss_.types; }
  shardtype::detail::List<planning::PullByHand> const& by_hand() const { return loss_.by_hand; }

 private:
  /// The plan that computes the first `again` segments twice.
  ProgramPlan plan_again(RecordedProgram const& sized, planning::Rates const& rates,
                         int again) const;

  RecordedLoss loss_;
};

/// What a plan of both passes depends on: the program with its sizes, what its parts are, and which
/// values are wanted.
struct LossKey {
  RecordedProgram sized;
  shardtype::detail::List<Identity> types;
  shardtype::detail::List<int> wanted;
  friend bool operator==(LossKey const& a, LossKey const& b);
};

/// Plans both passes of a loss together, and runs them.
class LossRun {
 public:
  /// Errors: E13, E22, E23, E24.
  LossRun(MeshRef const& mesh, LossProgram const& program);

  /// The forward pass with its sizes.
  RecordedProgram const& sized() const { return key_.sized; }
  /// The plan for this machine. Errors: E20, E69.
  ProgramPlan const& plan(shardtype::detail::PlanCache<LossKey>& cache) const;
  /// Runs this plan; `updates`: the parts of a training step.
  void run(ProgramPlan const& plan, std::source_location const& where,
           shardtype::detail::List<execute::ProgramPart> const& updates = {});
  /// The wanted value at this place, which is computed.
  template <class Out>
  Out result(std::size_t place) const {
    std::size_t k = 0;
    for (std::size_t r = 0; r < place; ++r) k += static_cast<std::size_t>(program_.is_read[r]);
    std::array<std::int64_t, Out::rank> extents{};
    ProgramNode const& n = plan_->program.nodes[results_.values[k]];
    for (std::size_t d = 0; d < Out::rank; ++d) extents[d] = plan_->program.extents[n.labels[d]];
    return Out(mesh_, extents, kept_[k]);
  }

 private:
  MeshRef const& mesh_;
  LossProgram const& program_;
  AxisMap axes_;
  LossKey key_;
  ProgramPlan const* plan_ = nullptr;
  KeptResults results_;
  shardtype::detail::List<Buffer> kept_;
};

}  // namespace shardtype::autodiff

#ifndef SHARDTYPE_COMPILED
#include <shardtype/autodiff/loss_program.ipp>
#include <shardtype/runtime/instance.hpp>
#endif
