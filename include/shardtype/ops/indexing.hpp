#pragma once
/// Operations on rows that are named at run time: lookups and sums by ids. Ids are std::int32_t
/// or std::int64_t, from 0 to extent - 1. With SHARDTYPE_CHECK=values other ids, negative ones
/// included, are an Error, E50.

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/check/along.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/check/functions.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/check/named.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/ops/rows.hpp>
#include <shardtype/plan/indexing_plan.hpp>
#include <shardtype/rules/cotangent.hpp>

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
/// Whether sums of the first operand's elements are in float: those of bfloat16, the one type of
/// two bytes.
constexpr bool is_added_in_float(planning::CallSizing const& c) { return c.element_bytes(0) == 2; }
/// The work of sums by ids: one operation per element of the updates. The parts of updates and ids
/// that both have on a rank are packed. `lists`: the updates of each row are listed.
constexpr planning::Work work_by_ids(planning::CallSizing const& c, bool lists) {
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
  core::Layout const made = c.result_layout();
  bool const listed = lists && part.elements() > 0 && made.elements() > 0;
  std::int64_t const rows = made.extent[c.result.find(c.from.dims[0].label)];
  std::int64_t const list_bytes = listed ? mul_sat(8, add_sat(rows, id_part.elements())) : 0;
  return {c.elements(0),
          core::add_sat(core::add_sat(copied(part, 0), copied(id_part, 1)), list_bytes), false};
}
/// A dim of one row.
struct OneRow : Index<"one row"> {};

}  // namespace detail

namespace op {

template <class V>
struct AddRows;
template <class J, class... At>
struct ScatterAlong;

/// Takes the rows of a table that ids name.
template <class V>
struct TakeRows {
  using operation = TakeRows;
  using gradient = PullsByIds;
  using from = detail::Bare<V>;
  static constexpr std::string_view name = "take";
  static constexpr bool sums_parts = true;    ///< a rank has zeros for rows that it does not hold
  static constexpr bool reads_places = true;  ///< of the table's rows
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::take(q.a(), q.operands[1], q.along(), detail::joining(q));
  }
  template <class A, class Ids>
  static constexpr Code elements() {
    return detail::id_operands<A, Ids>();
  }
  /// Ids along V itself choose rows of the table: as many as there are ids.
  static constexpr void extents(ResultExtents const& c) {
    int const label = c.from().dims[0].label;
    int const e = c.operand(1).find(label);
    if (e >= 0) c.out[c.result.find(label)] = c.given[1][e];
  }
  static constexpr planning::LocalPlan meet(rules::Question const& q, Spec const& wanted) {
    return planning::take_plan(q.a(), q.operands[1], wanted, q.along(), detail::joining(q));
  }
  /// The gradient is a sum by ids, which refuses tensors with a block-cyclic dim.
  template <int K, class R, class A, class Ids>
  static constexpr Verdict judge() {
    using S = Scope<R, A, Ids>;
    Verdict const v = rules::scatter_add(rules::cotangent(S::template spec<0>), S::template spec<2>,
                                         S::names.find_label(identity<V>));
    return v ? rules::finish(v.result, rules::cotangent(S::template spec<1>), false).verdict : v;
  }
  /// Each row of the cotangent is added to the row of the table that its id names.
  constexpr auto pull(auto const& g) const {
    return g.with_ids(AddRows<V>{g.template rows<V>()}, g.ct);
  }
  template <class Out, class A, class Ids>
  void fill(Out& out, A const& table, Ids const& ids) const;
};
/// TakeRows; with `Out`, the result is named.
template <class V, class... Out>
using Take = MaybeNamed<TakeRows<V>, Out...>;

