#pragma once
/// Runs a schedule: the loss of all microbatches, and the gradients of the stages' parameters.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/autodiff/shard_map.hpp>
#include <shardtype/autodiff/value_and_grad.hpp>
#include <shardtype/autodiff/vjp_function.hpp>
#include <shardtype/manual/moves.hpp>
#include <shardtype/manual/shard_map.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/rows.hpp>
#include <shardtype/ops/run_full_like.hpp>
#include <shardtype/pipeline/neighbors.hpp>
#include <shardtype/pipeline/types_schedule.hpp>
#include <shardtype/tensor/create.hpp>

namespace shardtype::pipeline {

/// What a rank did in a run of a pipeline.
struct Ran {
  int peak_stored = 0;           ///< most microbatches stored at one time for the backward pass
  std::int64_t blocks_sent = 0;  ///< blocks sent to other stages, cotangents among them
};

namespace detail {

/// The parameters of one chunk: with a Chunk, row `chunk` of each.
template <class... Chunk, class W>
auto of_chunk(W const& w, [[maybe_unused]] int chunk) {
  if constexpr (sizeof...(Chunk) == 0) {
    return w;
  } else {
    return sd::computed(api::at<Chunk...>(w, chunk));
  }
}

/// The gradients of the parameters, added up over the microbatches of each chunk.
template <class... Gs>
class Sums {
 public:
  explicit Sums(int chunks) : of_(static_cast<std::size_t>(chunks)) {}
  void add(int chunk, std::tuple<Gs...> const& more) {
    std::optional<std::tuple<Gs...>>& sum = of_[static_cast<std::size_t>(chunk)];
    if (!sum) {
      sum.emplace(more);
      return;
    }
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      ((std::get<K>(*sum) = sd::computed(std::get<K>(*sum) + std::get<K>(more))), ...);
    }(std::index_sequence_for<Gs...>{});
  }
  /// The `K`-th gradient: the chunks in their order, along Chunk.
  template <std::size_t K, class... Chunk>
  auto stacked() const {
    if constexpr (sizeof...(Chunk) == 0) {
      return std::get<K>(*of_[0]);
    } else {
      auto out = sd::computed(api::expand<Chunk...>(std::get<K>(*of_[0])));
      for (std::size_t c = 1; c < of_.size(); ++c)
        out = sd::computed(
            api::concat<Chunk...>(out, sd::computed(api::expand<Chunk...>(std::get<K>(*of_[c])))));
      return out;
    }
  }

 private:
  std::vector<std::optional<std::tuple<Gs...>>> of_;
};

/// One run of a pipeline on the blocks of a rank.
template <class Axis, class Micro, class Chunks, class Stage, class Loss, class In, class Target,
          class... Ws>
class RankPasses;
template <class Axis, class Micro, class... Chunk, class Stage, class Loss, class In, class Target,
          class... Ws>
class RankPasses<Axis, Micro, sd::Pack<Chunk...>, Stage, Loss, In, Target, Ws...> {
  template <class A>
  using made_t = std::remove_cvref_t<decltype(sd::computed(std::declval<A>()))>;

 public:
  using Block = made_t<decltype(api::varying<Axis>(api::at<Micro>(std::declval<In const&>(), 0)))>;
  template <class W>
  using of_chunk_t = decltype(detail::of_chunk<Chunk...>(std::declval<W const&>(), 0));
  using Next = made_t<decltype(std::declval<Stage const&>()(
      std::declval<Block const&>(), std::declval<of_chunk_t<Ws> const&>()...))>;

  RankPasses(Schedule const& schedule, Stage const& stage, Loss const& loss, In const& in,
             Target const& target, Ws const&... ws)
      : stage_(stage), loss_(loss), in_(in), target_(target), table_(schedule) {
    runtime::MeshState& mesh = in.mesh().state();
    rank_ = static_cast<int>(sd::place_along<Axis>(mesh, ranks_));
    check(schedule);
    (check_chunks(schedule, ws), ...);
    int chosen[core::max_axes];
    detail::make_groups(mesh, mesh.find(core::identity<Axis>), chosen, 0);
    for (int c = 0; c < schedule.chunks; ++c)
      weights_.push_back(std::tuple(detail::of_chunk<Chunk...>(ws, c)...));
  }

