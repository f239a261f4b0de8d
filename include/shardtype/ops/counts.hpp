#pragma once
/// Counts of elements by bin, and rows of elements in a sorted table: objects and functions.

#include <cstdint>
#include <limits>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/check/call.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/check/named.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/ops/sorting.hpp>
#include <shardtype/plan/indexing_plan.hpp>
#include <shardtype/rules/indexing.hpp>

namespace shardtype {

namespace op {

/// Where queries that are in the table go: before the first equal element, or behind the last.
enum class Side : std::int8_t { left, right };

/// Bins of `bincount`: an id is the number of its bin.
struct IdBins {
  static constexpr std::string_view name = "bincount";
  static constexpr bool of_ids = true;
  static constexpr Code unreduced = Code::I02_ids_unreduced;
  template <class A>
  static constexpr Code elements() {
    return detail::id_operands<A, A>();
  }
  static constexpr void check(std::int64_t /*bins*/) {}
};
/// Bins of `histogram`: of equal width from `low` to `high`, which is in the last one.
struct EqualBins {
  static constexpr std::string_view name = "histogram";
  static constexpr bool of_ids = false;
  static constexpr Code unreduced = Code::I10_sort_unreduced;
  double low = 0;
  double high = 1;
  template <class A>
  static constexpr Code elements() {
    return std::is_same_v<element_t<A>, bool> ? Code::C11_not_numbers
                                              : detail::ordered_elements<A>();
  }
  /// Error E41 unless the bins have finite edges in ascending order.
  constexpr void check(std::int64_t bins) const {
    if (!(low <= high) || !(high - low <= std::numeric_limits<double>::max()))
      ResultExtents::fail("histogram of " + std::to_string(bins) + " bins from " +
                          std::to_string(low) + " to " + std::to_string(high) +
                          "; the range is finite, and does not end before it begins");
  }
};

/// How many elements are in each of `n` bins along V.
template <class V, class Bins>
struct CountRows {
  using operation = CountRows;
  using gradient = checking::Constant;
  using from = detail::Bare<V>;
  static constexpr std::string_view name = Bins::name;
  static constexpr bool makes_parts = true;
  static constexpr bool reads_places = true;
  static constexpr bool sums_parts = true;  ///< a rank counts its own elements
  std::int64_t n = detail::static_extents<V>()[0];
  Bins bins{};
  static constexpr Verdict rule(rules::Question const& q) {
    if (Verdict v = rules::refuse_any(Bins::unreduced, q.a().unreduced); !v) return v;
    return rules::counted(q.a(), q.along());
  }
  template <class A>
  static constexpr Code elements() {
    return Bins::template elements<A>();
  }
  template <class A>
  using element = std::int64_t;
  constexpr void extents(ResultExtents const& c) const {
    bins.check(n);
    c.out[0] = n;
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {c.elements(0), 0, false};
  }
  static constexpr planning::LocalPlan meet(rules::Question const& q, Spec const& wanted) {
    return planning::count_plan(q.a(), rule(q), wanted, q.along());
  }
  template <class Out, class A>
  void fill(Out& out, A const& a) const;
};
/// CountRows; with `Out`, the result is named.
template <class V, class... Out>
using Bincount = MaybeNamed<CountRows<V, IdBins>, Out...>;
template <class V, class... Out>
using Histogram = MaybeNamed<CountRows<V, EqualBins>, Out...>;

/// The row of a sorted table where each query would be inserted.
template <class V>
struct SearchSorted {
  using operation = SearchSorted;
  using gradient = checking::Constant;
  using from = detail::Bare<V>;
  static constexpr std::string_view name = "searchsorted";
  Side side = Side::left;
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::searchsorted(q.a(), q.operands[1], q.along());
  }
  template <class A, class Queries>
  static constexpr Code elements() {
    bool const same =
        std::is_same_v<element_t<A>, element_t<Queries>> && detail::same_memory<A, Queries>;
    return same ? detail::ordered_elements<A>() : Code::C10_element_types_differ;
  }
  template <class A, class Queries>
  using element = std::int64_t;
  /// One comparison per query and halving of the table.
  static constexpr planning::Work work(planning::CallSizing const& c) {
    std::int64_t halvings = 1;
    for (std::int64_t rows = c.elements(0); rows > 1; rows /= 2) ++halvings;
    return {mul_sat(c.elements(1), halvings), 0, false};
  }
  template <class Out, class A, class Queries>
  void fill(Out& out, A const& table, Queries const& queries) const;
};

}  // namespace op

