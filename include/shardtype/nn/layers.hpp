#pragma once
/// Layers of products and elementwise functions, their parameters, and a cache of keys and values.

#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/autodiff/settle.hpp>
#include <shardtype/autodiff/structure.hpp>
#include <shardtype/check/call_site.hpp>
#include <shardtype/nn/attention.hpp>
#include <shardtype/nn/norm.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/ops/elementwise.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/products.hpp>
#include <shardtype/tensor/create.hpp>

namespace shardtype::nn {

/// How parameters are used: `Use<Reduced<X>>` stands for `used_as<Reduced<X>>(w)` of each, `Use<>` for `w` itself.
template <class... Attributes>
struct Use {
  template <class W>
  constexpr auto operator()(W const& w) const {
    if constexpr (sizeof...(Attributes) == 0) {
      return w;
    } else {
      return shardtype::used_as<Attributes...>(w);
    }
  }
};

namespace detail {

template <class Vec>
struct NormOf {
  template <template <class> class As>
  struct Parameters {
    As<Vec> gain, bias;
  };
};
template <class W, class B>
struct LinearOf {
  template <template <class> class As>
  struct Parameters {
    As<W> weights;
    As<B> bias;
  };
};
template <class W1, class B1, class W2, class B2>
struct MlpOf {
  template <template <class> class As>
  struct Parameters {
    As<W1> w1;
    As<B1> b1;
    As<W2> w2;
    As<B2> b2;
  };
};
template <class W1, class W2>
struct GatedMlpOf {
  template <template <class> class As>
  struct Parameters {
    As<W1> gate, up;
    As<W2> down;
  };
};
template <class Q, class K, class O>
struct AttentionOf {
  template <template <class> class As>
  struct Parameters {
    As<Q> q;
    As<K> k, v;
    As<O> out;
  };
};

}  // namespace detail

/// Parameters of layer_norm: gain and bias of type `Vec`, `[D]`.
template <template <class> class As, class Vec>
using Norm = typename detail::NormOf<Vec>::template Parameters<As>;
/// Parameters of linear: weights `[D, M]`, bias `[M]`.
template <template <class> class As, class W, class B>
using Linear = typename detail::LinearOf<W, B>::template Parameters<As>;
/// Parameters of mlp: w1 `[D, M]`, b1 `[M]`, w2 `[M, D]`, b2 `[D]`.
template <template <class> class As, class W1, class B1, class W2, class B2>
using Mlp = typename detail::MlpOf<W1, B1, W2, B2>::template Parameters<As>;
/// Parameters of gated_mlp: gate and up `[D, M]`, down `[M, D]`.
template <template <class> class As, class W1, class W2>
using GatedMlp = typename detail::GatedMlpOf<W1, W2>::template Parameters<As>;
/// Weights of attention: q `[D, H, F]`, k and v `[D, G, F]`, out `[H, F, D]`.
template <template <class> class As, class Q, class K, class O>
using Attention = typename detail::AttentionOf<Q, K, O>::template Parameters<As>;

namespace api {

/// x w: the product over what x and w share. Strict `linear(x, w)` is `matmul(x, w)`; with a named result,
/// `linear<Dim<B, X>, Dim<S>, Dim<D>>(x, w)`, it is `einsum` of it, which may sum over several indices and communicate.
/// `x[B@X, S, D]`, `w[D, M@Y]` -> `[B@X, S, M@Y]`. Refusals, errors and communication as these.
template <class... Out, class A, class W>
constexpr auto linear(core::Argument<A> const& x, W const& w, checking::CallSite where = {}) {
  if constexpr (sizeof...(Out) == 0) {
    return shardtype::matmul(x.self(), w, where);
  } else {
    return shardtype::einsum<Out...>(x.self(), w, where);
  }
}
/// x w + b, an expression: a function of it is in one kernel with the sum. `b[M@Y]`.
template <class... Out, class A, class W, class B>
  requires(!std::is_convertible_v<B const&, std::source_location>)
constexpr auto linear(core::Argument<A> const& x, W const& w, B const& b,
                      checking::CallSite where = {}) {
  return api::linear<Out...>(x, w, where) + b;
}

}  // namespace api
namespace detail {

/// x w + b of parameters, w used first: compilers choose the order of arguments, and plans another one than runs.
template <class... Out, class A, class W, class B, class Used>
constexpr auto affine(A const& x, W const& w, B const& b, Used const& use,
                      checking::CallSite where) {
  auto const product = api::linear<Out...>(x, use(w), where);
  return product + use(b);
}
/// The strict product with the dims of the pack.
template <class... Ls, class A, class B>
constexpr auto product_along(shardtype::detail::Pack<Ls...>, A const& a, B const& b,
                             std::source_location const& where) {
  return shardtype::einsum<Ls...>(a, b, where);
}

}  // namespace detail
namespace api {

/// The rows of a table that ids name: `table[V, D]`, `ids[B@X, S]` -> `embedding<V>(table, ids)` -> `[B@X, S, D]`.
/// `take<V>`, by the name that models have for it; named, the table may be split, `embedding<V, Dim<B, X>, Dim<S>,
/// Dim<D>>(table, ids)`. Refusals, errors and communication as take.
template <class V, class... Out, class A, class Ids>
constexpr auto embedding(core::Argument<A> const& table, Ids const& ids,
                         checking::CallSite where = {}) {
  return shardtype::take<V, Out...>(table.self(), ids, where);
}

/// silu(gate) up, elementwise: of two operands of the same dims. Source: Shazeer, "GLU variants improve transformer",
/// 2020.
template <class A, class B>
constexpr auto swiglu(core::Argument<A> const& gate, B const& up) {
  return shardtype::silu(gate.self()) * up;
}
/// gelu(gate) up, elementwise. Source as swiglu.
template <class A, class B>
constexpr auto geglu(core::Argument<A> const& gate, B const& up) {
  return shardtype::gelu(gate.self()) * up;
}

/// layer_norm by the members `gain` and `bias` of `p` (`Norm`), as `use` says:
/// `layer_norm<D>(x, model.norm, nn::Use<Reduced<X>>{})`. Communicates what `use` does.
template <class D, class A, class P, class... Us>
  requires requires(P const& p) { p.gain, p.bias; }
constexpr auto layer_norm(core::Argument<A> const& x, P const& p, Use<Us...> const& use = {},
                          double eps = 1e-5, checking::CallSite where = {}) {
  // compilers choose the order of arguments, and plans another one than runs
  auto const gain = use(p.gain);
  return api::layer_norm<D>(x, gain, use(p.bias), eps, where);
}
/// linear by the members `weights` and `bias` of `p` (`Linear`).
template <class... Out, class A, class P, class... Us>
  requires requires(P const& p) { p.weights, p.bias; }
constexpr auto linear(core::Argument<A> const& x, P const& p, Use<Us...> const& use = {},
                      checking::CallSite where = {}) {
  return detail::affine<Out...>(x, p.weights, p.bias, use, where);
}

/// gelu_tanh(x w1 + b1) w2 + b2, of the members of `p` (`Mlp`). `x[B@X, S, D]` -> `[B@X, S, D]`. Where Y splits the
/// hidden features, `w1[D, M@Y]`, `w2[M@Y, D]`, the result is named, `mlp<Dim<B, X>, Dim<S>, Dim<D>>(x, p, use)`: one
/// all_reduce, and x is used as `{R:Y}` (one all_reduce backward). Source: Shoeybi et al., "Megatron-LM", 2019.
template <class... Out, class A, class P, class... Us>
  requires requires(P const& p) { p.w1, p.b1, p.w2, p.b2; }
constexpr auto mlp(core::Argument<A> const& x, P const& p, Use<Us...> const& use = {},
                   checking::CallSite where = {}) {
  auto const hidden = shardtype::gelu_tanh(detail::affine(x, p.w1, p.b1, use, where));
  return detail::affine<Out...>(hidden, p.w2, p.b2, use, where).tensor();
}
/// (silu(x gate) (x up)) down, of the members of `p` (`GatedMlp`), as mlp. Source: Shazeer, 2020.
template <class... Out, class A, class P, class... Us>
  requires requires(P const& p) { p.gate, p.up, p.down; }
constexpr auto gated_mlp(core::Argument<A> const& x, P const& p, Use<Us...> const& use = {},
                         checking::CallSite where = {}) {
  auto const gate = api::linear(x, use(p.gate), where);
  return api::linear<Out...>(api::swiglu(gate, api::linear(x, use(p.up), where)), use(p.down),
                             where);
}
/// attention(x q, x k, x v) out, of the members of `p` (`Attention`). `x[B@X, S, D]` -> `[B@X, S, D]`. Where Y splits the
/// heads, the result is named and communicates as that of mlp (without a name it is unreduced over Y); x is used as `{R:Y}`.
template <class... Out, class A, class P, class... Us>
  requires requires(P const& p) { p.q, p.k, p.v, p.out; }
constexpr auto self_attention(core::Argument<A> const& x, P const& p, Use<Us...> const& use = {},
                              AttentionOptions const& options = {}, checking::CallSite where = {}) {
  auto const q = api::linear(x, use(p.q), where);
  auto const k = api::linear(x, use(p.k), where);
  auto const mixed = api::attention(q, k, api::linear(x, use(p.v), where), options, where);
  if constexpr (sizeof...(Out) == 0) {
    return detail::product_along(autodiff::labels_of_t<autodiff::tensor_of<A>>{}, mixed, use(p.out),
                                 where);
  } else {
    return shardtype::einsum<Out...>(mixed, use(p.out), where);
  }
}

}  // namespace api

/// Keys and values of the positions so far, for generation: `A` is a Tensor `[B@X, K, G@Y, F]` with room for all
/// positions. `append` writes the next ones in place; `attention(q, cache.keys, cache.values, cache.options(n))` of the
/// last n queries reads those that are there, because later keys are behind every query.
///
///     auto cache = nn::KeyValueCache<KV>::of(mesh);
///     cache.append(k, v);                                                     // of n new positions
///     auto const mixed = nn::attention(q, cache.keys, cache.values, cache.options(n));
template <class A>
struct KeyValueCache {
  A keys, values;
  std::int64_t length = 0;  ///< positions that are filled

