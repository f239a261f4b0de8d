#pragma once
/// The plans of the parts of a pipeline: embedding, stage and head; what both kinds of runs share.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <shardtype/autodiff/plan.hpp>
#include <shardtype/autodiff/vjp_function.hpp>
#include <shardtype/check/abstract.hpp>
#include <shardtype/core/block.hpp>
#include <shardtype/manual/shard_map.hpp>
#include <shardtype/pipeline/ends.hpp>
#include <shardtype/pipeline/operands.hpp>
#include <shardtype/pipeline/types_plan.hpp>
#include <shardtype/pipeline/types_time.hpp>
#include <shardtype/plan/function_plan.hpp>
#include <shardtype/plan/gradient_plan.hpp>
#include <shardtype/plan/machine.hpp>

namespace shardtype::pipeline {

/// The two passes of one microbatch in one part of the model: a stage, the embedding or the head.
struct PartPlan : GradientPlan {
  std::int64_t workspace = 0;  ///< the most that both passes need besides what is saved
};

/// The plan of a step or of an evaluation. A rank's number is its place along the axis of the
/// stages. Bytes and times of the passes are those of the busiest rank along the other axes.
struct StepPlan {
  Plan moves;  ///< between the stages
  PartPlan embed, stage, head;
  FunctionPlan sums;           ///< of the loss, of the ends' gradients, and the cotangent of `x`;
                               ///< of an evaluation by forward, the move of its results
  std::int64_t given = 0;      ///< bytes of the arguments
  std::int64_t of_layers = 0;  ///< of these, the parameters of the stages
  std::int64_t of_ends = 0;    ///< those of the ends
  std::int64_t of_rows = 0;    ///< bytes of the parameters of the stages, chunk by chunk
  std::int64_t results = 0;    ///< bytes of the results of all microbatches, by forward
  double seconds_of_move = 0;  ///< of a block between two ranks

  constexpr bool is_first(int rank) const { return rank == 0; }
  constexpr bool is_last(int rank) const { return rank + 1 == moves.schedule.ranks; }
  /// The bytes that rank `rank` sends in a step.
  constexpr std::int64_t bytes_sent(int rank) const {
    std::int64_t const m = moves.schedule.microbatches;
    std::int64_t out = moves.bytes_sent(rank) + sums.bytes_per_rank() +
                       m * moves.schedule.chunks * stage.bytes_per_rank();
    if (is_first(rank)) out += m * embed.bytes_per_rank();
    if (is_last(rank)) out += m * head.bytes_per_rank();
    return out;
  }
  /// The bytes that rank `rank` saves for backward passes at the most.
  constexpr std::int64_t stored_bytes(int rank) const {
    std::int64_t const peak = pipeline::peak_stored(moves.schedule, rank);
    std::int64_t const m = moves.schedule.microbatches;
    std::int64_t out = peak * stage.tape_bytes();
    if (is_first(rank)) out += (peak < m ? peak : m) * embed.tape_bytes();
    if (is_last(rank)) out += (peak < m ? peak : m) * moves.block_bytes;
    return out;
  }
  /// The peak of the bytes that rank `rank` holds: arguments, gradients, what is saved, the blocks
  /// that come and go, and what a pass needs. Without gradients, of an evaluation, it is the
  /// results as well, which are joined and sent to all ranks.
  constexpr std::int64_t peak_bytes(int rank) const {
    std::int64_t most = stage.workspace;
    if (is_first(rank) && embed.workspace > most) most = embed.workspace;
    if (is_last(rank) && head.workspace > most) most = head.workspace;
    if (moves.schedule.forward_only) {
      // a rank sends a block while it computes the next one; the last one collects results instead
      std::int64_t const block = moves.block_bytes;
      std::int64_t const row = results / moves.schedule.microbatches;
      std::int64_t const running = most + (is_last(rank) ? results - row : block);
      return given + of_rows + block + (2 * results > running ? 2 * results : running);
    }
    return given + of_layers + of_ends + stored_bytes(rank) + 4 * moves.block_bytes + most;
  }
  /// The times of passes and moves.
  constexpr Costs costs() const {
    return {stage.forward.seconds(),  stage.backward.seconds(),
            seconds_of_move,          embed.forward.seconds(),
            embed.backward.seconds(), head.forward.seconds() + head.backward.seconds()};
  }
  /// The predicted time of all passes, and its idle part.
  constexpr Prediction predict() const { return pipeline::predict(moves.schedule, costs()); }
};

namespace detail {

using Writer = planning::FunctionWriter;
using checking::Abstract;

/// The bytes of a block without data.
template <class L>
constexpr std::int64_t bytes_of(Abstract<L, Writer> const& block) {
  std::int64_t n = static_cast<std::int64_t>(sizeof(checking::element_t<L>));
  for (std::int64_t extent : block.extents()) n = core::mul_sat(n, extent);
  return n;
}
/// The block of an argument of type `A`, whose microbatches and chunks are the schedule's.
template <class Micro, class A, class... Chunk>
constexpr auto block_of(Writer& writer, Schedule const& s, sd::Pack<Chunk...>) {
  std::int64_t extents[core::max_dims]{};
  using S = core::Scope<A>;
  for (int d = 0; d < S::parsed[0].spec.rank; ++d) {
    auto const label = S::parsed[0].spec.dims[d].label;
    extents[d] = S::names.label_extent[label];
    if (S::names.label_id[label] == core::identity<Micro>) extents[d] = s.microbatches;
    if (((S::names.label_id[label] == core::identity<Chunk>) || ...)) extents[d] = s.chunks;
  }
  Abstract<A, Writer> const whole(writer, extents);
  writer.keep(whole.value());
  return sd::abstract_across<local_t<A>, A>(whole);
}
/// Both passes of `f` with respect to the arguments numbered `Ks`. `operand()` makes the first one,
/// which is saved if the backward pass reads it.
template <int... Ks, class F, class Operand, class... As>
constexpr PartPlan plan_part(Writer& writer, F const& f, Operand const& operand, As const&... as) {
  PartPlan out;
  writer.begin_pass();
  std::int64_t const before = writer.held();
  auto both = [&] {
    auto const x = operand();
    return api::vjp<Ks...>(f, x, as...);
  }();
  out.forward = writer.plan();
  using Value = typename decltype(both.value)::type;
  out.tape = writer.held() - before - detail::bytes_of(both.value);
  writer.begin_pass();
  Abstract<cotangent_t<Value>, Writer> const ct(writer, both.value.extents_data());
  static_cast<void>(both.pullback(ct));
  out.backward = writer.plan();
  out.workspace = writer.most() - before - out.tape;
  return out;
}

/// The forward pass of `f` alone; returns what it makes.
template <class F, class Operand, class... As>
constexpr auto plan_forward(PartPlan& out, Writer& writer, F const& f, Operand const& operand,
                            As const&... as) {
  writer.begin_pass();
  std::int64_t const before = writer.held();
  auto made = [&] {
    auto const x = operand();
    return sd::computed(f(x, as...));
  }();
  out.forward = writer.plan();
  out.workspace = writer.most() - before;
  return made;
}

/// Whether the type of an argument and the schedule determine all sizes.
template <class A, class Micro, class... Chunk>
constexpr bool is_sized(sd::Pack<Chunk...>) {
  using S = core::Scope<A>;
  for (int d = 0; d < S::parsed[0].spec.rank; ++d) {
    auto const label = S::parsed[0].spec.dims[d].label;
    core::Identity const id = S::names.label_id[label];
    bool const given = id == core::identity<Micro> || ((id == core::identity<Chunk>) || ...);
    if (!given && S::names.label_extent[label] == dynamic) return false;
  }
  for (int x = 0; x < S::names.axes; ++x)
    if (S::names.axis_size[x] == dynamic) return false;
  return true;
}

/// The parameters of the stages, or those of the ends.
template <class Axis, bool stages, class... Ws>
constexpr auto parameters_of(sd::Pack<Ws...>) {
  return (sd::Pack<>{} | ... | std::conditional_t < of_stages<Axis, local_t<Ws>> == stages,
          sd::Pack<Ws>, sd::Pack < >> {});
}

/// Arguments and functions of a pipeline on blocks without data.
template <class Axis, class Micro, class Chunks, class Of>
struct Parts {
  Schedule const& s;
  Of const& of;
  StepPlan out{};
  std::int64_t extents[core::max_dims]{};  ///< of a block

