#pragma once
/// Attention of queries to keys and values that a rank has, as operations.

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/check/along.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/nn/types_norm.hpp>

namespace shardtype {

namespace rules {

/// The segments of queries [B, S] and of keys [B, K], from operand `first` on if there are any, are
/// split as queries and keys are. Those of keys that travel (`ring`) are whole along K.
constexpr Verdict attention_segments(Question const& q, int first, bool ring) {
  for (int k = 0; k < 2 && first < q.count; ++k) {
    Spec const& ids = q.operands[first + k];
    for (int d = 0; d < 2; ++d) {
      DimSpec like = q.operands[k].dims[d];
      if (ring && k == 1 && d == 1) like.axes = {};
      if (ids.rank != 2 || !(ids.dims[d] == like)) return refuse(Code::D12_dims_differ, like.label);
    }
    for (int x = 0; x < max_axes; ++x)
      if (ids.unreduced.contains(x)) return refuse(Code::P04_not_linear, -1, -1, x);
  }
  return accept({});
}
/// Queries [B, S, H, F], keys and values [B, K, G, F]: the result has the queries' sharding. The
/// heads of keys are split as those of queries, or whole. Keys are whole or, if they travel
/// (`ring`), split over the axis that splits queries. `ids`: the number of the first operand of
/// segments.
constexpr Verdict attention(Question const& q, bool ring = false, int ids = 3) {
  Spec const& queries = q.a();
  for (int k = 0; k < 3; ++k)
    if (q.operands[k].rank != 4)
      return refuse(Code::D21_heads, q.operands[k].rank > 0 ? q.operands[k].dims[0].label : -1);
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
    return refuse(Code::D21_heads, keys.dims[2].label);
  for (DimSpec const& dim : {queries.dims[0], queries.dims[2]})
    if (dim.axes.cyclic != 0) return refuse(Code::B03_through_cyclic, dim.label, -1, dim.axes[0]);
  if (Verdict v = rules::attention_segments(q, ids, ring); !v) return v;
  Spec out = queries;
  for (int k = 0; k < 3; ++k)
    for (int x = 0; x < max_axes; ++x) {
      if (q.operands[k].unreduced.contains(x)) return refuse(Code::P04_not_linear, -1, -1, x);
      if (q.operands[k].reduced.contains(x) && out.dim_of(x) < 0) out.reduced.insert(x);
    }
  return accept(out);
}
/// Those of `v`, and of one number per row of it, without the features.
constexpr Verdicts<2> with_sums(Verdict const& v) {
  Verdict sums = v;
  if (v) --sums.result.rank, sums.result.dims[3] = DimSpec{};
  return {v, sums};
}
/// The cotangent of an operand `s`, unreduced over the axes over which the cotangent `ct` of the
/// result is, and those that split queries or their heads and not the keys.
constexpr Verdict attention_cotangent(Spec s, Spec const& queries, Spec const& ct) {
  for (int d : {1, 2})
    for (int k = 0; s.dims[d].axes.size == 0 && k < queries.dims[d].axes.size; ++k) {
      s.unreduced.insert(queries.dims[d].axes[k]);
      s.reduced.erase(queries.dims[d].axes[k]);
    }
  for (int x = 0; x < max_axes; ++x) {
    if (!ct.unreduced.contains(x)) continue;
    if (s.dim_of(x) >= 0) return refuse(Code::P06_unreduced_and_split, -1, -1, x);
    s.unreduced.insert(x);
    s.reduced.erase(x);
  }
  return accept(s);
}
/// The cotangents of queries, keys and values, from these, the result, the logarithms of the sums,
/// and the cotangent of the result.
constexpr Verdicts<3> attention_cotangents(Question const& q, bool ring = false) {
  Verdict const v = attention(q, ring, 6);
  if (!v) return {v, v, v};
  auto const of = [&](int k) { return attention_cotangent(q.operands[k], q.a(), q.operands[5]); };
  return {of(0), of(1), of(2)};
}

}  // namespace rules

namespace nn {

/// Options of attention: which keys a query sees, and what becomes of scores.
struct AttentionOptions {
  bool causal = true;
  /// Factor of the scores; 0: 1 / sqrt(number of features).
  double scale = 0;
  /// Position of the first query among the keys: causal query i sees the keys 0 to first + i.
  std::int64_t first = 0;
  /// Query i sees keys at positions first + i - window to first + i + window alone; 0: no window.
  std::int64_t window = 0;
  /// Scores become soft_cap tanh(score / soft_cap); 0: they stay.
  double soft_cap = 0;
  /// Scores fall with the distance of query and key (ALiBi), with slopes 2^(-alibi (h + 1) / H) for
  /// head h of H; 0: they do not.
  double alibi = 0;
};

namespace kernels {

/// Queries and keys of a block of scores.
inline constexpr std::int64_t attention_block = 128;
/// Elements of scratch memory: two blocks of scores, two numbers per query.
constexpr std::int64_t attention_scratch(std::int64_t queries, std::int64_t keys) {
  std::int64_t const rows = queries < attention_block ? queries : attention_block;
  std::int64_t const columns = keys < attention_block ? keys : attention_block;
  return 2 * rows * columns + 2 * rows;
}

}  // namespace kernels

namespace detail {

/// Error E41 of blocks of manual mode: queries that differ along an axis along which keys do not
/// are some of all positions or heads, and a block does not say which.
constexpr void check_places(ResultExtents const& c, AttentionOptions const& options) {
  Spec const& queries = c.operand(0);
  bool const by_places = options.causal || options.window > 0;
  bool const grouped = c.given[0][2] != c.given[1][2];
  for (int x = 0; x < max_axes; ++x) {
    if (!queries.local || !queries.varying.contains(x)) continue;
    if (options.alibi != 0)
      ResultExtents::fail("the blocks of queries vary over " + std::string(c.names.axis_name[x]) +
                          ", and ALiBi depends on which positions and heads a block has; call "
                          "attention on tensors, inside of shard_map by strict<...>(f, q, k, v)");
    if ((by_places || grouped) && !c.operand(1).varying.contains(x))
      ResultExtents::fail(
          "the blocks of queries vary over " + std::string(c.names.axis_name[x]) +
          " and those of keys do not, and attention that is causal, has a window, or has fewer "
          "heads of keys, depends on which positions and heads a block has; call it on "
          "tensors, inside of shard_map by strict<...>(f, q, k, v)");
  }
}
/// Error E41 of the gradient of blocks, whose heads automatic mode does not say either.
constexpr void check_heads_of_gradient(AttentionOptions const& options) {
  if (options.alibi != 0)
    ResultExtents::fail(
        "ALiBi depends on which heads a block has, and gradients of blocks and of automatic mode "
        "do not know it; take the gradient of a function of tensors, value_and_grad<...>(f)(q, k, "
        "v)");
}
/// Errors of the extents of queries, keys and values: E24, E41.
constexpr void check_attention(ResultExtents const& c, AttentionOptions const& options) {
  if (options.window < 0 || !(options.soft_cap >= 0) || !(options.alibi >= 0))
    ResultExtents::fail("the window, the soft cap and the ALiBi of attention are not negative");
  detail::check_places(c, options);
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
  for (int k = 3; k < c.count; ++k)
    for (int d = 0; d < 2; ++d)
      if (c.given[k][d] != c.given[k - 3][d])
        ResultExtents::fail("index " + std::string(c.names.label_name[c.operand(k).dims[d].label]) +
                                " has extent " + std::to_string(c.given[k][d]) +
                                " in segments of attention, and " +
                                std::to_string(c.given[k - 3][d]) + " elsewhere",
                            "E24");
  AxisList const& axes = c.operand(1).dims[2].axes;
  std::int64_t const ranks = c.sizes.product(axes);
  if (axes.size > 0 && heads != key_heads && key_heads % ranks != 0)
    ResultExtents::fail("attention splits " + std::to_string(key_heads) + " heads of keys over " +
                        std::to_string(ranks) + " ranks, and " + std::to_string(heads) +
                        " of queries, so that groups of heads are torn apart; let each rank have "
                        "all heads of keys and values, as {R} over that axis");
}

/// Requirements on queries, keys, values, and segments, which are of std::int64_t.
template <class A, class B, class C, class... Ids>
constexpr rules::Code attention_elements() {
  if (rules::Code const c = detail::real_elements<A, B, C>(); c != rules::Code::ok) return c;
  if (!(std::is_same_v<checking::element_t<Ids>, std::int64_t> && ...))
    return rules::Code::I01_not_integers;
  return (shardtype::detail::same_memory<A, Ids> && ...) ? rules::Code::ok
                                                         : rules::Code::C10_element_types_differ;
}
/// The most keys that a block of queries is computed with: those of its windows; 0: any number.
constexpr std::int64_t keys_in_window(AttentionOptions const& options) {
  if (options.window <= 0) return 0;
  return add_sat(mul_sat(options.causal ? 1 : 2, options.window), kernels::attention_block);
}
/// Flops of `products` products of the scores that are computed: causal queries see half of the
/// keys.
constexpr planning::Work attention_work(planning::CallSizing const& c,
                                        AttentionOptions const& options, int products) {
  std::int64_t const keys = c.rows(1, 1);
  std::int64_t const each = mul_sat(2 * products, c.elements(0));
  std::int64_t flops = mul_sat(each, keys);
  if (options.causal) flops /= 2;
  if (std::int64_t const most = detail::keys_in_window(options); most > 0)
    flops = std::min(flops, mul_sat(each, most));
  return {flops, mul_sat(kernels::attention_scratch(c.rows(0, 1), keys), c.element_bytes(0)),
          false};
}
/// What a plan knows of the options, as a number; 0: causal, without a window.
constexpr std::int32_t attention_variant(AttentionOptions const& options) {
  constexpr std::int64_t most = std::int64_t{1} << 29;
  std::int64_t const window = std::clamp<std::int64_t>(options.window, 0, most);
  return static_cast<std::int32_t>(2 * window + (options.causal ? 0 : 1));
}
constexpr AttentionOptions options_of_variant(std::int32_t number) {
  return {.causal = number % 2 == 0, .window = number / 2};
}

}  // namespace detail
}  // namespace nn

namespace op {

/// What attention of q, k, v has in common, whether it gives the logarithms of the sums of
/// exponentials or not. Further operands are the segments of queries and keys.
struct AttentionCall {
  static constexpr std::string_view name = "attention";
  static constexpr bool reads_places = true;  ///< of queries, and of their heads
  nn::AttentionOptions options{};
  template <class A, class B, class C, class... Ids>
  static constexpr Code elements() {
    return nn::detail::attention_elements<A, B, C, Ids...>();
  }
  constexpr planning::Work work(planning::CallSizing const& c) const {
    return nn::detail::attention_work(c, options, 2);
  }
  /// A mask halves the work, a window bounds it.
  constexpr std::int32_t variant() const { return nn::detail::attention_variant(options); }
};
struct AttentionWithSums;
/// Attention of q, k, v.
struct Attention : AttentionCall {
  using operation = Attention;
  using gradient = checking::PullsBySaved;
  static constexpr Verdict rule(rules::Question const& q) { return rules::attention(q); }
  constexpr void extents(ResultExtents const& c) const { nn::detail::check_attention(c, options); }
  static constexpr Attention of_variant(std::int32_t number) {
    return {{nn::detail::options_of_variant(number)}};
  }
  /// In automatic mode: what gives the sums as well, which the gradient reads.
  constexpr AttentionWithSums with_saved() const;
  template <class Out, class Q, class K, class V, class... Ids>
  void fill(Out& out, Q const& q, K const& k, V const& v, Ids const&... ids) const;
  static constexpr bool first_order = true;
  template <class Q, class K, class V, class... Ids>
  constexpr auto forward(std::source_location const& where, Q const& q, K const& k, V const& v,
                         Ids const&... ids) const;
  template <class G>
  constexpr auto prepare(G const& g) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};
/// The same, and the logarithm of the sum of exponentials of each query and head.
struct AttentionWithSums : AttentionCall {
  using operation = AttentionWithSums;
  static constexpr Verdicts<2> rule(rules::Question const& q) {
    return rules::with_sums(rules::attention(q));
  }
  template <class A, class = void,
            class = void>  // of three operands, and of more
  using element = Elements<checking::element_t<A>, checking::element_t<A>>;
  constexpr void extents(ResultExtents const& c, ResultExtents const&) const {
    nn::detail::check_attention(c, options);
  }
  /// What gives the features alone; its gradient reads the sums.
  constexpr Attention without_saved() const { return {{options}}; }
  static constexpr AttentionWithSums of_variant(std::int32_t number) {
    return {{nn::detail::options_of_variant(number)}};
  }
  template <class Out, class Sums, class Q, class K, class V, class... Ids>
  void fill(Out& out, Sums& sums, Q const& q, K const& k, V const& v, Ids const&... ids) const;
};
constexpr AttentionWithSums Attention::with_saved() const { return {{options}}; }

/// The cotangents of q, k and v, from these, the result, the logarithms of the sums, the cotangent
/// of the result, and the segments if there are any. Those of k and v are unreduced over the axes
/// that split queries or heads, and not the keys.
struct AttentionBack {
  using operation = AttentionBack;
  static constexpr std::string_view name = "attention_back";
  nn::AttentionOptions options{};
  static constexpr Verdicts<3> rule(rules::Question const& q) {
    return rules::attention_cotangents(q);
  }
  template <class Q, class K, class V, class O, class S, class C, class... Ids>
  static constexpr Code elements() {
    return nn::detail::attention_elements<Q, K, V, Ids...>();
  }
  template <class Q>
  using element = Elements<checking::element_t<Q>, checking::element_t<Q>, checking::element_t<Q>>;
  constexpr planning::Work work(planning::CallSizing const& c) const {
    return nn::detail::attention_work(c, options, 5);
  }
  template <class Queries, class Keys, class Values, class Q, class K, class V, class O, class S,
            class C, class... Ids>
  void fill(Queries& queries, Keys& keys, Values& values, Q const& q, K const& k, V const& v,
            O const& result, S const& sums, C const& ct, Ids const&... ids) const;
};

}  // namespace op

}  // namespace shardtype
