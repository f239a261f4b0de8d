#pragma once
/// Objects of lookups by tensors of ids, scatters and windows.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/check/along.hpp>
#include <shardtype/check/functions.hpp>
#include <shardtype/check/named.hpp>
#include <shardtype/check/shape.hpp>
#include <shardtype/plan/indexing_plan.hpp>

namespace shardtype {

namespace detail {

template <class T>
inline constexpr bool is_id = std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>;

/// Requirements on `Ids` and `A` besides their shardings.
template <class A, class Ids>
constexpr Code id_operands() {
  if (!is_id<element_t<Ids>>) return Code::I01_not_integers;
  return same_memory<A, Ids> ? Code::ok : Code::C10_element_types_differ;
}
/// Error E24 unless all operands agree on the extents of shared labels, except for dim `except` of
/// the first.
constexpr void check_shared_extents(ResultExtents const& c, char const* ids_or_updates,
                                    int except = -1) {
  for (int d = 0; d < c.a().rank; ++d) {
    int const e = c.operand(1).find(c.a().dims[d].label);
    if (d == except || e < 0 || c.given[0][d] == c.given[1][e]) continue;
    ResultExtents::fail("index " + c.name(d) + " has extent " + std::to_string(c.given[1][e]) +
                            " in the " + ids_or_updates + ", elsewhere " +
                            std::to_string(c.given[0][d]),
                        "E24");
  }
}

}  // namespace detail

namespace op {

/// Takes the rows of a table that ids name; with `Out`, the result is named.
template <class V, class... Out>
struct Take {
  using operation = Take;
  using from = detail::Bare<V>;
  static constexpr std::string_view name = "take";
  constexpr Take<V> strict() const
    requires(sizeof...(Out) > 0)
  {
    return {};
  }
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::take(q.a(), q.operands[1], q.along(), detail::joining(q));
  }
  template <class A, class Ids>
  static constexpr Code elements() {
    return detail::id_operands<A, Ids>();
  }
  static constexpr planning::LocalPlan meet(rules::Question const& q, Spec const& wanted) {
    return planning::take_plan(q.a(), q.operands[1], wanted, q.along(), detail::joining(q));
  }
};

/// Row `k` of dim I, which the result lacks; with `Out`, the result is named.
template <class I, class... Out>
struct At {
  using operation = At;
  using from = detail::Bare<I>;
  static constexpr std::string_view name = "at";
  std::int64_t k = 0;
  constexpr At<I> strict() const
    requires(sizeof...(Out) > 0)
  {
    return {k};
  }
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::take(q.a(), {}, q.along(), detail::joining(q));
  }
  constexpr void extents(ResultExtents const& c) const {
    if (k < 0 || k >= c.extent())
      ResultExtents::fail("index " + c.name() + " has extent " + std::to_string(c.extent()) +
                          "; there is no row " + std::to_string(k));
  }
};

/// Adds updates to `n` rows of zeros at the rows that ids name; with `Out`, the result is named.
template <class V, class... Out>
struct ScatterAdd {
  using operation = ScatterAdd;
  using from = detail::Bare<V>;
  static constexpr std::string_view name = "scatter_add";
  std::int64_t n = detail::static_extents<V>()[0];
  constexpr ScatterAdd<V> strict() const
    requires(sizeof...(Out) > 0)
  {
    return {n};
  }
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::scatter_add(q.a(), q.operands[1], q.along());
  }
  template <class A, class Ids>
  static constexpr Code elements() {
    return std::is_same_v<element_t<A>, bool> ? Code::C11_not_numbers
                                              : detail::id_operands<A, Ids>();
  }
  constexpr void extents(ResultExtents const& c) const {
    detail::check_shared_extents(c, "ids");
    c.out[c.result.find(c.from().dims[0].label)] = n;
  }
  /// One addition per element of the updates. The parts of updates and ids that both have on a rank
  /// are packed.
  static constexpr planning::Work work(planning::CallSizing const& c) {
    Spec const& updates = c.operands[0];
    Spec const& ids = c.operands[1];
    core::Layout const block = c.layout(0);
    core::Layout const id_block = c.layout(1);
    core::Layout part;
    core::Layout id_part;
    auto const keep = [&](int d) {
      part.extent[part.rank] = block.extent[d];
      part.stride[part.rank++] = block.stride[d];
    };
    int d = 0;
    for (; ids.rank > 0 && d < updates.rank && ids.find(updates.dims[d].label) < 0; ++d) keep(d);
    for (int e = 0; e < ids.rank; ++e) {
      int const there = updates.find(ids.dims[e].label);
      // blocks nest, so the finer one is within the other
      std::int64_t const both = std::min(block.extent[there], id_block.extent[e]);
      part.extent[part.rank] = id_part.extent[e] = both;
      part.stride[part.rank++] = block.stride[there];
      id_part.stride[id_part.rank++] = id_block.stride[e];
    }
    for (; d < updates.rank; ++d)
      if (ids.find(updates.dims[d].label) < 0) keep(d);
    auto const copied = [&](core::Layout const& l, int k) {
      return l.contiguous() ? 0 : mul_sat(l.elements(), c.element_bytes(k));
    };
    return {c.elements(0), add_sat(copied(part, 0), copied(id_part, 1)), false};
  }
  /// Two candidates: add the rank's own updates and then reduce, or gather ids and updates first.
  static constexpr int candidates = 2;
  static constexpr planning::LocalPlan meet(rules::Question const& q, Spec const& wanted,
                                            int candidate) {
    return planning::scatter_plan(q.a(), q.operands[1], wanted, q.along(), candidate == 1);
  }
  static constexpr bool second_is_cheaper(planning::LocalPlan const& adding,
                                          planning::LocalPlan const& gathering, Spec const& updates,
                                          Spec const& ids, Spec const& wanted, Sizing const& z,
                                          std::int64_t const* element_bytes) {
    return planning::gathering_is_cheaper(adding, gathering, updates, ids, wanted, z,
                                          element_bytes[1]);
  }
};

