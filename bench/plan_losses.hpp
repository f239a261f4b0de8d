// Losses with their gradients in automatic mode: networks of two layers, and GPTs of one layer and
// more, in the layouts of data parallelism, of Megatron-LM, of fully sharded data parallelism and
// of both together.
#pragma once

#include <array>
#include <cstddef>
#include <string>

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

template <class Layout, std::size_t Layers>
struct Gpt {
  template <template <class> class As>
  struct Layer {
    As<Gain> norm1;
    As<typename Layout::Head> q, k, v;
    As<typename Layout::Mix> out;
    As<Gain> norm2;
    As<typename Layout::Up> up;
    As<typename Layout::Down> down;
  };
  template <template <class> class As>
  struct Model {
    std::array<Layer<As>, Layers> layers;
  };

  static auto normed(auto const& x, auto const& gain) {
    auto const centred = (x - mean<C>(x)).tensor();
    return (centred / sqrt(mean<C>(centred * centred) + 1e-5F) * gain).tensor();
  }
  static auto layer(auto const& x, auto const& w) {
    auto const a = normed(x, w.norm1);
    auto const q = einsum<B, T, N, H>(a, w.q);
    auto const k = relabel<T, U>(einsum<B, T, N, H>(a, w.k));
    auto const v = relabel<T, U>(einsum<B, T, N, H>(a, w.v));
    auto const weights = softmax<U>(einsum<B, N, T, U>(q, k) * 0.125F);
    auto const mixed = einsum<B, T, G>(einsum<B, T, N, H>(weights, v), w.out);
    auto const h = (relabel<G, C>(mixed) + x).tensor();
    auto const wide = max(einsum<B, T, W>(normed(h, w.norm2), w.up), 0.0F);
    return (relabel<G, C>(einsum<B, T, G>(wide, w.down)) + h).tensor();
  }
  static constexpr auto loss = [](auto const& model, auto const& in) {
    auto x = layer(in, model.layers[0]);
    for (std::size_t k = 1; k < Layers; ++k) x = layer(x, model.layers[k]);
    return mean(x);
  };
};
template <class Layout, std::size_t Layers, class Use>
void gpt(Use const& use, std::string const& prefix) {
  using Of = Gpt<Layout, Layers>;
  using Model = typename Of::template Model<value_t>;
  use((prefix + Layout::name).c_str(),
      dry_run<Grid, Model, typename Layout::In>(value_and_grad<0>(Of::loss)).planned());
}
template <std::size_t Layers, class Use>
void gpts(Use const& use, std::string const& prefix) {
  plan_losses::gpt<DataParallel, Layers>(use, prefix);
  plan_losses::gpt<Megatron, Layers>(use, prefix);
  plan_losses::gpt<FullySharded, Layers>(use, prefix);
  plan_losses::gpt<ShardedTensor, Layers>(use, prefix);
}

}  // namespace plan_losses
