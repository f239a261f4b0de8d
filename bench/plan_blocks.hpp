#pragma once
// Longer programs of automatic mode: the gradients of networks of several layers, by hand, and
// blocks of a transformer, on meshes of two and of three axes.
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "plan_sizes.hpp"

namespace plan_models {

/// The widths before and behind layer `Layer`, counted from 1, of a network D -> F -> D -> F ...
template <std::size_t Layer>
using Before = std::conditional_t<Layer % 2 == 1, D, F>;
template <std::size_t Layer>
using Behind = std::conditional_t<Layer % 2 == 1, F, D>;

/// Names values that are computed once: C++ numbers are no part of a type.
template <std::size_t Number>
struct Once {};

/// What layer `Layer` computes before its relu, and behind it; layer 0 is the operand.
template <std::size_t Layer, class All>
auto activation(All const& all);
template <std::size_t Layer, class All>
auto product(All const& all) {
  return share<Once<Layer>>(
      einsum<S, Behind<Layer>>(plan_models::activation<Layer - 1>(all), std::get<Layer>(all)));
}
template <std::size_t Layer, class All>
auto activation(All const& all) {
  if constexpr (Layer == 0)
    return std::get<0>(all);
  else
    return share<Once<10 + Layer>>(max(plan_models::product<Layer>(all), 0.0F));
}
/// The cotangent of the product of layer `Layer` of `Layers`; `g`: of the result.
template <std::size_t Layer, std::size_t Layers, class All, class Ct>
auto cotangent(All const& all, Ct const& g) {
  if constexpr (Layer == Layers)
    return g;
  else
    return share<Once<20 + Layer>>(
        where(plan_models::product<Layer>(all) > 0.0F,
              einsum<S, Behind<Layer>>(plan_models::cotangent<Layer + 1, Layers>(all, g),
                                       std::get<Layer + 1>(all)),
              0.0F));
}

/// Weights by rows over all ranks.
struct ByRows {
  static constexpr char const* name = "rows";
  using In = Tensor<float, Dim<S, X, Y>, Dim<D>>;
  template <std::size_t Layer>
  using Weight = Tensor<float, Dim<Before<Layer>, X, Y>, Dim<Behind<Layer>>>;
  template <std::size_t Layers>
  using Ct = Tensor<float, Dim<S, X, Y>, Dim<Behind<Layers>>>;
};
/// Weights by blocks, with the widths D over x and F over y.
struct ByBlocks {
  static constexpr char const* name = "blocks";
  using In = Tensor<float, Dim<S, X>, Dim<D, Y>>;
  template <std::size_t Layer>
  using Weight = std::conditional_t<Layer % 2 == 1, Tensor<float, Dim<D, X>, Dim<F, Y>>,
                                    Tensor<float, Dim<F, Y>, Dim<D, X>>>;
  template <std::size_t Layers>
  using Ct = Tensor<float, Dim<S, X>, Dim<Behind<Layers>, Y>>;
};
template <class How, std::size_t... Layer, class Use>
void network(Use const& use, std::index_sequence<Layer...>) {
  constexpr std::size_t layers = sizeof...(Layer);
  std::string const name = "mlp" + std::to_string(layers) + "_grad_" + std::string(How::name);
  plan_models::planned<typename How::template Ct<layers>, typename How::In,
                       typename How::template Weight<Layer + 1>...>(
      use, name.c_str(), [](auto g, auto x, auto... w) {
        auto const all = std::tuple(x, w...);
        return evaluate<Outs<typename How::template Weight<Layer + 1>...>>(
            std::tuple(einsum<Before<Layer + 1>, Behind<Layer + 1>>(
                plan_models::activation<Layer>(all),
                plan_models::cotangent<Layer + 1, layers>(all, g))...));
      });
}

struct Heads : Index<"N", 16> {};
struct C : Index<"C", 1024> {};
struct C2 : Index<"G", 1024> {};
struct Wide : Index<"W", 4096> {};

template <class Centred, class A, class Gain>
auto scaled_rows(A const& x, Gain const& gain) {
  auto const c = share<Centred>(x - mean<C>(x));
  return c / sqrt(mean<C>(c * c) + 1e-5F) * gain;
}
/// `Blocks` blocks of a transformer, eight weights each.
template <int Blocks, class In, class... Ws>
auto transformer(In const& x, Ws const&... ws) {
  if constexpr (Blocks == 0) {
    return x;
  } else {
    auto const w = std::tie(ws...);
    constexpr std::size_t first = 10 * Blocks;
    auto const a = share<Once<first>>(plan_models::scaled_rows<Once<first + 1>>(x, std::get<0>(w)));
    auto const q = einsum<Batch, T, Heads, H>(a, std::get<1>(w));
    auto const k = relabel<T, U>(einsum<Batch, T, Heads, H>(a, std::get<2>(w)));
    auto const v = relabel<T, U>(einsum<Batch, T, Heads, H>(a, std::get<3>(w)));
    auto const scores = share<Once<first + 2>>(einsum<Batch, Heads, T, U>(q, k) * 0.125F);
    auto const e = share<Once<first + 3>>(exp(scores - max<U>(scores)));
    auto const mixed = einsum<Batch, T, Heads, H>(e / sum<U>(e), v);
    auto const h =
        share<Once<first + 4>>(relabel<C2, C>(einsum<Batch, T, C2>(mixed, std::get<4>(w))) + x);
    auto const rows = plan_models::scaled_rows<Once<first + 5>>(h, std::get<5>(w));
    auto const hidden = max(einsum<Batch, T, Wide>(rows, std::get<6>(w)), 0.0F);
    auto const y =
        share<Once<first + 6>>(relabel<C2, C>(einsum<Batch, T, C2>(hidden, std::get<7>(w))) + h);
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return plan_models::transformer<Blocks - 1>(y, std::get<8 + K>(w)...);
    }(std::make_index_sequence<sizeof...(Ws) - 8>{});
  }
}
template <class Axes, int Blocks, class Use>
void blocks(Use const& use, char const* name) {
  using In = Tensor<float, Dim<Batch, X>, Dim<T>, Dim<C, Y>>;
  using Gain = Tensor<float, Dim<C>>;
  using Split = Tensor<float, Dim<C, X>, Dim<Heads, Y>, Dim<H>>;
  using Joined = Tensor<float, Dim<Heads, Y>, Dim<H>, Dim<C2, X>>;
  using Up = Tensor<float, Dim<C, X>, Dim<Wide, Y>>;
  using Down = Tensor<float, Dim<Wide, Y>, Dim<C2, X>>;
  auto const f = [](auto x, auto... w) {
    return evaluate<In>(plan_models::transformer<Blocks>(x, w...));
  };
  if constexpr (Blocks == 1)
    use(name, dry_run<Axes, In, Gain, Split, Split, Split, Joined, Gain, Up, Down>(f).planned());
  else
    use(name, dry_run<Axes, In, Gain, Split, Split, Split, Joined, Gain, Up, Down, Gain, Split,
                      Split, Split, Joined, Gain, Up, Down>(f)
                  .planned());
}

struct Third : Axis<"z", 2> {};

/// Calls `use(NAME, PLAN)` for each of the longer programs.
template <class Use>
void for_all_longer(Use const& use) {
  plan_models::network<ByRows>(use, std::make_index_sequence<2>{});
  plan_models::network<ByBlocks>(use, std::make_index_sequence<3>{});
  plan_models::network<ByRows>(use, std::make_index_sequence<4>{});
  plan_models::network<ByBlocks>(use, std::make_index_sequence<5>{});
  plan_models::network<ByBlocks>(use, std::make_index_sequence<6>{});
  using Three = automatic_mode::Axes<X, Y, Third>;
  plan_models::blocks<Grid, 1>(use, "transformer");
  plan_models::blocks<Three, 1>(use, "block1_3axes");
  plan_models::blocks<Grid, 2>(use, "block2_2axes");
  plan_models::blocks<Three, 2>(use, "block2_3axes");
}

}  // namespace plan_models
