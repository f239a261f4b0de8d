#pragma once
/// Runs the operations of types_attention.hpp.

#include <cstddef>
#include <cstdint>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/nn/kernels_attention.hpp>
#include <shardtype/nn/types_attention.hpp>

namespace shardtype {

namespace nn::detail {

/// The shape of the blocks of queries and keys.
template <class Q, class K>
kernels::AttentionShape attention_shape(AttentionOptions const& options, Q const& q, K const& k) {
  auto const size = [](auto const& a, std::size_t d) { return a.rows()[d].size(); };
  std::int64_t const key_heads = k.extents()[2];
  return {size(q, 0),
          size(q, 1),
          size(k, 1),
          size(q, 2),
          size(k, 2),
          size(q, 3),
          q.rows()[2].range().begin,
          k.rows()[2].range().begin,
          key_heads == 0 ? 1 : q.extents()[2] / key_heads,
          options,
          q.rows()[1],
          k.rows()[1]};
}
template <class T, class A>
runtime::Buffer attention_scratch(A const& a, kernels::AttentionShape const& s) {
  return a.mesh().state().pool().template take<typename A::memory_space>(
      static_cast<std::size_t>(kernels::attention_scratch(s.queries, s.keys)) * sizeof(T));
}
}  // namespace nn::detail

namespace execute {

template <bool Sums>
struct Run<op::Attention<Sums>> : Filled<Run<op::Attention<Sums>>> {
  template <class Out, class Q, class K, class V>
  static void fill(op::Attention<Sums> const& op, Out& out, Q const& q, K const& k, V const& v) {
    using T = typename Q::element;
    typename Q::execution_space const exec{};
    auto const shape = nn::detail::attention_shape(op.options, q, k);
    Buffer const scratch = nn::detail::attention_scratch<T>(q, shape);
    nn::kernels::attention(exec, shape, execute::data_of(q), execute::data_of(k),
                           execute::data_of(v), static_cast<T*>(out.buffer().data()),
                           shape.features + (Sums ? 1 : 0), static_cast<T*>(scratch.data()));
    exec.fence();
  }
};
template <class Op>
  requires(std::is_same_v<Op, op::AttentionBack> || std::is_same_v<Op, op::AttentionBackQueries> ||
           std::is_same_v<Op, op::AttentionBackKeys>)
struct Run<Op> : Filled<Run<Op>> {
  template <class Out, class Q, class K, class V, class O, class S, class C>
  static void fill(Op const& op, Out& out, Q const& q, K const& k, V const& v, O const& result,
                   S const& sums, C const& ct) {
    using T = typename Q::element;
    typename Q::execution_space const exec{};
    auto const shape = nn::detail::attention_shape(op.options, q, k);
    Buffer const scratch = nn::detail::attention_scratch<T>(q, shape);
    nn::kernels::AttentionSaved<T> const saved{execute::data_of(q),    execute::data_of(k),
                                               execute::data_of(v),    execute::data_of(result),
                                               execute::data_of(sums), execute::data_of(ct)};
    T* const to = static_cast<T*>(out.buffer().data());
    T* const room = static_cast<T*>(scratch.data());
    if constexpr (std::is_same_v<Op, op::AttentionBack>) {
      nn::kernels::attention_back(exec, shape, saved, to, room);
    } else if constexpr (std::is_same_v<Op, op::AttentionBackQueries>) {
      nn::kernels::attention_back_queries(exec, shape, saved, to, room);
    } else {
      nn::kernels::attention_back_keys(exec, shape, saved, to, room);
    }
    exec.fence();
  }
};

}  // namespace execute

}  // namespace shardtype
