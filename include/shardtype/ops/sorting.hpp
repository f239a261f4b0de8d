#pragma once
/// Sorting along one dim: objects and functions. Stable: equal elements keep their order. A NaN
/// comes last, in both orders.

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/check/abstract.hpp>
#include <shardtype/check/along.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/check/named.hpp>
#include <shardtype/plan/distributed_sort.hpp>
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

/// Sorts the elements along I; with `Places` the result has their positions. Along a split dim it
/// needs a named result, or automatic mode.
template <bool Places, class I>
struct Sorted {
  using operation = Sorted;
  using gradient =
      std::conditional_t<Places, checking::Constant, checking::PullsBySaved>;  // places are numbers
  using from = detail::Bare<I>;
  static constexpr std::string_view name = Places ? "argsort" : "sort";
  static constexpr bool exchanges_rows = true;
  Order order = Order::ascending;
  static constexpr Verdict rule(rules::Question const& q) { return rules::sorted_in_place(q); }
  /// Where ranks exchange rows.
  static constexpr Verdict across(rules::Question const& q) { return rules::sorted_across(q); }
  static constexpr planning::LocalPlan meet(rules::Question const& q, Spec const& wanted) {
    return planning::sort_plan(q, wanted);
  }
  template <class A>
  static constexpr Code elements() {
    return detail::ordered_elements<A>();
  }
  template <class A>
  using element = std::conditional_t<Places, std::int64_t, element_t<A>>;
  constexpr void steps(Plan& p, planning::CallSizing const& c, int along) const {
    planning::append_distributed_sort(p, c, along, Places);
  }
  /// Each element is compared once more in each merge of what ranks send.
  static constexpr planning::Work work(planning::CallSizing const& c, int along) {
    std::int64_t const own = detail::comparisons(c, along);
    if (!planning::shares_rows(c, along))
      return {own, detail::sorting_bytes(c, along, c.rows(0, along), Places, Places ? 8 : 0),
              false};
    std::int64_t merges = 0;
    for (std::int64_t n = 1; n < planning::cut_search(c, along).ranks; n *= 2) ++merges;
    return {add_sat(own, mul_sat(merges, c.elements(0))),
            planning::distributed_sort_bytes(c, along, Places), false};
  }
  template <class Call>
  auto block(Call const& run) const;
  template <class V, class A>
  constexpr auto save(V const& out, A const& a) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};
/// Sorted, of elements or of their positions; with `Out`, the result is named.
template <class I, class... Out>
using Sort = MaybeNamed<Sorted<false, I>, Out...>;
template <class I, class... Out>
using ArgSort = MaybeNamed<Sorted<true, I>, Out...>;

/// The `k` largest elements along I, and their positions; `Result` is the index of the result.
template <class I, class... Result>
struct TopK {
  using operation = TopK;
  using from = detail::Bare<I>;
  using to = detail::Bare<Result...>;
  static constexpr std::string_view name = "top_k";
  std::int64_t k = 0;
  static constexpr Verdicts<2> rule(rules::Question const& q) {
    return {rules::sorted(q, true), rules::sorted(q, true)};
  }
  template <class A>
  using element = Elements<element_t<A>, std::int64_t>;
  template <class A>
  static constexpr Code elements() {
    return detail::ordered_elements<A>();
  }
  constexpr void extents(ResultExtents const& values, ResultExtents const& places) const {
    if (k < 0 || k > values.extent())
      ResultExtents::fail("index " + values.name() + " has extent " +
                          std::to_string(values.extent()) + "; top_k cannot take " +
                          std::to_string(k));
    values.set(k);
    places.set(k);
  }
  static constexpr planning::Work work(planning::CallSizing const& c, int along) {
    std::int64_t const taken = c.made.extents[c.result.dims[along].label];
    return {detail::comparisons(c, along),
            detail::sorting_bytes(c, along, taken, true, c.element_bytes(0) + 8), false};
  }
  template <class Values, class Places, class A>
  void fill(Values& values, Places& places, A const& a) const;
};

}  // namespace op

/// Result of `top_k`: the values and their positions. std::get and structured bindings treat it as
/// a tuple of two.
template <class Values, class Places>
struct TopK {
  Values values;
  Places places;

  template <std::size_t K>
  constexpr auto const& get() const& {
    return part<K>(*this);
  }
  template <std::size_t K>
  constexpr auto& get() & {
    return part<K>(*this);
  }
  template <std::size_t K>
  constexpr auto&& get() && {
    return std::move(part<K>(*this));
  }