  auto run(Ran* ran) {
    using Cotangent = cotangent_t<Block>;
    using Pulled = decltype(forward(std::declval<Block const&>(), 0));
    using Pullback = decltype(Pulled::pullback);
    Schedule const& s = table_.schedule();
    Neighbors<Axis, Block> ahead(table_, Pass::forward, rank_);
    Neighbors<Axis, Cotangent> back(table_, Pass::backward, rank_);
    std::vector<std::optional<Pullback>> stored(static_cast<std::size_t>(s.chunks) *
                                                static_cast<std::size_t>(s.microbatches));
    std::vector<std::optional<Block>> results(static_cast<std::size_t>(s.microbatches));
    Sums<cotangent_t<of_chunk_t<Ws>>...> sums(s.chunks);
    Block const standing = input(0);
    Cotangent const no_cotangent = api::zeros_like(standing);
    using Value = made_t<decltype(loss_and_cotangent(standing, 0).value)>;
    Value total = api::full_like(sd::uninitialized<Value>(in_.mesh(), {}), 0);
    int now = 0, most = 0;

    for (int t = 0; t < table_.slots(); ++t) {
      Slot const slot = table_.at(rank_, t);
      std::optional<Block> made;
      std::optional<Cotangent> pulled;
      auto const microbatches = static_cast<std::size_t>(s.microbatches);
      std::size_t const at = static_cast<std::size_t>(slot.chunk) * microbatches +
                             static_cast<std::size_t>(slot.microbatch);
      bool const last = rank_ + 1 == s.ranks && slot.chunk + 1 == s.chunks;
      {
        Apart const passes(in_.mesh().state());
        if (slot.pass == Pass::forward) {
          bool const first = rank_ == 0 && slot.chunk == 0;
          Pulled both = forward(
              first ? input(slot.microbatch) : ahead.take(slot.chunk, slot.microbatch), slot.chunk);
          stored[at].emplace(std::move(both.pullback));
          if (last) results[static_cast<std::size_t>(slot.microbatch)].emplace(both.value);
          made.emplace(std::move(both.value));
          if (++now > most) most = now;
        } else if (slot.pass == Pass::backward) {
          if (last) {
            std::optional<Block>& result = results[static_cast<std::size_t>(slot.microbatch)];
            auto const [value, ct] = loss_and_cotangent(*result, slot.microbatch);
            result.reset();
            total = sd::computed(total + value);
            pulled.emplace(pull(std::move(*stored[at]), ct, slot.chunk, sums));
          } else {
            pulled.emplace(pull(std::move(*stored[at]), back.take(slot.chunk, slot.microbatch),
                                slot.chunk, sums));
          }
          stored[at].reset();
          --now;
        }
      }
      ahead.start(t, made ? *made : standing);
      back.start(t, pulled ? *pulled : no_cotangent);
    }
    ahead.finish();
    back.finish();
    if (ran != nullptr) *ran = {most, ahead.sent() + back.sent()};
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return std::tuple(sd::computed(api::all_reduce<Axis>(total)),
                        sums.template stacked<K, Chunk...>()...);
    }(std::index_sequence_for<Ws...>{});
  }

 private:
  void check(Schedule const& s) const {
    if (ranks_ != s.ranks)
      detail::throw_schedule("of " + std::to_string(s.ranks) + " ranks runs along an axis of " +
                             std::to_string(ranks_));
    if (in_.template extent<Micro>() != s.microbatches ||
        target_.template extent<Micro>() != s.microbatches)
      detail::throw_schedule("of " + std::to_string(s.microbatches) + " microbatches got " +
                             std::to_string(in_.template extent<Micro>()) + ", and targets of " +
                             std::to_string(target_.template extent<Micro>()));
    if (sizeof...(Chunk) == 0 && s.chunks != 1)
      detail::throw_schedule("of " + std::to_string(s.chunks) +
                             " chunks on each rank was not given the index of the chunks");
  }
  template <class W>
  static void check_chunks([[maybe_unused]] Schedule const& s, [[maybe_unused]] W const& w) {
    if constexpr (sizeof...(Chunk) > 0)
      if (w.template extent<Chunk...>() != s.chunks)
        detail::throw_schedule("of " + std::to_string(s.chunks) +
                               " chunks on each rank got parameters of " +
                               std::to_string(w.template extent<Chunk...>()));
  }
  Block input(int microbatch) const {
    return sd::computed(api::varying<Axis>(api::at<Micro>(in_, microbatch)));
  }
  auto forward(Block const& x, int chunk) const {
    return std::apply([&](auto const&... w) { return api::vjp(stage_, x, w...); },
                      weights_[static_cast<std::size_t>(chunk)]);
  }
  /// The part of a microbatch in the loss, and its cotangent.
  auto loss_and_cotangent(Block const& result, int microbatch) const {
    auto const part = [&](auto const& out, auto const& target) {
      return loss_(out, target) / static_cast<double>(table_.schedule().microbatches);
    };
    return api::value_and_grad<0>(part)(result, sd::computed(api::at<Micro>(target_, microbatch)));
  }
  /// The cotangent of a stage's operand; those of its parameters are added to the sums.
  template <class Pullback, class Ct, class All>
  static auto pull(Pullback&& pullback, Ct const& ct, int chunk, All& sums) {
    if constexpr (sizeof...(Ws) == 0) {
      return std::forward<Pullback>(pullback)(ct);
    } else {
      return std::apply(
          [&](auto const& to_x, auto const&... to_w) {
            sums.add(chunk, std::tuple(to_w...));
            return to_x;
          },
          std::forward<Pullback>(pullback)(ct));
    }
  }

