#pragma once
/// Rotary embeddings and causal masks, as operations.

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include <shardtype/check/along.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/check/named.hpp>
#include <shardtype/nn/types_norm.hpp>
#include <shardtype/ops/dims.hpp>

namespace shardtype {

namespace rules {

/// Positions along the labels that the operation works on, the first of which is whole.
constexpr Verdict rotary(Question const& q) {
  if (Verdict v = has_all(q.a(), q.from); !v) return v;
  DimSpec const& features = q.a().dims[q.a().find(q.from.dims[0].label)];
  if (features.axes.size > 0)
    return refuse(Code::D03_along_split, features.label, -1, features.axes[0]);
  return accept(q.a());
}
/// The rule `masked` for a mask of -inf instead of zeros: unreduced operands are refused (P04).
constexpr Verdict masked_by_infinity(Question const& q) {
  Verdict v = masked(q);
  if (v) v = in_blocks(q.a(), q.from);
  for (int x = 0; v && x < max_axes; ++x)
    if (q.a().unreduced.contains(x)) v = refuse(Code::P04_not_linear, -1, -1, x);
  return v ? accept(q.a()) : v;
}

}  // namespace rules

namespace op {

/// Pairs of features turned by an angle of their position; `back`: turned back.
template <class S, class F>
struct Rotary {
  using operation = Rotary;
  using from = shardtype::detail::Bare<F, S>;
  static constexpr std::string_view name = "rotary";
  static constexpr bool reads_places = true;
  std::int64_t first = 0;
  double base = 10000;
  bool back = false;
  static constexpr Verdict rule(rules::Question const& q) { return rules::rotary(q); }
  template <class A>
  static constexpr Code elements() {
    return nn::detail::real_elements<A>();
  }
  constexpr void extents(ResultExtents const& c) const {
    if (c.extent() % 2 != 0)
      ResultExtents::fail("rotary turns pairs of features, and index " + c.name() +
                          " has the odd extent " + std::to_string(c.extent()));
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    int const s = c.operands[0].find(c.from.dims[1].label);
    int const f = c.operands[0].find(c.from.dims[0].label);
    return {mul_sat(3, c.elements(0)),
            mul_sat(mul_sat(c.rows(0, s), c.rows(0, f)), static_cast<std::int64_t>(sizeof(double))),
            false};
  }
  constexpr Rotary transposed() const { return {first, base, !back}; }
  template <class Out, class A>
  void fill(Out& out, A const& x) const;
};

/// -inf at keys K behind a query S.
template <class S, class K>
struct CausalMask {
  using operation = CausalMask;
  using gradient = Pulls;
  using from = shardtype::detail::Bare<K, S>;
  static constexpr std::string_view name = "causal_mask";
  static constexpr bool reads_places = true;
  std::int64_t first = 0;
  static constexpr Verdict rule(rules::Question const& q) { return rules::masked_by_infinity(q); }
  template <class A>
  static constexpr Code elements() {
    return nn::detail::real_elements<A>();
  }
  constexpr auto pull(auto const& g) const { return g(Triangle<S, K, false>{first}); }
  template <class Out, class A>
  void fill(Out& out, A const& x) const;
};

}  // namespace op

}  // namespace shardtype
