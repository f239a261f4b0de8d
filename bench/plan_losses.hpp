// Losses with their gradients in automatic mode: networks of two layers, and GPTs of one layer and
// more, in the layouts of data parallelism, of Megatron-LM, of fully sharded data parallelism and
// of both together.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "plan_blocks.hpp"

namespace plan_losses {

using namespace shardtype;
using plan_models::D, plan_models::E, plan_models::F, plan_models::S, plan_models::X,
    plan_models::Y;
using Grid = automatic_mode::Axes<X, Y>;

template <class In, class Up, class Down, class Use>
void mlp(Use const& use, char const* name) {
  auto const f = [](auto const& x, auto const& up, auto const& down) {
    return sum(matmul(max(matmul(x, up), 0.0F), down));
  };
  use(name, dry_run<Grid, In, Up, Down>(value_and_grad<1, 2>(f)).planned());
}
template <class Use>
void mlps(Use const& use) {
  using Rows = Tensor<float, Dim<S, X, Y>, Dim<D>>;
  using Batch = Tensor<float, Dim<S, X>, Dim<D>>;
  plan_losses::mlp<Rows, Tensor<float, Dim<D>, Dim<F>>, Tensor<float, Dim<F>, Dim<E>>>(use,
                                                                                       "loss_dp");
  plan_losses::mlp<Batch, Tensor<float, Dim<D>, Dim<F, Y>>, Tensor<float, Dim<F, Y>, Dim<E>>>(
      use, "loss_megatron");
  plan_losses::mlp<Rows, Tensor<float, Dim<D, X, Y>, Dim<F>>, Tensor<float, Dim<F, X, Y>, Dim<E>>>(
      use, "loss_fsdp");
  plan_losses::mlp<Tensor<float, Dim<S, X>, Dim<D, Y>>, Tensor<float, Dim<D, X>, Dim<F, Y>>,
                   Tensor<float, Dim<F, Y>, Dim<E, X>>>(use, "loss_2d");
  plan_losses::mlp<Batch, Tensor<float, Dim<D, X>, Dim<F, Y>>, Tensor<float, Dim<F, Y>, Dim<E, X>>>(
      use, "loss_fsdp_tensor");
}

struct B : Index<"B", 32> {};
struct T : Index<"T", 1024> {};
struct U : Index<"U", 1024> {};
struct C : Index<"C", 1024> {};
struct G : Index<"G", 1024> {};
struct N : Index<"N", 16> {};
struct H : Index<"H", 64> {};
struct W : Index<"W", 4096> {};

struct DataParallel {
  static constexpr char const* name = "dp";
  using In = Tensor<float, Dim<B, X, Y>, Dim<T>, Dim<C>>;
  using Head = Tensor<float, Dim<C>, Dim<N>, Dim<H>>;
  using Mix = Tensor<float, Dim<N>, Dim<H>, Dim<G>>;
  using Up = Tensor<float, Dim<C>, Dim<W>>;
  using Down = Tensor<float, Dim<W>, Dim<G>>;
};
struct Megatron {
  static constexpr char const* name = "megatron";
  using In = Tensor<float, Dim<B, X>, Dim<T>, Dim<C>>;
  using Head = Tensor<float, Dim<C>, Dim<N, Y>, Dim<H>>;
  using Mix = Tensor<float, Dim<N, Y>, Dim<H>, Dim<G>>;
  using Up = Tensor<float, Dim<C>, Dim<W, Y>>;
  using Down = Tensor<float, Dim<W, Y>, Dim<G>>;
};
struct FullySharded {
  static constexpr char const* name = "fsdp";
  using In = DataParallel::In;
  using Head = Tensor<float, Dim<C, X, Y>, Dim<N>, Dim<H>>;
  using Mix = Tensor<float, Dim<N>, Dim<H>, Dim<G, X, Y>>;
  using Up = Tensor<float, Dim<C, X, Y>, Dim<W>>;
  using Down = Tensor<float, Dim<W>, Dim<G, X, Y>>;
};
struct ShardedTensor {
  static constexpr char const* name = "fsdp_tensor";
  using In = Tensor<float, Dim<B, X>, Dim<T>, Dim<C, Y>>;
  using Head = Tensor<float, Dim<C, X>, Dim<N, Y>, Dim<H>>;
  using Mix = Tensor<float, Dim<N, Y>, Dim<H>, Dim<G, X>>;
  using Up = Tensor<float, Dim<C, X>, Dim<W, Y>>;
  using Down = Tensor<float, Dim<W, Y>, Dim<G, X>>;
};
using Gain = Tensor<float, Dim<C>>;

/// Names values that several read: what hangs on a C++ number is no part of a type.
template <int Layer, int Number>
struct Once {};

template <class Tag, class A, class Scale>
auto normed(A const& x, Scale const& gain) {
  auto const centred = share<std::pair<Tag, Once<0, 0>>>(x - mean<C>(x));
  return share<Tag>(centred / sqrt(mean<C>(centred * centred) + 1e-5F) * gain);
}
/// One layer; `w`: its eight weights.
template <int Layer, class A, class... Ws>
auto layer(A const& x, std::tuple<Ws...> const& w) {
  auto const a = plan_losses::normed<Once<Layer, 1>>(x, std::get<0>(w));
  auto const q = einsum<B, T, N, H>(a, std::get<1>(w));
  auto const k = relabel<T, U>(einsum<B, T, N, H>(a, std::get<2>(w)));
  auto const v = relabel<T, U>(einsum<B, T, N, H>(a, std::get<3>(w)));
  auto const weights = softmax<U>(einsum<B, N, T, U>(q, k) * 0.125F);
  auto const mixed = einsum<B, T, G>(einsum<B, T, N, H>(weights, v), std::get<4>(w));
  auto const h = share<Once<Layer, 2>>(relabel<G, C>(mixed) + x);
  auto const b = plan_losses::normed<Once<Layer, 3>>(h, std::get<5>(w));
  auto const wide = max(einsum<B, T, W>(b, std::get<6>(w)), 0.0F);
  return share<Once<Layer, 4>>(relabel<G, C>(einsum<B, T, G>(wide, std::get<7>(w))) + h);
}
template <int Layers>
struct Gpt {
  /// x, and eight weights for each layer.
  template <class A, class... Ws>
  auto operator()(A const& x, Ws const&... ws) const {
    return mean(hidden<0>(x, std::tuple<Ws const&...>(ws...)));
  }

