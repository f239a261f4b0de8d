#pragma once
/// Objects of sorting along one dim that is not split.

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/check/window.hpp>
#include <shardtype/plan/sort_plan.hpp>
#include <shardtype/rules/indexing.hpp>

namespace shardtype::op {

enum class Order : std::int8_t { ascending, descending };

}  // namespace shardtype::op

namespace shardtype {

namespace detail {

/// About n log2 n comparisons of the n elements along a dim.
constexpr std::int64_t comparisons(planning::CallSizing const& c, int along) {
  std::int64_t levels = 0;
  for (std::int64_t n = 1; n < c.rows(0, along); n *= 2) ++levels;
  return c.elements(0) * levels;
}
/// Bytes of the buffers for sorting rows along dim `along`, of which the first `keep` are needed.
/// Items are elements, which are then copied to the result, or pairs of element and position
/// (`with_places`), which are then separated into `results` bytes each. Rows that are not the last
/// dim are transposed first, and back.
constexpr std::int64_t sorting_bytes(planning::CallSizing const& c, int along, std::int64_t keep,
                                     bool with_places, std::int64_t results) {
  core::Layout const block = c.layout(0);
  if (block.elements() == 0) return 0;
  std::int64_t const inner = core::inner_length(block, along);
  std::int64_t const n = block.extent[along];
  bool const second =
      planning::plan_sort(core::cross_section(block, along), n, keep, true).has_second();
  std::int64_t const turned = inner == 1 ? 0 : 1;
  std::int64_t const buffers = (second ? 1 : 0) + (with_places ? 1 : turned);
  std::int64_t const item =
      with_places ? 16 : c.element_bytes(0);  // an element with padding, and its position
  std::int64_t const bytes =
      mul_sat(block.elements(), buffers * item + turned * c.element_bytes(0));
  return add_sat(bytes,
                 turned * mul_sat(mul_sat(core::cross_section(block, along), keep), results));
}
template <class A>
constexpr Code ordered_elements() {
  return is_ordered<element_t<A>> ? Code::ok : Code::I11_no_order;
}

}  // namespace detail

namespace op {

/// Sorts the elements along I.
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
  static constexpr planning::Work work(planning::CallSizing const& c, int along) {
    return {detail::comparisons(c, along),
            detail::sorting_bytes(c, along, c.rows(0, along), false, 0), false};
  }
};

/// The positions of the elements in the result of `Sort`.
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
    return {detail::comparisons(c, along),
            detail::sorting_bytes(c, along, c.rows(0, along), true, 8), false};
  }
};

/// The `k` largest elements along I, and their positions; `Result` is the index of the result.
template <class I, class... Result>
struct TopK {
  using operation = TopK;
  using from = detail::Bare<I>;
  using to = detail::Bare<Result...>;
  static constexpr std::string_view name = "top_k";
  static constexpr bool has_named_form = false;  ///< two results
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
  /// The positions are a second result.
  constexpr planning::Work work(planning::CallSizing const& c, int along) const {
    return {detail::comparisons(c, along),
            add_sat(mul_sat(c.result_elements(), 8),
                    detail::sorting_bytes(c, along, k, true, c.element_bytes(0) + 8)),
            false};
  }
};

}  // namespace op

}  // namespace shardtype
