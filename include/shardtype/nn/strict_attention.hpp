#pragma once
/// Attention of queries to keys and values that a rank has, without a matrix of all scores: its
/// gradient.

#include <source_location>
#include <type_traits>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/nn/labels.hpp>
#include <shardtype/nn/run_attention.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/rows.hpp>

namespace shardtype {

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

}  // namespace nn::detail

namespace autodiff {

template <>
struct Vjp<op::Attention<false>> : Differentiable {
  static constexpr bool first_order = true;
  using Op = op::Attention<false>;
  template <class Q, class K, class V>
  static constexpr auto forward(Op const& op, std::source_location const& where, Q const& q,
                                K const& k, V const& v) {
    return nn::detail::attention_forward(op::Attention<true>{op.options}, where, q, k, v);
  }
  /// The cotangent of the result, and those of the operands that come together.
  template <class Out, class Q, class K, class V, class S, class C>
  static constexpr auto prepare(Op const& op, S const& saved, C const& ct) {
    if constexpr (nn::detail::same_heads<Q, K>) {
      return autodiff::keep(ct, back(op::AttentionBack{op.options}, saved, ct));
    } else {
      return autodiff::keep(ct, back(op::AttentionBackKeys{op.options}, saved, ct));
    }
  }
  template <int Which, class Out, class Q, class K, class V, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& begin) {
    using nn::detail::label_at;
    if constexpr (nn::detail::same_heads<Q, K>) {
      std::int64_t const queries = autodiff::kept<0>(saved).extents()[1];
      std::int64_t const keys = autodiff::kept<1>(saved).extents()[1];
      std::int64_t const first = Which == 0 ? 0 : queries + (Which - 1) * keys;
      using Operand = std::conditional_t<Which == 0, Q, K>;
      return autodiff::in_order(
          api::slice<nn::detail::AllRows, label_at<Operand, 1>>(
              autodiff::kept<1>(begin), first, first + (Which == 0 ? queries : keys)),
          labels_of_t<tensor_of<Operand>>{});
    } else if constexpr (Which == 0) {
      return back(op::AttentionBackQueries{op.options}, saved, autodiff::kept<0>(begin));
    } else {
      std::int64_t const features = autodiff::kept<0>(saved).extents()[3];
      std::int64_t const first = Which == 1 ? 0 : features;
      return api::slice<nn::detail::KeysAndValues, label_at<K, 3>>(autodiff::kept<1>(begin), first,
                                                                   first + features);
    }
  }

 private:
  template <class Back, class S, class C>
  static constexpr auto back(Back const& op, S const& saved, C const& ct) {
    return api::call(op, std::source_location::current(), autodiff::kept<0>(saved),
                     autodiff::kept<1>(saved), autodiff::kept<2>(saved), autodiff::kept<3>(saved),
                     autodiff::kept<4>(saved), ct);
  }
};

}  // namespace autodiff

}  // namespace shardtype
