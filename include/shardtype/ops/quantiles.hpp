#pragma once
/// Quantiles along one dim: object and functions.

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

#include <shardtype/check/call.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/check/named.hpp>
#include <shardtype/ops/sorting.hpp>
#include <shardtype/plan/distributed_sort.hpp>
#include <shardtype/rules/indexing.hpp>

namespace shardtype {

namespace op {

/// The `q` quantile along I, which the result lacks. Along a split dim it needs a named result.
template <class I>
struct QuantileOfRows {
  using operation = QuantileOfRows;
  using from = detail::Bare<I>;
  static constexpr std::string_view name = "quantile";
  static constexpr bool searches_rows = true;
  double q = 0.5;
  static constexpr Verdict rule(rules::Question const& question) {
    return rules::quantile_of_whole(question);
  }
  static constexpr planning::LocalPlan meet(rules::Question const& question, Spec const& wanted) {
    return planning::quantile_plan(question, wanted);
  }
  template <class A>
  static constexpr Code elements() {
    if (!detail::is_ordered<element_t<A>>) return Code::I11_no_order;
    return detail::is_floating<element_t<A>> ? Code::ok : Code::P12_not_floating;
  }
  constexpr void extents(ResultExtents const&) const {
    if (!(q >= 0 && q <= 1))
      ResultExtents::fail("quantile " + std::to_string(q) + "; it is from 0 to 1");
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int along) const {
    planning::append_quantile(p, c, along);
  }
  /// Sorted copies of the rows and, where ranks share them, the keys that the search finds.
  static constexpr planning::Work work(planning::CallSizing const& c, int along) {
    core::Layout const block = c.layout(0);
    std::int64_t const copy =
        core::inner_length(block, along) == 1 ? mul_sat(block.elements(), c.element_bytes(0)) : 0;
    std::int64_t const found =
        mul_sat(core::cross_section(block, along),
                mul_sat(planning::quantile_elements, 16 + c.element_bytes(0)));
    std::int64_t const bytes =
        add_sat(copy, detail::sorting_bytes(c, along, c.rows(0, along), false, 0));
    return {detail::comparisons(c, along),
            planning::shares_rows(c, along) ? add_sat(bytes, found) : bytes, false};
  }
  template <class Call>
  auto block(Call const& run) const;
};
/// QuantileOfRows; with `Out`, the result is named.
template <class I, class... Out>
using Quantile = MaybeNamed<QuantileOfRows<I>, Out...>;

}  // namespace op

namespace api {

/// The `q` quantile along I, without that dim: `a[I, J@X]` -> `quantile<I>(a, 0.9)` -> `[J@X]`,
/// between the two elements beside position q (n - 1) of the n sorted ones by linear interpolation.
/// NaN if an element is NaN, or there is none. Local.
///
/// Along a split dim by a named result: `a[I@X, J]` -> `quantile<I, Dim<J>>(a, 0.9)` -> `[J]`, of
/// any distribution of the elements. Each rank sorts its block, and the ranks find the elements: 4
/// to 16 all_reduces of small tables (of 45 or 765 numbers per row). No elements are sent. A
/// pending reduction is finished first, a block-cyclic I is gathered.
///
/// No gradient (X03): take the elements, `at<I, Dim<J>>(sort<I, Dim<I, X>, Dim<J>>(a), k)`.
///
/// Refused: D01, B03 and D03 along a split dim without a named result, I10 while unreduced, I11
/// complex numbers, P12 integers; named N05, V14, R01 to R04. Error E41: q is not from 0 to 1. As
/// np.quantile with method linear.
template <class I, class... Out, class A>
constexpr auto quantile(core::Argument<A> const& a, double q, checking::CallSite where = {}) {
  return api::call(op::Quantile<I, Out...>{op::QuantileOfRows<I>{q}}, where, a.self());
}

/// The middle element along I, or the middle between the two middle ones: `quantile<I>(a, 0.5)`.
/// `median<I, Dim<J>>(a)` names the result, along a split dim too. Refused as `quantile`. As
/// np.median.
template <class I, class... Out, class A>
constexpr auto median(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::Quantile<I, Out...>{op::QuantileOfRows<I>{0.5}}, where, a.self());
}

// Everyday mistakes (check/misused.hpp).
SHARDTYPE_NOT_WITHOUT_INDEX(quantile)
SHARDTYPE_NOT_WITHOUT_INDEX(median)

}  // namespace api

}  // namespace shardtype
