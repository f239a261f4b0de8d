#pragma once
/// Attention of queries to keys and values that a rank has, without a matrix of all scores.

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/check/along.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/nn/kernels_attention.hpp>
#include <shardtype/nn/norm.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/rows.hpp>

namespace shardtype {

namespace rules {

/// Queries [B, S, H, F], keys and values [B, K, G, F]: the result has the queries' sharding. The heads of keys are split
/// as those of queries, or whole. Keys are whole or, if they travel (`ring`), split over the axis that splits queries.
constexpr Verdict attention(Question const& q, bool ring = false) {
  Spec const& queries = q.a();
  for (int k = 0; k < 3; ++k)
    if (q.operands[k].rank != 4)
      return refuse(Code::D12_dims_differ,
                    q.operands[k].rank > 0 ? q.operands[k].dims[0].label : -1);
  Spec const& keys = q.operands[1];
  for (int d = 0; d < 4; ++d)
    if (!(keys.dims[d] == q.operands[2].dims[d]))
      return refuse(Code::D12_dims_differ, keys.dims[d].label);
  if (!(keys.dims[0] == queries.dims[0])) return refuse(Code::D12_dims_differ, keys.dims[0].label);
  if (keys.dims[3].label != queries.dims[3].label)
    return refuse(Code::D12_dims_differ, keys.dims[3].label);
  for (Spec const* s : {&queries, &keys})
    if (s->dims[3].axes.size > 0)
      return refuse(Code::D03_along_split, s->dims[3].label, -1, s->dims[3].axes[0]);
  AxisList const& along = keys.dims[1].axes;
  int const most = ring ? 1 : 0;
  if (along.size > most)
    return refuse(Code::D03_along_split, keys.dims[1].label, -1, along[along.size - 1]);
  if (ring && !(along == queries.dims[1].axes))
    return refuse(Code::D12_dims_differ, keys.dims[1].label);
  if (keys.dims[2].axes.size > 0 && !(keys.dims[2].axes == queries.dims[2].axes))
    return refuse(Code::D12_dims_differ, keys.dims[2].label);
  for (DimSpec const& dim : {queries.dims[0], queries.dims[2]})
    if (dim.axes.cyclic != 0) return refuse(Code::B03_through_cyclic, dim.label, -1, dim.axes[0]);
  Spec out = queries;
  for (int k = 0; k < 3; ++k)
    for (int x = 0; x < max_axes; ++x) {
      if (q.operands[k].unreduced.contains(x)) return refuse(Code::P04_not_linear, -1, -1, x);
      if (q.operands[k].reduced.contains(x) && out.dim_of(x) < 0) out.reduced.insert(x);
    }
  return accept(out);
}
/// `s` unreduced over `axes`.
constexpr Spec summed_over(Spec s, AxisList const& axes) {
  for (int k = 0; k < axes.size; ++k) {
    s.unreduced.insert(axes[k]);
    s.reduced.erase(axes[k]);
  }
  return s;
}
/// `s` unreduced over the axes over which the cotangent `ct` is.
constexpr Verdict pending_as(Spec s, Spec const& ct) {
  for (int x = 0; x < max_axes; ++x) {
    if (!ct.unreduced.contains(x)) continue;
    if (s.dim_of(x) >= 0) return refuse(Code::P06_unreduced_and_split, -1, -1, x);
    s.unreduced.insert(x);
    s.reduced.erase(x);
  }
  return accept(s);
}

}  // namespace rules

namespace nn {

/// Options of attention: `causal`, `scale` (0: 1 / sqrt(features)), and `first`, the position of the first query among
/// the keys.
using AttentionOptions = kernels::AttentionSettings;

namespace detail {

struct FeaturesAndSum : Index<"features and sum"> {};
struct KeysAndValues : Index<"keys and values"> {};
struct AllRows : Index<"queries, keys and values"> {};

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
  if constexpr (is_tensor<autodiff::tensor_of<K>>) {
    constexpr Spec keys = Scope<autodiff::tensor_of<K>>::template spec<0>;
    return keys.rank == 4 && keys.dims[1].axes.size > 0;
  } else {
    return false;
  }
}();

/// Error E41 of blocks of manual mode: queries that differ along an axis along which keys do not are some of all positions
/// or heads, and a block does not say which.
constexpr void check_places(ResultExtents const& c, bool causal) {
  Spec const& queries = c.operand(0);
  if (!queries.local || !(causal || c.given[0][2] != c.given[1][2])) return;
  for (int x = 0; x < max_axes; ++x)
    if (queries.varying.contains(x) && !c.operand(1).varying.contains(x))
      ResultExtents::fail(
          "the blocks of queries vary over " + std::string(c.names.axis_name[x]) +
          " and those of keys do not, and attention that is causal, or has fewer heads "
          "of keys, depends on which positions and heads a block has; call it on "
          "tensors, inside of shard_map by strict<...>(f, q, k, v)");
}
/// Errors of the extents of queries, keys and values: E24, E41.
constexpr void check_attention(ResultExtents const& c, bool causal) {
  check_places(c, causal);
  for (int k = 1; k < 3; ++k)
    for (int d = 0; d < 4; ++d)
      for (int other = 0; other < k; ++other) {
        int const e = c.operand(other).find(c.operand(k).dims[d].label);
        if (e >= 0 && c.given[k][d] != c.given[other][e])
          ResultExtents::fail("index " +
                                  std::string(c.names.label_name[c.operand(k).dims[d].label]) +
                                  " has extent " + std::to_string(c.given[k][d]) +
                                  " in one operand of attention, and " +
                                  std::to_string(c.given[other][e]) + " in another",
                              "E24");
      }
  std::int64_t const heads = c.given[0][2];
  std::int64_t const key_heads = c.given[1][2];
  if (key_heads == 0 ? heads != 0 : heads % key_heads != 0)
    ResultExtents::fail("attention has " + std::to_string(heads) + " heads of queries and " +
                        std::to_string(key_heads) +
                        " of keys; the first is a multiple of the second");
  AxisList const& axes = c.operand(1).dims[2].axes;
  std::int64_t const ranks = c.sizes.product(axes);
  if (axes.size > 0 && heads != key_heads && key_heads % ranks != 0)
    ResultExtents::fail("attention splits " + std::to_string(key_heads) + " heads of keys over " +
                        std::to_string(ranks) + " ranks, and " + std::to_string(heads) +
                        " of queries, so that groups of heads are torn apart; let each rank have "
                        "all heads of keys and values, as {R} over that axis");
}

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
Buffer attention_scratch(A const& a, kernels::AttentionShape const& s) {
  return a.mesh().state().pool().template take<typename A::memory_space>(
      static_cast<std::size_t>(kernels::attention_scratch(s.queries, s.keys)) * sizeof(T));
}
/// Flops of `products` products of all scores, which causal queries see half of.
constexpr planning::Work attention_work(planning::CallSizing const& c, bool causal, int products) {
  std::int64_t const keys = c.rows(1, 1);
  std::int64_t const flops = mul_sat(mul_sat(2 * products, c.elements(0)), keys);
  return {causal ? flops / 2 : flops,
          mul_sat(kernels::attention_scratch(c.rows(0, 1), keys), c.element_bytes(0)), false};
}

}  // namespace detail
}  // namespace nn

