#pragma once
/// Attention of queries to keys and values: on the blocks of a rank, or around the ring of an axis
/// that splits the sequence.

#include <source_location>
#include <type_traits>

#include <shardtype/nn/labels.hpp>
#include <shardtype/nn/ring_attention.hpp>
#include <shardtype/nn/strict_attention.hpp>

namespace shardtype::nn {

namespace detail {

/// `a` with elements of type `T`; `stays`: an expression in the sharding that
/// it has.
template <class T, bool stays, class A>
constexpr auto in(A const& a) {
  if constexpr (stays && core::is_lazy<A>) {
    return shardtype::reshard<
        shardtype::detail::with_elements<shardtype::detail::laid_out_t<A>, T>>(
        shardtype::cast<T>(a));
  } else {
    return shardtype::cast<T>(a);
  }
}
template <class T, class A>
inline constexpr bool has_elements = std::is_same_v<checking::element_t<detail::tensor_of<A>>, T>;
/// Segments with elements of std::int64_t.
template <bool stays, class A>
constexpr auto in_segments(A const& ids) {
  if constexpr (has_elements<std::int32_t, A>) {
    return detail::in<std::int64_t, stays>(ids);
  } else {
    return ids;
  }
}

/// The result of attention, in the sharding `Out` if that is named; computed in float if the
/// elements are bfloat16.
template <class... Out, class Q, class K, class V, class... Ids>
constexpr auto attention_as(AttentionOptions const& options, std::source_location const& where,
                            Q const& q, K const& k, V const& v, Ids const&... ids) {
  constexpr bool ring = sizeof...(Out) > 0 && detail::splits_keys<K>;
  if constexpr (has_elements<bfloat16, Q>) {
    return shardtype::cast<bfloat16>(detail::attention_as<Out...>(
        options, where, detail::in<float, ring>(q), detail::in<float, ring>(k),
        detail::in<float, ring>(v), ids...));
  } else if constexpr (sizeof...(Out) == 0) {
    return shardtype::call(op::Attention{{options}}, where, q, k, v,
                           detail::in_segments<ring>(ids)...);
  } else {
    using Op = std::conditional_t<ring, op::RingAttention, op::Attention>;
    Op op;
    op.options = options;
    auto const mixed = shardtype::call(op, where, q, k, v, detail::in_segments<ring>(ids)...);
    if constexpr (shardtype::detail::is_poison<decltype(mixed)>) {
      return checking::Poisoned{};
    } else {
      return shardtype::reshard<Out...>(mixed);
    }
  }
}

}  // namespace detail

namespace api {

/// softmax(scale q k^T) v for each head: queries `q[B@X, S, H@Y, F]`, keys and values `k, v[B@X, K,
/// G@Y, F]` ->
/// `[B@X, S, H@Y, F]`, of float, double, or bfloat16 (computed in float). Dims go by position; K
/// may be S, and G may be H. With fewer heads of keys than of queries, head h reads head h / (H /
/// G) (grouped queries). The heads of keys are split as those of queries, or each rank has all of
/// them: `k[B@X, K, G]{R:Y}`, whose gradient is then a sum over Y. Heads may be split unevenly if H
/// = G or G is whole. With `options.causal`, query i sees the keys 0 to options.first
/// + i; one that sees none gives 0. `options.scale` multiplies the scores, 1 / sqrt(F) if it is 0.
/// With `options.window` query i sees the keys at positions options.first + i - window to
/// options.first + i + window alone. `options.soft_cap` c makes c tanh(score / c) of scores, and
/// `options.alibi` lowers them with the distance of query and key.
///
///     auto mixed = nn::attention(q, k, v, {.causal = true});
///
/// By blocks of 128 queries and 128 keys with running maxima: no [S, K] array is made, and blocks
/// that no query sees are skipped. The backward pass keeps one number per query and head besides q,
/// k, v and the result, and computes the blocks again. The queries of the sequence may be split if
/// keys and values are whole, `k[B@X, K, G]{R:Z}` for `S@Z`, whose gradient is a sum over Z.
/// Communicates nothing, in both directions.
///
/// Where Z splits the keys and the values too, as the queries, in blocks (of any sizes, also none)
/// or block-cyclically, the result is named: `q[B@X, S@Z, H@Y, F]`, `k, v[B@X, K@Z, G@Y, F]` ->
///
///     auto mixed =
///         nn::attention<Dim<B, X>, Dim<S, Z>, Dim<H, Y>, Dim<F>>(q, k, v, {.causal = true});
///
/// Keys and values travel around the ring of the p ranks of Z: p - 1 permutes of a rank's n bytes
/// of them, the next block under way while one is computed; besides its own block a rank holds two.
/// Backward they travel again, and their cotangents with them, p permutes home. `Dim<S, Cyclic<Z,
/// n>>` balances the work of causal queries.
///
/// Refused: D12 dims or splits that do not fit, D03 F, or the keys in a call without a named
/// result, or over two axes, B03, P04, P12, C10, of a named result R01 to R04, V14 in manual mode.
/// Errors: E24, E41, also of negative options. In manual mode positions and heads are those of the
/// blocks, so E41 where queries vary over an axis and keys do not, if it matters, and with ALiBi
/// where they vary at all; so are those of gradients in automatic mode, E41 with ALiBi. First
/// derivatives only, X03. As
/// torch.nn.functional.scaled_dot_product_attention, jax.nn.dot_product_attention. Sources: Dao et
/// al., "FlashAttention", NeurIPS 2022; Ainslie et al., "GQA", EMNLP 2023; Liu, Zaharia, Abbeel,
/// "Ring attention", 2023; Brandon et al., "Striped attention", 2023.
template <class... Out, class Q, class K, class V>
constexpr auto attention(core::Argument<Q> const& q, K const& k, V const& v,
                         AttentionOptions const& options = {}, checking::CallSite where = {}) {
  if constexpr (shardtype::detail::is_poison<Q>) {
    return checking::Poisoned{};  // reported where it was refused
  } else {
    return detail::attention_as<Out...>(options, where, q.self(), k, v);
  }
}

/// The same, where a query sees the keys of its own segment alone, such as of
/// its document in a packed sequence: `query_ids[B@X, S]`, `key_ids[B@X, K]`,
/// split as the queries and the keys, of std::int32_t or std::int64_t. Segments
/// may have any numbers in any order; blocks of scores whose least and largest
/// segments do not meet are skipped. Around a ring the segments of all keys are
/// on each rank, `key_ids[B@X, K]`. Communicates as the call without segments.
///
///     auto mixed = nn::attention(q, k, v, documents, documents, {.causal =
///     true});
///
/// Refused besides: D12 segments with other dims or splits, I01 segments that
/// are no integers, P04. Error E24. As SegmentIds of JAX's
/// jax.experimental.pallas.ops.tpu.flash_attention.
template <class... Out, class Q, class K, class V, class QueryIds, class KeyIds>
constexpr auto attention(core::Argument<Q> const& q, K const& k, V const& v,
                         core::Argument<QueryIds> const& query_ids,
                         core::Argument<KeyIds> const& key_ids,
                         AttentionOptions const& options = {}, checking::CallSite where = {}) {
  if constexpr (shardtype::detail::is_poison<Q> || shardtype::detail::is_poison<QueryIds> ||
                shardtype::detail::is_poison<KeyIds>) {
    return checking::Poisoned{};  // reported where it was refused
  } else {
    return detail::attention_as<Out...>(options, where, q.self(), k, v, query_ids.self(),
                                        key_ids.self());
  }
}

}  // namespace api

}  // namespace shardtype::nn