/// Row `k` of dim I, which the result lacks.
template <class I>
struct AtRow {
  using operation = AtRow;
  using gradient = PullsByExtents;
  using from = detail::Bare<I>;
  static constexpr std::string_view name = "at";
  static constexpr bool sums_parts = true;    ///< a rank that lacks the row has zeros for it
  static constexpr bool reads_places = true;  ///< of the rows
  static constexpr bool named_pulls = true;   ///< NamedVjp
  std::int64_t k = 0;
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::take(q.a(), {}, q.along(), detail::joining(q));
  }
  constexpr void extents(ResultExtents const& c) const {
    if (k < 0 || k >= c.extent())
      ResultExtents::fail("index " + c.name() + " has extent " + std::to_string(c.extent()) +
                          "; there is no row " + std::to_string(k));
  }
  auto block(auto const& run) const { return run.rows(k, 1, 1); }
  /// The row among zeros.
  constexpr auto pull(auto const& g) const {
    std::int64_t const rows = g.template rows<I>();
    return g.in_order(g.call(Pad<detail::OneRow, I>{k, rows - 1 - k}, g(Expand<detail::OneRow>{})));
  }
};
/// AtRow; with `Out`, the result is named.
template <class I, class... Out>
using At = MaybeNamed<AtRow<I>, Out...>;

/// Adds updates to `n` rows of zeros at the rows that ids name.
template <class V>
struct AddRows {
  using operation = AddRows;
  using gradient = PullsByIds;
  using from = detail::Bare<V>;
  static constexpr std::string_view name = "scatter_add";
  static constexpr bool makes_parts = true;
  static constexpr bool reads_places = true;
  static constexpr bool sums_parts = true;   ///< a rank adds its own updates
  static constexpr bool named_pulls = true;  ///< NamedVjp
  std::int64_t n = detail::static_extents<V>()[0];
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
  /// One addition per element of the updates. Of bfloat16, which is added up in float, the updates
  /// of each row are listed.
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return detail::work_by_ids(c, detail::is_added_in_float(c));
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
  /// The row that each update was added to.
  constexpr auto pull(auto const& g) const { return g.in_order(g.with_ids(TakeRows<V>{}, g.ct)); }
  template <class Out, class A, class Ids>
  void fill(Out& out, A const& updates, Ids const& ids) const;
};
/// AddRows; with `Out`, the result is named.
template <class V, class... Out>
using ScatterAdd = MaybeNamed<AddRows<V>, Out...>;

/// Rows of `n` elements of type `T`, 1 at the id.
template <class V, class T>
struct OneHotRows {
  using operation = OneHotRows;
  using from = detail::Bare<V>;
  static constexpr std::string_view name = "one_hot";
  static constexpr bool makes_parts = true;
  static constexpr bool reads_places = true;
  std::int64_t n = detail::static_extents<V>()[0];
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
  template <class Out, class Ids>
  void fill(Out& out, Ids const& ids) const;
};
/// OneHotRows; with `Out`, the result is named.
template <class V, class T, class... Out>
using OneHot = MaybeNamed<OneHotRows<V, T>, Out...>;

/// For each position of the ids, the element along J that the id names. `Into`: the index of the
/// ids that replaces J; without it, J.
template <class J, class... Into>
struct TakeAlong {
  using operation = TakeAlong;
  using gradient = PullsByIds;
  using from = detail::Bare<J>;
  using to = detail::Bare<detail::into_t<J, Into...>>;
  static constexpr std::string_view name = "take_along";
  /// Where the ids have another index, a rank has zeros for rows that it lacks.
  static constexpr bool sums_parts = sizeof...(Into) > 0;
  static constexpr bool reads_places = true;
  using aligned = detail::Pack<detail::into_t<J, Into...>, detail::into_t<J, Into...>>;
  static constexpr std::size_t aligned_operand = 1;
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
  constexpr auto pull(auto const& g) const {
    return g.with_ids(ScatterAlong<J, Into...>{g.template rows<J>()}, g.ct);
  }
  template <class Out, class A, class Ids>
  void fill(Out& out, A const& a, Ids const& ids) const;
};

/// Adds updates to `n` rows of zeros along J at the positions that ids name: the transpose of
/// TakeAlong. `At`: the index of the updates and ids that J replaces; without it, J.
template <class J, class... At>
struct ScatterAlong {
  using operation = ScatterAlong;
  using gradient = PullsByIds;
  using from = detail::Bare<detail::into_t<J, At...>>;
  using to = detail::Bare<J>;
  static constexpr std::string_view name = "scatter_along";
  static constexpr bool operands_meet = true;
  static constexpr bool sums_parts = true;  ///< a rank adds its own updates
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
  /// bfloat16 is added up in float.
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {c.elements(0), detail::is_added_in_float(c) ? mul_sat(4, c.result_elements()) : 0,
            false};
  }
  constexpr auto pull(auto const& g) const { return g.with_ids(TakeAlong<J, At...>{}, g.ct); }
  template <class Out, class A, class Ids>
  void fill(Out& out, A const& updates, Ids const& ids) const;
};

}  // namespace op

