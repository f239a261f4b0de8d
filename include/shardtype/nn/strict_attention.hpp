#pragma once
/// Attention of queries to keys and values that a rank has, without a matrix of all scores: its
/// gradient.

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/nn/kernels_attention.hpp>
#include <shardtype/nn/labels.hpp>
#include <shardtype/nn/types_attention.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/rows.hpp>

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

namespace execute {}  // namespace execute
namespace op {

template <bool Sums>
template <class Out, class Q, class K, class V>
void Attention<Sums>::fill(Out& out, Q const& q, K const& k, V const& v) const {
  using T = typename Q::element;
  typename Q::execution_space const exec{};
  auto const shape = nn::detail::attention_shape(options, q, k);
  runtime::Buffer const scratch = nn::detail::attention_scratch<T>(q, shape);
  nn::kernels::attention(exec, shape, execute::data_of(q), execute::data_of(k), execute::data_of(v),
                         execute::written(out), shape.features + (Sums ? 1 : 0),
                         static_cast<T*>(scratch.data()));
  exec.fence();
}

}  // namespace op
namespace nn::detail {

/// Writes what `back(exec, shape, saved, out, scratch)` makes of the saved operands.
template <class Back, class Out, class Q, class K, class V, class O, class S, class C>
void fill_cotangents(AttentionOptions const& options, Back const& back, Out& out, Q const& q,
                     K const& k, V const& v, O const& result, S const& sums, C const& ct) {
  using T = typename Q::element;
  typename Q::execution_space const exec{};
  auto const shape = nn::detail::attention_shape(options, q, k);
  runtime::Buffer const scratch = nn::detail::attention_scratch<T>(q, shape);
  nn::kernels::AttentionSaved<T> const saved{execute::data_of(q),    execute::data_of(k),
                                             execute::data_of(v),    execute::data_of(result),
                                             execute::data_of(sums), execute::data_of(ct)};
  back(exec, shape, saved, execute::written(out), static_cast<T*>(scratch.data()));
  exec.fence();
}

}  // namespace nn::detail
namespace op {

template <class Out, class Q, class K, class V, class O, class S, class C>
void AttentionBack::fill(Out& out, Q const& q, K const& k, V const& v, O const& result,
                         S const& sums, C const& ct) const {
  nn::detail::fill_cotangents(
      options, [](auto const&... all) { nn::kernels::attention_back(all...); }, out, q, k, v,
      result, sums, ct);
}
template <class Out, class Q, class K, class V, class O, class S, class C>
void AttentionBackQueries::fill(Out& out, Q const& q, K const& k, V const& v, O const& result,
                                S const& sums, C const& ct) const {
  nn::detail::fill_cotangents(
      options, [](auto const&... all) { nn::kernels::attention_back_queries(all...); }, out, q, k,
      v, result, sums, ct);
}
template <class Out, class Q, class K, class V, class O, class S, class C>
void AttentionBackKeys::fill(Out& out, Q const& q, K const& k, V const& v, O const& result,
                             S const& sums, C const& ct) const {
  nn::detail::fill_cotangents(
      options, [](auto const&... all) { nn::kernels::attention_back_keys(all...); }, out, q, k, v,
      result, sums, ct);
}

}  // namespace op

namespace nn::detail {

/// Whether queries are whole, and keys have their heads, split alike.
template <class Q, class K>
inline constexpr bool same_heads = [] {
  using Shared = Scope<autodiff::tensor_of<Q>, autodiff::tensor_of<K>>;
  return Shared::template spec<0>.dims[1].axes.size == 0 &&
         Shared::template spec<0>.dims[2] == Shared::template spec<1>.dims[2];
}();
/// Whether an axis splits the sequence of keys of type `K`.
template <class K>
inline constexpr bool splits_keys = [] {
  using A = shardtype::detail::laid_out_t<autodiff::tensor_of<K>>;
  if constexpr (is_tensor<A>) {
    constexpr Spec keys = Scope<A>::template spec<0>;
    return keys.rank == 4 && keys.dims[1].axes.size > 0;
  } else {
    return false;
  }
}();

}  // namespace nn::detail

namespace nn::detail {

/// Attention by `op`, which gives the logarithms of the sums too. Keeps the operands, the result
/// and one number per row; the array with both goes.
template <class Op, class Q, class K, class V>
constexpr auto attention_forward(Op const& op, std::source_location const& where, Q const& q,
                                 K const& k, V const& v) {
  std::int64_t const features = q.extents()[3];
  auto const both = shardtype::call(op, where, q, k, v);
  auto const out = shardtype::slice<FeaturesAndSum, label_at<Q, 3>>(both, 0, features);
  auto const saved = autodiff::keep(
      q, k, v, out, shardtype::call(op::AtRow<FeaturesAndSum>{features}, where, both));
  return autodiff::Forward<std::remove_cvref_t<decltype(out)>,
                           std::remove_cvref_t<decltype(saved)>>{out, saved};
}

/// `op` of all that `attention_forward` kept, and a cotangent.
template <class Op, class G, class C>
constexpr auto attention_back(Op const& op, G const& g, C const& ct) {
  return g.call(op, g.template kept<0>(), g.template kept<1>(), g.template kept<2>(),
                g.template kept<3>(), g.template kept<4>(), ct);
}

}  // namespace nn::detail

namespace op {

template <bool Sums>
template <class Q, class K, class V>
constexpr auto Attention<Sums>::forward(std::source_location const& where, Q const& q, K const& k,
                                        V const& v) const {
  return nn::detail::attention_forward(op::Attention<true>{options}, where, q, k, v);
}
/// The cotangent of the result, and those of the operands that come together.
template <bool Sums>
template <class G>
constexpr auto Attention<Sums>::prepare(G const& g) const {
  if constexpr (nn::detail::same_heads<typename G::template operand_type<0>,
                                       typename G::template operand_type<1>>) {
    return autodiff::keep(g.ct, nn::detail::attention_back(AttentionBack{options}, g, g.ct));
  } else {
    return autodiff::keep(g.ct, nn::detail::attention_back(AttentionBackKeys{options}, g, g.ct));
  }
}
template <bool Sums>
template <class G>
constexpr auto Attention<Sums>::pull(G const& g) const {
  using nn::detail::label_at;
  constexpr int which = G::operand;
  using Operand = typename G::type;
  if constexpr (nn::detail::same_heads<typename G::template operand_type<0>,
                                       typename G::template operand_type<1>>) {
    std::int64_t const queries = g.template kept<0>().extents()[1];
    std::int64_t const keys = g.template kept<1>().extents()[1];
    std::int64_t const first = which == 0 ? 0 : queries + (which - 1) * keys;
    return g.in_order(api::slice<nn::detail::AllRows, label_at<Operand, 1>>(
        autodiff::kept<1>(g.ct), first, first + (which == 0 ? queries : keys)));
  } else if constexpr (which == 0) {
    return nn::detail::attention_back(AttentionBackQueries{options}, g, autodiff::kept<0>(g.ct));
  } else {
    std::int64_t const features = g.template kept<0>().extents()[3];
    std::int64_t const first = which == 1 ? 0 : features;
    return api::slice<nn::detail::KeysAndValues, label_at<Operand, 3>>(autodiff::kept<1>(g.ct),
                                                                       first, first + features);
  }
}

}  // namespace op

}  // namespace shardtype
