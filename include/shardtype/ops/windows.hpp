#pragma once
/// Operations along a dim that may be split into blocks: shift, halo_exchange and its transpose,
/// running values. Objects and functions.

#include <cstdint>
#include <source_location>
#include <string_view>
#include <type_traits>

#include <shardtype/check/along.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/check/reduction.hpp>
#include <shardtype/plan/window_plan.hpp>

namespace shardtype {

template <class A, class I>
class Halo;

namespace detail {

/// A shift by `n` rows as a number: 0 is a shift by one row, with zeros beyond the end. Farther
/// shifts than 2^29 rows count as such.
constexpr std::int32_t window_variant(std::int64_t n, op::Edge edge) {
  constexpr std::int64_t most = std::int64_t{1} << 29;
  std::int64_t const rows = n > most ? most : n < -most ? -most : n;
  return static_cast<std::int32_t>(2 * (rows - 1) + (edge == op::Edge::wrap ? 1 : 0));
}
constexpr std::int64_t rows_of_variant(std::int32_t number) { return (number >> 1) + 1; }
constexpr op::Edge edge_of_variant(std::int32_t number) {
  return (number & 1) != 0 ? op::Edge::wrap : op::Edge::fill_zero;
}

}  // namespace detail

namespace op {

/// Whether a running value includes its own element.
enum class Cumulate { inclusive, exclusive };
/// Whether running values begin at the first row or at the last.
enum class Direction { forward, reverse };

/// Row i of the result is row i - n.
template <class I>
struct Shift {
  using operation = Shift;
  using from = detail::Bare<I>;
  static constexpr std::string_view name = "shift";
  static constexpr bool communicates = true;
  static constexpr bool exchanges_rows = true;
  std::int64_t n = 0;
  Edge edge = Edge::fill_zero;
  static constexpr Verdict rule(rules::Question const& q) { return rules::shift(q); }
  constexpr Window window(std::int64_t extent) const { return shift_window(n, extent, edge); }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int d) const {
    planning::append_neighbor(p, d, window(c.given[0].extents[p.operands[0].dims[d].label]));
  }
  /// What is sent depends on the shift; of types alone, it is one by a row.
  constexpr std::int32_t variant() const { return detail::window_variant(n, edge); }
  static constexpr Shift of_variant(std::int32_t number) {
    return {detail::rows_of_variant(number), detail::edge_of_variant(number)};
  }
  /// The shift by as many rows back, which sends as many bytes.
  constexpr Shift transposed() const { return {-n, edge}; }
  template <class Call>
  auto block(Call const& run) const;
};

/// Row i of the result is row i minus row i - n.
template <class I>
struct Diff {
  using operation = Diff;
  using from = detail::Bare<I>;
  static constexpr std::string_view name = "diff";
  static constexpr bool communicates = true;
  static constexpr bool exchanges_rows = true;
  std::int64_t n = 1;
  Edge edge = Edge::fill_zero;
  static constexpr Verdict rule(rules::Question const& q) { return rules::diff(q); }
  template <class A>
  static constexpr Code elements() {
    return std::is_same_v<element_t<A>, bool> ? Code::C11_not_numbers : Code::ok;
  }
  constexpr Shift<I> moved() const { return {n, edge}; }
  constexpr std::int32_t variant() const { return detail::window_variant(n, edge); }
  static constexpr Diff of_variant(std::int32_t number) {
    return {detail::rows_of_variant(number), detail::edge_of_variant(number)};
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int d) const {
    moved().steps(p, c, d);
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {c.elements(0), 0, false};
  }
  /// The rows behind: as many bytes.
  constexpr Diff transposed() const { return {-n, edge}; }
  template <class Call>
  auto block(Call const& run) const;
};

/// The block with the rows before and after it, from the ranks that hold them.
template <class I>
struct HaloExchange {
  using operation = HaloExchange;
  using from = detail::Bare<I>;
  static constexpr std::string_view name = "halo_exchange";
  static constexpr bool recorded = false;  ///< the result's blocks overlap
  static constexpr bool communicates = true;
  std::int64_t before = 0;
  std::int64_t after = 0;
  Edge edge = Edge::fill_zero;
  static constexpr Verdict rule(rules::Question const& q) { return rules::halo(q); }
  constexpr void extents(ResultExtents const& c) const {
    static_cast<void>(c.sum(c.sum(before, after), c.extent()));
  }
  constexpr Window window() const { return {before > 0 ? -before : 0, after, edge}; }
  constexpr void steps(Plan& p, planning::CallSizing const&, int d) const {
    planning::append_neighbor(p, d, window());
  }
  constexpr planning::Work work(planning::CallSizing const& c, int d) const {
    core::Layout const block = c.layout(0);
    std::int64_t const row = mul_sat(core::cross_section(block, d), c.element_bytes(0));
    return {0, block.extent[d] == 0 ? 0 : mul_sat(row, add_sat(before, after)), false};
  }
  template <class R, class A>
  Halo<A, I> run(std::source_location const& where, A const& a) const;
};

/// The transpose of HaloExchange: rows of halos are sent to the ranks that hold them, and added.
template <class I>
struct HaloAdd {
  using operation = HaloAdd;
  using from = detail::Bare<I>;
  static constexpr std::string_view name = "halo_add";
  static constexpr bool recorded = false;  ///< the operand's blocks overlap
  static constexpr bool communicates = true;
  std::int64_t before = 0;
  std::int64_t after = 0;
  Edge edge = Edge::fill_zero;
  static constexpr Verdict rule(rules::Question const& q) { return rules::halo_add(q); }
  template <class A>
  static constexpr Code elements() {
    return std::is_same_v<element_t<A>, bool> ? Code::C11_not_numbers : Code::ok;
  }
  constexpr void extents(ResultExtents const& c) const {
    HaloExchange<I>{before, after, edge}.extents(c);
  }
  constexpr Window window() const { return {before > 0 ? -before : 0, after, edge, true}; }
  constexpr void steps(Plan& p, planning::CallSizing const&, int d) const {
    planning::append_neighbor(p, d, window());
  }
  /// One addition per element of the halos, which the operand has beside its blocks.
  constexpr planning::Work work(planning::CallSizing const& c, int d) const {
    planning::Work out = HaloExchange<I>{before, after, edge}.work(c, d);
    out.flops = out.workspace / c.element_bytes(0);
    return out;
  }
  template <class R, class A>
  A run(std::source_location const& where, Halo<A, I> const& h) const;
};

/// Running values of the reduction `F` (reductions::Sum, Product, Maximum, Minimum) along I, from
/// the first row to the last, or `reverse`.
template <class I, class F>
struct Cumulative {
  using operation = Cumulative;
  using reduction = F;
  using from = detail::Bare<I>;
  static constexpr bool communicates = true;
  static constexpr bool exchanges_rows = true;
  static constexpr std::string_view name = F::running_name;
  bool exclusive = false;
  bool reverse = false;
  static constexpr Verdict rule(rules::Question const& q) { return rules::running(q, F::kind); }
  template <class A>
  static constexpr Code elements() {
    using T = element_t<A>;
    bool const taken =
        F::takes == reductions::Takes::ordered ? detail::is_ordered<T> : !std::is_same_v<T, bool>;
    return taken ? Code::ok : Code::D15_element_type;
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int d) const {
    planning::append_totals(p, d, c);
  }
  /// Besides the totals of all ranks: this rank's own total, and a row with the value before its
  /// block.
  constexpr planning::Work work(planning::CallSizing const& c, int d) const {
    bool const alone = c.common.sizes.product(c.operands[0].dims[d].axes) == 1;
    std::int64_t const row = mul_sat(core::cross_section(c.layout(0), d), c.element_bytes(0));
    return {c.elements(0), alone ? 0 : mul_sat(2, row), false};
  }
  /// Sums from the other end. Sends as many bytes.
  constexpr Cumulative transposed() const
    requires std::is_same_v<F, reductions::Sum>
  {
    return {exclusive, !reverse};
  }
  template <class Call>
  auto block(Call const& run) const;
};
template <class I>
using CumSum = Cumulative<I, reductions::Sum>;
template <class I>
using CumProd = Cumulative<I, reductions::Product>;
template <class I>
using CumMax = Cumulative<I, reductions::Maximum>;
template <class I>
using CumMin = Cumulative<I, reductions::Minimum>;

}  // namespace op

