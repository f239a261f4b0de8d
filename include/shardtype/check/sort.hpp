#pragma once
/// Sorting along one dim that is not split, as objects.

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/check/window.hpp>
#include <shardtype/rules/indexing.hpp>

namespace shardtype {

enum class Order : std::int8_t { ascending, descending };

namespace detail {

/// About n log2 n comparisons of the n elements along a dim.
constexpr std::int64_t comparisons(planning::CallSizing const& c, int along) {
  std::int64_t levels = 0;
  for (std::int64_t n = 1; n < c.rows(0, along); n *= 2) ++levels;
  return c.elements(0) * levels;
}
template <class A>
constexpr Code ordered_elements() {
  return is_ordered<element_t<A>> ? Code::ok : Code::I11_no_order;
}

}  // namespace detail

namespace op {

/// The elements in order along I.
template <class I>
struct Sort {
  using operation = Sort;
  using from = detail::Bare<I>;
  static constexpr std::string_view name = "sort";
  Order order = Order::ascending;
  static constexpr Verdict rule(rules::Question const& q) { return rules::sorted(q, false); }
  template <class A>
  static constexpr Code elements() {
    return detail::ordered_elements<A>();
  }
  /// Merges go to and fro between the result and one more block; rows that are not the last dim are turned
  /// first.
  static constexpr planning::Work work(planning::CallSizing const& c, int along) {
    bool const last = along == c.operands[0].rank - 1;
    return {detail::comparisons(c, along), (last ? 1 : 3) * c.elements(0) * c.element_bytes(0),
            false};
  }
};

/// Where the elements stand that `Sort` would give.
template <class I>
struct ArgSort {
  using operation = ArgSort;
  using from = detail::Bare<I>;
  static constexpr std::string_view name = "argsort";
  Order order = Order::ascending;
  static constexpr Verdict rule(rules::Question const& q) { return rules::sorted(q, false); }
  template <class A>
  static constexpr Code elements() {
    return detail::ordered_elements<A>();
  }
  template <class A>
  using element = std::int64_t;
  static constexpr planning::Work work(planning::CallSizing const& c, int along) {
    bool const last = along == c.operands[0].rank - 1;
    return {detail::comparisons(c, along),
            2 * c.elements(0) * 16 + (last ? 0 : c.elements(0) * (c.element_bytes(0) + 8)), false};
  }
};

/// The `k` largest elements along I, and where they stood; `Result` is the index of the result.
template <class I, class... Result>
struct TopK {
  using operation = TopK;
  using from = detail::Bare<I>;
  using to = detail::Bare<Result...>;
  static constexpr std::string_view name = "top_k";
  std::int64_t k = 0;
  static constexpr Verdict rule(rules::Question const& q) { return rules::sorted(q, true); }
  template <class A>
  static constexpr Code elements() {
    return detail::ordered_elements<A>();
  }
  constexpr void extents(ResultExtents const& c) const {
    if (k < 0 || k > c.extent())
      ResultExtents::fail("index " + c.name() + " has extent " + std::to_string(c.extent()) +
                          "; top_k cannot take " + std::to_string(k));
    c.set(k);
  }
  static constexpr planning::Work work(planning::CallSizing const& c, int along) {
    bool const last = along == c.operands[0].rank - 1;
    return {detail::comparisons(c, along),
            2 * c.elements(0) * 16 + c.result_elements() * 8 +
                (last ? 0
                      : c.elements(0) * c.element_bytes(0) +
                            c.result_elements() * (c.element_bytes(0) + 8)),
            false};
  }
};

}  // namespace op
}  // namespace shardtype
