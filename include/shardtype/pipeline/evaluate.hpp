#pragma once
/// Runs the forward passes of a schedule alone: the loss of all microbatches, or their results.

#include <cstddef>
#include <optional>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/autodiff/value_and_grad.hpp>
#include <shardtype/check/call_site.hpp>
#include <shardtype/manual/moves.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/rows.hpp>
#include <shardtype/pipeline/ends.hpp>
#include <shardtype/pipeline/neighbors.hpp>
#include <shardtype/pipeline/operands.hpp>
#include <shardtype/pipeline/types_schedule.hpp>

namespace shardtype::pipeline {

namespace detail {

/// The head of a pipeline without one: its results are those of the last stage.
struct NoHead {
  template <class A, class... Es>
  constexpr A operator()(A const& x, Es const&...) const {
    return x;
  }
};
/// In place of the targets where no loss is asked for.
struct NoTarget {};

/// What the head makes of one block of the last stage: its part in the loss, or its result.
template <class Micro, class Head, class Block, class Target, class... Es>
constexpr auto head_of(Head const& head, Block const& block, [[maybe_unused]] Target const& target,
                       [[maybe_unused]] int microbatch, Es const&... es) {
  if constexpr (std::is_same_v<Target, NoTarget>) {
    return sd::computed(head(block, es...));
  } else {
    return sd::computed(head(block, sd::computed(api::at<Micro>(target, microbatch)), es...));
  }
}

/// One evaluation of a pipeline on the blocks of a rank.
template <class Axis, class Micro, class Chunks, class Of, class In, class Target, class Ends,
          class Layers>
class RankForward;
template <class Axis, class Micro, class Chunks, class Embed, class Stage, class Head, class In,
          class Target, class... Es, class Layers>
class RankForward<Axis, Micro, Chunks, Functions<Embed, Stage, Head>, In, Target,
                  std::tuple<Es const&...>, Layers>
    : RankOperands<Axis, Micro, Chunks, Functions<Embed, Stage, Head>, In, std::tuple<Es const&...>,
                   Layers> {
  using Operands = RankOperands<Axis, Micro, Chunks, Functions<Embed, Stage, Head>, In,
                                std::tuple<Es const&...>, Layers>;
  using Operands::ends_, Operands::in_, Operands::of_, Operands::rank_, Operands::table_,
      Operands::weights_, Operands::where_;
  static constexpr bool to_loss = !std::is_same_v<Target, NoTarget>;

 public:
  using typename Operands::Block;
  using typename Operands::Next;
  /// Of one microbatch.
  using Result = decltype(detail::head_of<Micro>(
      std::declval<Head const&>(), std::declval<Block const&>(), std::declval<Target const&>(), 0,
      std::declval<end_t<Axis, Es> const&>()...));

  RankForward(Schedule const& schedule, Functions<Embed, Stage, Head> const& of,
              std::source_location const& where, In const& in, Target const& target,
              std::tuple<Es const&...> const& ends, Layers const& layers)
      : Operands(pipeline::forward_only(schedule), of, where, in, ends, layers), target_(target) {
    if constexpr (to_loss)
      detail::check_microbatches(schedule, target.template extent<Micro>(), "targets of ");
  }

  /// The mean of the losses, or the results along Micro.
  auto run(Ran* ran) {
    Schedule const& s = table_.schedule();
    Neighbors<Axis, Block> ahead(table_, Pass::forward, rank_, where_, 2);
    std::vector<std::optional<Result>> results(static_cast<std::size_t>(s.microbatches));
    std::optional<Block> begun;
    Block const standing = this->any_block([&] {
      begun.emplace(this->embedded_block(0));
      return *begun;
    });
    Ran did;
    auto const start = Clock::now();
    for (int t = 0; t < table_.slots(); ++t) {
      Slot const slot = table_.at(rank_, t);
      std::optional<Block> block;
      if (slot.pass == Pass::forward) {
        if (!this->is_first(slot)) block.emplace(ahead.take(slot.chunk, slot.microbatch));
        auto const began = Clock::now();
        Apart const passes(in_.mesh().state());
        core::RunningCall const running("pipeline forward pass", where_);
        if (this->is_first(slot)) {
          block.emplace(begun ? *begun : this->embedded_block(slot.microbatch));
          begun.reset();
        }
        block.emplace(stage(*block, slot.chunk));
        if (this->is_last(slot))
          results[static_cast<std::size_t>(slot.microbatch)].emplace(head(*block, slot.microbatch));
        did.forward += detail::seconds_since(began);
      }
      ahead.start(t, block ? *block : standing);
    }
    ahead.finish();
    auto out = whole(std::move(results), standing);
    did.seconds = detail::seconds_since(start);
    did.blocks_sent = ahead.sent();
    if (ran != nullptr) *ran = did;
    return out;
  }

 private:
  Block stage(Block const& x, int chunk) const {
    return std::apply([&](auto const&... w) { return Block(sd::computed(of_.stage(x, w...))); },
                      weights_[static_cast<std::size_t>(chunk)]);
  }
  Result head(Block const& block, int microbatch) const {
    return std::apply(
        [&](auto const&... e) {
          return detail::head_of<Micro>(of_.head, block, target_, microbatch, e...);
        },
        ends_);
  }
  bool is_last_rank() const { return rank_ + 1 == this->schedule().ranks; }
  /// On all ranks what the last one has computed.
  auto whole(std::vector<std::optional<Result>>&& results,
             [[maybe_unused]] Block const& standing) const {
    if constexpr (to_loss) {
      Result total = detail::zeros_of<Result>(in_.mesh(), {});
      if (is_last_rank())
        for (std::optional<Result> const& one : results)
          total = sd::computed(total + *one / static_cast<double>(results.size()));
      return sd::computed(api::all_reduce<Axis>(total));
    } else {
      using Whole = decltype(detail::joined<Micro>(std::move(results)));
      sd::extents_of<Result> extents{};
      if (is_last_rank()) extents = results[0]->extents();
      this->template share_extents<Result>(extents, this->schedule().ranks - 1);
      sd::extents_of<Whole> of_all{this->schedule().microbatches};
      for (std::size_t d = 0; d < Result::rank; ++d) of_all[d + 1] = extents[d];
      Whole const own = is_last_rank() ? detail::joined<Micro>(std::move(results))
                                       : sd::uninitialized<Whole>(in_.mesh(), of_all);
      return sd::computed(api::broadcast_from<Axis>(own, this->schedule().ranks - 1, where_));
    }
  }

  Target const& target_;
};

}  // namespace detail

/// The function of blocks that evaluate and forward make. Refused: V19 a stage that returns another
/// type than it takes, X04 a loss that has dims, V03 an `x` that varies over `Axis`. Error E85: a
/// schedule of other ranks, microbatches or chunks than there are. Error E61.
template <class Axis, class Micro, class Chunks, bool to_loss, class Embed, class Stage, class Head>
struct Evaluated {
  Schedule schedule;
  detail::Functions<Embed, Stage, Head> of;
  Ran* ran = nullptr;
  std::source_location where{};

