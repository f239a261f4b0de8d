#pragma once
/// What the passes of one rank in a run of a pipeline read: functions, microbatches, parameters.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/check/call_site.hpp>
#include <shardtype/manual/moves.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/rows.hpp>
#include <shardtype/pipeline/ends.hpp>
#include <shardtype/pipeline/neighbors.hpp>
#include <shardtype/pipeline/types_schedule.hpp>
#include <shardtype/tensor/create.hpp>

namespace shardtype::pipeline {

/// What a rank did in a run of a pipeline.
struct Ran {
  int peak_stored = 0;           ///< most microbatches stored at one time for the backward pass
  std::int64_t blocks_sent = 0;  ///< blocks sent to other stages, cotangents among them
  double seconds = 0;            ///< of all passes of all ranks, with what this rank waited
  double forward = 0;            ///< of these, in forward passes
  double backward = 0;           ///< in backward passes
};

namespace detail {

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The functions of a pipeline.
template <class Embed, class Stage, class Head>
struct Functions {
  Embed embed;
  Stage stage;
  Head head;
};

/// The parameters of one chunk: with a Chunk, row `chunk` of each.
template <class... Chunk, class W>
constexpr auto of_chunk(W const& w, [[maybe_unused]] int chunk) {
  if constexpr (sizeof...(Chunk) == 0) {
    return w;
  } else {
    return sd::computed(api::at<Chunk...>(w, chunk));
  }
}

template <class A>
using made_t = std::remove_cvref_t<decltype(sd::computed(std::declval<A>()))>;
/// A parameter of the ends as a pass reads it.
template <class Axis, class E>
using end_t = made_t<decltype(detail::at_end<Axis>(std::declval<E const&>()))>;
/// A parameter of the stages as a pass reads it.
template <class L, class... Chunk>
using of_chunk_t = decltype(detail::of_chunk<Chunk...>(std::declval<L const&>(), 0));

/// The verdict on a stage that makes a `Next` of a `Block`.
template <class Block, class Next>
using StageKeeps =
    sd::Plainly<std::is_same_v<Block, Next> ? rules::Code::ok : rules::Code::V19_stage_changes>;
/// The refusal, in a function of its own: after it clang still calls the one that asks.
template <class Judged>
checking::Poisoned refuse_stage() {
  return checking::Poisoned(Judged{});
}

/// Error E85 unless there are as many microbatches as the schedule has.
inline void check_microbatches(Schedule const& s, std::int64_t given, char const* of) {
  if (given != s.microbatches)
    detail::throw_schedule("of " + std::to_string(s.microbatches) + " microbatches got " + of +
                           std::to_string(given));
}

/// The operands of the passes of a rank, with the parameters `Es` of the ends and `Ls` of the
/// stages.
template <class Axis, class Micro, class Chunks, class Of, class In, class Ends, class Layers>
class RankOperands;
template <class Axis, class Micro, class... Chunk, class Embed, class Stage, class Head, class In,
          class... Es, class... Ls>
class RankOperands<Axis, Micro, sd::Pack<Chunk...>, Functions<Embed, Stage, Head>, In,
                   std::tuple<Es const&...>, std::tuple<Ls const&...>> {
 public:
  using Input = made_t<decltype(api::varying<Axis>(api::at<Micro>(std::declval<In const&>(), 0)))>;
  using Block = made_t<decltype(std::declval<Embed const&>()(
      std::declval<Input const&>(), std::declval<end_t<Axis, Es> const&>()...))>;
  using Next = made_t<decltype(std::declval<Stage const&>()(
      std::declval<Block const&>(), std::declval<of_chunk_t<Ls, Chunk...> const&>()...))>;

 protected:
  static constexpr bool embeds = !std::is_same_v<Embed, NoEmbedding>;

  RankOperands(Schedule const& schedule, Functions<Embed, Stage, Head> const& of,
               std::source_location const& where, In const& in,
               std::tuple<Es const&...> const& ends, std::tuple<Ls const&...> const& layers)
      : of_(of),
        where_(where),
        in_(in),
        table_(schedule),
        ends_(std::apply([](auto const&... e) { return std::tuple(detail::at_end<Axis>(e)...); },
                         ends)) {
    runtime::MeshState& mesh = in.mesh().state();
    rank_ = static_cast<int>(sd::place_along<Axis>(mesh, ranks_));
    check(schedule);
    std::apply([&](auto const&... w) { (check_chunks(schedule, w), ...); }, layers);
    int chosen[core::max_axes];
    detail::make_groups(mesh, mesh.find(core::identity<Axis>), chosen, 0);
    for (int c = 0; c < schedule.chunks; ++c)
      weights_.push_back(std::apply(
          [&](auto const&... w) { return std::tuple(detail::of_chunk<Chunk...>(w, c)...); },
          layers));
  }

  Schedule const& schedule() const { return table_.schedule(); }
  /// Whether the pass of a slot is one of the first stage, or of the last one.
  bool is_first(Slot const& slot) const { return rank_ == 0 && slot.chunk == 0; }
  bool is_last(Slot const& slot) const {
    return rank_ + 1 == schedule().ranks && slot.chunk + 1 == schedule().chunks;
  }
  Input input(int microbatch) const {
    return sd::computed(api::varying<Axis>(api::at<Micro>(in_, microbatch)));
  }
  /// What the first stage takes of a microbatch.
  Block embedded_block(int microbatch) const {
    return std::apply(
        [&](auto const&... e) { return Block(sd::computed(of_.embed(input(microbatch), e...))); },
        ends_);
  }
  /// A block of the extents that all stages move. Only the first rank embeds, its first microbatch,
  /// by `embed_first`; it tells the others the extents, before they wait for its blocks anyway.
  template <class EmbedFirst>
  Block any_block([[maybe_unused]] EmbedFirst const& embed_first) const {
    if constexpr (!embeds) {
      return input(0);
    } else {
      std::optional<Block> made;
      sd::extents_of<Block> extents{};
      if (rank_ == 0) {
        Apart const passes(in_.mesh().state());
        core::RunningCall const running("pipeline forward pass", where_);
        made.emplace(embed_first());
        extents = made->extents();
      }
      share_extents<Block>(extents, 0);
      return made ? std::move(*made) : sd::uninitialized<Block>(in_.mesh(), extents);
    }
  }
  /// Makes the extents of an `A` those of rank `root` of the axis.
  template <class A>
  void share_extents(sd::extents_of<A>& extents, int root) const {
    detail::share_extents(in_.mesh(), in_.mesh().state().find(core::identity<Axis>), extents.data(),
                          static_cast<int>(A::rank), root);
  }

  Functions<Embed, Stage, Head> const& of_;
  std::source_location where_;
  In const& in_;
  Table table_;
  std::tuple<end_t<Axis, Es>...> ends_;
  std::vector<std::tuple<of_chunk_t<Ls, Chunk...>...>> weights_;
  std::int64_t ranks_ = 1;
  int rank_ = 0;

 private:
  void check(Schedule const& s) const {
    if (ranks_ != s.ranks)
      detail::throw_schedule("of " + std::to_string(s.ranks) + " ranks runs along an axis of " +
                             std::to_string(ranks_));
    detail::check_microbatches(s, in_.template extent<Micro>(), "");
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
};

}  // namespace detail

}  // namespace shardtype::pipeline