namespace detail {

/// The parsed template arguments of op::OneHot: the element type is float unless it is named first.
template <class V, class... Out>
struct OneHotOf {
  using type = op::OneHot<V, float, Out...>;
};
template <class V, class T, class... Out>
  requires(is_floating<T> || std::is_integral_v<T>)
struct OneHotOf<V, T, Out...> {
  using type = op::OneHot<V, T, Out...>;
};
template <class V, class T, class... Parts>
struct OneHotOf<V, Tensor<T, Parts...>> {
  using type = op::OneHot<V, T, Tensor<T, Parts...>>;
};

}  // namespace detail

namespace api {

/// Takes the rows of a table that ids name: `table[V, D@Y]`, `ids[B@X, S]` -> `take<V>(table, ids)`
/// -> `[B@X, S, D@Y]`; the dims of the ids replace V, as in np.take. Ids may have the index V
/// itself, `ids[V@X]`: then the result has the chosen rows along V, in another order or number,
/// `[V@X, D@Y]`. Communicates nothing.
///
/// If V is split over Z, each rank looks up the ids of its own rows and uses zeros for the others:
/// the result is an unreduced sum, `{U:Z}` (for bool an unreduced maximum). Axes over which the
/// table is unreduced or reduced are kept.
///
/// `take<V, Dim<B, X>, Dim<D>>(table, ids)` names the result: ids are gathered over axes that the
/// table uses, both operands are sliced to the result's sharding if that is free, and the lookup's
/// result is resharded. Ids along V itself are then as many as the table has rows (E24).
///
/// Refused: D01, I01 to I07, C10, R01 to R04 for the result. Errors: E23, E24, E50.
template <class V, class... Out, class A, class Ids>
constexpr auto take(core::Argument<A> const& table, Ids const& ids, checking::CallSite where = {}) {
  return api::call(op::Take<V, Out...>{}, where, table.self(), ids);
}

/// Row `k` of dim I, without that dim: `A[I, J@X]` -> `at<I>(a, 3)` -> `[J@X]`, a copy.
/// Communicates nothing: along a split dim the rank that has the row holds it and the others hold
/// zeros, `A[I@X, J]`
/// -> `[J]{U:X}` (of bool a maximum), as `take` does. An unreduced `a` stays unreduced.
///
/// `at<I, Dim<J>>(a, 3)` names the result: `A[I@X, J]` -> `[J]`, one all_reduce of a row, or a
/// reduce_scatter where X splits a dim of the result; no other row is sent. A block-cyclic dim is
/// gathered first. Refused: D01, I07, B03 of strict ones along a block-cyclic dim; N05, V14, R01 to
/// R04 for a named result. Error E41: not 0 <= k < extent. As jax.lax.index_in_dim with
/// keepdims=False.
template <class I, class... Out, class A>
constexpr auto at(core::Argument<A> const& a, std::int64_t k, checking::CallSite where = {}) {
  return api::call(op::At<I, Out...>{k}, where, a.self());
}

/// Adds each update to the row of a zero tensor that its id names, the transpose of `take`:
/// `updates[B@X, D@Y]`, `ids[B@X]` -> `scatter_add<V>(updates, ids, n)` -> `[V, D@Y]{U:X}`, with
/// `n` rows. V takes the position that the first dim of the ids has in the updates, or the first
/// position if the ids have no dims; it may be one of these dims. A dim that is split in one
/// operand only is sliced in the other. `n` may be left out if V has a static extent. Communicates
/// nothing; on the host the sums are the same bits for any number of threads. bfloat16 is added up
/// in float.
///
/// `scatter_add<V, Dim<V, X>, Dim<D>>(updates, ids, n)` names the result. Over axes along which the
/// operands are replicated, each rank adds only rows that it keeps. Else either the unreduced
/// result is reduced (ReduceScatter, AllReduce), or ids and updates are gathered first, whichever
/// moves fewer bytes.
///
/// Refused: C10, C11, D02, I01, I02, I05 to I09, R01 to R04 for the result. Errors: E20, E23, E24,
/// E50.
template <class V, class... Out, class A, class Ids>
constexpr auto scatter_add(core::Argument<A> const& updates, Ids const& ids,
                           std::int64_t n = detail::static_extents<V>()[0],
                           checking::CallSite where = {}) {
  return api::call(op::ScatterAdd<V, Out...>{n}, where, updates.self(), ids);
}

/// 1 where the index along V equals the id, else 0: `ids[B@X]` -> `one_hot<V>(ids, n)` -> `f32[B@X,
/// V]`. With another element type: `one_hot<V, double>(ids, n)`. `one_hot<V, Dim<B, X>, Dim<V,
/// Y>>(ids, n)` names the result: each rank computes its own part. Communicates nothing, unless a
/// named result splits the ids less. Refused: D02, I01, I02, R01 to R04 for the result. Errors:
/// E20, E50.
template <class V, class... Out, class Ids>
constexpr auto one_hot(core::Argument<Ids> const& ids,
                       std::int64_t n = detail::static_extents<V>()[0],
                       checking::CallSite where = {}) {
  return api::call(typename detail::OneHotOf<V, Out...>::type{n}, where, ids.self());
}

/// For each position of the ids, the element of `a` whose index along J is the id and whose other
/// indices are those of the position: `a[I@X, J]`, `ids[I@X, J]` -> `take_along<J>(a, ids)` ->
/// `[I@X, J]`, as np.take_along_axis. The ids have the dims and shardings of `a`, except along J:
/// there they may have another extent, another index, `take_along<J, K>(a, ids[I@X, K@Y])` ->
/// `[I@X, K@Y]`, and axes along which `a` is replicated. J is not split in `a`. Unreduced axes of
/// `a` are kept. Communicates nothing. Refused: C10, D01, D03, D12, I01, I02, I06. Errors: E23,
/// E24, E50.
template <class J, class... Into, class A, class Ids>
constexpr auto take_along(core::Argument<A> const& a, Ids const& ids,
                          checking::CallSite where = {}) {
  return api::call(op::TakeAlong<J, Into...>{}, where, a.self(), ids);
}

/// Adds each update to the element of a zero tensor whose index along J is the id and whose other
/// indices are those of the position, the transpose of `take_along<J, K>`: `updates[I@X, K@Y]`,
/// `ids[I@X, K@Y]` -> `scatter_along<J, K>(updates, ids, n)` -> `[I@X, J]{U:Y}`, where J has `n`
/// rows and the place of K. K may be left out if it is J itself, `n` if J has a static extent. The
/// ids have the dims and shardings of the updates. Unreduced and reduced axes of the updates are
/// kept. Communicates nothing; on the host updates of one element are added in their order along K,
/// the same bits for any number of threads. Refused: C10, C11, D01, D02, D12, I01, I02, I07.
/// Errors: E20, E23, E24, E50. As numpy.add.at of a zero array.
template <class J, class... At, class A, class Ids>
constexpr auto scatter_along(core::Argument<A> const& updates, Ids const& ids,
                             std::int64_t n = detail::static_extents<J>()[0],
                             checking::CallSite where = {}) {
  return api::call(op::ScatterAlong<J, At...>{n}, where, updates.self(), ids);
}

// Everyday mistakes (check/misused.hpp).
SHARDTYPE_NOT_WITHOUT_INDEX(at)
SHARDTYPE_NOT_WITHOUT_INDEX(take)
SHARDTYPE_NOT_WITHOUT_INDEX(scatter_add)
SHARDTYPE_NOT_WITHOUT_INDEX(one_hot)
SHARDTYPE_NOT_WITHOUT_INDEX(take_along)
SHARDTYPE_NOT_WITHOUT_INDEX(scatter_along)

}  // namespace api

}  // namespace shardtype