namespace op {

/// Attention of q, k, v; `Sums`: with the logarithm of the sum of exponentials behind the features.
template <bool Sums>
struct Attention {
  using operation = Attention;
  using to = std::conditional_t<Sums, Mentions<Dim<nn::detail::FeaturesAndSum>>, Mentions<>>;
  static constexpr std::string_view name = "attention";
  nn::AttentionOptions options{};
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict v = rules::attention(q);
    if (v && Sums) v.result.dims[3].label = q.to.dims[0].label;
    return v;
  }
  template <class A, class B, class C>
  static constexpr Code elements() {
    return nn::detail::real_elements<A, B, C>();
  }
  constexpr void extents(ResultExtents const& c) const {
    nn::detail::check_attention(c, options.causal);
    if (Sums) c.out[3] = c.given[0][3] + 1;
  }
  constexpr planning::Work work(planning::CallSizing const& c) const {
    return nn::detail::attention_work(c, options.causal, 2);
  }
};

/// Of q, k, v, the result, the logarithms of the sums, and the cotangent of the result: those of q, k and v, one behind
/// the other, [B, H, S + 2 K, F]. Each head has keys of its own.
struct AttentionBack {
  using operation = AttentionBack;
  using to = Mentions<Dim<nn::detail::AllRows>>;
  static constexpr std::string_view name = "attention_back";
  nn::AttentionOptions options{};
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict const v = rules::attention(q);
    if (!v) return v;
    if (!(q.a().dims[2] == q.operands[1].dims[2]))
      return rules::refuse(Code::D12_dims_differ, q.a().dims[2].label);
    if (AxisList const& split = q.a().dims[1].axes; split.size > 0)
      return rules::refuse(Code::D03_along_split, q.a().dims[1].label, -1, split[0]);
    Spec out = q.a();
    out.dims[1] = q.a().dims[2];
    out.dims[2] = q.to.dims[0];
    return rules::pending_as(out, q.operands[5]);
  }
  constexpr void extents(ResultExtents const& c) const {
    c.out[2] = c.given[0][1] + 2 * c.given[1][1];
  }
  constexpr planning::Work work(planning::CallSizing const& c) const {
    return nn::detail::attention_work(c, options.causal, 5);
  }
};
/// Of the same, that of q.
struct AttentionBackQueries {
  using operation = AttentionBackQueries;
  static constexpr std::string_view name = "attention_back_queries";
  nn::AttentionOptions options{};
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict const v = rules::attention(q);
    return v ? rules::pending_as(q.a(), q.operands[5]) : v;
  }
  constexpr planning::Work work(planning::CallSizing const& c) const {
    return nn::detail::attention_work(c, options.causal, 3);
  }
};
/// The same of k and v, one behind the other; unreduced over the axes that split queries or heads, and not the keys.
struct AttentionBackKeys {
  using operation = AttentionBackKeys;
  using to = Mentions<Dim<nn::detail::KeysAndValues>>;
  static constexpr std::string_view name = "attention_back_keys";
  nn::AttentionOptions options{};
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict const v = rules::attention(q);
    if (!v) return v;
    Spec out = q.operands[1];
    out.dims[3].label = q.to.dims[0].label;
    for (int d : {1, 2})
      if (out.dims[d].axes.size == 0) out = rules::summed_over(out, q.a().dims[d].axes);
    return rules::pending_as(out, q.operands[5]);
  }
  constexpr void extents(ResultExtents const& c) const {
    for (int d = 0; d < 3; ++d) c.out[d] = c.given[1][d];
    c.out[3] = 2 * c.given[1][3];
  }
  constexpr planning::Work work(planning::CallSizing const& c) const {
    return nn::detail::attention_work(c, options.causal, 4);
  }
};

}  // namespace op

