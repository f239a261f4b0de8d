#pragma once
/// The plan of a pipeline's evaluation: what each rank sends, holds and takes, before it runs.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <shardtype/check/abstract.hpp>
#include <shardtype/manual/shard_map.hpp>
#include <shardtype/pipeline/ends.hpp>
#include <shardtype/pipeline/evaluate.hpp>
#include <shardtype/pipeline/operands.hpp>
#include <shardtype/pipeline/plan_parts.hpp>

namespace shardtype::pipeline {

namespace detail {

/// Plans the parts of an evaluation, whose parameters of the ends are `Es` and of the stages `Ls`.
/// `Target` is void where no loss is asked for.
template <class Axis, class Micro, class Chunks, class Of, class In, class Target, class Ends,
          class Layers>
struct EvaluationPlanner;
template <class Axis, class Micro, class... Chunk, class Embed, class Stage, class Head, class In,
          class Target, class... Es, class... Ls>
struct EvaluationPlanner<Axis, Micro, sd::Pack<Chunk...>, Functions<Embed, Stage, Head>, In, Target,
                         sd::Pack<Es...>, sd::Pack<Ls...>>
    : Parts<Axis, Micro, sd::Pack<Chunk...>, Functions<Embed, Stage, Head>> {
  using Base = Parts<Axis, Micro, sd::Pack<Chunk...>, Functions<Embed, Stage, Head>>;
  using Base::extents, Base::of, Base::out, Base::s;
  static constexpr bool to_loss = !std::is_void_v<Target>;

  template <class... Ends>
  constexpr auto embedded(Writer& writer, Ends const&... e) {
    auto const in = this->template block<In>(writer);
    auto const x = [&] { return sd::computed(api::varying<Axis>(api::at<Micro>(in, 0))); };
    return detail::plan_forward(out.embed, writer, of.embed, x, e...);
  }
  template <class Block, class... Ends>
  constexpr auto with_head(Writer& writer, Ends const&... e) {
    auto const result = [&] { return Abstract<Block, Writer>(writer, extents); };
    if constexpr (to_loss) {
      auto const target = this->template row<Target>(writer);
      return detail::plan_forward(out.head, writer, of.head, result, target, e...);
    } else {
      return detail::plan_forward(out.head, writer, of.head, result, e...);
    }
  }
  /// The sum of the loss, or the move of all results.
  template <class Result>
  constexpr void move_result(Result const& result) {
    using L = typename Result::type;
    Writer writer({});
    if constexpr (to_loss) {
      static_cast<void>(
          sd::computed(api::all_reduce<Axis>(Abstract<L, Writer>(writer, result.extents_data()))));
    } else {
      auto const row =
          sd::computed(api::expand<Micro>(Abstract<L, Writer>(writer, result.extents_data())));
      using Whole = typename std::remove_cvref_t<decltype(row)>::type;
      std::int64_t of_all[core::max_dims]{s.microbatches};
      for (std::size_t d = 0; d < Result::rank; ++d) of_all[d + 1] = result.extents()[d];
      Abstract<Whole, Writer> const whole(writer, of_all);
      out.results = detail::bytes_of(whole);
      static_cast<void>(sd::computed(api::broadcast_from<Axis>(whole, s.ranks - 1)));
    }
    out.sums = writer.plan();
  }

  constexpr StepPlan run() {
    Writer first({}), second({}), third({});
    auto const made = embedded(first, this->template end<Es>(first)...);
    using Block = typename std::remove_cvref_t<decltype(made)>::type;
    this->move(made);
    static_cast<void>([&](auto const&... w) {
      return detail::plan_forward(
          out.stage, second, of.stage, [&] { return Abstract<Block, Writer>(second, extents); },
          w...);
    }(detail::of_chunk<Chunk...>(this->template block<Ls>(second), 0)...));
    move_result(with_head<Block>(third, this->template end<Es>(third)...));
    std::int64_t others = this->template bytes<In>();
    if constexpr (to_loss) others += this->template bytes<Target>();
    this->give(sd::Pack<Es...>{}, sd::Pack<Ls...>{}, others);
    if constexpr (sizeof...(Chunk) > 0) out.of_rows = out.of_layers;
    return out;
  }
};

template <class Axis, class Micro, class Chunks, class Of, class In, class Target, class... Ws>
constexpr StepPlan plan_evaluation(Schedule const& schedule, Of const& of) {
  using Given = sd::Pack<Ws...>;
  Schedule const s = pipeline::forward_only(schedule);
  return EvaluationPlanner<Axis, Micro, Chunks, Of, In, Target,
                           decltype(detail::parameters_of<Axis, false>(Given{})),
                           decltype(detail::parameters_of<Axis, true>(Given{}))>{{s, of}}
      .run();
}

}  // namespace detail

/// The plan of an evaluation by `evaluate`, as of a step: without backward passes and gradients.
/// Refused: A05. Error E85.
template <class Axis, class Micro, class... Chunk, class Embed, class Stage, class Head, class In,
          class Target, class... Ws>
constexpr StepPlan plan(
    Evaluated<Axis, Micro, shardtype::detail::Pack<Chunk...>, true, Embed, Stage, Head> const& f,
    Type<In>, Type<Target>, Type<Ws>...) {
  using Chunks = shardtype::detail::Pack<Chunk...>;
  if constexpr (!detail::all_sized<Micro, Chunks, In, Target, Ws...>()) {
    return {};
  } else {
    return detail::plan_evaluation<Axis, Micro, Chunks, detail::Functions<Embed, Stage, Head>, In,
                                   Target, Ws...>(f.schedule, f.of);
  }
}
/// The same of `forward`, which has no targets.
template <class Axis, class Micro, class... Chunk, class Embed, class Stage, class Head, class In,
          class... Ws>
constexpr StepPlan plan(
    Evaluated<Axis, Micro, shardtype::detail::Pack<Chunk...>, false, Embed, Stage, Head> const& f,
    Type<In>, Type<Ws>...) {
  using Chunks = shardtype::detail::Pack<Chunk...>;
  if constexpr (!detail::all_sized<Micro, Chunks, In, Ws...>()) {
    return {};
  } else {
    return detail::plan_evaluation<Axis, Micro, Chunks, detail::Functions<Embed, Stage, Head>, In,
                                   void, Ws...>(f.schedule, f.of);
  }
}

}  // namespace shardtype::pipeline
