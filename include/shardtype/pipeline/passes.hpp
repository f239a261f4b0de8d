#pragma once
/// The passes of one rank in a step of a pipeline.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
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
#include <shardtype/pipeline/ends.hpp>
#include <shardtype/pipeline/neighbors.hpp>
#include <shardtype/pipeline/operands.hpp>
#include <shardtype/pipeline/types_schedule.hpp>
#include <shardtype/tensor/create.hpp>

namespace shardtype::pipeline {

namespace detail {

/// The gradients of parameters, added up over the microbatches of each chunk.
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
  /// The `K`-th gradient of chunk 0, zeros of these extents if there is none.
  template <std::size_t K, class Extents>
  auto or_zeros(runtime::MeshRef const& mesh, Extents const& extents) const {
    using G = nth_t<K, Gs...>;
    return of_[0] ? std::get<K>(*of_[0]) : detail::zeros_of<G>(mesh, extents);
  }

 private:
  template <std::size_t K, class... Ts>
  using nth_t = std::tuple_element_t<K, std::tuple<Ts...>>;
  std::vector<std::optional<std::tuple<Gs...>>> of_;
};

/// One step of a pipeline on the blocks of a rank, with the parameters `Es` of the ends and `Ls` of
/// the stages. With `to_input` it gives the cotangent of the microbatches.
template <class Axis, class Micro, class Chunks, class Of, bool to_input, class In, class Target,
          class Ends, class Layers>
class RankPasses;
template <class Axis, class Micro, class... Chunk, class Embed, class Stage, class Head,
          bool to_input, class In, class Target, class... Es, class... Ls>
class RankPasses<Axis, Micro, sd::Pack<Chunk...>, Functions<Embed, Stage, Head>, to_input, In,
                 Target, std::tuple<Es const&...>, std::tuple<Ls const&...>>
    : RankOperands<Axis, Micro, sd::Pack<Chunk...>, Functions<Embed, Stage, Head>, In,
                   std::tuple<Es const&...>, std::tuple<Ls const&...>> {
  using Operands = RankOperands<Axis, Micro, sd::Pack<Chunk...>, Functions<Embed, Stage, Head>, In,
                                std::tuple<Es const&...>, std::tuple<Ls const&...>>;
  using Operands::ends_, Operands::in_, Operands::of_, Operands::rank_, Operands::table_,
      Operands::weights_, Operands::where_, Operands::embeds;

  /// Whether the embedding has a backward pass.
  static constexpr bool pulls = embeds && (to_input || sizeof...(Es) > 0);
  using EndNumbers = std::index_sequence_for<Es...>;

 public:
  using typename Operands::Block;
  using typename Operands::Input;
  using typename Operands::Next;

  RankPasses(Schedule const& schedule, Functions<Embed, Stage, Head> const& of,
             std::source_location const& where, In const& in, Target const& target,
             std::tuple<Es const&...> const& ends, std::tuple<Ls const&...> const& layers)
      : Operands(detail::with_backward(schedule), of, where, in, ends, layers), target_(target) {
    detail::check_microbatches(schedule, target.template extent<Micro>(), "targets of ");
  }

  /// The loss, the cotangent of the microbatches if it is asked for, and the gradients of the
  /// parameters of the ends and of the stages.
  auto run(Ran* ran) {
    using Cotangent = cotangent_t<Block>;
    using Pulled = decltype(forward(std::declval<Block const&>(), 0));
    using Pullback = decltype(Pulled::pullback);
    using Embedded = decltype(embedded(0));
    using Unembed = decltype(Embedded::pullback);
    Schedule const& s = table_.schedule();
    std::size_t const all = static_cast<std::size_t>(-1);
    Neighbors<Axis, Block> ahead(table_, Pass::forward, rank_, where_, all);
    Neighbors<Axis, Cotangent> back(table_, Pass::backward, rank_, where_, all);
    auto const m = static_cast<std::size_t>(s.microbatches);
    std::vector<std::optional<Pullback>> stored(static_cast<std::size_t>(s.chunks) * m);
    std::vector<std::optional<Unembed>> unembeds(m);
    std::vector<std::optional<Block>> results(m);
    std::vector<std::optional<cotangent_t<Input>>> inputs(to_input ? m : 0);
    Sums<cotangent_t<of_chunk_t<Ls, Chunk...>>...> sums(s.chunks);
    Sums<cotangent_t<end_t<Axis, Es>>...> of_ends(1);
    std::optional<Embedded> begun;
    Block const standing = this->any_block([&] {
      begun.emplace(embedded(0));
      return begun->value;
    });
    Cotangent const no_cotangent = api::zeros_like(standing);
    using Value = made_t<decltype(head(standing, 0).value)>;
    Value total = detail::zeros_of<Value>(in_.mesh(), {});
    int now = 0, most = 0;
    Ran did;
    auto const start = Clock::now();

    for (int t = 0; t < table_.slots(); ++t) {
      Slot const slot = table_.at(rank_, t);
      std::optional<Block> made;
      std::optional<Cotangent> pulled;
      auto const micro = static_cast<std::size_t>(slot.microbatch);
      std::size_t const at = static_cast<std::size_t>(slot.chunk) * m + micro;
      bool const first = this->is_first(slot), last = this->is_last(slot);
      std::optional<Block> arrived;
      std::optional<Cotangent> returned;
      if (slot.pass == Pass::forward && !first)
        arrived.emplace(ahead.take(slot.chunk, slot.microbatch));
      if (slot.pass == Pass::backward && !last)
        returned.emplace(back.take(slot.chunk, slot.microbatch));
      auto const began = Clock::now();
      if (slot.pass == Pass::forward) {
        Apart const passes(in_.mesh().state());
        core::RunningCall const running("pipeline forward pass", where_);
        auto const operand = [&] {
          if (!first) return std::move(*arrived);
          Embedded in = begun ? std::move(*begun) : embedded(slot.microbatch);
          begun.reset();
          if constexpr (pulls) unembeds[micro].emplace(std::move(in.pullback));
          return std::move(in.value);
        };
        Pulled both = forward(operand(), slot.chunk);
        stored[at].emplace(std::move(both.pullback));
        if (last) results[micro].emplace(both.value);
        made.emplace(std::move(both.value));
        if (++now > most) most = now;
        did.forward += detail::seconds_since(began);
      } else if (slot.pass == Pass::backward) {
        Apart const passes(in_.mesh().state());
        core::RunningCall const running("pipeline backward pass", where_);
        if (last) {
          auto const both = head(*results[micro], slot.microbatch);
          results[micro].reset();
          total = sd::computed(total + both.value);
          pulled.emplace(
              pull(std::move(*stored[at]), of_result(both.grad, of_ends), slot.chunk, sums));
        } else {
          pulled.emplace(pull(std::move(*stored[at]), *returned, slot.chunk, sums));
        }
        stored[at].reset();
        --now;
        if constexpr (pulls || to_input)
          if (first) unembed(unembeds[micro], *pulled, slot.microbatch, inputs, of_ends);
        did.backward += detail::seconds_since(began);
      }
      ahead.start(t, made ? *made : standing);
      back.start(t, pulled ? *pulled : no_cotangent);
    }
    ahead.finish();
    back.finish();
    auto value = sd::computed(api::all_reduce<Axis>(total));
    // behind the sum of the loss, which no rank has before the last pass
    did.seconds = detail::seconds_since(start);
    did.peak_stored = most;
    did.blocks_sent = ahead.sent() + back.sent();
    if (ran != nullptr) *ran = did;
    auto end_gradients = [&]<std::size_t... K>(std::index_sequence<K...>) {
      return std::tuple(detail::sum_of_ends<Axis, Es>(
          of_ends.template or_zeros<K>(this->in_.mesh(), std::get<K>(this->ends_).extents()))...);
    }(EndNumbers{});
    auto gradients = [&]<std::size_t... K>(std::index_sequence<K...>) {
      return std::tuple(sums.template stacked<K, Chunk...>()...);
    }(std::index_sequence_for<Ls...>{});
    if constexpr (to_input) {
      return std::tuple(std::tuple(std::move(value), input_cotangent(std::move(inputs))),
                        std::move(end_gradients), std::move(gradients));
    } else {
      return std::tuple(std::tuple(std::move(value)), std::move(end_gradients),
                        std::move(gradients));
    }
  }

 private:
  /// In place of the pullback of an embedding that has none.
  struct NoPullback {};
  template <class Pullback>
  struct EmbeddedBlock {
    Block value;
    Pullback pullback;
  };

  /// What the first stage takes of a microbatch, and the way back.
  auto embedded(int microbatch) const {
    if constexpr (pulls) {
      return [&]<std::size_t... K>(std::index_sequence<K...>) {
        if constexpr (to_input) {
          return api::vjp(this->of_.embed, this->input(microbatch), std::get<K>(this->ends_)...);
        } else {
          return api::vjp<static_cast<int>(K + 1)...>(this->of_.embed, this->input(microbatch),
                                                      std::get<K>(this->ends_)...);
        }
      }(EndNumbers{});
    } else {
      return EmbeddedBlock<NoPullback>{this->embedded_block(microbatch), {}};
    }
  }
  auto forward(Block const& x, int chunk) const {
    return std::apply([&](auto const&... w) { return api::vjp(of_.stage, x, w...); },
                      weights_[static_cast<std::size_t>(chunk)]);
  }
  /// The part of a microbatch in the loss, and its cotangents.
  auto head(Block const& result, int microbatch) const {
    auto const part = [&](auto const& out, auto const& target, auto const&... e) {
      return of_.head(out, target, e...) / static_cast<double>(table_.schedule().microbatches);
    };
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return api::value_and_grad<0, static_cast<int>(K + 2)...>(part)(
          result, sd::computed(api::at<Micro>(target_, microbatch)), std::get<K>(this->ends_)...);
    }(EndNumbers{});
  }
  /// Of a gradient of the head, that of the last stage's result; the others are added to the sums.
  template <class Grad, class All>
  static auto of_result(Grad const& grad, [[maybe_unused]] All& of_ends) {
    if constexpr (sizeof...(Es) == 0) {
      return grad;
    } else {
      return std::apply(
          [&](auto const& to_result, auto const&... to_ends) {
            of_ends.add(0, std::tuple(to_ends...));
            return to_result;
          },
          grad);
    }
  }
  /// The backward pass of the embedding.
  template <class Pullback, class Inputs, class All>
  static void unembed([[maybe_unused]] std::optional<Pullback>& pullback,
                      cotangent_t<Block> const& ct, [[maybe_unused]] int microbatch,
                      [[maybe_unused]] Inputs& inputs, [[maybe_unused]] All& of_ends) {
    [[maybe_unused]] auto const at = static_cast<std::size_t>(microbatch);
    if constexpr (!pulls) {
      inputs[at].emplace(ct);
    } else {
      auto const to = std::move(*pullback)(ct);
      pullback.reset();
      if constexpr (to_input && sizeof...(Es) == 0) {
        inputs[at].emplace(to);
      } else if constexpr (to_input) {
        std::apply(
            [&](auto const& to_x, auto const&... to_ends) {
              inputs[at].emplace(to_x);
              of_ends.add(0, std::tuple(to_ends...));
            },
            to);
      } else if constexpr (sizeof...(Es) == 1) {
        of_ends.add(0, std::tuple(to));
      } else {
        of_ends.add(0, to);
      }
    }
  }
  /// The cotangent of the microbatches: the first rank's, on all ranks; or unreduced if the
  /// microbatches are reduced over the axis.
  template <class Inputs>
  auto input_cotangent(Inputs&& inputs) const {
    using Whole = decltype(detail::joined<Micro>(std::forward<Inputs>(inputs)));
    Whole const own = rank_ == 0 ? detail::joined<Micro>(std::forward<Inputs>(inputs))
                                 : detail::zeros_of<Whole>(in_.mesh(), in_.extents());
    if constexpr (detail::state_along<Axis, In>() == core::AxisState::reduced) {
      return sd::computed(api::unreduced<Axis>(own));
    } else {
      return sd::computed(api::broadcast_from<Axis>(own, 0, where_));
    }
  }
  /// The cotangent of a stage's operand; those of its parameters are added to the sums.
  template <class Pullback, class Ct, class All>
  static auto pull(Pullback&& pullback, Ct const& ct, int chunk, [[maybe_unused]] All& sums) {
    if constexpr (sizeof...(Ls) == 0) {
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

  Target const& target_;
};

}  // namespace detail

}  // namespace shardtype::pipeline
