// Models for tests of pipelines: their parameters, and the unsplit model beside them.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include <shardtype/shardtype.hpp>

namespace harness {

// A parameter of smooth values around 0, or 1 if it is a gain. The dims of its type without a size
// are those of the chunks, `C`, and of the layers.
template <class C, class W, class Mesh>
W pipelined_parameter(Mesh const& mesh, std::int64_t chunks, std::int64_t layers, double height,
                      double speed) {
  using Scope = shardtype::core::Scope<W>;
  std::array<std::int64_t, W::rank> extents{};
  for (std::size_t d = 0; d < W::rank; ++d) {
    auto const label = W::spec.dims[d].label;
    std::int64_t const fixed = Scope::names.label_extent[label];
    bool const of_chunks = Scope::names.label_id[label] == shardtype::core::identity<C>;
    extents[d] = fixed != shardtype::dynamic ? fixed : of_chunks ? chunks : layers;
  }
  bool const is_gain = W::rank % 2 == 1 && W::rank < 5;
  return shardtype::from_function<W>(mesh, extents, [=](auto... at) {
    std::int64_t number = 0;
    ((number = number * 7 + at), ...);
    return (is_gain ? 1 : 0) + height * std::sin(speed * static_cast<double>(number) + 0.3);
  });
}
template <class C, class... Ws, class Mesh>
std::tuple<Ws...> pipelined_model(Mesh const& mesh, std::int64_t chunks, std::int64_t layers,
                                  double height, shardtype::Type<std::tuple<Ws...>>) {
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    return std::tuple<Ws...>{pipelined_parameter<C, Ws>(mesh, chunks, layers, height,
                                                        0.3 + 0.17 * static_cast<double>(K))...};
  }(std::index_sequence_for<Ws...>{});
}
// The largest difference of two models of other shardings; `summed` ends what is unreduced.
template <class... As, class... Bs, class Summed>
double model_difference(std::tuple<As...> const& a, std::tuple<Bs...> const& b,
                        Summed const& summed) {
  using shardtype::abs, shardtype::item, shardtype::max;
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    double most = 0;
    ((most = std::fmax(
          most, item(max(abs(shardtype::reshard<Bs>(summed(std::get<K>(a))) - std::get<K>(b)))))),
     ...);
    return most;
  }(std::index_sequence_for<As...>{});
}
// The loss of an unsplit model of two parameters of the ends and others of the layers: the mean
// over the microbatches, along `M`; chunks, along `C`, follow each other.
template <class M, class C, class Embed, class Layers, class Head>
constexpr auto unsplit_model(Embed const& embed, Layers const& layers, Head const& head) {
  return [=](auto const& model, auto const& ids, auto const& targets) {
    return std::apply(
        [&](auto const& table, auto const& gain, auto const& first, auto const&... w) {
          auto const of = [&](std::int64_t m) {
            auto const x = embed(shardtype::at<M>(ids, m), table, gain);
            auto const out =
                shardtype::loop(first.template extent<C>(), x, [&](std::int64_t c, auto const& h) {
                  return layers(h, shardtype::at<C>(first, c), shardtype::at<C>(w, c)...);
                });
            return head(out, shardtype::at<M>(targets, m), table, gain);
          };
          std::int64_t const all = ids.template extent<M>();
          auto const others = [&](std::int64_t m, auto const& sum) { return sum + of(m + 1); };
          return shardtype::loop(all - 1, of(0), others) / static_cast<double>(all);
        },
        model);
  };
}

}  // namespace harness