/// Rows of `n` elements of type `T`, 1 at the id; with `Out`, the result is named.
template <class V, class T, class... Out>
struct OneHot {
  using operation = OneHot;
  using from = detail::Bare<V>;
  static constexpr std::string_view name = "one_hot";
  std::int64_t n = detail::static_extents<V>()[0];
  constexpr OneHot<V, T> strict() const
    requires(sizeof...(Out) > 0)
  {
    return {n};
  }
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::one_hot(q.a(), q.along());
  }
  template <class Ids>
  static constexpr Code elements() {
    return detail::id_operands<Ids, Ids>();
  }
  template <class Ids>
  using element = T;
  constexpr void extents(ResultExtents const& c) const { c.out[c.result.rank - 1] = n; }
  static constexpr planning::LocalPlan meet(rules::Question const& q, Spec const& wanted) {
    return planning::one_hot_plan(q.a(), wanted, q.along());
  }
};

/// For each position of the ids, the element along J that the id names. `Into`: the index of the
/// ids that replaces J; without it, J.
template <class J, class... Into>
struct TakeAlong {
  using operation = TakeAlong;
  using from = detail::Bare<J>;
  using to = detail::Bare<detail::into_t<J, Into...>>;
  static constexpr std::string_view name = "take_along";
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::take_along(q.a(), q.operands[1], q.along(), q.to.dims[0].label);
  }
  template <class A, class Ids>
  static constexpr Code elements() {
    return detail::id_operands<A, Ids>();
  }
  static constexpr void extents(ResultExtents const& c) {
    detail::check_shared_extents(c, "ids", c.dim());
    for (int d = 0; d < c.result.rank; ++d) c.out[d] = c.given[1][d];
  }
};

/// Adds updates to `n` rows of zeros along J at the positions that ids name: the transpose of
/// TakeAlong. `At`: the index of the updates and ids that J replaces; without it, J.
template <class J, class... At>
struct ScatterAlong {
  using operation = ScatterAlong;
  using from = detail::Bare<detail::into_t<J, At...>>;
  using to = detail::Bare<J>;
  static constexpr std::string_view name = "scatter_along";
  std::int64_t n = detail::static_extents<J>()[0];
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::scatter_along(q.a(), q.operands[1], q.along(), q.to.dims[0].label);
  }
  template <class A, class Ids>
  static constexpr Code elements() {
    return std::is_same_v<element_t<A>, bool> ? Code::C11_not_numbers
                                              : detail::id_operands<A, Ids>();
  }
  constexpr void extents(ResultExtents const& c) const {
    detail::check_shared_extents(c, "ids");
    c.set(n);
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {c.elements(0), 0, false};
  }
};

/// `size` rows from a start on: a number, or a second operand, an integer without dims.
template <class I, class... Result>
struct DynamicSlice {
  using operation = DynamicSlice;
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
};

/// Replaces rows of a tensor by an update, from a start on: a number, or a third operand. `Into`:
/// the index of these rows in the update; without it, I.
template <class I, class... Into>
struct DynamicUpdate {
  using operation = DynamicUpdate;
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
};

}  // namespace op

}  // namespace shardtype

namespace shardtype::checking {

template <class V, class Out, class... More, class A, class Ids>
struct Resolve<op::Take<V, Out, More...>, A, Ids>
    : Resolve<op::Named<op::Take<V>, Out, More...>, A, Ids> {};
template <class I, class Out, class... More, class A>
struct Resolve<op::At<I, Out, More...>, A> : Resolve<op::Named<op::At<I>, Out, More...>, A> {};
template <class I, class K, class Out, class... More, class A>
  requires detail::names_slice<I, K, Out, More...>
struct Resolve<op::Slice<I, K, Out, More...>, A>
    : Resolve<op::Named<op::Slice<I, K>, Out, More...>, A> {};
template <class V, class Out, class... More, class A, class Ids>
struct Resolve<op::ScatterAdd<V, Out, More...>, A, Ids>
    : Resolve<op::Named<op::ScatterAdd<V>, Out, More...>, A, Ids> {};
template <class V, class T, class Out, class... More, class Ids>
struct Resolve<op::OneHot<V, T, Out, More...>, Ids>
    : Resolve<op::Named<op::OneHot<V, T>, Out, More...>, Ids> {};

}  // namespace shardtype::checking