namespace execute {

template <bool Sums>
struct Run<op::Attention<Sums>> : Filled<Run<op::Attention<Sums>>> {
  template <class Out, class Q, class K>
  static void fill(op::Attention<Sums> const& op, Out& out, Q const& q, K const& k, K const& v) {
    using T = typename Q::element;
    typename Q::execution_space const exec{};
    auto const shape = nn::detail::attention_shape(op.options, q, k);
    Buffer const scratch = nn::detail::attention_scratch<T>(q, shape);
    nn::kernels::attention(exec, shape, data_of(q), data_of(k), data_of(v),
                           static_cast<T*>(out.buffer().data()), shape.features + (Sums ? 1 : 0),
                           static_cast<T*>(scratch.data()));
    exec.fence();
  }
};
template <class Op>
  requires(std::is_same_v<Op, op::AttentionBack> || std::is_same_v<Op, op::AttentionBackQueries> ||
           std::is_same_v<Op, op::AttentionBackKeys>)
struct Run<Op> : Filled<Run<Op>> {
  template <class Out, class Q, class K, class O, class S, class C>
  static void fill(Op const& op, Out& out, Q const& q, K const& k, K const& v, O const& result,
                   S const& sums, C const& ct) {
    using T = typename Q::element;
    typename Q::execution_space const exec{};
    auto const shape = nn::detail::attention_shape(op.options, q, k);
    Buffer const scratch = nn::detail::attention_scratch<T>(q, shape);
    nn::kernels::AttentionSaved<T> const saved{data_of(q),      data_of(k),    data_of(v),
                                               data_of(result), data_of(sums), data_of(ct)};
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

namespace nn::detail {

/// Attention by `op`, which gives the logarithms of the sums too. Keeps the operands, the result and one number per row;
/// the array with both goes.
template <class Op, class Q, class K, class V>
constexpr auto attention_forward(Op const& op, std::source_location const& where, Q const& q,
                                 K const& k, V const& v) {
  std::int64_t const features = q.extents()[3];
  auto const both = call(op, where, q, k, v);
  auto const out = slice<FeaturesAndSum, label_at<Q, 3>>(both, 0, features);
  auto const saved =
      autodiff::keep(q, k, v, out, call(op::AtRow<FeaturesAndSum>{features}, where, both));
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
      return keep(ct, back(op::AttentionBack{op.options}, saved, ct));
    } else {
      return keep(ct, back(op::AttentionBackKeys{op.options}, saved, ct));
    }
  }
  template <int Which, class Out, class Q, class K, class V, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& begin) {
    using nn::detail::label_at;
    if constexpr (nn::detail::same_heads<Q, K>) {
      std::int64_t const queries = kept<0>(saved).extents()[1];
      std::int64_t const keys = kept<1>(saved).extents()[1];
      std::int64_t const first = Which == 0 ? 0 : queries + (Which - 1) * keys;
      using Operand = std::conditional_t<Which == 0, Q, K>;
      return autodiff::in_order(slice<nn::detail::AllRows, label_at<Operand, 1>>(
                                    kept<1>(begin), first, first + (Which == 0 ? queries : keys)),
                                labels_of_t<tensor_of<Operand>>{});
    } else if constexpr (Which == 0) {
      return back(op::AttentionBackQueries{op.options}, saved, kept<0>(begin));
    } else {
      std::int64_t const features = kept<0>(saved).extents()[3];
      std::int64_t const first = Which == 1 ? 0 : features;
      return slice<nn::detail::KeysAndValues, label_at<K, 3>>(kept<1>(begin), first,
                                                              first + features);
    }
  }

 private:
  template <class Back, class S, class C>
  static constexpr auto back(Back const& op, S const& saved, C const& ct) {
    return call(op, std::source_location::current(), kept<0>(saved), kept<1>(saved), kept<2>(saved),
                kept<3>(saved), kept<4>(saved), ct);
  }
};

}  // namespace autodiff

}  // namespace shardtype
