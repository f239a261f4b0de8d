#pragma once
/// The plan of a pipeline's step: what each rank sends, stores and takes, before it runs.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/vjp_function.hpp>
#include <shardtype/check/abstract.hpp>
#include <shardtype/manual/shard_map.hpp>
#include <shardtype/pipeline/ends.hpp>
#include <shardtype/pipeline/operands.hpp>
#include <shardtype/pipeline/plan_parts.hpp>
#include <shardtype/pipeline/value_and_grad.hpp>

namespace shardtype::pipeline {

namespace detail {

/// Plans the parts of `f`, whose parameters of the ends are `Es` and of the stages `Ls`.
template <class Axis, class Micro, class Chunks, bool to_input, class Of, class In, class Target,
          class Ends, class Layers>
struct StepPlanner;
template <class Axis, class Micro, class... Chunk, bool to_input, class Embed, class Stage,
          class Head, class In, class Target, class... Es, class... Ls>
struct StepPlanner<Axis, Micro, sd::Pack<Chunk...>, to_input, Functions<Embed, Stage, Head>, In,
                   Target, sd::Pack<Es...>, sd::Pack<Ls...>>
    : Parts<Axis, Micro, sd::Pack<Chunk...>, Functions<Embed, Stage, Head>> {
  using Base = Parts<Axis, Micro, sd::Pack<Chunk...>, Functions<Embed, Stage, Head>>;
  using Base::extents, Base::of, Base::out, Base::s;
  static constexpr bool embeds = !std::is_same_v<Embed, NoEmbedding>;
  static constexpr bool pulls = embeds && (to_input || sizeof...(Es) > 0);

  /// The first stage's operand of a microbatch, planned.
  template <class... Ends, int... K>
  constexpr auto embedded(Writer& writer, std::integer_sequence<int, K...>, Ends const&... e) {
    auto const in = this->template block<In>(writer);
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
    auto const target = this->template row<Target>(writer);
    auto const result = [&] { return Abstract<Block, Writer>(writer, extents); };
    out.head = detail::plan_part<0, K + 2 ...>(writer, of.head, result, target, e...);
    return sd::computed(of.head(result(), target, e...));
  }
  template <class E>
  constexpr void sum_end(Writer& writer) const {
    auto const e = this->template end<E>(writer);
    Abstract<cotangent_t<typename decltype(e)::type>, Writer> const ct(writer, e.extents_data());
    static_cast<void>(detail::sum_of_ends<Axis, local_t<E>>(ct));
  }

  constexpr StepPlan run() {
    static_cast<void>(detail::with_backward(s));
    std::make_integer_sequence<int, static_cast<int>(sizeof...(Es))> const numbers;
    Writer first({}), second({}), third({}), fourth({});
    auto const made = embedded(first, numbers, this->template end<Es>(first)...);
    using Block = typename std::remove_cvref_t<decltype(made)>::type;
    this->move(made);
    out.stage = [&](auto const&... w) {
      return detail::plan_part(
          second, of.stage, [&] { return Abstract<Block, Writer>(second, extents); }, w...);
    }(detail::of_chunk<Chunk...>(this->template block<Ls>(second), 0)...);
    auto const loss = with_head<Block>(third, numbers, this->template end<Es>(third)...);
    using Loss = typename std::remove_cvref_t<decltype(loss)>::type;
    static_cast<void>(
        sd::computed(api::all_reduce<Axis>(Abstract<Loss, Writer>(fourth, loss.extents_data()))));
    (sum_end<Es>(fourth), ...);
    if constexpr (to_input) {
      auto const in = sd::computed(api::varying<Axis>(this->template row<In>(fourth)));
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
    this->give(sd::Pack<Es...>{}, sd::Pack<Ls...>{},
               this->template bytes<In>() + this->template bytes<Target>());
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
  if constexpr (!detail::all_sized<Micro, Chunks, In, Target, Ws...>()) {
    return {};
  } else {
    return detail::StepPlanner<Axis, Micro, Chunks, to_input, detail::Functions<Embed, Stage, Head>,
                               In, Target, decltype(detail::parameters_of<Axis, false>(Given{})),
                               decltype(detail::parameters_of<Axis, true>(Given{}))>{
        {f.schedule, f.of}}
        .run();
  }
}

}  // namespace shardtype::pipeline