namespace api {

/// Running sums along I, split or not: `A[I@X, J]` -> `cumsum<I>(a)` -> `A[I@X, J]`. Exclusive
/// sums, `cumsum<I>(a, op::Cumulate::exclusive)`, begin with 0. `cumsum<I>(a,
/// op::Cumulate::inclusive, op::Direction::reverse)` sums from the last row to the first, as
/// jax.lax.cumsum(reverse=True): the transpose of the same sums forward. Each rank sums its block,
/// then exchanges totals: it receives one row from every other rank along I, in both directions.
/// The order of additions depends on the number of ranks. Refused: D01, B03, D14 a pending maximum
/// or minimum, D15 sums of bool. As jnp.cumsum.
template <class I, class A>
constexpr auto cumsum(core::Argument<A> const& a, op::Cumulate how = op::Cumulate::inclusive,
                      op::Direction from = op::Direction::forward, checking::CallSite where = {}) {
  return api::call(op::CumSum<I>{how == op::Cumulate::exclusive, from == op::Direction::reverse},
                   where, a.self());
}

/// Running products, as cumsum, in either direction; exclusive products begin with 1. Refused: D01,
/// B03, D14 an unreduced operand (the product of sums is not the sum of products), D15 products of
/// bool (`cummin` tells whether all were true). As jnp.cumprod.
template <class I, class A>
constexpr auto cumprod(core::Argument<A> const& a, op::Cumulate how = op::Cumulate::inclusive,
                       op::Direction from = op::Direction::forward, checking::CallSite where = {}) {
  return api::call(op::CumProd<I>{how == op::Cumulate::exclusive, from == op::Direction::reverse},
                   where, a.self());
}

/// Running maxima, as cumsum, in either direction; exclusive maxima begin with the least number.
/// Refused: D01, B03, D14 a pending sum, D15 complex numbers. As jnp.cummax (jax.lax.cummax).
template <class I, class A>
constexpr auto cummax(core::Argument<A> const& a, op::Cumulate how = op::Cumulate::inclusive,
                      op::Direction from = op::Direction::forward, checking::CallSite where = {}) {
  return api::call(op::CumMax<I>{how == op::Cumulate::exclusive, from == op::Direction::reverse},
                   where, a.self());
}

/// Running minima, as cummax; exclusive minima begin with the largest number.
template <class I, class A>
constexpr auto cummin(core::Argument<A> const& a, op::Cumulate how = op::Cumulate::inclusive,
                      op::Direction from = op::Direction::forward, checking::CallSite where = {}) {
  return api::call(op::CumMin<I>{how == op::Cumulate::exclusive, from == op::Direction::reverse},
                   where, a.self());
}

/// Shifts rows along I, split or not: `A[I@X, J]` -> `shift<I>(a, 1)` -> `A[I@X, J]`; row i of the
/// result is row i - n of `a`. Rows from beyond the ends are zeros, or, with `op::Edge::wrap`, rows
/// of the other end. Each rank sends the rows that other ranks need (the plan gives the bytes): at
/// most |n| rows while n is no larger than a block, never more than its block; nothing if the dim
/// is not split. Unreduced and reduced axes of `a` are kept. Refused: D01, B03.
template <class I, class A>
constexpr auto shift(core::Argument<A> const& a, std::int64_t n,
                     op::Edge edge = op::Edge::fill_zero, checking::CallSite where = {}) {
  return api::call(op::Shift<I>{n, edge}, where, a.self());
}

/// The differences of rows along I, split or not: `A[I@X, J]` -> `diff<I>(a)` -> `A[I@X, J]`; row i
/// of the result is row i minus row i - 1, or minus row i - n of `diff<I>(a, n)`. Rows from beyond
/// the ends are zeros, so that row 0 stays and `diff<I>(cumsum<I>(a))` is `a`; or, with
/// `op::Edge::wrap`, rows of the other end. Sends what shift sends. Unreduced sums stay unreduced.
/// Refused: D01, B03, C11 of bool, I07 of an unreduced maximum or minimum. As jnp.diff(a, axis,
/// prepend=0).
template <class I, class A>
constexpr auto diff(core::Argument<A> const& a, std::int64_t n = 1,
                    op::Edge edge = op::Edge::fill_zero, checking::CallSite where = {}) {
  return api::call(op::Diff<I>{n, edge}, where, a.self());
}

/// The local block of `A[I@X, J]` with the `before` rows that precede it along I and the `after`
/// rows that follow it, from whichever ranks hold them, as a `Halo`. Rows beyond the ends are
/// zeros, or with `op::Edge::wrap` rows of the other end. Each rank sends the rows that other ranks
/// need (`window_bytes`): before + after rows if the neighbouring blocks are at least that long.
/// Refused: D01, B03. Error E41: a negative number of rows.
template <class I, class A>
constexpr auto halo_exchange(core::Argument<A> const& a, std::int64_t before, std::int64_t after,
                             op::Edge edge = op::Edge::fill_zero, checking::CallSite where = {}) {
  return api::call(op::HaloExchange<I>{before, after, edge}, where, a.self());
}

/// Adds the rows of the halos to the rows that they stand for, on the ranks that hold these: a Halo
/// of `A[I@X, J]` -> `halo_add(h)` -> `A[I@X, J]`, the transpose of `halo_exchange<I>`, whose
/// gradient it computes. A row of the result is the sum of the own one and of those in the halos,
/// in the order of their ranks, so the same bits in each run. Rows beyond the ends are ignored, or
/// with `op::Edge::wrap` added to rows of the other end. Each rank sends the rows that it receives
/// in halo_exchange. Refused: B03, C11 of bool, I07 of an unreduced maximum or minimum.
template <class A, class I>
auto halo_add(Halo<A, I> const& h, checking::CallSite where = {}) {
  planning::Window const& w = h.window();
  return api::call(op::HaloAdd<I>{-w.low, w.high, w.edge}, where, h);
}
/// Accepts the result of a refused halo_exchange, so that there is no second error.
inline checking::Poisoned halo_add(checking::Poisoned const&) { return {}; }

// Everyday mistakes (check/misused.hpp).
SHARDTYPE_NOT_WITHOUT_INDEX(shift)
SHARDTYPE_NOT_WITHOUT_INDEX(diff)
SHARDTYPE_NOT_WITHOUT_INDEX(halo_exchange)
SHARDTYPE_NOT_WITHOUT_INDEX(cumsum)
SHARDTYPE_NOT_WITHOUT_INDEX(cumprod)
SHARDTYPE_NOT_WITHOUT_INDEX(cummax)
SHARDTYPE_NOT_WITHOUT_INDEX(cummin)
SHARDTYPE_NOT_BY_WORD(cumsum, checking::Anything const&)
SHARDTYPE_NOT_BY_WORD(cumprod, checking::Anything const&)
SHARDTYPE_NOT_BY_WORD(cummax, checking::Anything const&)
SHARDTYPE_NOT_BY_WORD(cummin, checking::Anything const&)
SHARDTYPE_NOT_BY_WORD(shift, checking::Anything const&, checking::Anything const&)
SHARDTYPE_NOT_BY_WORD(diff, checking::Anything const&, checking::Anything const&)
SHARDTYPE_NOT_BY_WORD(halo_exchange, checking::Anything const&, checking::Anything const&,
                      checking::Anything const&)

}  // namespace api

}  // namespace shardtype
