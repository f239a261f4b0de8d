#pragma once
/// Layers in tensor parallelism whose products are overlapped with their communication: activations are split over the
/// same axis as the hidden features, along the sequence or along the features, and are gathered and scattered while the
/// products run.

#include <cstdint>
#include <source_location>
#include <type_traits>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/check/call_site.hpp>
#include <shardtype/nn/attention.hpp>
#include <shardtype/nn/labels.hpp>
#include <shardtype/nn/layers.hpp>
#include <shardtype/nn/norm.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/ops/products.hpp>
#include <shardtype/ops/rows.hpp>

namespace shardtype {

namespace rules {

/// The sharding of the product of `x` and the weights `w` of a layer: the dims that only `w` has keep their axes, the
/// dims that only `x` has keep the others. `[B@X, S@Y, D]` and `[D, F@Y]` give `[B@X, S, F@Y]`.
constexpr Spec layer_features(Spec const& x, Spec const& w) {
  Spec out;
  AxisSet taken;
  for (int d = 0; d < w.rank; ++d)
    for (int k = 0; k < w.dims[d].axes.size && x.find(w.dims[d].label) < 0; ++k)
      taken.insert(w.dims[d].axes[k]);
  for (int d = 0; d < x.rank; ++d) {
    if (w.find(x.dims[d].label) >= 0) continue;
    AxisList axes = x.dims[d].axes;
    for (int x_axis = 0; x_axis < max_axes; ++x_axis)
      if (taken.contains(x_axis) && axes.contains(x_axis)) axes = axes.without(x_axis);
    out.add(x.dims[d].label, axes);
  }
  for (int d = 0; d < w.rank; ++d)
    if (x.find(w.dims[d].label) < 0) out.add(w.dims[d].label, w.dims[d].axes);
  return out;
}
/// A parameter `w` as each rank uses it for its part of `x`: whole along the axes that split a dim of `x` which `w`
/// lacks, and reduced over them, so that its gradient is a sum.
constexpr Spec used_beside(Spec const& w, Spec const& x) {
  Spec out = w;
  for (int d = 0; d < x.rank; ++d)
    for (int k = 0; k < x.dims[d].axes.size && w.find(x.dims[d].label) < 0; ++k) {
      int const axis = x.dims[d].axes[k];
      for (int own = 0; own < out.rank; ++own)
        if (out.dims[own].axes.contains(axis))
          out.dims[own].axes = out.dims[own].axes.without(axis);
      out.reduced.insert(axis);
    }
  return out;
}
/// Whether `x` and `w` have a dim in common.
constexpr bool share_a_dim(Spec const& x, Spec const& w) {
  bool share = false;
  for (int d = 0; d < x.rank; ++d) share = share || w.find(x.dims[d].label) >= 0;
  return share;
}
/// The dims of `x` alone.
constexpr Spec dims_alone(Spec const& x) {
  Spec out;
  for (int d = 0; d < x.rank; ++d) out.add(x.dims[d].label, x.dims[d].axes);
  return out;
}

}  // namespace rules

namespace nn {

namespace detail {

template <class A, class W>
struct LayerFeatures {
  using X = autodiff::tensor_of<A>;
  using S = core::Scope<X, autodiff::tensor_of<W>>;
  static constexpr Spec value = rules::layer_features(S::template spec<0>, S::template spec<1>);
  using type = core::tensor_from_spec<S, LayerFeatures, typename X::element, X>;
};
/// The Tensor type of `x w`, where x is gathered along the axes that split the features of w.
template <class A, class W>
using layer_features = typename LayerFeatures<A, W>::type;

template <class W, class A>
struct UsedBeside {
  using P = autodiff::tensor_of<W>;
  using S = core::Scope<P, autodiff::tensor_of<A>>;
  static constexpr Spec value = rules::used_beside(S::template spec<0>, S::template spec<1>);
  using type = core::tensor_from_spec<S, UsedBeside, typename P::element, P>;
};
/// The parameter `w` as it is used for a value of type `A`.
template <class A, class W>
constexpr auto used_beside(W const& w, std::source_location const& where) {
  using To = typename UsedBeside<W, A>::type;
  if constexpr (std::is_same_v<To, autodiff::tensor_of<W>>) {
    return w;
  } else {
    return shardtype::used_as<To>(w, where);
  }
}

template <class A>
struct DimsAlone {
  using X = autodiff::tensor_of<A>;
  using S = core::Scope<X>;
  static constexpr Spec value = rules::dims_alone(S::template spec<0>);
  using type = core::tensor_from_spec<S, DimsAlone, typename X::element, X>;
};
/// x w, in the sharding `Out` or, without it, in that of `Like`.
template <class Like, class... Out, class A, class W>
constexpr auto product_as(A const& x, W const& w, Overlap how, std::source_location const& where) {
  if constexpr (sizeof...(Out) > 0) {
    return shardtype::einsum<Out...>(x, w, how, where);
  } else {
    return shardtype::einsum<typename DimsAlone<Like>::type>(x, w, how, where);
  }
}

/// Whether x and w share a dim: einsum would take all products of their elements, and matmul refuses (C01).
template <class A, class W>
inline constexpr bool share_a_dim = [] {
  using S = core::Scope<autodiff::tensor_of<A>, autodiff::tensor_of<W>>;
  return rules::share_a_dim(S::template spec<0>, S::template spec<1>);
}();

template <class... As>
inline constexpr bool any_refused = checking::any_poisoned<As...>;

/// x w of a layer whose features w splits; w is used for it.
template <class A, class W>
constexpr auto into_features(A const& x, W const& w, Overlap how,
                             std::source_location const& where) {
  if constexpr (!share_a_dim<A, W>) {
    return shardtype::matmul(x, w, where);
  } else {
    using To = layer_features<A, W>;
    auto const used = detail::used_beside<To>(w, where);
    return shardtype::einsum<To>(x, used, how, where);
  }
}
/// hidden w, back in the sharding of x or in `Out`.
template <class Like, class... Out, class A, class W>
constexpr auto from_features(A const& hidden, W const& w, Overlap how,
                             std::source_location const& where) {
  if constexpr (!share_a_dim<A, W>) {
    return shardtype::matmul(hidden, w, where);
  } else {
    auto const used = detail::used_beside<A>(w, where);
    return detail::product_as<Like, Out...>(hidden, used, how, where);
  }
}
/// x + b, where b is used for x.
template <class A, class B>
constexpr auto with_bias(A const& x, B const& b, std::source_location const& where) {
  return x + detail::used_beside<A>(b, where);
}

/// Names of dims inside of these layers.
struct GateAndUp : Index<"gate and up"> {};
struct QueriesKeysValues : Index<"q, k and v"> {};
struct InGroup : Index<"in group"> {};
struct OfGroup : Index<"of group"> {};

}  // namespace detail

namespace api {

/// x w, where Y splits the features of w and x along another dim: x is gathered while it is multiplied, as `how` says.
/// `x[B@X, S@Y, D]` or `x[B@X, D@Y]`, `w[D, M@Y]` -> `linear(x, w, Overlap::ring)` -> `[B@X, S, M@Y]` or `[B@X, M@Y]`.
/// With a named result, `linear<Dim<B, X>, Dim<S, Y>, Dim<D>>(h, w, how)`, also `h[B@X, S, M@Y]`, `w[M@Y, D]`: the sum
/// over Y is scattered while it is computed. w is used as `{R:X}`, over the axes that split other dims of the result.
/// Communicates one all_gather over Y, or what the named result says; backward, of x one reduce_scatter and of w one
/// all_gather of x (of a named sum: one all_gather for both), overlapped as forward, and one all_reduce over X.
/// Refusals and errors as einsum.
template <class... Out, class A, class W>
constexpr auto linear(core::Argument<A> const& x, W const& w, Overlap how,
                      checking::CallSite where = {}) {
  if constexpr (detail::any_refused<A, W>) {
    return checking::Poisoned{};
  } else if constexpr (!detail::share_a_dim<A, W>) {
    return shardtype::matmul(x.self(), w, where);
  } else if constexpr (sizeof...(Out) == 0) {
    return detail::into_features(x.self(), w, how, where);
  } else {
    return detail::from_features<A, Out...>(x.self(), w, how, where);
  }
}

/// mlp with both products overlapped with their communication: `x[B@X, S@Y, D]` or `x[B@X, D@Y]`, w1 `[D, M@Y]`, b1
/// `[M@Y]`, w2 `[M@Y, D]`, b2 `[D]` or `[D@Y]` -> as x, or as `Out` names it.
///
///     auto y = nn::mlp(x, model.mlp, Overlap::automatic);
///
/// Communicates one all_gather over Y with the first product, one reduce_scatter with the second; backward an
/// all_gather with both products of the second, a reduce_scatter and an all_gather with those of the first. Parameters
/// are used as `{R:X}`, biases over all axes that split x in dims that they lack: one all_reduce backward each. Where
/// nothing is split over Y, nothing is sent over it. Refusals and errors as einsum. Source: Korthikanti et al.,
/// "Reducing activation recomputation in large transformer models", 2022; Wang et al., "Overlap communication with
/// dependent computation via decomposition", 2023.
template <class... Out, class A, class P>
  requires requires(P const& p) { p.w1, p.b1, p.w2, p.b2; }
constexpr auto mlp(core::Argument<A> const& x, P const& p, Overlap how,
                   checking::CallSite where = {}) {
  auto const product = api::linear(x, p.w1, how, where);
  if constexpr (detail::any_refused<std::remove_cvref_t<decltype(product)>>) {
    return product;
  } else {
    auto const hidden = shardtype::gelu_tanh(detail::with_bias(product, p.b1, where)).tensor();
    auto const out = detail::from_features<A, Out...>(hidden, p.w2, how, where);
    if constexpr (detail::any_refused<std::remove_cvref_t<decltype(out)>>) {
      return out;
    } else {
      return detail::with_bias(out, p.b2, where).tensor();
    }
  }
}

/// gated_mlp with its products overlapped with their communication, as mlp: gate and up `[D, M@Y]`, down `[M@Y, D]`.
/// Both are multiplied in one product, so that x is gathered once; their copy beside each other is the cost.
template <class... Out, class A, class P>
  requires requires(P const& p) { p.gate, p.up, p.down; }
constexpr auto gated_mlp(core::Argument<A> const& x, P const& p, Overlap how,
                         checking::CallSite where = {}) {
  using Both = detail::GateAndUp;
  using D = detail::label_at<decltype(p.gate), 0>;
  using M = detail::label_at<decltype(p.gate), 1>;
  std::source_location const line = where;
  auto const product = api::linear(
      x, shardtype::transpose<D, Both, M>(shardtype::stack<Both>(p.gate, p.up, line)), how, where);
  if constexpr (detail::any_refused<std::remove_cvref_t<decltype(product)>>) {
    return product;
  } else {
    auto const gate = shardtype::at<Both>(product, 0, where);
    auto const hidden = api::swiglu(gate, shardtype::at<Both>(product, 1, where)).tensor();
    return detail::from_features<A, Out...>(hidden, p.down, how, where);
  }
}

}  // namespace api

namespace detail {

/// Queries, keys and values of x, of one product: x is gathered once.
template <class Q, class K, class V>
struct Heads {
  Q q;
  K k;
  V v;
};
template <class Q, class K, class V>
Heads(Q, K, V) -> Heads<Q, K, V>;

/// Heads of keys as those of queries, `q, k, v[D, H@Y, F]`.
template <class A, class P>
constexpr auto equal_heads(A const& x, P const& p, Overlap how, std::source_location const& where) {
  using F = label_at<decltype(p.q), 2>;
  using All = QueriesKeysValues;
  auto const made =
      detail::into_features(x, shardtype::concat<F, All>(p.q, p.k, p.v, where), how, where);
  std::int64_t const f = p.q.extents()[2];
  auto const q = shardtype::slice<All, F>(made, 0, f, 1, where);
  auto const k = shardtype::slice<All, F>(made, f, 2 * f, 1, where);
  return Heads{q, k, shardtype::slice<All, F>(made, 2 * f, 3 * f, 1, where)};
}
/// Grouped queries, `q[D, H@Y, F]`, `k, v[D, G@Y, F]`: the queries of a group lie beside its keys.
template <class A, class P>
constexpr auto grouped_heads(A const& x, P const& p, Overlap how,
                             std::source_location const& where) {
  using Ht = label_at<decltype(p.q), 1>;
  using F = label_at<decltype(p.q), 2>;
  using GroupDim =
      typename autodiff::NthDim<typename autodiff::DimsOf<autodiff::tensor_of<decltype(p.k)>>::type,
                                1>::type;
  using G = label_at<decltype(p.k), 1>;
  using All = QueriesKeysValues;
  std::int64_t const groups = p.k.extents()[1];
  std::int64_t const each = groups == 0 ? 0 : p.q.extents()[1] / groups;
  std::int64_t const f = p.q.extents()[2];
  auto const queries = shardtype::merge_dims<InGroup, F, OfGroup>(
      shardtype::split_dim<Ht, GroupDim, Dim<InGroup>>(p.q, {groups, each}, where), where);
  auto const made = detail::into_features(
      x,
      shardtype::concat<OfGroup, All>(queries, shardtype::relabel<F, OfGroup>(p.k, where),
                                      shardtype::relabel<F, OfGroup>(p.v, where), where),
      how, where);
  auto const q = shardtype::merge_dims<G, InGroup, Ht>(
      shardtype::split_dim<OfGroup, Dim<InGroup>, Dim<F>>(
          shardtype::slice<All, OfGroup>(made, 0, each * f, 1, where), {each, f}, where),
      where);
  auto const k = shardtype::slice<All, F>(made, each * f, (each + 1) * f, 1, where);
  return Heads{q, k, shardtype::slice<All, F>(made, (each + 1) * f, (each + 2) * f, 1, where)};
}

template <class A>
inline constexpr bool last_dim_is_split = [] {
  constexpr Spec x = core::Scope<autodiff::tensor_of<A>>::template spec<0>;
  return x.dims[x.rank - 1].axes.size > 0;
}();

/// The norm of rows of x by `p`: layer_norm if it has a bias, else rms_norm.
template <class A, class P>
constexpr auto norm_of(A const& x, P const& p, std::source_location const& where) {
  using D = label_at<A, autodiff::tensor_of<A>::rank - 1>;
  auto const gain = detail::used_beside<A>(p.gain, where);
  if constexpr (requires { p.bias; }) {
    return nn::layer_norm<D>(x, gain, detail::used_beside<A>(p.bias, where), 1e-5, where);
  } else {
    return nn::rms_norm<D>(x, gain, 1e-6, where);
  }
}

}  // namespace detail

namespace api {

/// self_attention with its products overlapped with their communication: `x[B@X, S@Y, D]`, q `[D, H@Y, F]`, k and v
/// `[D, G@Y, F]` (G may be H), out `[H@Y, F, D]` -> as x, or as `Out` names it. Queries, keys and values are made by one
/// product, so that x is gathered once; their weights beside each other are a copy. Communicates as mlp. Refused: as
/// einsum, concat and attention; D12 heads of keys that are not split as those of queries. Errors: E40 groups of heads
/// that do not line up with the ranks.
template <class... Out, class A, class P>
  requires requires(P const& p) { p.q, p.k, p.v, p.out; }
constexpr auto self_attention(core::Argument<A> const& x, P const& p, Overlap how,
                              AttentionOptions const& options = {}, checking::CallSite where = {}) {
  if constexpr (checking::any_poisoned<A>) {
    return checking::Poisoned{};
  } else {
    auto const heads = [&] {
      if constexpr (std::is_same_v<detail::label_at<decltype(p.q), 1>,
                                   detail::label_at<decltype(p.k), 1>>) {
        return detail::equal_heads(x.self(), p, how, where);
      } else {
        return detail::grouped_heads(x.self(), p, how, where);
      }
    }();
    auto const mixed = api::attention(heads.q, heads.k, heads.v, options, where);
    if constexpr (detail::any_refused<std::remove_cvref_t<decltype(mixed)>>) {
      return mixed;
    } else {
      return detail::from_features<A, Out...>(mixed, p.out, how, where);
    }
  }
}

/// A transformer block whose norms, sums and activations are split along the sequence, and its heads and hidden features
/// over the same axis: `x[B@X, S@Y, D]` -> `[B@X, S@Y, D]`, x + attention(norm1(x)), then + mlp(norm2(.)). `p` has the
/// members norm1 and norm2 (gain and bias: layer_norm; gain alone: rms_norm), attention (`Attention`) and mlp (`Mlp` or
/// `GatedMlp`).
///
///     auto y = nn::transformer_block(x, model.block, Overlap::automatic, {.causal = true});
///
/// Communicates over Y two all_gathers and two reduce_scatters, each with a product, as `how` says; backward four
/// all_gathers and two reduce_scatters, each with a product; and an all_reduce for each parameter that other ranks use
/// as well. Refusals and errors as self_attention, mlp and the norms. Source: Korthikanti et al., 2022.
template <class A, class P>
  requires requires(P const& p) { p.norm1, p.attention, p.norm2, p.mlp; }
constexpr auto transformer_block(core::Argument<A> const& x, P const& p, Overlap how,
                                 AttentionOptions const& options = {},
                                 checking::CallSite where = {}) {
  if constexpr (checking::any_poisoned<A>) {
    return checking::Poisoned{};
  } else if constexpr (detail::last_dim_is_split<A>) {  // refused, from here in few lines
    using D = detail::label_at<A, autodiff::tensor_of<A>::rank - 1>;
    return api::rms_norm<D>(x.self(), p.norm1.gain, 1e-6, where);
  } else {
    auto const& in = x.self();
    auto const mixed =
        api::self_attention(detail::norm_of(in, p.norm1, where), p.attention, how, options, where);
    if constexpr (detail::any_refused<std::remove_cvref_t<decltype(mixed)>>) {
      return mixed;
    } else {
      auto const middle = (in + mixed).tensor();
      auto const normed = detail::norm_of(middle, p.norm2, where);
      if constexpr (requires { p.mlp.w1; }) {
        return (middle + api::mlp(normed, p.mlp, how, where)).tensor();
      } else {
        return (middle + api::gated_mlp(normed, p.mlp, how, where)).tensor();
      }
    }
  }
}

}  // namespace api

}  // namespace nn

}  // namespace shardtype
