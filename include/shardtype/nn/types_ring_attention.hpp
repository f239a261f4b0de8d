#pragma once
/// Operations of attention over a sequence that an axis splits: blocks of keys and values travel
/// around the ring of its ranks. Source: Liu, Zaharia, Abbeel, "Ring attention with blockwise
/// transformers for near-infinite context", 2023.

#include <cstdint>
#include <source_location>
#include <string_view>

#include <shardtype/nn/types_attention.hpp>
#include <shardtype/plan/ring_plan.hpp>

namespace shardtype {

namespace nn::detail {

struct OneOfRanks : Index<"rank"> {};
struct CotangentsOfRank : Index<"cotangents of a rank"> {};

/// Blocks of keys with values that a rank holds at once, besides its own, and of their cotangents.
inline constexpr std::int64_t travelling_keys = 2;
inline constexpr std::int64_t travelling_cotangents = 3;

/// The sizes of keys with values, one behind the other.
constexpr OwnSizing keys_and_values(planning::CallSizing const& c) {
  OwnSizing own = c.given[1];
  std::int64_t& features = own.extents.at[c.operands[1].dims[3].label];
  features = mul_sat(2, features);
  return own;
}
/// Appends the rounds in which keys with values travel, or their cotangents, which go `home`.
constexpr void append_travel(Plan& p, planning::CallSizing const& c, int slot, bool home) {
  Spec const& keys = c.operands[1];
  std::int64_t const ranks = c.common.sizes.product(keys.dims[1].axes);
  planning::append_ring(p, planning::operand_slot(slot), keys, keys_and_values(c), 1,
                        home && ranks > 1 ? ranks : ranks - 1, c.common.sizes);
}
/// Flops of `products` products of the scores of the busiest rank's queries with all keys, and its
/// memory: `blocks` travelling blocks that no step counts, one block of scores, and `numbers` per
/// query and head.
constexpr planning::Work ring_work(planning::CallSizing const& c, bool causal, int products,
                                   std::int64_t blocks, std::int64_t numbers) {
  Spec const& keys = c.operands[1];
  DimSpec const& dim = keys.dims[1];
  std::int64_t const all = c.given[1].extents[dim.label];
  std::int64_t const own = c.rows(1, 1);
  // of keys in blocks the last rank sees nearly all
  std::int64_t const seen = !causal ? all : dim.axes.cyclic != 0 ? all / 2 : all - own / 2;
  std::int64_t const queries = c.elements(0);
  std::int64_t const rows = c.given[0].extents[c.operands[0].dims[3].label] == 0
                                ? 0
                                : queries / c.given[0].extents[c.operands[0].dims[3].label];
  std::int64_t const travels =
      c.common.sizes.product(dim.axes) > 1 ? mul_sat(2 * blocks, c.elements(1)) : 0;
  std::int64_t const scratch =
      add_sat(kernels::attention_scratch(c.rows(0, 1), own), mul_sat(numbers, rows));
  return {mul_sat(mul_sat(2 * products, queries), seen),
          mul_sat(add_sat(travels, scratch), c.element_bytes(0)), false};
}

}  // namespace nn::detail

namespace op {

/// Attention with keys and values that are split as the queries are: their blocks travel.
template <bool Sums>
struct RingAttention : Attention<Sums> {
  using operation = RingAttention;
  static constexpr bool communicates = true;
  static constexpr bool keeps_shardings = true;
  static constexpr std::string_view name = "ring_attention";
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict v = rules::attention(q, true);
    if (v && Sums) v.result.dims[3].label = q.to.dims[0].label;
    return v;
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    nn::detail::append_travel(p, c, 3, false);
  }
  constexpr planning::Work work(planning::CallSizing const& c) const {
    return nn::detail::ring_work(c, this->options.causal, 2, nn::detail::travelling_keys - 1, 2);
  }
  static constexpr RingAttention of_variant(std::int32_t number) {
    return {{{.causal = number == 0}}};
  }
  template <class R, class Q, class K, class V>
  typename R::result run(std::source_location const& where, Q const& q, K const& k,
                         V const& v) const;
  template <class Q, class K, class V>
  constexpr auto forward(std::source_location const& where, Q const& q, K const& k,
                         V const& v) const;
  template <class G>
  constexpr auto prepare(G const& g) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};

/// The cotangents of q, k and v: of each rank its blocks, one behind the other. From q, k, v, the
/// result, the logarithms of the sums, and the cotangent of the result. Keys and values travel, and
/// with them their cotangents.
struct RingAttentionBack {
  using operation = RingAttentionBack;
  using to = Mentions<Dim<nn::detail::OneOfRanks>, Dim<nn::detail::CotangentsOfRank>>;
  static constexpr bool communicates = true;
  static constexpr std::string_view name = "ring_attention_back";
  nn::AttentionOptions options{};
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict const v = rules::attention(q, true);
    if (!v) return v;
    AxisList ranks;
    for (int d = 0; d < 4; ++d)
      for (int k = 0; k < q.a().dims[d].axes.size; ++k) ranks.push(q.a().dims[d].axes[k]);
    Spec out;
    out.add(q.to.dims[0].label, ranks);
    out.add(q.to.dims[1].label);
    return rules::pending_as(out, q.operands[5]);
  }
  constexpr void extents(ResultExtents const& c) const {
    auto const block = [&](int k) {
      std::int64_t n = 1;
      for (int d = 0; d < 4; ++d)
        n = mul_sat(n, core::largest_block(c.given[k][d], c.operand(k).dims[d].axes, c.sizes));
      return n;
    };
    c.out[0] = c.sizes.product(c.result.dims[0].axes);
    c.out[1] = add_sat(block(0), mul_sat(2, block(1)));
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    nn::detail::append_travel(p, c, 6, false);
    nn::detail::append_travel(p, c, 7, true);
  }
  constexpr planning::Work work(planning::CallSizing const& c) const {
    return nn::detail::ring_work(
        c, options.causal, 5,
        nn::detail::travelling_keys - 1 + nn::detail::travelling_cotangents - 1, 0);
  }
  template <class R, class Q, class K, class V, class O, class S, class C>
  typename R::result run(std::source_location const& where, Q const& q, K const& k, V const& v,
                         O const& result, S const& sums, C const& ct) const;
};
/// The cotangent of operand `Which`, from the result of RingAttentionBack, q and k.
template <int Which>
struct RingAttentionPart {
  using operation = RingAttentionPart;
  static constexpr std::string_view name = "ring_attention_part";
  static constexpr Verdict rule(rules::Question const& q) {
    Spec out = q.operands[Which == 0 ? 1 : 2];
    AxisList rest;
    AxisList const& ranks = q.a().dims[0].axes;
    for (int k = 0; k < ranks.size; ++k)
      if (out.dim_of(ranks[k]) < 0) rest.push(ranks[k]);
    return rules::pending_as(rules::summed_over(out, rest), q.a());
  }
  constexpr void extents(ResultExtents const& c) const {
    for (int d = 0; d < 4; ++d) c.out[d] = c.given[Which == 0 ? 1 : 2][d];
  }
  template <class Out, class A, class Q, class K>
  void fill(Out& out, A const& all, Q const& q, K const& k) const;
};

}  // namespace op

}  // namespace shardtype
