#pragma once
/// Objects of the operations along one dim that is not split.

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/check/contraction.hpp>
#include <shardtype/check/operation.hpp>
#include <shardtype/plan/indexing_plan.hpp>
#include <shardtype/rules/along.hpp>

namespace shardtype {

namespace detail {

/// The second index, or where there is none the first.
template <class J, class... Into>
struct IntoOf : Only<Pack<J>> {};
template <class J, class K, class... More>
struct IntoOf<J, K, More...> : Only<Pack<K>> {};
template <class... Is>
using into_t = typename IntoOf<Is...>::type;

/// The kind of reduction that joins a found element with the zeros of ranks that do not have it.
constexpr ReduceKind joining(rules::Question const& q) {
  return q.boolean ? ReduceKind::max : ReduceKind::sum;
}

/// Whether `slice<I, Result...>` has a named result: dims behind the new label.
template <class I, class... Result>
inline constexpr bool names_slice = false;
template <class I, class K, class Out, class... More>
inline constexpr bool names_slice<I, K, Out, More...> = !names_label<Out>;

/// Error E24 unless all operands have equal extents, except along dim `along` (-1: no exception).
constexpr void check_beside(ResultExtents const& c, int along, int count) {
  for (int k = 1; k < count; ++k)
    for (int d = 0; d < c.a().rank; ++d)
      if (d != along && c.given[0][d] != c.given[k][d])
        ResultExtents::fail("index " + c.name(d) + " has extent " + std::to_string(c.given[k][d]) +
                                " in one operand, elsewhere " + std::to_string(c.given[0][d]),
                            "E24");
}

}  // namespace detail

namespace op {

/// Selects rows begin, begin + step, ... below end. `Result`: the new label; after it, a named
/// result.
template <class I, class... Result>
struct Slice {
  using operation = Slice;
  using from = detail::Bare<I>;
  using to = detail::Bare<Result...>;
  static constexpr std::string_view name = "slice";
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t step = 1;
  constexpr auto strict() const
    requires detail::names_slice<I, Result...>
  {
    return Slice<I, detail::into_t<I, Result...>>{begin, end, step};
  }
  static constexpr Verdict rule(rules::Question const& q) { return rules::resized(q); }
  constexpr void extents(ResultExtents const& c) const {
    if (begin < 0 || end < begin || end > c.extent() || step < 1)
      ResultExtents::fail("index " + c.name() + " has extent " + std::to_string(c.extent()) +
                          "; there is no slice from " + std::to_string(begin) + " to " +
                          std::to_string(end) + " in steps of " + std::to_string(step));
    c.set(ceil_div(end - begin, step));
  }
  constexpr planning::Work work(planning::CallSizing const& c) const {
    return {0, 0, step == 1 && c.elements(0) == c.result_elements()};
  }
  /// Two candidates for a named result along a split dim: to bring the rows together first, or to slice
  /// what each rank holds and add up.
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

/// Adds `before` and `after` rows of zeros around dim I, and `interior` rows between each two.
template <class I, class... Result>
struct Pad {
  using operation = Pad;
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
};
/// As Pad, with another value, of the operand's element type `T`.
template <class T, class I, class... Result>
struct PadValue {
  using operation = PadValue;
  using from = detail::Bare<I>;
  using to = detail::Bare<Result...>;
  static constexpr std::string_view name = "pad";
  std::int64_t before = 0;
  std::int64_t after = 0;
  T value{};
  std::int64_t interior = 0;
  static constexpr Verdict rule(rules::Question const& q) { return rules::pad(q, false); }
  constexpr void extents(ResultExtents const& c) const {
    Pad<I, Result...>{before, after, interior}.extents(c);
  }
};

/// Repeats each row `times` times.
template <class I, class... Result>
struct Repeat {
  using operation = Repeat;
  using from = detail::Bare<I>;
  using to = detail::Bare<Result...>;
  static constexpr std::string_view name = "repeat";
  std::int64_t times = 1;
  static constexpr Verdict rule(rules::Question const& q) { return rules::resized(q); }
  constexpr void extents(ResultExtents const& c) const {
    c.check_amount("the number of repeats", times);
    c.set(c.product(c.extent(), times));
  }
};

/// Repeats the sequence of rows `times` times.
template <class I, class... Result>
struct Tile {
  using operation = Tile;
  using from = detail::Bare<I>;
  using to = detail::Bare<Result...>;
  static constexpr std::string_view name = "tile";
  std::int64_t times = 1;
  static constexpr Verdict rule(rules::Question const& q) { return rules::resized(q); }
  constexpr void extents(ResultExtents const& c) const {
    c.check_amount("the number of tiles", times);
    c.set(c.product(c.extent(), times));
  }
};

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
};

/// Concatenates the operands along I.
template <class I, class... Result>
struct Concat {
  using operation = Concat;
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
};

/// Stacks the operands along a new first dim.
template <class I>
struct Stack {
  using operation = Stack;
  using to = detail::Bare<I>;
  static constexpr std::string_view name = "stack";
  static constexpr Verdict rule(rules::Question const& q) { return rules::stack(q); }
  static constexpr void extents(ResultExtents const& c) {
    detail::check_beside(c, -1, c.count);
    c.out[0] = c.count;
  }
};

}  // namespace op
}  // namespace shardtype
