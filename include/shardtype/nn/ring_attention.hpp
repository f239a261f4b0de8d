#pragma once
/// Attention over a sequence that an axis splits: blocks of keys and values travel around the ring
/// of its ranks: its gradient. Source: Liu, Zaharia, Abbeel, "Ring attention with blockwise
/// transformers for near-infinite context", 2023.

#include <source_location>

#include <shardtype/nn/run_ring_attention.hpp>
#include <shardtype/nn/strict_attention.hpp>

namespace shardtype {

namespace autodiff {

template <>
struct Vjp<op::RingAttention<false>> : Differentiable {
  static constexpr bool first_order = true;
  using Op = op::RingAttention<false>;
  template <class Q, class K, class V>
  static constexpr auto forward(Op const& op, std::source_location const& where, Q const& q,
                                K const& k, V const& v) {
    return nn::detail::attention_forward(op::RingAttention<true>{{op.options}}, where, q, k, v);
  }
  template <class Out, class Q, class K, class V, class S, class C>
  static constexpr auto prepare(Op const& op, S const& saved, C const& ct) {
    return api::call(op::RingAttentionBack{op.options}, std::source_location::current(),
                     autodiff::kept<0>(saved), autodiff::kept<1>(saved), autodiff::kept<2>(saved),
                     autodiff::kept<3>(saved), autodiff::kept<4>(saved), ct);
  }
  template <int Which, class Out, class Q, class K, class V, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& all) {
    return api::call(op::RingAttentionPart<Which>{}, std::source_location::current(), all,
                     autodiff::kept<0>(saved), autodiff::kept<1>(saved));
  }
};

}  // namespace autodiff

}  // namespace shardtype