 private:
  template <std::size_t K, class Self>
  static constexpr auto& part(Self& self) {
    static_assert(K < 2, "top_k gives two tensors: the values and the places");
    if constexpr (K == 0) {
      return self.values;
    } else {
      return self.places;
    }
  }
};

namespace detail {

template <class Values, class Places>
constexpr TopK<Values, Places> found(std::tuple<Values, Places> const& both) {
  return {std::get<0>(both), std::get<1>(both)};
}

}  // namespace detail

namespace api {

/// Sorts the elements along I: `a[I, J@X]` -> `sort<I>(a)` -> `[I, J@X]`. Local.
///
/// Along a split dim by a named result: `a[I@X, J]` -> `sort<I, Dim<I, X>, Dim<J>>(a)` -> `[I@X,
/// J]`, of any distribution of the elements. Each rank sorts its block, and the ranks find where
/// the sorted rows are cut into blocks: 4 to 16 all_reduces of small tables (of 15 or 255 numbers
/// per row and cut), and an all_gather of two numbers per row and cut. Then each rank sends the
/// elements that belong to other blocks, at most its own block, once, and merges what it receives.
/// No rank has more than 4 blocks, operand and result among them, and those tables. Axes that the
/// result does not have along I are gathered first, or, where it splits another dim over them,
/// exchanged.
///
/// Refused: D01, B03 and D03 along a split dim without a named result, I10 while unreduced (a named
/// result is reduced first), I11 complex numbers; named N05, V14, R01 to R04.
template <class I, class... Out, class A>
constexpr auto sort(core::Argument<A> const& a, op::Order order = op::Order::ascending,
                    checking::CallSite where = {}) {
  return api::call(op::Sort<I, Out...>{order}, where, a.self());
}

/// The positions of the sorted elements along I, as std::int64_t: `a[I, J@X]` -> `argsort<I>(a)` ->
/// `i64[I, J@X]`; `take_along<I>(a, argsort<I>(a))` is `sort<I>(a)`. Local. Along a split dim by a
/// named result, as sort: `argsort<I, Dim<I, X>, Dim<J>>(a)`; positions are those in the whole row.
/// Ranks send elements and positions. Refused as sort.
template <class I, class... Out, class A>
constexpr auto argsort(core::Argument<A> const& a, op::Order order = op::Order::ascending,
                       checking::CallSite where = {}) {
  return api::call(op::ArgSort<I, Out...>{order}, where, a.self());
}

/// The `k` largest elements along I in descending order, the first of equal ones, and their
/// positions: `a[I@X, J]` -> `auto [values, places] = top_k<J, K>(a, 3)` -> `[I@X, K]` each. K may
/// be left out if J has no static extent. Local. Of an expression of automatic mode: two
/// expressions. Refused as sort; D02, D05, D07. Error E41: k larger than the extent.
template <class I, class... Result, class A>
constexpr auto top_k(core::Argument<A> const& a, std::int64_t k, checking::CallSite where = {}) {
  return detail::found(api::call(op::TopK<I, Result...>{k}, where, a.self()));
}

// Everyday mistakes (check/misused.hpp).
SHARDTYPE_NOT_WITHOUT_INDEX(sort)
SHARDTYPE_NOT_WITHOUT_INDEX(argsort)
SHARDTYPE_NOT_WITHOUT_INDEX(top_k)
SHARDTYPE_NOT_BY_WORD(sort, checking::Anything const&)
SHARDTYPE_NOT_BY_WORD(argsort, checking::Anything const&)

}  // namespace api

}  // namespace shardtype

template <class Values, class Places>
struct std::tuple_size<shardtype::TopK<Values, Places>> : std::integral_constant<std::size_t, 2> {};
template <class Values, class Places>
struct std::tuple_element<0, shardtype::TopK<Values, Places>> {
  using type = Values;
};
template <class Values, class Places>
struct std::tuple_element<1, shardtype::TopK<Values, Places>> {
  using type = Places;
};

namespace std {
template <size_t K, class Values, class Places>
constexpr auto const& get(shardtype::TopK<Values, Places> const& found) {
  return found.template get<K>();
}
template <size_t K, class Values, class Places>
constexpr auto& get(shardtype::TopK<Values, Places>& found) {
  return found.template get<K>();
}
template <size_t K, class Values, class Places>
constexpr auto&& get(shardtype::TopK<Values, Places>&& found) {
  return std::move(found).template get<K>();
}
}  // namespace std
