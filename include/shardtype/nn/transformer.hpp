#pragma once
/// Self-attention and transformer blocks by parameters, and the former names of layers with an
/// Overlap.

#include <cstdint>
#include <source_location>
#include <type_traits>

#include <shardtype/check/call_site.hpp>
#include <shardtype/nn/attention.hpp>
#include <shardtype/nn/labels.hpp>
#include <shardtype/nn/layers.hpp>
#include <shardtype/nn/norm.hpp>
#include <shardtype/nn/use.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/ops/products.hpp>
#include <shardtype/ops/rows.hpp>

namespace shardtype {

namespace nn {

namespace detail {

/// Names of dims inside of these layers.
struct QueriesKeysValues : Index<"q, k and v"> {};
struct InGroup : Index<"in group"> {};
struct OfGroup : Index<"of group"> {};

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
template <class A, class P, class H>
constexpr auto equal_heads(A const& x, P const& p, H const& how,
                           std::source_location const& where) {
  using F = label_at<decltype(p.q), 2>;
  using All = QueriesKeysValues;
  auto const made = how.into(x, shardtype::concat<F, All>(p.q, p.k, p.v, where), where);
  std::int64_t const f = p.q.extents()[2];
  auto const q = shardtype::slice<All, F>(made, 0, f, 1, where);
  auto const k = shardtype::slice<All, F>(made, f, 2 * f, 1, where);
  return Heads{q, k, shardtype::slice<All, F>(made, 2 * f, 3 * f, 1, where)};
}
/// Grouped queries, `q[D, H@Y, F]`, `k, v[D, G@Y, F]`: the queries of a group lie beside its keys.
template <class A, class P, class H>
constexpr auto grouped_heads(A const& x, P const& p, H const& how,
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
  auto const made =
      how.into(x,
               shardtype::concat<OfGroup, All>(queries, shardtype::relabel<F, OfGroup>(p.k, where),
                                               shardtype::relabel<F, OfGroup>(p.v, where), where),
               where);
  auto const q = shardtype::merge_dims<G, InGroup, Ht>(
      shardtype::split_dim<OfGroup, Dim<InGroup>, Dim<F>>(
          shardtype::slice<All, OfGroup>(made, 0, each * f, 1, where), {each, f}, where),
      where);
  auto const k = shardtype::slice<All, F>(made, each * f, (each + 1) * f, 1, where);
  return Heads{q, k, shardtype::slice<All, F>(made, (each + 1) * f, (each + 2) * f, 1, where)};
}

/// The label of the weights `W` that `O` does not have: of [D, Q, H, F] beside [H, F, D] it is Q.
template <class W, class O, int d = 0>
constexpr auto label_of_parts() {
  static_assert(
      d < tensor_of<W>::rank,
      "the fused weights qkv have a dim of extent 3 that out does not have: [D, Q, H, F]");
  if constexpr (autodiff::has_label<tensor_of<O>, label_at<W, d>>) {
    return detail::label_of_parts<W, O, d + 1>();
  } else {
    return Type<label_at<W, d>>{};
  }
}
/// value + b, evaluated once.
template <class V, class B, class H>
constexpr auto biased(V const& value, B const& b, H const& how, std::source_location const& where) {
  if constexpr (any_refused<V>) {
    return value;
  } else {
    return detail::value_of(detail::with_bias(value, b, how, where));
  }
}
/// The parts of the product with the fused weights `p.qkv`.
template <class A, class P, class H>
constexpr auto fused_heads(A const& x, P const& p, H const& how,
                           std::source_location const& where) {
  using Q = typename decltype(detail::label_of_parts<decltype(p.qkv), decltype(p.out)>())::type;
  auto const made = [&] {
    auto const product = how.into(x, p.qkv, where);
    if constexpr (requires { p.qkv_bias; }) {
      return detail::biased(product, p.qkv_bias, how, where);
    } else {
      return product;
    }
  }();
  auto const q = shardtype::at<Q>(made, 0, where);
  auto const k = shardtype::at<Q>(made, 1, where);
  return Heads{q, k, shardtype::at<Q>(made, 2, where)};
}

/// By a product each, or of one product where x is gathered.
template <class A, class P, class H>
constexpr auto separate_heads(A const& x, P const& p, H const& how,
                              std::source_location const& where) {
  if constexpr (!gathers<H> || core::is_lazy<A>) {
    auto const q = how.into(x, p.q, where);
    auto const k = how.into(x, p.k, where);
    return Heads{q, k, how.into(x, p.v, where)};
  } else if constexpr (std::is_same_v<label_at<decltype(p.q), 1>, label_at<decltype(p.k), 1>>) {
    return detail::equal_heads(x, p, how, where);
  } else {
    return detail::grouped_heads(x, p, how, where);
  }
}
template <class A, class P, class H>
constexpr auto heads(A const& x, P const& p, H const& how, std::source_location const& where) {
  if constexpr (requires { p.qkv; }) {
    return detail::fused_heads(x, p, how, where);
  } else if constexpr (requires { p.q_bias; }) {
    auto const plain = detail::separate_heads(x, p, how, where);
    auto const q = detail::biased(plain.q, p.q_bias, how, where);
    auto const k = detail::biased(plain.k, p.k_bias, how, where);
    return Heads{q, k, detail::biased(plain.v, p.v_bias, how, where)};
  } else {
    return detail::separate_heads(x, p, how, where);
  }
}

/// Whether `P` has the weights of queries, keys and values.
template <class P>
inline constexpr bool has_heads =
    requires(P const& p) { p.q, p.k, p.v; } || requires(P const& p) { p.qkv, p.out; };

template <class A>
inline constexpr bool last_dim_is_split = [] {
  constexpr Spec x = core::Scope<tensor_of<A>>::template spec<0>;
  return x.dims[x.rank - 1].axes.size > 0;
}();

/// The norm of rows of x by `p`: layer_norm if it has a bias, else rms_norm.
template <class A, class P, class H>
constexpr auto norm_of(A const& x, P const& p, H const& how, std::source_location const& where) {
  using D = label_at<A, tensor_of<A>::rank - 1>;
  if constexpr (requires { p.bias; }) {
    return nn::layer_norm<D>(x, p, how, 1e-5, where);
  } else {
    return nn::rms_norm<D>(x, how.template beside<A>(p.gain, where), 1e-6, where);
  }
}

}  // namespace detail

namespace api {

/// Queries, keys and values of x, of the members of `p` (`Attention` or `FusedAttention`), with
/// their biases if it has them, as `how` says: what self_attention gives to attention, for what
/// stands between, such as rotary or a cache. `x[B@X, S, D]` -> `auto const [q, k, v] =
/// queries_keys_values(x, p)` -> `[B@X, S, H@Y, F]` and twice `[B@X, S, G@Y, F]`. Communicates
/// nothing with `Use`; overlapped as linear. Refusals and errors as self_attention.
template <class A, class P, How H = Use<>>
  requires detail::has_heads<P>
constexpr auto queries_keys_values(core::Argument<A> const& x, P const& p, H const& how = {},
                                   checking::CallSite where = {}) {
  if constexpr (checking::any_poisoned<A>) {
    return detail::Heads{checking::Poisoned{}, checking::Poisoned{}, checking::Poisoned{}};
  } else {
    std::source_location const line = where;
    return detail::heads(x.self(), p, how, line);
  }
}

/// attention(x q, x k, x v) out, of the members of `p` (`Attention` or `FusedAttention`), as `how`
/// says; biases are added if `p` has them, that of out once to the complete sum. `x[B@X, S, D]` ->
/// `[B@X, S, D]`. Where Y splits the heads, the result is named and communicates as that of mlp
/// (without a name it is unreduced over Y); x is used as `{R:Y}`.
///
/// Overlapped: `x[B@X, S@Y, D]`, q `[D, H@Y, F]`, k and v `[D, G@Y, F]` (G may be H), out `[H@Y, F,
/// D]` -> as x, or as `Out` names it. Queries, keys and values are made by one product, so that x
/// is gathered once; their weights beside each other are a copy. Communicates as mlp. Refused: as
/// einsum, concat and attention; D12 heads of keys that are not split as those of queries. Errors:
/// E40 groups of heads that do not line up with the ranks.
template <class... Out, class A, class P, How H = Use<>>
  requires(detail::has_heads<P> && requires(P const& p) { p.out; })
constexpr auto self_attention(core::Argument<A> const& x, P const& p, H const& how = {},
                              AttentionOptions const& options = {}, checking::CallSite where = {}) {
  if constexpr (checking::any_poisoned<A>) {
    return checking::Poisoned{};
  } else {
    std::source_location const line = where;
    auto const heads = detail::heads(x.self(), p, how, line);
    auto const mixed = api::attention(heads.q, heads.k, heads.v, options, where);
    if constexpr (detail::any_refused<decltype(mixed)>) {
      return mixed;
    } else {
      auto out = how.template back<A, Out...>(mixed, p.out, line);
      if constexpr (requires { p.out_bias; }) {
        return detail::biased(out, p.out_bias, how, line);
      } else {
        return out;
      }
    }
  }
}

/// A transformer block, x + attention(norm1(x)), then + mlp(norm2(.)). `p` has the members norm1
/// and norm2 (gain and bias: layer_norm; gain alone: rms_norm), attention (`Attention` or
/// `FusedAttention`) and mlp
/// (`Mlp` or `GatedMlp`). `x[B@X, S, D]` -> `[B@X, S, D]`.
///
/// Overlapped, norms, sums and activations are split along the sequence, and heads and hidden
/// features over the same axis: `x[B@X, S@Y, D]` -> `[B@X, S@Y, D]`.
///
///     auto y = nn::transformer_block(x, model.block, nn::Overlapped<Reduced<X, Y>>{},
///                                    {.causal = true});
///
/// Communicates over Y two all_gathers and two reduce_scatters, each with a product; backward four
/// all_gathers and two reduce_scatters, each with a product; and an all_reduce for each parameter
/// that other ranks use as well. Refusals and errors as self_attention, mlp and the norms. Source:
/// Korthikanti et al., 2022.
template <class A, class P, How H = Use<>>
  requires requires(P const& p) { p.norm1, p.attention, p.norm2, p.mlp; }
constexpr auto transformer_block(core::Argument<A> const& x, P const& p, H const& how = {},
                                 AttentionOptions const& options = {},
                                 checking::CallSite where = {}) {
  if constexpr (checking::any_poisoned<A>) {
    return checking::Poisoned{};
  } else if constexpr (detail::last_dim_is_split<A>) {  // refused, from here in few lines
    using D = detail::label_at<A, detail::tensor_of<A>::rank - 1>;
    return api::rms_norm<D>(x.self(), p.norm1.gain, 1e-6, where);
  } else {
    auto const& in = x.self();
    auto const mixed = api::self_attention(detail::norm_of(in, p.norm1, how, where), p.attention,
                                           how, options, where);
    if constexpr (detail::any_refused<decltype(mixed)>) {
      return mixed;
    } else {
      auto const middle = detail::value_of(in + mixed);
      auto const normed = detail::norm_of(middle, p.norm2, how, where);
      if constexpr (requires { p.mlp.w1; }) {
        return detail::value_of(middle + api::mlp(normed, p.mlp, how, where));
      } else {
        return detail::value_of(middle + api::gated_mlp(normed, p.mlp, how, where));
      }
    }
  }
}

// Until the next release: an Overlap alone, with which gradients of parameters are summed over all
// axes that split x.
#define SHARDTYPE_FORMER_LAYER                                                         \
  [[deprecated(                                                                        \
      "an Overlap alone sums gradients over axes that the source does not name: give " \
      "nn::Overlapped<Reduced<X>>{how}")]]
template <class... Out, class A, class W>
SHARDTYPE_FORMER_LAYER constexpr auto linear(core::Argument<A> const& x, W const& w, Overlap how,
                                             checking::CallSite where = {}) {
  return api::linear<Out...>(x, w, Overlapped<detail::AllThatSplit>{how}, where);
}
template <class... Out, class A, class P>
SHARDTYPE_FORMER_LAYER constexpr auto mlp(core::Argument<A> const& x, P const& p, Overlap how,
                                          checking::CallSite where = {}) {
  return api::mlp<Out...>(x, p, Overlapped<detail::AllThatSplit>{how}, where);
}
template <class... Out, class A, class P>
SHARDTYPE_FORMER_LAYER constexpr auto gated_mlp(core::Argument<A> const& x, P const& p, Overlap how,
                                                checking::CallSite where = {}) {
  return api::gated_mlp<Out...>(x, p, Overlapped<detail::AllThatSplit>{how}, where);
}
template <class... Out, class A, class P>
SHARDTYPE_FORMER_LAYER constexpr auto self_attention(core::Argument<A> const& x, P const& p,
                                                     Overlap how,
                                                     AttentionOptions const& options = {},
                                                     checking::CallSite where = {}) {
  return api::self_attention<Out...>(x, p, Overlapped<detail::AllThatSplit>{how}, options, where);
}
template <class A, class P>
SHARDTYPE_FORMER_LAYER constexpr auto transformer_block(core::Argument<A> const& x, P const& p,
                                                        Overlap how,
                                                        AttentionOptions const& options = {},
                                                        checking::CallSite where = {}) {
  return api::transformer_block(x, p, Overlapped<detail::AllThatSplit>{how}, options, where);
}
#undef SHARDTYPE_FORMER_LAYER

}  // namespace api

}  // namespace nn

}  // namespace shardtype