  template <class In, class Target, class... Ws>
    requires(to_loss)
  auto operator()(In const& in, Target const& target, Ws const&... ws) const {
    return run("pipeline::evaluate", in, target, ws...);
  }
  template <class In, class... Ws>
    requires(!to_loss)
  auto operator()(In const& in, Ws const&... ws) const {
    return run("pipeline::forward", in, detail::NoTarget{}, ws...);
  }

 private:
  template <class In, class Target, class... Ws>
  auto run(char const* name, In const& in, Target const& target, Ws const&... ws) const {
    std::tuple<Ws const&...> const all(ws...);
    auto const ends = detail::chosen<detail::Chosen<Axis, false, Ws...>>(all);
    auto const layers = detail::chosen<detail::Chosen<Axis, true, Ws...>>(all);
    using Passes = detail::RankForward<Axis, Micro, Chunks, detail::Functions<Embed, Stage, Head>,
                                       In, Target, std::remove_const_t<decltype(ends)>,
                                       std::remove_const_t<decltype(layers)>>;
    using Block = typename Passes::Block;
    using Next = typename Passes::Next;
    using Result = typename Passes::Result;
    using Judged = detail::sd::judged_t<detail::StageKeeps<Block, Next>, Block, Next>;
    if constexpr (!detail::sd::accepts<Judged>) {
      return detail::refuse_stage<Judged>();
    } else if constexpr (checking::any_poisoned<Result>) {
      return checking::Poisoned();
    } else if constexpr (to_loss && !autodiff::is_loss<Result>()) {
      return detail::refuse_stage<checking::refused<rules::Code::X04_loss, false, Result>>();
    } else {
      core::RunningCall const running(name, where);
      return Passes(schedule, of, where, in, target, ends, layers).run(ran);
    }
  }
};

/// The loss of a pipeline over the axis `Axis`, of data held out, by its forward passes alone, as a
/// function for shard_map:
///
///     auto const held_out = shard_map<Tensor<float>>(
///         pipeline::evaluate<Stage, M>(schedule, stage, loss), x, y, w);
///
/// Schedule, functions and arguments are those of value_and_grad, and so is the loss: the mean of
/// `loss(result, target, e...)` over the microbatches. Each rank runs its forward passes in the
/// order of the schedule, `forward_only(schedule)`, and stores nothing. Each microbatch moves
/// `ranks * chunks - 1` blocks; the loss is all_reduced over `Axis`. With a pointer, `Ran` says
/// what the rank did. Refusals and errors: those of Evaluated. Sources: types_schedule.hpp.
template <MeshAxis Axis, IndexLabel Micro, IndexLabel... Chunk, class Stage, class Loss>
  requires(sizeof...(Chunk) <= 1)
constexpr auto evaluate(Schedule const& schedule, Stage stage, Loss loss, Ran* ran = nullptr,
                        checking::CallSite where = {}) {
  return Evaluated<Axis, Micro, shardtype::detail::Pack<Chunk...>, true, detail::NoEmbedding, Stage,
                   Loss>{schedule, {{}, std::move(stage), std::move(loss)}, ran, where};
}
/// The same of a model with an embedding, as of value_and_grad.
template <MeshAxis Axis, IndexLabel Micro, IndexLabel... Chunk, class Embed, class Stage,
          class Head>
  requires(sizeof...(Chunk) <= 1 && std::is_class_v<Head>)
constexpr auto evaluate(Schedule const& schedule, Embed embed, Stage stage, Head head,
                        Ran* ran = nullptr, checking::CallSite where = {}) {
  return Evaluated<Axis, Micro, shardtype::detail::Pack<Chunk...>, true, Embed, Stage, Head>{
      schedule, {std::move(embed), std::move(stage), std::move(head)}, ran, where};
}

/// The results of the last stage of a pipeline, as a function for shard_map:
///
///     auto const out = shard_map<Tensor<float, Dim<M>, Dim<B>, Dim<D>>>(
///         pipeline::forward<Stage, M>(schedule, stage), x, w);
///
/// There are no targets. The results stand along M, their first dim, `f32[M, B, D]`: the last rank
/// sends them to all ranks of `Axis`, behind their extents. All else is as of evaluate.
template <MeshAxis Axis, IndexLabel Micro, IndexLabel... Chunk, class Stage>
  requires(sizeof...(Chunk) <= 1)
constexpr auto forward(Schedule const& schedule, Stage stage, Ran* ran = nullptr,
                       checking::CallSite where = {}) {
  return Evaluated<Axis, Micro, shardtype::detail::Pack<Chunk...>, false, detail::NoEmbedding,
                   Stage, detail::NoHead>{schedule, {{}, std::move(stage), {}}, ran, where};
}
/// The same with a head: `head(result, e...)` makes logits, say, of a result, with the parameters
/// of the ends.
template <MeshAxis Axis, IndexLabel Micro, IndexLabel... Chunk, class Stage, class Head>
  requires(sizeof...(Chunk) <= 1 && std::is_class_v<Head>)
constexpr auto forward(Schedule const& schedule, Stage stage, Head head, Ran* ran = nullptr,
                       checking::CallSite where = {}) {
  return Evaluated<Axis, Micro, shardtype::detail::Pack<Chunk...>, false, detail::NoEmbedding,
                   Stage, Head>{schedule, {{}, std::move(stage), std::move(head)}, ran, where};
}
/// The same of a model with both ends.
template <MeshAxis Axis, IndexLabel Micro, IndexLabel... Chunk, class Embed, class Stage,
          class Head>
  requires(sizeof...(Chunk) <= 1 && std::is_class_v<Head>)
constexpr auto forward(Schedule const& schedule, Embed embed, Stage stage, Head head,
                       Ran* ran = nullptr, checking::CallSite where = {}) {
  return Evaluated<Axis, Micro, shardtype::detail::Pack<Chunk...>, false, Embed, Stage, Head>{
      schedule, {std::move(embed), std::move(stage), std::move(head)}, ran, where};
}

}  // namespace shardtype::pipeline
