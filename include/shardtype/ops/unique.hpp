#pragma once
/// The different elements of a tensor of one dim, in order, and how often each is there: objects
/// and functions.

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <shardtype/check/call.hpp>
#include <shardtype/check/elementwise.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/check/operand.hpp>
#include <shardtype/check/poisoned.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/ops/shared_top_k.hpp>
#include <shardtype/ops/sorting.hpp>
#include <shardtype/plan/unique.hpp>
#include <shardtype/rules/indexing.hpp>

namespace shardtype {

namespace detail {

/// Base of a call: the extent of its result, and what is behind the elements there, of type F.
template <class F>
struct UniqueSizes {
  static constexpr std::string_view name = "unique";
  std::int64_t n = 0;
  F fill_value{};
  template <class A>
  using element = op::Elements<checking::element_t<A>, std::int64_t, std::int64_t>;
  template <class A>
  static constexpr Code elements() {
    if (!detail::number_fits<F, checking::element_t<A>>) return Code::P10_number_does_not_fit;
    return detail::ordered_elements<A>();
  }
  constexpr void extents(ResultExtents const& values, ResultExtents const& counts,
                         ResultExtents const&) const {
    values.check_amount("the extent of unique", n);
    values.set(n);
    counts.set(n);
  }
};

}  // namespace detail

namespace op {

/// The first `n` different elements of sorted ones along I, which no axis splits, for a result with
/// index `Result`; how often each is there, and how many there are.
template <class F, class I, class... Result>
struct Unique : detail::UniqueSizes<F> {
  using operation = Unique;
  using from = detail::Bare<I>;
  using to = detail::Bare<Result...>;
  static constexpr Verdicts<3> rule(rules::Question const& q) { return rules::unique_of_whole(q); }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {mul_sat(3, c.elements(0)), 0, false};
  }
  template <class Values, class Counts, class Number, class A>
  void fill(Values& values, Counts& counts, Number& distinct, A const& a) const;
};

/// The same of a dim that ranks may share. Each rank has the different elements that begin in its
/// block, and sends those that are in other blocks of the result.
template <class F, class I, class... Result>
struct SharedUnique : detail::UniqueSizes<F> {
  using operation = SharedUnique;
  using from = detail::Bare<I>;
  using to = detail::Bare<Result...>;
  static constexpr bool communicates = true;
  static constexpr bool keeps_shardings = true;
  static constexpr Verdicts<3> rule(rules::Question const& q) { return rules::unique_across(q); }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int along) const {
    planning::append_unique(p, c, along, this->n);
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {mul_sat(3, c.elements(0)), 0, false};
  }
  template <class R, class A>
  typename R::results run(std::source_location const& where, A const& a) const;
};

}  // namespace op

/// Result of `unique`: the different elements in ascending order, how often each is there, and how
/// many there are.
template <class Values, class Counts, class Number>
struct Unique {
  Values values;
  Counts counts;
  Number distinct;
};

namespace detail {

template <class Values, class Counts, class Number>
constexpr Unique<Values, Counts, Number> unique_elements(
    std::tuple<Values, Counts, Number> const& all) {
  return {std::get<0>(all), std::get<1>(all), std::get<2>(all)};
}

}  // namespace detail

namespace api {

/// The different elements of a tensor of one dim in ascending order, how often each is there, and
/// how many there are: `a[I]` -> `auto [values, counts, distinct] = unique<I, U>(a, n, fill)` ->
/// `[U]`, `i64[U]`, `i64[]`. U, of extent n, may be left out if I has no static extent. Behind the
/// last different element there is `fill`, 0 times. Of more than n the first n are there, and
/// `distinct` is the number of all. Of equal elements the first is taken; NaNs are one element, the
/// last; 0 and -0 are one. Local. Of an expression of automatic mode: three expressions.
///
/// If `fill` is not less than any element (NaN, infinity), `searchsorted<U>(values, a)` is where
/// each element of `a` is among the values.
///
/// Refused: as sort<I>; I13 a tensor of several dims, D02, D05, D07, P10 a `fill` of another kind;
/// no gradient (X03). Error E41: a negative n. As jnp.unique with size, fill_value, return_counts.
template <class I, class... Result, class A, class F>
constexpr auto unique(core::Argument<A> const& a, std::int64_t n, F fill,
                      checking::CallSite where = {}) {
  return detail::unique_elements(api::call(op::Unique<F, I, Result...>{{n, fill}}, where,
                                           api::sort<I>(a.self(), op::Order::ascending, where)));
}

/// `unique` with a named result, along a split dim too: `a[I@X]` -> `unique<I, U, Dim<U, X>>(a, n,
/// fill)` -> `[U@X]`, `i64[U@X]`, `i64[]`.
///
/// The ranks sort the elements (`sort<I, Dim<I, X>>`). Then they gather four numbers of each rank,
/// from which they know how many different elements begin in each block. Each rank sends those, and
/// their counts, to the ranks with their blocks of the result: at most the smaller of its block and
/// n. So no rank has more than a block of the elements and of the result, unless the result is
/// named otherwise; then it is resharded. A pending reduction is finished first, a block-cyclic I
/// is gathered.
///
/// Refused: D01, D02, D05, D07, I11 complex numbers, I13 a tensor of several dims, P10; named N05,
/// V14, R01 to R04; no gradient (X03). Error E41: a negative n.
template <class I, class... Result, class A, class F>
  requires(!IndexLabel<Result> || ...)
constexpr auto unique(core::Argument<A> const& a, std::int64_t n, F fill,
                      checking::CallSite where = {}) {
  using Of = detail::PartsOfResult<Result...>;
  using Given = typename detail::DecidingTensor<A>::type;
  constexpr auto up = op::Order::ascending;
  if constexpr (core::is_lazy<A>) {
    auto const all = api::call(typename Of::template operation<op::Unique, F, I>{{n, fill}}, where,
                               api::sort<I>(a.self(), up, where));
    return detail::unique_elements(std::tuple(
        Of::moved(std::get<0>(all), where), Of::moved(std::get<1>(all), where), std::get<2>(all)));
  } else if constexpr (!is_tensor<Given> || is_local<Given>) {
    static_cast<void>(alignof(checking::refused<rules::Code::V14_named_result, false, Given>));
    return Unique<checking::Poisoned, checking::Poisoned, checking::Poisoned>{};
  } else {
    using Values = typename Of::template values<Given>;
    using Counts = detail::with_elements<Values, std::int64_t>;
    using Met = typename detail::TopKOperand<I, Given, Values>::type;
    auto const all = api::call(typename Of::template operation<op::SharedUnique, F, I>{{n, fill}},
                               where, api::sort<I, Met>(a.self(), up, where));
    return detail::unique_elements(std::tuple(api::reshard<Values>(std::get<0>(all), where),
                                              api::reshard<Counts>(std::get<1>(all), where),
                                              std::get<2>(all)));
  }
}

SHARDTYPE_NOT_WITHOUT_INDEX(unique)

}  // namespace api

}  // namespace shardtype