  template <class A>
  constexpr auto block(Writer& writer) const {
    return detail::block_of<Micro, A>(writer, s, Chunks{});
  }
  template <class E>
  constexpr auto end(Writer& writer) const {
    return detail::at_end<Axis>(block<E>(writer));
  }
  template <class A>
  constexpr auto row(Writer& writer) const {
    return sd::computed(api::at<Micro>(block<A>(writer), 0));
  }
  template <class L>
  constexpr std::int64_t bytes() const {
    Writer writer({});
    return detail::bytes_of(block<L>(writer));
  }
  /// Notes the moves of blocks as the embedding `made` one.
  template <class Block>
  constexpr void move(Block const& made) {
    for (std::size_t d = 0; d < Block::rank; ++d) extents[d] = made.extents()[d];
    out.moves = pipeline::plan(s, detail::bytes_of(made));
    planning::Machine const machine;
    out.seconds_of_move =
        machine.latency + static_cast<double>(out.moves.block_bytes) / machine.bytes_per_second;
  }
  /// Notes the bytes of the parameters of the ends and of the stages, and of the other arguments.
  template <class... Es, class... Ls>
  constexpr void give(sd::Pack<Es...>, sd::Pack<Ls...>, std::int64_t others) {
    out.of_layers = (std::int64_t{0} + ... + bytes<Ls>());
    out.of_ends = (std::int64_t{0} + ... + bytes<Es>());
    out.given = others + out.of_layers + out.of_ends;
  }
};

/// Refuses A05 unless types and schedule determine all sizes. A requirement, so that the function
/// that asks remains a constant for clang.
template <class Micro, class Chunks, class... As>
constexpr bool all_sized() {
  constexpr bool sized = (detail::is_sized<As, Micro>(Chunks{}) && ...);
  if constexpr (!sized)
    static_cast<void>(
        requires { alignof(checking::refused<rules::Code::A05_run_time_extent, false, As...>); });
  return sized;
}

}  // namespace detail

}  // namespace shardtype::pipeline
