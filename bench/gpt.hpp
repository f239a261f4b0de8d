#pragma once
// The GPT of training steps: 4 layers, 256 features, 8 heads.

#include <array>
#include <cstddef>
#include <cstdint>

#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

namespace gpt {

using namespace shardtype;

struct D : Index<"D", 256> {};   // features
struct H : Index<"H", 8> {};     // heads
struct F : Index<"F", 32> {};    // features of a head
struct M : Index<"M", 1024> {};  // hidden features
inline constexpr int layers = 4;

// When the parameters of a block are gathered: by the block; one block ahead; and again backward.
enum class Gathers { in_layer, ahead, twice };

// `P`: the indices Sequences, Positions and Bytes; the axis Data, over which sequences are split;
// the shardings Parameters and Activations; and In, how blocks use activations.
template <class P, class T>
struct Gpt {
  using X = typename P::Data;
  using B = typename P::Sequences;
  using S = typename P::Positions;
  using V = typename P::Bytes;
  template <class... Is>
  using W = train::Placed<typename P::Parameters, T, Is...>;
  template <class... Is>
  using A = train::Placed<typename P::Activations, T, Is...>;
  using Ids = train::Placed<typename P::Activations, std::int64_t, B, S>;

  template <template <class> class As>
  struct Block {
    nn::Norm<As, W<D>> norm1;
    nn::Attention<As, W<D, H, F>, W<D, H, F>, W<H, F, D>> attention;
    nn::Norm<As, W<D>> norm2;
    nn::Mlp<As, W<D, M>, W<M>, W<M, D>, W<D>> mlp;
  };
  template <template <class> class As>
  struct Model {
    As<W<V, D>> table;
    std::array<Block<As>, layers> blocks;
    nn::Norm<As, W<D>> norm;
  };

  static constexpr auto block(auto const& x, auto const& b) {
    nn::Use<Reduced<X>> const use;
    typename P::In const in;
    auto const a = in(nn::layer_norm<D>(x, b.norm1, use));
    auto const q = nn::rotary<S, F>(matmul(a, use(b.attention.q)));
    auto const k = nn::rotary<S, F>(matmul(a, use(b.attention.k)));
    auto const mixed = nn::attention(q, k, matmul(a, use(b.attention.v)));
    auto const y = x + einsum<A<B, S, D>>(mixed, use(b.attention.out));
    auto const c = in(nn::layer_norm<D>(y, b.norm2, use));
    return (y + nn::mlp<A<B, S, D>>(c, b.mlp, use)).tensor();
  }
  template <Gathers gathers>
  struct Loss {
    constexpr auto operator()(auto const& m, auto const& ids, auto const& targets) const {
      nn::Use<Reduced<X>> const use;
      auto const layer = [](auto const& x, auto const& b) { return block(x, b); };
      auto const table = use(m.table);
      auto const first = nn::embedding<V, A<B, S, D>>(table, ids);
      auto const x = [&] {
        if constexpr (gathers == Gathers::twice) {
          return prefetch_layers<Reduced<X>>(layer)(first, m.blocks);
        } else if constexpr (gathers == Gathers::ahead) {
          return prefetch_layers<Reduced<X>>(layer, keep_gathered)(first, m.blocks);
        } else {
          auto h = layer(first, m.blocks[0]);
          for (std::size_t k = 1; k < layers; ++k) h = layer(h, m.blocks[k]);
          return h;
        }
      }();
      auto const last = typename P::In{}(nn::layer_norm<D>(x, m.norm, use));
      return nn::mean_cross_entropy<V, Tensor<shardtype::detail::computed_t<T>>>(
          matmul(last, table), targets);
    }
  };
  static constexpr Loss<Gathers::in_layer> loss{};
  static constexpr Loss<Gathers::ahead> ahead_loss{};
  static constexpr Loss<Gathers::twice> prefetched_loss{};
};

}  // namespace gpt
