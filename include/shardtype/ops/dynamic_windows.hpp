#pragma once
/// Windows of rows whose start is known at run time.

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/check/along.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/ops/rows.hpp>

namespace shardtype {

namespace detail {

/// The start of a window of `size` rows, moved so that the window fits into `extent`.
constexpr std::int64_t clamped(std::int64_t start, std::int64_t size, std::int64_t extent) {
  return std::clamp<std::int64_t>(start, 0, extent - size);
}

}  // namespace detail

namespace op {

template <class I, class... Into>
struct DynamicUpdate;

/// `size` rows from a start on: a number, or a second operand, an integer without dims.
template <class I, class... Result>
struct DynamicSlice {
  using operation = DynamicSlice;
  static constexpr bool from_start =
      true;  ///< `start` is read first, from the operand without dims
  using gradient = PullsByIds;
  using from = detail::Bare<I>;
  using to = detail::Bare<Result...>;
  static constexpr std::string_view name = "dynamic_slice";
  static constexpr bool has_named_form = false;  ///< it may read its start from a tensor
  std::int64_t size = 0;
  std::int64_t start = 0;  ///< clamped so that the window fits
  static constexpr Verdict rule(rules::Question const& q) {
    if (q.count > 1)
      if (Verdict v = rules::window_start(q.operands[1], q.a()); !v) return v;
    return rules::resized(q);
  }
  template <class A, class... Start>
  static constexpr Code elements() {
    return (detail::is_id<element_t<Start>> && ...) ? Code::ok : Code::I01_not_integers;
  }
  constexpr void extents(ResultExtents const& c) const {
    if (size < 0 || size > c.extent())
      ResultExtents::fail("index " + c.name() + " has extent " + std::to_string(c.extent()) +
                          "; there is no window of " + std::to_string(size) + " rows in it");
    c.set(size);
  }
  constexpr planning::Work work(planning::CallSizing const& c, int d) const {
    return {0, 0, c.rows(0, d) == size};
  }
  auto block(auto const& run) const {
    return run.slice(detail::clamped(start, size, run.call.extent()), 1);
  }
  /// The window among zeros.
  template <class G>
  constexpr auto pull(G const& g) const {
    using Window = detail::into_t<I, Result...>;
    std::int64_t const rows = g.template rows<I>();
    if constexpr (G::has_ids) {
      return g.with_ids(detail::along_into<DynamicUpdate, I, Window>{},
                        g.template zeros<Window, I>(rows), g.ct);
    } else {
      std::int64_t const begin = detail::clamped(start, size, rows);
      return g(detail::along_into<Pad, Window, I>{begin, rows - size - begin});
    }
  }
};

/// Replaces rows of a tensor by an update, from a start on: a number, or a third operand. `Into`:
/// the index of these rows in the update; without it, I.
template <class I, class... Into>
struct DynamicUpdate {
  using operation = DynamicUpdate;
  static constexpr bool from_start =
      true;  ///< `start` is read first, from the operand without dims
  using gradient = PullsByIds;
  using from = detail::Bare<I>;
  using to = detail::Bare<detail::into_t<I, Into...>>;
  static constexpr std::string_view name = "dynamic_update";
  static constexpr bool has_named_form = false;  ///< it may read its start from a tensor
  std::int64_t start = 0;                        ///< clamped so that the window fits
  static constexpr Verdict rule(rules::Question const& q) {
    if (q.count > 2)
      if (Verdict v = rules::window_start(q.operands[2], q.a()); !v) return v;
    return rules::dynamic_update(q.a(), q.operands[1], q.along(), q.to.dims[0].label);
  }
  template <class A, class B, class... Start>
  static constexpr Code elements() {
    if (!detail::same_element<A, B>) return Code::C10_element_types_differ;
    return (detail::is_id<element_t<Start>> && ...) ? Code::ok : Code::I01_not_integers;
  }
  static constexpr void extents(ResultExtents const& c) {
    int const d = c.dim();
    detail::check_beside(c, d, 2);
    if (c.given[1][d] > c.extent())
      ResultExtents::fail("index " + c.name() + " has extent " + std::to_string(c.extent()) +
                          "; there is no window of " + std::to_string(c.given[1][d]) +
                          " rows in it");
  }
  auto block(auto const& run) const {
    std::int64_t const rows = run.call.given[1][run.call.dim()];
    return run.replace(detail::clamped(start, rows, run.call.extent()), rows);
  }
  /// The cotangent of the tensor: `ct` with zeros in the window; of the update: the window of `ct`.
  template <class G>
  constexpr auto pull(G const& g) const {
    using Window = detail::into_t<I, Into...>;
    std::int64_t const rows = g.template rows<Window, 1>();
    if constexpr (G::operand == 0) {
      return g.with_ids(*this, g.ct, g.template zeros<I, Window>(rows));
    } else {
      return g.with_ids(detail::along_into<DynamicSlice, I, Window>{rows, start}, g.ct);
    }
  }
};

}  // namespace op

namespace api {

/// Takes `size` rows from `start` on along I: `a[I@X, J]` -> `dynamic_slice<J, Head>(a, start, 10)`
/// -> `[I@X, Head]`. The start is an integer, equal on all ranks, or a tensor of integers without
/// dims, read as by `item`. As in jax.lax.dynamic_slice, it is moved so that the window fits; a
/// negative start counts as 0. Otherwise as `slice`. If both are Locals, each rank reads its own
/// start, nothing is sent, and the result varies where the start varies: `a[I]{V:X}`,
/// `start[]{V:Y}` -> `[Head]{V:X,Y}`. Refused: D01, D02, D03, D05, D07; of the start A01, A02, I01,
/// P06, V01. Errors: E23, E41 a negative size, or a size beyond the extent.
template <class I, class... Result, class A, class Start>
constexpr auto dynamic_slice(core::Argument<A> const& a, Start const& start, std::int64_t size,
                             checking::CallSite where = {}) {
  if constexpr (std::is_integral_v<Start>) {
    return api::call(op::DynamicSlice<I, Result...>{size, static_cast<std::int64_t>(start)}, where,
                     a.self());
  } else {
    return api::call(op::DynamicSlice<I, Result...>{size}, where, a.self(), start);
  }
}

/// A copy of `a` with the rows of `update` from `start` on along I: `a[I@X, J]`, `b[I@X, Head]` ->
/// `dynamic_update<J, Head>(a, b, start)` -> `[I@X, J]`; without a second index, the update's dim
/// is J too. The other dims of update and tensor have the same sharding and the same unreduced
/// axes; if one operand is reduced, so is the result. The start as in `dynamic_slice`. Communicates
/// nothing else. Refused: C10, D01, D03, D12, D13; of the start A01, A02, I01, P06, V01. Errors:
/// E23, E24, E41 an update longer than the extent.
template <class I, class... Into, class A, class B, class Start>
constexpr auto dynamic_update(core::Argument<A> const& a, B const& update, Start const& start,
                              checking::CallSite where = {}) {
  if constexpr (std::is_integral_v<Start>) {
    return api::call(op::DynamicUpdate<I, Into...>{static_cast<std::int64_t>(start)}, where,
                     a.self(), update);
  } else {
    return api::call(op::DynamicUpdate<I, Into...>{}, where, a.self(), update, start);
  }
}

// Everyday mistakes (check/misused.hpp).
SHARDTYPE_NOT_WITHOUT_INDEX(dynamic_slice)
SHARDTYPE_NOT_WITHOUT_INDEX(dynamic_update)

}  // namespace api

}  // namespace shardtype
