#pragma once
/// Pools: the largest elements and the means of windows, as operations.

#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/nn/types_pool_work.hpp>

namespace shardtype {

namespace nn::detail {

/// Requirements on elements that are compared: numbers with an order.
template <class A>
constexpr rules::Code ordered_elements() {
  return shardtype::detail::is_complex<checking::element_t<A>> ? rules::Code::S04_no_order
                                                               : rules::Code::ok;
}
/// Requirements on elements that taps choose.
template <class A, class Taps>
constexpr rules::Code chosen_elements() {
  if (!std::is_same_v<checking::element_t<Taps>, tap_number>) return rules::Code::I01_not_integers;
  return detail::real_elements<A>();
}

/// The extents of the dims of windows of the result; `rows` are those of a cotangent. Errors: E24,
/// E41.
constexpr void set_pool_extents(ResultExtents const& c, PoolKind kind, PoolsInfo const& s,
                                std::int64_t const* rows) {
  PoolLabels const l(s.windows, c.from(), c.to());
  bool const back = makes_rows(kind);
  for (int d = 0; c.count > 1 && d < c.a().rank; ++d) {
    int const label = c.a().dims[d].label;
    if ((back || !l.windows.contains(label)) && c.given[0][d] != c.given[1][d])
      ResultExtents::fail("index " + c.name(d) + " has extent " + std::to_string(c.given[0][d]) +
                              " in one operand, and " + std::to_string(c.given[1][d]) +
                              " in the other",
                          "E24");
  }
  for (int i = 0; i < s.windows.count; ++i) {
    int const d = c.a().find(l.windows.at[i]);
    std::int64_t const along = c.given[0][d];
    WindowNumbers const n =
        detail::numbers_of(s.windows.options[i], back ? rows[i] : along, s.size[i]);
    if (n.places < 0)
      ResultExtents::fail("the pool along " + c.name(d) + " spans " + std::to_string(n.span()) +
                          " rows, and there are " + std::to_string(n.rows) + " and their padding");
    if (back || kind == PoolKind::take) {
      std::int64_t const places = back ? along : c.given[1][d];
      if (places != n.places)
        ResultExtents::fail("a pool along " + c.name(d) + " of " + std::to_string(n.rows) +
                            " rows has " + std::to_string(n.places) +
                            " places, and the operand has " + std::to_string(places));
    }
    detail::set_window_extent(c, l.made.at[i], back ? n.rows : n.places);
  }
}

/// The extents of the cotangents that an operation makes, along the dims of windows.
template <PoolKind kind>
struct PoolRows {
  static constexpr std::int64_t const* made() { return nullptr; }
};
template <PoolKind kind>
  requires(makes_rows(kind))
struct PoolRows<kind> {
  std::array<std::int64_t, max_windows> rows{};
  constexpr std::int64_t const* made() const { return rows.data(); }
};

/// What the operations on pools `Ps`, each an nn::Pool, have in common.
template <PoolKind which, class... Ps>
struct PoolCalls : PoolRows<which> {
  using parts = PoolParts<Ps...>;
  using from = typename parts::template from<which>;
  using to = typename parts::template to<which>;
  static constexpr bool communicates = true;
  static constexpr bool moves_windows = true;
  static constexpr PoolKind kind = which;
  static constexpr rules::Verdict rule(rules::Question const& q) {
    return rules::pool(q, parts::info, kind);
  }
  /// Of a named result: operands sliced as it is, or gathered where the rule refuses them.
  static constexpr planning::LocalPlan meet(rules::Question q, Spec const& wanted) {
    PoolLabels const l(parts::info.windows, q.from, q.to);
    Spec const a = planning::sliced_as(q.a(), detail::as_operand(wanted, l.windows, l.made));
    q.operands = &a;
    return planning::local_plan(&PoolCalls::rule, q, wanted);
  }
  static constexpr bool has_named_form = which == PoolKind::max || which == PoolKind::avg;
  template <class A, class... Taps>
  static constexpr rules::Code elements() {
    if constexpr (sizeof...(Taps) > 0) {
      return detail::chosen_elements<A, Taps...>();
    } else if constexpr (kind == PoolKind::max || kind == PoolKind::max_taps) {
      return detail::ordered_elements<A>();
    } else {
      return detail::real_elements<A>();
    }
  }
  constexpr void extents(ResultExtents const& c) const {
    detail::set_pool_extents(c, kind, parts::info, this->made());
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    PoolCall(kind, parts::info, c).append_exchanges(p);
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return PoolCall(kind, parts::info, c).work();
  }
};

}  // namespace nn::detail

namespace op {

/// The largest element of each window of `x`.
template <class... Ps>
struct MaxPool : nn::detail::PoolCalls<nn::detail::PoolKind::max, Ps...> {
  using operation = MaxPool;
  using gradient = checking::PullsBySaved;
  static constexpr std::string_view name = "max_pool";
  template <class R, class A>
  typename R::result run(std::source_location const& where, A const& x) const;
  template <class Out, class A>
  void fill(Out& out, A const& x) const;
  template <class A>
  constexpr auto forward(std::source_location const& where, A const& x) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};

/// The same, and the numbers of the taps of these elements: -1 where a window has no row of x.
template <class... Ps>
struct MaxPoolTaps : nn::detail::PoolCalls<nn::detail::PoolKind::max_taps, Ps...> {
  using operation = MaxPoolTaps;
  using gradient = checking::PullsBySaved;
  static constexpr std::string_view name = "max_pool";
  static constexpr Verdicts<2> rule(rules::Question const& q) {
    Verdict const v = rules::pool(q, nn::detail::PoolParts<Ps...>::info, MaxPoolTaps::kind);
    return {v, v};
  }
  template <class A>
  using element = Elements<checking::element_t<A>, nn::detail::tap_number>;
  constexpr void extents(ResultExtents const& values, ResultExtents const& taps) const {
    for (ResultExtents const* c : {&values, &taps})
      nn::detail::set_pool_extents(*c, MaxPoolTaps::kind, nn::detail::PoolParts<Ps...>::info,
                                   nullptr);
  }
  template <class R, class A>
  typename R::results run(std::source_location const& where, A const& x) const;
  template <class Out, class Taps, class A>
  void fill(Out& out, Taps& taps, A const& x) const;
  template <std::size_t, class V, class A>
  constexpr auto save(V const& both, A const& x) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};

/// Of each window of `v` the element of a tap, of tap -1 a zero: the derivative of MaxPool.
template <class... Ps>
struct PoolTake : nn::detail::PoolCalls<nn::detail::PoolKind::take, Ps...> {
  using operation = PoolTake;
  using gradient = checking::PullsByIds;
  static constexpr std::string_view name = "pool_take";
  template <class R, class A, class Taps>
  typename R::result run(std::source_location const& where, A const& v, Taps const& taps) const;
  template <class Out, class A, class Taps>
  void fill(Out& out, A const& v, Taps const& taps) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};

/// The cotangent of x, of that of MaxPool's result and the taps.
template <class... Ps>
struct MaxPoolBack : nn::detail::PoolCalls<nn::detail::PoolKind::max_back, Ps...> {
  using operation = MaxPoolBack;
  using gradient = checking::PullsByIds;
  static constexpr std::string_view name = "max_pool_back";
  template <class R, class A, class Taps>
  typename R::result run(std::source_location const& where, A const& ct, Taps const& taps) const;
  template <class Out, class A, class Taps>
  void fill(Out& out, A const& ct, Taps const& taps) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};

/// The mean of each window of `x`.
template <class... Ps>
struct AvgPool : nn::detail::PoolCalls<nn::detail::PoolKind::avg, Ps...> {
  using operation = AvgPool;
  using gradient = checking::PullsByExtents;
  static constexpr std::string_view name = "avg_pool";
  nn::AvgPoolOptions options{};
  template <class R, class A>
  typename R::result run(std::source_location const& where, A const& x) const;
  template <class Out, class A>
  void fill(Out& out, A const& x) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};

/// The cotangent of x, of that of AvgPool's result.
template <class... Ps>
struct AvgPoolBack : nn::detail::PoolCalls<nn::detail::PoolKind::avg_back, Ps...> {
  using operation = AvgPoolBack;
  using gradient = checking::Pulls;
  static constexpr std::string_view name = "avg_pool_back";
  nn::AvgPoolOptions options{};
  template <class R, class A>
  typename R::result run(std::source_location const& where, A const& ct) const;
  template <class Out, class A>
  void fill(Out& out, A const& ct) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};

}  // namespace op

}  // namespace shardtype