namespace api {

/// How often each id from 0 to n - 1 is in a tensor: `ids[B@X, D@Y]` -> `bincount<V>(ids, n)` ->
/// `i64[V]{U:X,Y}`. Each rank counts its own elements; communicates nothing. Other ids count
/// nowhere. `n` may be left out if V has a static extent.
///
/// `bincount<V, Dim<V, X>>(ids, n)` names the result: `i64[V@X]`, a reduce_scatter or all_reduce of
/// counts. Over axes along which the ids are replicated each rank counts only its own bins.
///
/// Refused: D02, I01, I02; named N05, V14, B03 a block-cyclic result, R01 to R04. Errors: E20, E50.
/// As np.bincount with minlength, where no id is larger.
template <class V, class... Out, class Ids>
constexpr auto bincount(core::Argument<Ids> const& ids,
                        std::int64_t n = detail::static_extents<V>()[0],
                        checking::CallSite where = {}) {
  return api::call(op::Bincount<V, Out...>{op::CountRows<V, op::IdBins>{n, {}}}, where, ids.self());
}

/// How many elements are in each of `n` bins of equal width from `low` to `high`: `a[I@X, J@Y]` ->
/// `histogram<V>(a, 10, 0.0, 1.0)` -> `i64[V]{U:X,Y}`. Each rank counts its own elements;
/// communicates nothing. An element at the edge of two bins is in the latter, one at `high` in the
/// last; others outside, and NaN, count nowhere. If `low` is `high`, the range is 1 wide around it.
/// Edges are those of np.histogram, in the type of float elements, of others in double.
///
/// `histogram<V, Dim<V>>(a, 10, 0.0, 1.0)` names the result, as `bincount` does.
///
/// Refused: C11 bool, D02, I10, I11; named as `bincount`. Errors: E20; E41 for a range that is not
/// finite or ends before it begins. As np.histogram with range.
template <class V, class... Out, class A>
constexpr auto histogram(core::Argument<A> const& a, std::int64_t n, double low, double high,
                         checking::CallSite where = {}) {
  return api::call(op::Histogram<V, Out...>{op::CountRows<V, op::EqualBins>{n, {low, high}}}, where,
                   a.self());
}

/// The row of a sorted table at which each query would be inserted: `table[V]`, `queries[B@X, D@Y]`
/// -> `searchsorted<V>(table, queries)` -> `i64[B@X, D@Y]`. `op::Side::left`: the number of
/// elements that are less; `op::Side::right`: of those that are at most equal. NaN counts as the
/// largest. Every rank has the table; communicates nothing. A table that is not sorted gives rows
/// without meaning. Refused: C10, D01, D03, I03, I10 to I12. As np.searchsorted.
template <class V, class A, class Queries>
constexpr auto searchsorted(core::Argument<A> const& table, Queries const& queries,
                            op::Side side = op::Side::left, checking::CallSite where = {}) {
  return api::call(op::SearchSorted<V>{side}, where, table.self(), queries);
}

// Everyday mistakes (check/misused.hpp).
SHARDTYPE_NOT_WITHOUT_INDEX(bincount)
SHARDTYPE_NOT_WITHOUT_INDEX(histogram)
SHARDTYPE_NOT_WITHOUT_INDEX(searchsorted)
SHARDTYPE_NOT_BY_WORD(searchsorted, checking::Anything const&, checking::Anything const&)

}  // namespace api

}  // namespace shardtype
