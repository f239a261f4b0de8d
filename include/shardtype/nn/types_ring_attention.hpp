#pragma once
/// Operations of attention over a sequence that an axis splits: blocks of keys and values travel
/// around the ring of its ranks. Source: Liu, Zaharia, Abbeel, "Ring attention with blockwise
/// transformers for near-infinite context", 2023.

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <string_view>

#include <shardtype/nn/types_attention.hpp>
#include <shardtype/plan/ring_plan.hpp>

namespace shardtype {

namespace nn::detail {

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
constexpr planning::Work ring_work(planning::CallSizing const& c, AttentionOptions const& options,
                                   int products, std::int64_t blocks, std::int64_t numbers) {
  Spec const& keys = c.operands[1];
  DimSpec const& dim = keys.dims[1];
  std::int64_t const all = c.given[1].extents[dim.label];
  std::int64_t const own = c.rows(1, 1);
  // of keys in blocks the last rank sees nearly all
  std::int64_t seen = !options.causal ? all : dim.axes.cyclic != 0 ? all / 2 : all - own / 2;
  if (std::int64_t const most = detail::keys_in_window(options); most > 0)
    seen = std::min(seen, most);
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

/// What attention with keys and values that are split as the queries are has in common: their
/// blocks travel.
struct RingAttentionCall : AttentionCall {
  static constexpr bool communicates = true;
  static constexpr bool keeps_shardings = true;
  static constexpr std::string_view name = "ring_attention";
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    nn::detail::append_travel(p, c, c.count, false);
  }
  constexpr planning::Work work(planning::CallSizing const& c) const {
    return nn::detail::ring_work(c, options, 2, nn::detail::travelling_keys - 1, 2);
  }
};
struct RingAttention : RingAttentionCall {
  using operation = RingAttention;
  using gradient = checking::PullsBySaved;
  static constexpr Verdict rule(rules::Question const& q) { return rules::attention(q, true); }
  constexpr void extents(ResultExtents const& c) const { nn::detail::check_attention(c, options); }
  static constexpr RingAttention of_variant(std::int32_t number) {
    return {{{nn::detail::options_of_variant(number)}}};
  }
  template <class R, class Q, class K, class V, class... Ids>
  typename R::result run(std::source_location const& where, Q const& q, K const& k, V const& v,
                         Ids const&... ids) const;
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
struct RingAttentionWithSums : RingAttentionCall {
  using operation = RingAttentionWithSums;
  static constexpr Verdicts<2> rule(rules::Question const& q) {
    return rules::with_sums(rules::attention(q, true));
  }
  template <class A, class = void,
            class = void>  // of three operands, and of more
  using element = Elements<checking::element_t<A>, checking::element_t<A>>;
  constexpr void extents(ResultExtents const& c, ResultExtents const&) const {
    nn::detail::check_attention(c, options);
  }
  template <class R, class Q, class K, class V, class... Ids>
  typename R::results run(std::source_location const& where, Q const& q, K const& k, V const& v,
                          Ids const&... ids) const;
};

/// The cotangents of q, k and v, as those of AttentionBack. Keys and values travel, and with them
/// their cotangents.
struct RingAttentionBack {
  using operation = RingAttentionBack;
  static constexpr bool communicates = true;
  static constexpr std::string_view name = "ring_attention_back";
  nn::AttentionOptions options{};
  static constexpr Verdicts<3> rule(rules::Question const& q) {
    return rules::attention_cotangents(q, true);
  }
  template <class Q, class K, class V, class O, class S, class C, class... Ids>
  static constexpr Code elements() {
    return nn::detail::attention_elements<Q, K, V, Ids...>();
  }
  template <class Q>
  using element = Elements<checking::element_t<Q>, checking::element_t<Q>, checking::element_t<Q>>;
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    nn::detail::append_travel(p, c, c.count, false);
    nn::detail::append_travel(p, c, c.count + 1, true);
  }
  constexpr planning::Work work(planning::CallSizing const& c) const {
    return nn::detail::ring_work(
        c, options, 5, nn::detail::travelling_keys - 1 + nn::detail::travelling_cotangents - 1, 0);
  }
  template <class R, class Q, class K, class V, class O, class S, class C, class... Ids>
  typename R::results run(std::source_location const& where, Q const& q, K const& k, V const& v,
                          O const& result, S const& sums, C const& ct, Ids const&... ids) const;
};

}  // namespace op

}  // namespace shardtype
