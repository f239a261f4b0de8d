#pragma once
/// Objects of the operations along a dim that may be split into blocks: shift, halo_exchange,
/// running values.

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <shardtype/check/along.hpp>
#include <shardtype/check/reduction.hpp>
#include <shardtype/plan/window_plan.hpp>

namespace shardtype {

namespace detail {

/// Whether `<` orders the elements; complex numbers have no order.
template <class T>
inline constexpr bool is_ordered = requires(T x) { x < x; };

}  // namespace detail

namespace op {

/// Row i of the result is row i - n.
template <class I>
struct Shift {
  using operation = Shift;
  using from = detail::Bare<I>;
  static constexpr std::string_view name = "shift";
  static constexpr bool communicates = true;
  std::int64_t n = 0;
  Edge edge = Edge::fill_zero;
  static constexpr Verdict rule(rules::Question const& q) { return rules::shift(q); }
  constexpr Window window(std::int64_t extent) const { return shift_window(n, extent, edge); }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int d) const {
    planning::append_neighbor(p, d, window(c.given[0].extents[p.operands[0].dims[d].label]));
  }
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
};

/// Running values of the reduction `F` (reductions::Sum, Product, Maximum, Minimum) along I, from the
/// first row to the last, or `reverse`.
template <class I, class F>
struct Cumulative {
  using operation = Cumulative;
  using reduction = F;
  using from = detail::Bare<I>;
  static constexpr bool communicates = true;
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
}  // namespace shardtype