 private:
  template <int Layer, class A, class All>
  static auto hidden(A const& x, All const& all) {
    if constexpr (Layer == Layers) {
      return x;
    } else {
      return hidden<Layer + 1>(
          [&]<std::size_t... K>(std::index_sequence<K...>) {
            return plan_losses::layer<Layer>(x, std::tie(std::get<8 * Layer + K>(all)...));
          }(std::make_index_sequence<8>{}),
          all);
    }
  }
};
template <class L, int Layers, class Use>
void gpt(Use const& use, char const* name) {
  using Layer = detail::Pack<Gain, typename L::Head, typename L::Head, typename L::Head,
                             typename L::Mix, Gain, typename L::Up, typename L::Down>;
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    using Weights = decltype((detail::Pack<>{} | ... | (static_cast<void>(K), Layer{})));
    [&]<class... Ws, int... N>(detail::Pack<Ws...>, std::integer_sequence<int, N...>) {
      use(name, dry_run<Grid, typename L::In, Ws...>(value_and_grad<(N + 1)...>(Gpt<Layers>{}))
                    .planned());
    }(Weights{}, std::make_integer_sequence<int, 8 * Layers>{});
  }(std::make_index_sequence<Layers>{});
}
template <class Use>
void gpts(Use const& use) {
  plan_losses::gpt<DataParallel, 1>(use, "gpt_dp");
  plan_losses::gpt<Megatron, 1>(use, "gpt_megatron");
  plan_losses::gpt<FullySharded, 1>(use, "gpt_fsdp");
  plan_losses::gpt<ShardedTensor, 1>(use, "gpt_fsdp_tensor");
}

}  // namespace plan_losses
