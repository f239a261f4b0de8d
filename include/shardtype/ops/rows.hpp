#pragma once
/// Operations on the rows of one dim: objects and functions.

#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <shardtype/check/along.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/check/named.hpp>
#include <shardtype/check/operand.hpp>
#include <shardtype/check/reduction.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/rules/along.hpp>

namespace shardtype {

namespace detail {

/// `Op` along a dim with its new label, if any; its result is named where dims follow the label.
template <template <class...> class Op, class... Labels>
struct RenamedOf {
  using type = Op<Labels...>;
};
template <template <class...> class Op, class I, class K, class Out, class... More>
  requires(!names_label<Out>)
struct RenamedOf<Op, I, K, Out, More...> {
  using type = op::Named<Op<I, K>, Out, More...>;
};

/// The operation `Op` along dim `From`, which is dim `To` of the result.
template <template <class...> class Op, class From, class To>
using along_into = std::conditional_t<std::is_same_v<From, To>, Op<From>, Op<From, To>>;

/// The type of a pad value for `A`; double if A is not a tensor.
template <class A>
struct ElementOr {
  using type = double;
};
template <class A>
  requires(is_tensor<A>)
struct ElementOr<A> {
  using type = element_t<A>;
};
template <class A>
using element_or_t = typename ElementOr<argument_t<A>>::type;

/// The number of rows from the first to the last, where `step` rows lead from each to the next.
constexpr std::int64_t span(std::int64_t rows, std::int64_t step) {
  return rows == 0 ? 0 : (rows - 1) * step + 1;
}

/// The number of a repetition, and the rows that are repeated.
struct Repetition : Index<"repeats"> {};
struct Repeated : Index<"the row"> {};

}  // namespace detail

namespace op {

template <class I, class... Result>
struct Pad;
template <class I>
struct AtRow;

/// Selects rows begin, begin + step, ... below end. `Result`: the new label.
template <class I, class... Result>
struct SliceRows {
  using operation = SliceRows;
  using gradient = PullsByExtents;
  using from = detail::Bare<I>;
  using to = detail::Bare<Result...>;
  static constexpr std::string_view name = "slice";
  static constexpr bool sums_parts = true;    ///< a rank has zeros for rows that it lacks
  static constexpr bool reads_places = true;  ///< of the rows
  static constexpr bool named_pulls = true;   ///< NamedVjp
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t step = 1;
  static constexpr Verdict rule(rules::Question const& q) { return rules::resized(q); }
  /// The rule where automatic mode adds what ranks have of the rows.
  static constexpr Verdict parts(rules::Question const& q) {
    return rules::resized_parts(q, detail::joining(q));
  }
  constexpr void extents(ResultExtents const& c) const {
    if (begin < 0 || end < begin || end > c.extent() || step < 1)
      ResultExtents::fail("index " + c.name() + " has extent " + std::to_string(c.extent()) +
                          "; there is no slice from " + std::to_string(begin) + " to " +
                          std::to_string(end) + " in steps of " + std::to_string(step));
    c.set(ceil_div(end - begin, step));
  }
  constexpr planning::Work work(planning::CallSizing const& c, int d) const {
    std::int64_t const all = c.given[0].extents[c.operands[0].dims[d].label];
    return {0, 0, begin == 0 && step == 1 && end == all};
  }
  auto block(auto const& run) const { return run.slice(begin, step); }
  /// Zeros where no row was taken.
  constexpr auto pull(auto const& g) const {
    std::int64_t const used = detail::span(ceil_div(end - begin, step), step);
    return g(detail::along_into<Pad, detail::into_t<I, Result...>, I>{
        begin, g.template rows<I>() - begin - used, step - 1});
  }
  /// Two candidates for a named result along a split dim: to bring the rows together first, or to
  /// slice what each rank holds and add up.
  static constexpr int candidates = 2;
  static constexpr planning::LocalPlan meet(rules::Question const& q, Spec const& wanted,
                                            int candidate) {
    return planning::slice_plan(q, wanted, detail::joining(q), candidate == 1);
  }
  static constexpr bool second_is_cheaper(planning::LocalPlan const& gathering,
                                          planning::LocalPlan const& adding, Spec const& a,
                                          Spec const&, Spec const& wanted, Sizing const& z,
                                          std::int64_t const*) {
    auto const seconds = [&](planning::LocalPlan const& plan) {
      return planning::reshard_plan(a, plan.operands[0], z, {}).seconds() +
             planning::reshard_plan(plan.result, wanted, z, {}).seconds();
    };
    return seconds(adding) < seconds(gathering);
  }
};

/// SliceRows; dims after the new label name the result.
template <class I, class... Result>
using Slice = typename detail::RenamedOf<SliceRows, I, Result...>::type;

/// Adds `before` and `after` rows of zeros around dim I, and `interior` rows between each two.
template <class I, class... Result>
struct Pad {
  using operation = Pad;
  using gradient = PullsByExtents;
  using from = detail::Bare<I>;
  using to = detail::Bare<Result...>;
  static constexpr std::string_view name = "pad";
  std::int64_t before = 0;
  std::int64_t after = 0;
  std::int64_t interior = 0;
  static constexpr Verdict rule(rules::Question const& q) { return rules::pad(q, true); }
  constexpr void extents(ResultExtents const& c) const {
    c.check_amount("the pad before it", before);
    c.check_amount("the pad after it", after);
    c.check_amount("the pad between its rows", interior);
    std::int64_t const n = c.extent();
    std::int64_t const spread = n == 0 ? 0 : c.sum(c.product(n - 1, c.sum(interior, 1)), 1);
    c.set(c.sum(c.sum(before, spread), after));
  }
  auto block(auto const& run) const { return run.pad(before, interior, {}); }
  /// The rows that were not added.
  constexpr auto pull(auto const& g) const {
    return g(detail::along_into<SliceRows, detail::into_t<I, Result...>, I>{
        before, before + detail::span(g.template rows<I>(), interior + 1), interior + 1});
  }
};
/// Pad with another value than zero, of the operand's element type `T`.
template <class T, class I, class... Result>
struct PadValue {
  using operation = PadValue;
  using gradient = PullsByExtents;
  using from = detail::Bare<I>;
  using to = detail::Bare<Result...>;
  static constexpr std::string_view name = "pad";
  std::int64_t before = 0;
  std::int64_t after = 0;
  T value{};
  std::int64_t interior = 0;
  constexpr Pad<I, Result...> zeros() const { return {before, after, interior}; }
  static constexpr Verdict rule(rules::Question const& q) { return rules::pad(q, false); }
  constexpr void extents(ResultExtents const& c) const { zeros().extents(c); }
  auto block(auto const& run) const { return run.pad(before, interior, value); }
  constexpr auto pull(auto const& g) const { return zeros().pull(g); }
};
/// The number of rows that `pad` adds between each two rows, as in lax.pad.
struct Interior {
  std::int64_t rows = 0;
};

/// Repeats each row, or the sequence of rows, `times` times.
template <bool Each, class I, class... Result>
struct Repetitions {
  using operation = Repetitions;
  using gradient = PullsByExtents;
  using from = detail::Bare<I>;
  using to = detail::Bare<Result...>;
  static constexpr std::string_view name = Each ? "repeat" : "tile";
  std::int64_t times = 1;
  static constexpr Verdict rule(rules::Question const& q) { return rules::resized(q); }
  constexpr void extents(ResultExtents const& c) const {
    c.check_amount(Each ? "the number of repeats" : "the number of tiles", times);
    c.set(c.product(c.extent(), times));
  }
  auto block(auto const& run) const { return Each ? run.repeat(times) : run.tile(times); }
  /// The sum over the repetitions.
  constexpr auto pull(auto const& g) const {
    using Apart = std::conditional_t<
        Each, SplitDim<detail::into_t<I, Result...>, detail::Repeated, detail::Repetition>,
        SplitDim<detail::into_t<I, Result...>, detail::Repetition, detail::Repeated>>;
    std::int64_t const rows = g.template rows<I>();
    return g.call(
        Relabel<detail::Repeated, I>{},
        g.call(Sum<detail::Repetition>{}, g(Apart{{Each ? rows : times, Each ? times : rows}})));
  }
};
template <class I, class... Result>
using Repeat = Repetitions<true, I, Result...>;
template <class I, class... Result>
using Tile = Repetitions<false, I, Result...>;

/// Reverses the order of the rows.
template <class I>
struct Flip {
  using operation = Flip;
  using from = detail::Bare<I>;
  static constexpr std::string_view name = "flip";
  static constexpr Verdict rule(rules::Question const& q) { return rules::flip(q); }
  static constexpr planning::Work work(planning::CallSizing const& c, int d) {
    return {0, 0, c.rows(0, d) <= 1};
  }
  auto block(auto const& run) const { return run.flip(); }
  constexpr Flip transposed() const { return {}; }
};

/// Row i of the result is row (i - n) mod extent.
template <class I>
struct Roll {
  using operation = Roll;
  using from = detail::Bare<I>;
  static constexpr std::string_view name = "roll";
  std::int64_t n = 0;
  static constexpr Verdict rule(rules::Question const& q) { return rules::roll(q); }
  constexpr planning::Work work(planning::CallSizing const& c, int d) const {
    std::int64_t const rows = c.rows(0, d);
    return {0, 0, rows == 0 || n % rows == 0};
  }
  auto block(auto const& run) const { return run.roll(n); }
  constexpr Roll transposed() const { return {-n}; }
};

/// Concatenates the operands along I.
template <class I, class... Result>
struct Concat {
  using operation = Concat;
  using gradient = PullsByExtents;
  using from = detail::Bare<I>;
  using to = detail::Bare<Result...>;
  static constexpr std::string_view name = "concat";
  static constexpr Verdict rule(rules::Question const& q) { return rules::concat(q); }
  static constexpr void extents(ResultExtents const& c) {
    int const d = c.dim();
    detail::check_beside(c, d, c.count);
    std::int64_t n = c.extent();
    for (int k = 1; k < c.count; ++k) n = c.sum(n, c.given[k][d]);
    c.set(n);
  }
  auto block(auto const& run) const {
    int const d = run.call.dim();
    return run.join(d, [&](int k) { return run.call.given[k][d]; });
  }
  /// The operand's range of rows.
  constexpr auto pull(auto const& g) const {
    std::int64_t const begin = g.template rows_before<I>();
    return g(detail::along_into<SliceRows, detail::into_t<I, Result...>, I>{
        begin, begin + g.template rows<I>()});
  }
};

/// Stacks the operands along a new first dim.
template <class I>
struct Stack {
  using operation = Stack;
  using gradient = Pulls;
  using to = detail::Bare<I>;
  static constexpr std::string_view name = "stack";
  static constexpr Verdict rule(rules::Question const& q) { return rules::stack(q); }
  static constexpr void extents(ResultExtents const& c) {
    detail::check_beside(c, -1, c.count);
    c.out[0] = c.count;
  }
  auto block(auto const& run) const {
    return run.join(0, [](int) { return std::int64_t{1}; });
  }
  constexpr auto pull(auto const& g) const { return g(AtRow<I>{g.operand}); }
};

}  // namespace op

namespace api {

/// Takes rows begin, begin + step, ... below end: `A[I@X, J]` -> `slice<J, Head>(a, 0, 10)` ->
/// `A[I@X, Head]`. Local; shares memory if all rows are kept, else copies. Refused: D01, D02, D03,
/// D05, D07. Error E41: not 0 <= begin <= end <= extent, or a step below 1.
///
/// Along a split dim, by a named result behind the new label: `A[I@X, J]` -> `slice<I, Head,
/// Dim<Head>, Dim<J, X>>(a, 0, 10)` -> `[Head, J@X]`. The rows are brought together and then
/// sliced, here by an all_to_all; or each rank slices its block into zeros and these are added up,
/// which sends rows of the result alone: what is predicted to be faster for the sizes. Refused:
/// D01, D02, N05, V14, R01 to R04.
template <class I, class... Result, class A>
constexpr auto slice(core::Argument<A> const& a, std::int64_t begin, std::int64_t end,
                     std::int64_t step = 1, checking::CallSite where = {}) {
  return api::call(op::Slice<I, Result...>{begin, end, step}, where, a.self());
}

/// Adds `before` and `after` rows of zeros around dim J, as jnp.pad: `A[I@X, J]{U:Y}` ->
/// `pad<J>(a, 1, 1)` -> `[I@X, J]{U:Y}`. Local; copies. Refused: D01, D02, D03, D05, D07. Error
/// E41: a negative amount.
template <class I, class... Result, class A>
constexpr auto pad(core::Argument<A> const& a, std::int64_t before, std::int64_t after,
                   checking::CallSite where = {}) {
  return api::call(op::Pad<I, Result...>{before, after}, where, a.self());
}
/// The same with another value. Refused as well: D11 an unreduced sum, because every summand would
/// get the value. An unreduced maximum or minimum is accepted: every candidate gets it.
template <class I, class... Result, class A>
constexpr auto pad(core::Argument<A> const& a, std::int64_t before, std::int64_t after,
                   detail::element_or_t<A> value, checking::CallSite where = {}) {
  return api::call(op::PadValue<detail::element_or_t<A>, I, Result...>{before, after, value}, where,
                   a.self());
}
/// Both with rows between each two rows as well: row k of `a` becomes row before + k (interior +
/// 1). `pad<J>(ct, begin, rest, op::Interior{step - 1})` is the transpose of `slice<J>(a, begin,
/// end, step)`. As lax.pad.
template <class I, class... Result, class A>
constexpr auto pad(core::Argument<A> const& a, std::int64_t before, std::int64_t after,
                   op::Interior interior, checking::CallSite where = {}) {
  return api::call(op::Pad<I, Result...>{before, after, interior.rows}, where, a.self());
}
template <class I, class... Result, class A>
constexpr auto pad(core::Argument<A> const& a, std::int64_t before, std::int64_t after,
                   op::Interior interior, detail::element_or_t<A> value,
                   checking::CallSite where = {}) {
  return api::call(
      op::PadValue<detail::element_or_t<A>, I, Result...>{before, after, value, interior.rows},
      where, a.self());
}

/// Repeats each row `times` times, as np.repeat: `A[I@X, J]` -> `repeat<J>(a, 2)`. Local; copies.
/// Refused: D01, D02, D03, D05, D07. Error E41: a negative number.
template <class I, class... Result, class A>
constexpr auto repeat(core::Argument<A> const& a, std::int64_t times,
                      checking::CallSite where = {}) {
  return api::call(op::Repeat<I, Result...>{times}, where, a.self());
}

/// Repeats the sequence of rows `times` times, as np.tile: `A[I@X, J]` -> `tile<J>(a, 2)`. Local;
/// copies. Refusals and errors as repeat.
template <class I, class... Result, class A>
constexpr auto tile(core::Argument<A> const& a, std::int64_t times, checking::CallSite where = {}) {
  return api::call(op::Tile<I, Result...>{times}, where, a.self());
}

/// Reverses the order of the rows of a dim: `A[I@X, J]` -> `flip<J>` -> `A[I@X, J]`. Local; copies.
/// Refused: D01, D03.
template <class I, class A>
constexpr auto flip(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::Flip<I>{}, where, a.self());
}

/// Shifts rows cyclically along I: row i of the result is row (i - n) mod extent. Local; copies.
/// Refused: D01, D04 along a split dim (use `shift<I>(a, n, Edge::wrap)`). As jnp.roll.
template <class I, class A>
constexpr auto roll(core::Argument<A> const& a, std::int64_t n, checking::CallSite where = {}) {
  return api::call(op::Roll<I>{n}, where, a.self());
}

/// Concatenates tensors along I: `A[I@X, J]`, `B[I@X, J]` -> `concat<J>(a, b)` -> `[I@X, J]`. The
/// operands have the same sharding and the same unreduced axes; if one is reduced, so is the
/// result. Local; copies. Refused: C10, D01, D02, D03, D05, D06, D07, D12, D13. Errors: E23, E24,
/// E41.
template <class I, class... Result, class A, class B>
constexpr auto concat(core::Argument<A> const& a, B const& b,
                      std::source_location const& where = std::source_location::current()) {
  return api::call(op::Concat<I, Result...>{}, where, a.self(), b);
}
template <class I, class... Result, class A, class B, class C>
constexpr auto concat(core::Argument<A> const& a, B const& b, C const& c,
                      std::source_location const& where = std::source_location::current()) {
  return api::call(op::Concat<I, Result...>{}, where, a.self(), b, c);
}
template <class I, class... Result, class A, class B, class C, class D>
constexpr auto concat(core::Argument<A> const& a, B const& b, C const& c, D const& d,
                      std::source_location const& where = std::source_location::current()) {
  return api::call(op::Concat<I, Result...>{}, where, a.self(), b, c, d);
}
template <class I, class... Result, class A, class B, class C, class D, class E>
constexpr auto concat(core::Argument<A> const& a, B const& b, C const& c, D const& d, E const& e,
                      std::source_location const& where = std::source_location::current()) {
  return api::call(op::Concat<I, Result...>{}, where, a.self(), b, c, d, e);
}
// of others a line cannot be known
template <class I, class... Result, class A, class... Bs>
  requires(sizeof...(Bs) == 0 || sizeof...(Bs) > 4)
constexpr auto concat(core::Argument<A> const& a, Bs const&... bs) {
  return api::call(op::Concat<I, Result...>{}, std::source_location{}, a.self(), bs...);
}

/// Stacks tensors along a new first dim: `A[I@X]`, `B[I@X]` -> `stack<K>(a, b)` -> `[K, I@X]`.
/// Otherwise as concat. Refused: C10, D02, D06, D12, D13, T07. Errors: E23, E24.
template <class K, class A, class B>
constexpr auto stack(core::Argument<A> const& a, B const& b,
                     std::source_location const& where = std::source_location::current()) {
  return api::call(op::Stack<K>{}, where, a.self(), b);
}
template <class K, class A, class B, class C>
constexpr auto stack(core::Argument<A> const& a, B const& b, C const& c,
                     std::source_location const& where = std::source_location::current()) {
  return api::call(op::Stack<K>{}, where, a.self(), b, c);
}
template <class K, class A, class B, class C, class D>
constexpr auto stack(core::Argument<A> const& a, B const& b, C const& c, D const& d,
                     std::source_location const& where = std::source_location::current()) {
  return api::call(op::Stack<K>{}, where, a.self(), b, c, d);
}
template <class K, class A, class B, class C, class D, class E>
constexpr auto stack(core::Argument<A> const& a, B const& b, C const& c, D const& d, E const& e,
                     std::source_location const& where = std::source_location::current()) {
  return api::call(op::Stack<K>{}, where, a.self(), b, c, d, e);
}
// of others a line cannot be known
template <class K, class A, class... Bs>
  requires(sizeof...(Bs) == 0 || sizeof...(Bs) > 4)
constexpr auto stack(core::Argument<A> const& a, Bs const&... bs) {
  return api::call(op::Stack<K>{}, std::source_location{}, a.self(), bs...);
}

// Everyday mistakes (check/misused.hpp).
SHARDTYPE_NOT_WITHOUT_INDEX(slice)
SHARDTYPE_NOT_WITHOUT_INDEX(pad)
SHARDTYPE_NOT_WITHOUT_INDEX(repeat)
SHARDTYPE_NOT_WITHOUT_INDEX(tile)
SHARDTYPE_NOT_WITHOUT_INDEX(flip)
SHARDTYPE_NOT_WITHOUT_INDEX(roll)
SHARDTYPE_NOT_WITHOUT_INDEX(concat)
SHARDTYPE_NOT_WITHOUT_INDEX(stack)

}  // namespace api

}  // namespace shardtype
