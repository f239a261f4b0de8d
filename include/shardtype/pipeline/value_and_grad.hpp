#pragma once
/// Runs a schedule: the loss of all microbatches, and the gradients of the parameters.

#include <cstddef>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/check/call_site.hpp>
#include <shardtype/pipeline/ends.hpp>
#include <shardtype/pipeline/passes.hpp>
#include <shardtype/pipeline/types_schedule.hpp>

namespace shardtype::pipeline {

/// The function of blocks that value_and_grad makes. Refused: V19 a stage that returns another type
/// than it takes, X04 a loss that has dims, V03 an `x` that varies over `Axis`. Error E85: a
/// schedule of other ranks, microbatches or chunks than there are. Errors E13, E61.
template <class Axis, class Micro, class Chunks, bool to_input, class Embed, class Stage,
          class Head>
struct Pipelined {
  Schedule schedule;
  detail::Functions<Embed, Stage, Head> of;
  Ran* ran = nullptr;
  std::source_location where{};

  template <class In, class Target, class... Ws>
  auto operator()(In const& in, Target const& target, Ws const&... ws) const {
    using Ends = detail::Chosen<Axis, false, Ws...>;
    using Layers = detail::Chosen<Axis, true, Ws...>;
    std::tuple<Ws const&...> const all(ws...);
    auto const ends = detail::chosen<Ends>(all);
    auto const layers = detail::chosen<Layers>(all);
    using Passes = detail::RankPasses<Axis, Micro, Chunks, detail::Functions<Embed, Stage, Head>,
                                      to_input, In, Target, std::remove_const_t<decltype(ends)>,
                                      std::remove_const_t<decltype(layers)>>;
    using Block = typename Passes::Block;
    using Next = typename Passes::Next;
    using Judged = detail::sd::judged_t<detail::StageKeeps<Block, Next>, Block, Next>;
    if constexpr (!detail::sd::accepts<Judged>) {
      return detail::refuse_stage<Judged>();
    } else {
      core::RunningCall const running("pipeline::value_and_grad", where);
      auto const [value, of_ends, of_layers] =
          Passes(schedule, of, where, in, target, ends, layers).run(ran);
      return std::tuple_cat(value, in_order<Ends, Layers, Ws...>(of_ends, of_layers,
                                                                 std::index_sequence_for<Ws...>{}));
    }
  }

 private:
  /// The gradients in the order of the parameters.
  template <class Ends, class Layers, class... Ws, class OfEnds, class OfLayers, std::size_t... K>
  static auto in_order(OfEnds const& of_ends, OfLayers const& of_layers,
                       std::index_sequence<K...>) {
    auto const one = [&]<std::size_t k, class W>(std::integral_constant<std::size_t, k>, Type<W>) {
      if constexpr (detail::of_stages<Axis, W>) {
        return std::get<Layers::place_of(k)>(of_layers);
      } else {
        return std::get<Ends::place_of(k)>(of_ends);
      }
    };
    return std::tuple(one(std::integral_constant<std::size_t, K>{}, Type<Ws>{})...);
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
/// Parameters that `Axis` does not split are those of the ends: `loss(result, target, e...)` takes
/// them behind the target, in their order among the arguments. With an embedding, the form below,
/// both ends do: a table that both read is tied.
///
/// Each pass runs in its rank as soon as it can: a block is sent to the next stage by a permute
/// that is pending until it is read. A rank stores what the backward pass of a stage reads, of
/// `peak_stored(schedule, rank)` microbatches at most. Each microbatch moves `ranks * chunks - 1`
/// blocks forward and as many cotangents backward; the loss is all_reduced over `Axis`, and so is
/// the gradient of each parameter of the ends, the sum of both. Of a reduced parameter,
/// `{R:Stage}`, it stays unreduced, and nothing is sent. Other axes are the stage's: its
/// collectives run over them. A gradient has the type cotangent_t of the parameter's block. With a
/// pointer, `Ran` says what the rank did. Refusals and errors: those of Pipelined. Sources:
/// types_schedule.hpp.
template <MeshAxis Axis, IndexLabel Micro, IndexLabel... Chunk, class Stage, class Loss>
  requires(sizeof...(Chunk) <= 1)
constexpr auto value_and_grad(Schedule const& schedule, Stage stage, Loss loss, Ran* ran = nullptr,
                              checking::CallSite where = {}) {
  return Pipelined<Axis, Micro, shardtype::detail::Pack<Chunk...>, false, detail::NoEmbedding,
                   Stage, Loss>{schedule, {{}, std::move(stage), std::move(loss)}, ran, where};
}
/// The same; behind the loss stands the cotangent of `x`, whose first dim is `M`: the first rank's,
/// sent to all ranks of `Axis`. Of an `x` that is reduced over it, `{R:Stage}`, the cotangent is
/// unreduced, and nothing is sent.
template <MeshAxis Axis, IndexLabel Micro, IndexLabel... Chunk, class Stage, class Loss>
  requires(sizeof...(Chunk) <= 1)
constexpr auto value_and_grad(Schedule const& schedule, Stage stage, Loss loss, InputGrad,
                              Ran* ran = nullptr, checking::CallSite where = {}) {
  return Pipelined<Axis, Micro, shardtype::detail::Pack<Chunk...>, true, detail::NoEmbedding, Stage,
                   Loss>{schedule, {{}, std::move(stage), std::move(loss)}, ran, where};
}

/// The same of a model with an embedding: `embed(x, e...)` makes the first stage's operand of a
/// microbatch, on the first rank, with the parameters of the ends.
///
///     auto [value, to_table, to_w] = shard_map<Outs<Tensor<float>, Table, W>>(
///         pipeline::value_and_grad<Stage, M>(schedule, embed, stage, head), ids, y, table, w);
///
/// The first rank tells the others the extents of a block, one number for each dim.
template <MeshAxis Axis, IndexLabel Micro, IndexLabel... Chunk, class Embed, class Stage,
          class Head>
  requires(sizeof...(Chunk) <= 1 && std::is_class_v<Head> && !std::is_same_v<Head, InputGrad>)
constexpr auto value_and_grad(Schedule const& schedule, Embed embed, Stage stage, Head head,
                              Ran* ran = nullptr, checking::CallSite where = {}) {
  return Pipelined<Axis, Micro, shardtype::detail::Pack<Chunk...>, false, Embed, Stage, Head>{
      schedule, {std::move(embed), std::move(stage), std::move(head)}, ran, where};
}
/// The same with the cotangent of `x` behind the loss, as above.
template <MeshAxis Axis, IndexLabel Micro, IndexLabel... Chunk, class Embed, class Stage,
          class Head>
  requires(sizeof...(Chunk) <= 1 && std::is_class_v<Head>)
constexpr auto value_and_grad(Schedule const& schedule, Embed embed, Stage stage, Head head,
                              InputGrad, Ran* ran = nullptr, checking::CallSite where = {}) {
  return Pipelined<Axis, Micro, shardtype::detail::Pack<Chunk...>, true, Embed, Stage, Head>{
      schedule, {std::move(embed), std::move(stage), std::move(head)}, ran, where};
}

}  // namespace shardtype::pipeline
