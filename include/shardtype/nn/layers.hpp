#pragma once
/// Layers of products and elementwise functions, their parameters, and a cache of keys and values.
/// How a layer uses its parameters, and whether its products are overlapped with their
/// communication, is said by Use and Overlapped.

#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/autodiff/structure.hpp>
#include <shardtype/check/call_site.hpp>
#include <shardtype/nn/attention.hpp>
#include <shardtype/nn/labels.hpp>
#include <shardtype/nn/norm.hpp>
#include <shardtype/nn/use.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/ops/elementwise.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/rows.hpp>
#include <shardtype/tensor/create.hpp>

namespace shardtype::nn {

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
template <class Q, class K, class O, class... Biases>
struct AttentionOf {
  template <template <class> class As>
  struct Parameters {
    As<Q> q;
    As<K> k, v;
    As<O> out;
  };
};
template <class Q, class K, class O, class QBias, class KBias, class... OBias>
struct AttentionOf<Q, K, O, QBias, KBias, OBias...> {
  template <template <class> class As>
  struct Parameters {
    As<Q> q;
    As<K> k, v;
    As<O> out;
    As<QBias> q_bias;
    As<KBias> k_bias, v_bias;
  };
};
template <class Q, class K, class O, class QBias, class KBias, class OBias>
struct AttentionOf<Q, K, O, QBias, KBias, OBias> {
  template <template <class> class As>
  struct Parameters {
    As<Q> q;
    As<K> k, v;
    As<O> out;
    As<QBias> q_bias;
    As<KBias> k_bias, v_bias;
    As<OBias> out_bias;
  };
};
template <class W, class O, class... Biases>
struct FusedAttentionOf {
  template <template <class> class As>
  struct Parameters {
    As<W> qkv;
    As<O> out;
  };
};
template <class W, class O, class WBias, class OBias>
struct FusedAttentionOf<W, O, WBias, OBias> {
  template <template <class> class As>
  struct Parameters {
    As<W> qkv;
    As<O> out;
    As<WBias> qkv_bias;
    As<OBias> out_bias;
  };
};

/// A dim inside of gated_mlp.
struct GateAndUp : Index<"gate and up"> {};

/// The value of an expression, once; in automatic mode it is the planner's.
template <class E>
constexpr auto value_of(E const& e) {
  if constexpr (core::is_lazy<E>) {
    return e;
  } else {
    return e.tensor();
  }
}
/// value + b, where b is used for it.
template <class V, class B, class H>
constexpr auto with_bias(V const& value, B const& b, H const& how,
                         std::source_location const& where) {
  return value + how.template beside<V>(b, where);
}

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
/// Weights of attention: q `[D, H, F]`, k and v `[D, G, F]`, out `[H, F, D]`. With more types also
/// q_bias `[H, F]`, k_bias and v_bias `[G, F]`, and out_bias `[D]`, which may be left out.
template <template <class> class As, class Q, class K, class O, class... Biases>
using Attention = typename detail::AttentionOf<Q, K, O, Biases...>::template Parameters<As>;
/// Weights of attention with those of queries, keys and values in one tensor, in this order along
/// its dim Q: qkv `[D, Q, H, F]`, out `[H, F, D]`; with more types also qkv_bias `[Q, H, F]` and
/// out_bias `[D]`. Q is the dim that out does not have; dims may have any order.
template <template <class> class As, class W, class O, class... Biases>
using FusedAttention = typename detail::FusedAttentionOf<W, O, Biases...>::template Parameters<As>;

namespace api {

/// x w, or x w + b where `w` has the members `weights` and `bias` (`Linear`), as `how` says. Strict
/// `linear(x, w)` is `matmul(x, w)`; with a named result, `linear<Dim<B, X>, Dim<S>, Dim<D>>(x,
/// w)`, it is `einsum` of it, which may sum over several indices and communicate. `x[B@X, S, D]`,
/// `w[D, M@Y]` -> `[B@X, S, M@Y]`.
///
/// Overlapped, x is gathered while it is multiplied: `x[B@X, S@Y, D]` or `x[B@X, D@Y]`, `w[D, M@Y]`
/// -> `linear(x, w, Overlapped<Reduced<X>>{Overlap::ring})` -> `[B@X, S, M@Y]` or `[B@X, M@Y]`;
/// with a named result, also of `h[B@X, S, M@Y]`, `w[M@Y, D]`, the sum over Y is scattered while it
/// is computed. Communicates one all_gather over Y, or what the named result says; backward, of x
/// one reduce_scatter and of w one all_gather of x (of a named sum: one all_gather for both),
/// overlapped as forward, and one all_reduce over X. Refusals and errors as matmul and einsum.
template <class... Out, class A, class W, How H = Use<>>
constexpr auto linear(core::Argument<A> const& x, W const& w, H const& how = {},
                      checking::CallSite where = {}) {
  if constexpr (detail::any_refused<A, W>) {
    return checking::Poisoned{};
  } else if constexpr (requires { w.weights, w.bias; }) {
    auto const product = api::linear<Out...>(x, w.weights, how, where);
    return detail::with_bias(product, w.bias, how, where);
  } else if constexpr (detail::plain_product<A, W, H, Out...>) {  // refused from here in few lines
    return shardtype::matmul(x.self(), w, where);
  } else if constexpr (sizeof...(Out) == 0) {
    return how.into(x.self(), w, where);
  } else {
    return how.template back<A, Out...>(x.self(), w, where);
  }
}
/// x w + b, an expression: a function of it is in one kernel with the sum. `b[M@Y]`.
template <class... Out, class A, class W, class B>
  requires(!How<B> && !std::is_same_v<B, Overlap>)
constexpr auto linear(core::Argument<A> const& x, W const& w, B const& b,
                      checking::CallSite where = {}) {
  return api::linear<Out...>(x, w, Use<>{}, where) + b;
}

/// The rows of a table that ids name: `table[V, D]`, `ids[B@X, S]` -> `embedding<V>(table, ids)` ->
/// `[B@X, S, D]`. `take<V>`, by the name that models have for it; named, the table may be split,
/// `embedding<V, Dim<B, X>, Dim<S>, Dim<D>>(table, ids)`. Refusals, errors and communication as
/// take.
template <class V, class... Out, class A, class Ids>
constexpr auto embedding(core::Argument<A> const& table, Ids const& ids,
                         checking::CallSite where = {}) {
  return shardtype::take<V, Out...>(table.self(), ids, where);
}

/// silu(gate) up, elementwise: of two operands of the same dims. Source: Shazeer, "GLU variants
/// improve transformer", 2020.
template <class A, class B>
constexpr auto swiglu(core::Argument<A> const& gate, B const& up) {
  return shardtype::silu(gate.self()) * up;
}
/// gelu(gate) up, elementwise. Source as swiglu.
template <class A, class B>
constexpr auto geglu(core::Argument<A> const& gate, B const& up) {
  return shardtype::gelu(gate.self()) * up;
}

}  // namespace api
namespace detail {

/// silu(x gate) (x up).
template <class A, class P, class H>
constexpr auto gated(A const& x, P const& p, H const& how, std::source_location const& where) {
  if constexpr (!gathers<H> || core::is_lazy<A>) {
    auto const gate = how.into(x, p.gate, where);
    return detail::value_of(api::swiglu(gate, how.into(x, p.up, where)));
  } else {
    using Both = GateAndUp;
    using D = label_at<decltype(p.gate), 0>;
    using M = label_at<decltype(p.gate), 1>;
    auto const weights = shardtype::stack<Both>(p.gate, p.up, where);
    auto const product = how.into(x, shardtype::transpose<D, Both, M>(weights), where);
    if constexpr (any_refused<decltype(product)>) {
      return product;
    } else {
      auto const gate = shardtype::at<Both>(product, 0, where);
      return api::swiglu(gate, shardtype::at<Both>(product, 1, where)).tensor();
    }
  }
}

}  // namespace detail
namespace api {

/// layer_norm by the members `gain` and `bias` of `p` (`Norm`), as `how` says:
/// `layer_norm<D>(x, model.norm, nn::Use<Reduced<X>>{})`. Communicates what `how` does.
template <class D, class A, class P, How H = Use<>>
  requires requires(P const& p) { p.gain, p.bias; }
constexpr auto layer_norm(core::Argument<A> const& x, P const& p, H const& how = {},
                          double eps = 1e-5, checking::CallSite where = {}) {
  // compilers choose the order of arguments, and plans another one than runs
  auto const gain = how.template beside<A>(p.gain, where);
  auto const bias = how.template beside<A>(p.bias, where);
  return api::layer_norm<D>(x, gain, bias, eps, where);
}

/// gelu_tanh(x w1 + b1) w2 + b2, of the members of `p` (`Mlp`), as `how` says. `x[B@X, S, D]` ->
/// `[B@X, S, D]`. Where Y splits the hidden features, `w1[D, M@Y]`, `w2[M@Y, D]`, the result is
/// named, `mlp<Dim<B, X>, Dim<S>, Dim<D>>(x, p, use)`: one all_reduce, and x is used as `{R:Y}`
/// (one all_reduce backward). Source: Shoeybi et al., "Megatron-LM", 2019.
///
/// Overlapped, both products run with their communication: `x[B@X, S@Y, D]` or `x[B@X, D@Y]`, b2
/// `[D]` or `[D@Y]` -> as x, or as `Out` names it. Communicates one all_gather over Y with the
/// first product, one reduce_scatter with the second; backward an all_gather with both products of
/// the second, a reduce_scatter and an all_gather with those of the first, and one all_reduce for
/// each parameter that `how` says is summed. Where nothing is split over Y, nothing is sent over
/// it. Refusals and errors as einsum. Source: Korthikanti et al., "Reducing activation
/// recomputation in large transformer models", 2022; Wang et al., "Overlap communication with
/// dependent computation via decomposition", 2023.
template <class... Out, class A, class P, How H = Use<>>
  requires requires(P const& p) { p.w1, p.b1, p.w2, p.b2; }
constexpr auto mlp(core::Argument<A> const& x, P const& p, H const& how = {},
                   checking::CallSite where = {}) {
  std::source_location const line = where;
  auto const product = how.into(x.self(), p.w1, line);
  if constexpr (detail::any_refused<decltype(product)>) {
    return product;
  } else {
    auto const hidden =
        detail::value_of(shardtype::gelu_tanh(detail::with_bias(product, p.b1, how, line)));
    auto const out = how.template back<A, Out...>(hidden, p.w2, line);
    if constexpr (detail::any_refused<decltype(out)>) {
      return out;
    } else {
      return detail::value_of(detail::with_bias(out, p.b2, how, line));
    }
  }
}
/// (silu(x gate) (x up)) down, of the members of `p` (`GatedMlp`), as mlp. Overlapped, gate and up
/// are multiplied in one product, so that x is gathered once; their copy beside each other is the
/// cost. Source: Shazeer, 2020.
template <class... Out, class A, class P, How H = Use<>>
  requires requires(P const& p) { p.gate, p.up, p.down; }
constexpr auto gated_mlp(core::Argument<A> const& x, P const& p, H const& how = {},
                         checking::CallSite where = {}) {
  std::source_location const line = where;
  auto const hidden = detail::gated(x.self(), p, how, line);
  if constexpr (detail::any_refused<decltype(hidden)>) {
    return hidden;
  } else {
    return how.template back<A, Out...>(hidden, p.down, line);
  }
}

}  // namespace api

/// Keys and values of the positions so far, for generation: `A` is a Tensor `[B@X, K, G@Y, F]` with
/// room for all positions. `append` writes the next ones in place; `attention(q, cache.keys,
/// cache.values, cache.options(n))` of the last n queries reads those that are there, because later
/// keys are behind every query.
///
///     auto cache = nn::KeyValueCache<KV>::of(mesh);
///     cache.append(k, v);   // of n new positions
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
  /// Writes keys and values `[B@X, N, G@Y, F]` of the next positions; N may be any index.
  /// Communicates nothing. Errors: E41 no room, or other extents; E21 another tensor shares the
  /// memory.
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