  /// An empty cache; extents may be left out if all indices have static ones. Communicates nothing.
  template <class M>
  static KeyValueCache of(M const& mesh, std::array<std::int64_t, A::rank> const& extents) {
    using T = typename A::element;
    return {shardtype::full<A>(mesh, extents, T{}), shardtype::full<A>(mesh, extents, T{})};
  }
  template <class M>
  static KeyValueCache of(M const& mesh) {
    return of(mesh, shardtype::detail::extents_from_type<A>());
  }
  /// Writes keys and values `[B@X, N, G@Y, F]` of the next positions; N may be any index. Communicates nothing. Errors:
  /// E41 no room, or other extents; E21 another tensor shares the memory.
  template <class B>
  void append(B const& k, B const& v,
              std::source_location const& where = std::source_location::current()) {
    static_assert(
        A::rank == 4 && B::rank == 4 && std::is_same_v<typename A::element, typename B::element>,
        "keys and values are [B, K, G, F], of the cache's element type");
    std::int64_t const n = k.extents()[1];
    for (std::size_t d = 0; d < 4; ++d)
      if (d == 1
              ? length + n > keys.extents()[1]
              : k.rows()[d].size() != keys.rows()[d].size() || k.extents()[d] != keys.extents()[d])
        throw Error("E41",
                    "the cache has room for " + std::to_string(keys.extents()[1]) + " positions, " +
                        std::to_string(length) + " are filled, and " + std::to_string(n) +
                        " are appended; all else is as in the cache",
                    FailedOn::every_rank);
    write(keys, k, where);
    write(values, v, where);
    length += n;
  }
  /// Options of attention for the last `queries` positions.
  AttentionOptions options(std::int64_t queries, double scale = 0) const {
    return {true, scale, length - queries};
  }

 private:
  template <class B>
  void write(A& to, B const& from, std::source_location const& where) const {
    if (!to.mesh().here() || from.local_size() == 0) return;
    auto const n = static_cast<std::size_t>(from.rows()[1].size());
    auto const at = static_cast<std::size_t>(length);
    auto const target = to.mutable_local(where);
    Kokkos::deep_copy(
        Kokkos::subview(target, Kokkos::ALL, std::pair<std::size_t, std::size_t>(at, at + n),
                        Kokkos::ALL, Kokkos::ALL),
        from.local());
  }
};

}  // namespace shardtype::nn
