#pragma once
/// The plan of a pipeline's step: what each rank sends, stores and takes, before it runs.

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/plan.hpp>
#include <shardtype/autodiff/vjp_function.hpp>
#include <shardtype/check/abstract.hpp>
#include <shardtype/core/block.hpp>
#include <shardtype/manual/shard_map.hpp>
#include <shardtype/pipeline/ends.hpp>
#include <shardtype/pipeline/passes.hpp>
#include <shardtype/pipeline/types_plan.hpp>
#include <shardtype/pipeline/types_time.hpp>
#include <shardtype/pipeline/value_and_grad.hpp>
#include <shardtype/plan/function_plan.hpp>
#include <shardtype/plan/gradient_plan.hpp>
#include <shardtype/plan/machine.hpp>

namespace shardtype::pipeline {

/// The two passes of one microbatch in one part of the model: a stage, the embedding or the head.
struct PartPlan : GradientPlan {
  std::int64_t workspace = 0;  ///< the most that both passes need besides what is saved
};

/// The plan of a step. A rank's number is its place along the axis of the stages. Bytes and times
/// of the passes are those of the busiest rank along the other axes.
struct StepPlan {
  Plan moves;  ///< between the stages
  PartPlan embed, stage, head;
  FunctionPlan sums;           ///< of the loss, of the ends' gradients, and the cotangent of `x`
  std::int64_t given = 0;      ///< bytes of the arguments
  std::int64_t of_layers = 0;  ///< of these, the parameters of the stages
  std::int64_t of_ends = 0;    ///< those of the ends
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
  /// that come and go, and what a pass needs.
  constexpr std::int64_t peak_bytes(int rank) const {
    std::int64_t most = stage.workspace;
    if (is_first(rank) && embed.workspace > most) most = embed.workspace;
    if (is_last(rank) && head.workspace > most) most = head.workspace;
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

/// Plans the parts of `f`, whose parameters of the ends are `Es` and of the stages `Ls`.
template <class Axis, class Micro, class Chunks, bool to_input, class Of, class In, class Target,
          class Ends, class Layers>
struct StepPlanner;
template <class Axis, class Micro, class... Chunk, bool to_input, class Embed, class Stage,
          class Head, class In, class Target, class... Es, class... Ls>
struct StepPlanner<Axis, Micro, sd::Pack<Chunk...>, to_input, Functions<Embed, Stage, Head>, In,
                   Target, sd::Pack<Es...>, sd::Pack<Ls...>> {
  using Chunks = sd::Pack<Chunk...>;
  static constexpr bool embeds = !std::is_same_v<Embed, NoEmbedding>;
  static constexpr bool pulls = embeds && (to_input || sizeof...(Es) > 0);

  Schedule const& s;
  Functions<Embed, Stage, Head> const& of;
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
  /// The first stage's operand of a microbatch, planned.
  template <class... Ends, int... K>
  constexpr auto embedded(Writer& writer, std::integer_sequence<int, K...>, Ends const&... e) {
    auto const in = block<In>(writer);
    auto const x = [&] { return sd::computed(api::varying<Axis>(api::at<Micro>(in, 0))); };
    if constexpr (pulls && to_input) {
      out.embed = detail::plan_part(writer, of.embed, x, e...);
    } else if constexpr (pulls) {
      out.embed = detail::plan_part<K + 1 ...>(writer, of.embed, x, e...);
    }
    writer.begin_pass();
    auto made = sd::computed(of.embed(x(), e...));
    if constexpr (embeds && !pulls) out.embed.forward = writer.plan();
    return made;
  }
  template <class Block, class... Ends, int... K>
  constexpr auto with_head(Writer& writer, std::integer_sequence<int, K...>, Ends const&... e) {
    auto const target = row<Target>(writer);
    auto const result = [&] { return Abstract<Block, Writer>(writer, extents); };
    out.head = detail::plan_part<0, K + 2 ...>(writer, of.head, result, target, e...);
    return sd::computed(of.head(result(), target, e...));
  }
  template <class E>
  constexpr void sum_end(Writer& writer) const {
    auto const e = end<E>(writer);
    Abstract<cotangent_t<typename decltype(e)::type>, Writer> const ct(writer, e.extents_data());
    static_cast<void>(detail::sum_of_ends<Axis, local_t<E>>(ct));
  }
  template <class L>
  constexpr std::int64_t bytes() const {
    Writer writer({});
    return detail::bytes_of(block<L>(writer));
  }

  constexpr StepPlan run() {
    std::make_integer_sequence<int, static_cast<int>(sizeof...(Es))> const numbers;
    Writer first({}), second({}), third({}), fourth({});
    auto const made = embedded(first, numbers, end<Es>(first)...);
    using Block = typename std::remove_cvref_t<decltype(made)>::type;
    for (std::size_t d = 0; d < Block::rank; ++d) extents[d] = made.extents()[d];
    out.moves = pipeline::plan(s, detail::bytes_of(made));
    out.stage = [&](auto const&... w) {
      return detail::plan_part(
          second, of.stage, [&] { return Abstract<Block, Writer>(second, extents); }, w...);
    }(detail::of_chunk<Chunk...>(block<Ls>(second), 0)...);
    auto const loss = with_head<Block>(third, numbers, end<Es>(third)...);
    using Loss = typename std::remove_cvref_t<decltype(loss)>::type;
    static_cast<void>(
        sd::computed(api::all_reduce<Axis>(Abstract<Loss, Writer>(fourth, loss.extents_data()))));
    (sum_end<Es>(fourth), ...);
    if constexpr (to_input) {
      auto const in = sd::computed(api::varying<Axis>(row<In>(fourth)));
      using Ct = cotangent_t<typename decltype(in)::type>;
      auto const whole =
          sd::computed(api::expand<Micro>(Abstract<Ct, Writer>(fourth, in.extents_data())));
      using Whole = typename std::remove_cvref_t<decltype(whole)>::type;
      if constexpr (detail::state_along<Axis, local_t<In>>() != core::AxisState::reduced) {
        std::int64_t of_whole[core::max_dims]{s.microbatches};
        for (std::size_t d = 1; d < Whole::rank; ++d) of_whole[d] = whole.extents()[d];
        static_cast<void>(
            sd::computed(api::broadcast_from<Axis>(Abstract<Whole, Writer>(fourth, of_whole), 0)));
      }
    }
    out.sums = fourth.plan();
    out.of_layers = (std::int64_t{0} + ... + bytes<Ls>());
    out.of_ends = (std::int64_t{0} + ... + bytes<Es>());
    out.given = bytes<In>() + bytes<Target>() + out.of_layers + out.of_ends;
    planning::Machine const machine;
    out.seconds_of_move =
        machine.latency + static_cast<double>(out.moves.block_bytes) / machine.bytes_per_second;
    return out;
  }
};

}  // namespace detail

/// The plan of a step of a pipeline, from types that determine all sizes, but for the numbers of
/// microbatches and of chunks, which are the schedule's:
///
///     constexpr auto step = pipeline::value_and_grad<Stage, M>(schedule, embed, stage, head);
///     static_assert(pipeline::plan(step, type<Ids>, type<Ids>, type<Table>, type<W>)
///                       .bytes_sent(0) < 100'000);
///
/// Runs the passes of each part at compile time on blocks without data. Refused: as what the
/// functions call, and A05 a size that types do not determine. Error E85.
template <class Axis, class Micro, class... Chunk, bool to_input, class Embed, class Stage,
          class Head, class In, class Target, class... Ws>
constexpr StepPlan plan(Pipelined<Axis, Micro, shardtype::detail::Pack<Chunk...>, to_input, Embed,
                                  Stage, Head> const& f,
                        Type<In>, Type<Target>, Type<Ws>...) {
  using Given = shardtype::detail::Pack<Ws...>;
  using Chunks = shardtype::detail::Pack<Chunk...>;
  if constexpr (!(detail::is_sized<In, Micro>(Chunks{}) &&
                  detail::is_sized<Target, Micro>(Chunks{}) &&
                  (detail::is_sized<Ws, Micro>(Chunks{}) && ...))) {
    // a requirement, so that the function remains a constant for clang
    static_cast<void>(requires {
      alignof(checking::refused<rules::Code::A05_run_time_extent, false, In, Target, Ws...>);
    });
    return {};
  } else {
    return detail::StepPlanner<Axis, Micro, Chunks, to_input, detail::Functions<Embed, Stage, Head>,
                               In, Target, decltype(detail::parameters_of<Axis, false>(Given{})),
                               decltype(detail::parameters_of<Axis, true>(Given{}))>{f.schedule,
                                                                                     f.of}
        .run();
  }
}

}  // namespace shardtype::pipeline
