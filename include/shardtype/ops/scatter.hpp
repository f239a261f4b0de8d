#pragma once
/// Maxima and minima of updates by ids.

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <shardtype/check/call.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/check/named.hpp>
#include <shardtype/check/reduction.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/plan/indexing_plan.hpp>

namespace shardtype {

namespace autodiff {
/// The gradient of a named result (autodiff/extreme_rows.hpp).
template <class V, class F, class... Out>
struct NamedExtremes;
}  // namespace autodiff

namespace op {

/// The largest (or, `F` a reductions::Minimum, the least) of the updates of each of `n` rows that
/// ids name.
template <class V, class F>
struct ExtremeRows {
  using operation = ExtremeRows;
  using gradient = checking::PullsBySaved;
  template <class... Out>
  using named_gradient = autodiff::NamedExtremes<V, F, Out...>;
  using from = detail::Bare<V>;
  static constexpr bool largest = std::is_same_v<F, reductions::Maximum>;
  static constexpr ReduceKind kind = largest ? ReduceKind::max : ReduceKind::min;
  static constexpr std::string_view name = largest ? "scatter_max" : "scatter_min";
  static constexpr bool makes_parts = true;
  static constexpr bool reads_places = true;
  static constexpr bool sums_parts = true;  ///< a rank has its own updates
  std::int64_t n = detail::static_extents<V>()[0];
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::scatter_add(q.a(), q.operands[1], q.along(), kind);
  }
  template <class A, class Ids>
  static constexpr Code elements() {
    return detail::is_complex<element_t<A>> ? Code::S04_no_order : detail::id_operands<A, Ids>();
  }
  constexpr void extents(ResultExtents const& c) const { AddRows<V>{n}.extents(c); }
  /// The updates of each row are listed.
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return detail::work_by_ids(c, true);
  }
  static constexpr int candidates = 2;  ///< as of AddRows
  static constexpr planning::LocalPlan meet(rules::Question const& q, Spec const& wanted,
                                            int candidate) {
    return planning::scatter_plan(q.a(), q.operands[1], wanted, q.along(), candidate == 1, kind);
  }
  static constexpr bool second_is_cheaper(planning::LocalPlan const& joining,
                                          planning::LocalPlan const& gathering, Spec const& updates,
                                          Spec const& ids, Spec const& wanted, Sizing const& z,
                                          std::int64_t const* element_bytes) {
    return AddRows<V>::second_is_cheaper(joining, gathering, updates, ids, wanted, z,
                                         element_bytes);
  }
  template <class R, class A, class Ids>
  constexpr auto save(R const& out, A const& updates, Ids const& ids) const;
  template <class G>
  constexpr auto pull(G const& g) const;
  template <class Out, class A, class Ids>
  void fill(Out& out, A const& updates, Ids const& ids) const;
};
/// ExtremeRows; with `Out`, the result is named.
template <class V, class... Out>
using ScatterMax = MaybeNamed<ExtremeRows<V, reductions::Maximum>, Out...>;
template <class V, class... Out>
using ScatterMin = MaybeNamed<ExtremeRows<V, reductions::Minimum>, Out...>;

}  // namespace op

namespace api {

/// The largest of the updates of each row: `updates[B@X, D@Y]`, `ids[B@X]` -> `scatter_max<V>(
/// updates, ids, n)` -> `[V, D@Y]{U_max:X}`, with `n` rows, of which those without an update have
/// the least value of the type (minus infinity), as `max` of no elements. A NaN among the updates
/// of an element gives NaN. Dims, shardings and ids as of `scatter_add`; `max(a, scatter_max<V>(
/// updates, ids, n))` updates rows of `a`. Communicates nothing; on any number of ranks and threads
/// the result is the same.
///
/// `scatter_max<V, Dim<V, X>, Dim<D>>(updates, ids, n)` names the result, which is reduced, or
/// computed of ids and updates that are gathered, as of `scatter_add`.
///
/// The cotangent of an element is divided evenly among the updates that equal it (as of `max`, and
/// in JAX). An unreduced result has no gradient: name it.
///
/// Refused: C10, D02, I01, I02, I05, I06, I08, I09, B03, S02 pending sums, S04 complex numbers, R01
/// to R04 for the result. Errors: E20, E23, E24, E50. As jax.ops.segment_max, and `.at[ids].max`.
template <class V, class... Out, class A, class Ids>
constexpr auto scatter_max(core::Argument<A> const& updates, Ids const& ids,
                           std::int64_t n = detail::static_extents<V>()[0],
                           checking::CallSite where = {}) {
  return api::call(op::ScatterMax<V, Out...>{n}, where, updates.self(), ids);
}

/// The least of the updates of each row; rows without an update have the largest value of the type.
/// Otherwise as scatter_max. As jax.ops.segment_min, and `.at[ids].min`.
template <class V, class... Out, class A, class Ids>
constexpr auto scatter_min(core::Argument<A> const& updates, Ids const& ids,
                           std::int64_t n = detail::static_extents<V>()[0],
                           checking::CallSite where = {}) {
  return api::call(op::ScatterMin<V, Out...>{n}, where, updates.self(), ids);
}

// Everyday mistakes (check/misused.hpp).
SHARDTYPE_NOT_WITHOUT_INDEX(scatter_max)
SHARDTYPE_NOT_WITHOUT_INDEX(scatter_min)

}  // namespace api

}  // namespace shardtype