  Stage const& stage_;
  Loss const& loss_;
  In const& in_;
  Target const& target_;
  Table table_;
  std::vector<std::tuple<of_chunk_t<Ws>...>> weights_;
  std::int64_t ranks_ = 1;
  int rank_ = 0;
};

/// The verdict on a stage that makes a `Next` of a `Block`.
template <class Block, class Next>
using StageKeeps =
    sd::Plainly<std::is_same_v<Block, Next> ? rules::Code::ok : rules::Code::V19_stage_changes>;
/// The refusal, in a function of its own: after it clang still calls the one that asks.
template <class Judged>
checking::Poisoned refuse_stage() {
  return checking::Poisoned(Judged{});
}

}  // namespace detail

/// The function of blocks that value_and_grad makes. Refused: V19 a stage that returns another type
/// than it takes, X04 a loss that has dims, V03 an `x` that varies over `Axis`. Error E85: a
/// schedule of other ranks, microbatches or chunks than there are. Errors E13, E61.
template <class Axis, class Micro, class Chunks, class Stage, class Loss>
struct Pipelined {
  Schedule schedule;
  Stage stage;
  Loss loss;
  Ran* ran = nullptr;

  template <class In, class Target, class... Ws>
  auto operator()(In const& in, Target const& target, Ws const&... ws) const {
    using Passes = detail::RankPasses<Axis, Micro, Chunks, Stage, Loss, In, Target, Ws...>;
    using Block = typename Passes::Block;
    using Next = typename Passes::Next;
    using Judged = detail::sd::judged_t<detail::StageKeeps<Block, Next>, Block, Next>;
    if constexpr (!detail::sd::accepts<Judged>) {
      return detail::refuse_stage<Judged>();
    } else {
      return Passes(schedule, stage, loss, in, target, ws...).run(ran);
    }
  }
};

/// The loss of a pipeline over the axis `Axis` and the gradients of its parameters, as a function
/// for shard_map:
///
///     auto [value, to_w] = shard_map<Outs<Tensor<float>, W>>(
///         pipeline::value_and_grad<Stage, M>(schedule, stage, loss), x, y, w);
///
/// `stage(block, w...)` is the function of a stage: from a block of a microbatch to one of the same
/// type, with the blocks of the parameters, which `Axis` splits along the dim of the layers. `x`
/// and `y` hold the microbatches along `M` and are replicated over `Axis`: `f32[M, B, D]`. The loss
/// is the mean of `loss(result, target)` over the microbatches, and the gradients are those of the
/// whole batch. With chunks (interleaved), `value_and_grad<Stage, M, C>` names the index of the
/// chunks, the first dim of each parameter: `f32[C, L@Stage, D, H]` are the layers in their order.
///
/// Each pass runs in its rank as soon as it can: a block is sent to the next stage by a permute
/// that is pending until it is read. A rank stores what the backward pass of a stage reads, of
/// `peak_stored(schedule, rank)` microbatches at most. Each microbatch moves `ranks * chunks - 1`
/// blocks forward and as many cotangents backward; the loss is all_reduced over `Axis`. Other axes
/// are the stage's: its collectives run over them. A gradient has the type cotangent_t of the
/// parameter's block. With a pointer, `Ran` says what the rank did. Refusals and errors: those of
/// Pipelined. Sources: types_schedule.hpp.
template <MeshAxis Axis, IndexLabel Micro, IndexLabel... Chunk, class Stage, class Loss>
  requires(sizeof...(Chunk) <= 1)
constexpr auto value_and_grad(Schedule const& schedule, Stage stage, Loss loss,
                              Ran* ran = nullptr) {
  return Pipelined<Axis, Micro, shardtype::detail::Pack<Chunk...>, Stage, Loss>{
      schedule, std::move(stage), std::move(loss), ran};
}

}  // namespace shardtype::pipeline
