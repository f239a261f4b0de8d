#pragma once
/// Convolutions, as operations.

#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

#include <shardtype/nn/types_conv_work.hpp>
#include <shardtype/nn/types_norm.hpp>

namespace shardtype {

namespace nn::detail {

/// The numbers of window `i`: `rows` and `taps` are the extents that the operation makes, if it
/// does.
constexpr WindowNumbers numbers_of_call(ResultExtents const& c, ConvKind kind, WindowsInfo const& s,
                                        ConvLabels const& l, int i, std::int64_t const* made) {
  std::int64_t const along = c.given[0][c.a().find(l.windows.at[i])];
  std::int64_t const taps =
      kind == ConvKind::kernel ? made[i] : c.given[1][c.operand(1).find(l.kernels.at[i])];
  std::int64_t rows = along;
  if (kind == ConvKind::back)
    rows = made[i] >= 0 ? made[i] : detail::rows_of(s.options[i], along, taps);
  return detail::numbers_of(s.options[i], rows, taps);
}
/// Error E24 where an index other than those of windows has two extents.
constexpr void check_shared(ResultExtents const& c, ConvLabels const& l) {
  for (int d = 0; d < c.operand(1).rank; ++d) {
    int const label = c.operand(1).dims[d].label;
    int const e = c.a().find(label);
    if (e >= 0 && !l.windows.contains(label) && c.given[0][e] != c.given[1][d])
      ResultExtents::fail("index " + std::string(c.names.label_name[label]) + " has extent " +
                              std::to_string(c.given[0][e]) + " in one operand, and " +
                              std::to_string(c.given[1][d]) + " in the other",
                          "E24");
  }
}

/// The extents of the dims of windows of a convolution's result; `made` are those of a cotangent.
/// Errors: E24, E41.
constexpr void set_conv_extents(ResultExtents const& c, ConvKind kind, WindowsInfo const& s,
                                std::int64_t const* made) {
  ConvLabels const l(kind, s, c.a(), c.operand(1), c.from(), c.to());
  detail::check_shared(c, l);
  for (int i = 0; i < s.count; ++i) {
    WindowNumbers const n = detail::numbers_of_call(c, kind, s, l, i, made);
    detail::check_window(c, n, l.windows.at[i], l.kernels.at[i]);
    if (kind == ConvKind::forward) {
      detail::set_window_extent(c, l.made.at[i], n.places);
      continue;
    }
    std::int64_t const places = kind == ConvKind::back
                                    ? c.given[0][c.a().find(l.windows.at[i])]
                                    : c.given[1][c.operand(1).find(l.made.at[i])];
    if (places != n.places)
      ResultExtents::fail("a window along " + std::string(c.names.label_name[l.windows.at[i]]) +
                          " of " + std::to_string(n.rows) + " rows has " +
                          std::to_string(n.places) + " places, and the operand has " +
                          std::to_string(places));
    if (kind == ConvKind::back)
      detail::set_window_extent(c, l.made.at[i], n.rows);
    else
      detail::set_window_extent(c, l.kernels.at[i], n.taps);
  }
}

}  // namespace nn::detail

namespace op {

/// The convolution of `x` with the kernel `w`. `Parts`: nn::Window and nn::Grouped.
template <class... Parts>
struct Conv {
  using operation = Conv;
  using gradient = checking::PullsBySaved;
  using parts = nn::detail::WindowParts<Parts...>;
  using from = nn::detail::mentioned_t<typename parts::images, typename parts::kernels,
                                       typename parts::groups>;
  using to = nn::detail::mentioned_t<typename parts::new_results>;
  static constexpr std::string_view name = "conv";
  static constexpr bool communicates = true;
  static constexpr bool moves_windows = true;
  static constexpr bool sums_parts = true;  ///< over channels
  static constexpr nn::detail::ConvKind kind = nn::detail::ConvKind::forward;
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::conv(q, parts::info, kind);
  }
  static constexpr planning::LocalPlan meet(rules::Question const& q, Spec const& wanted) {
    return nn::detail::conv_operands(q, parts::info, kind, wanted);
  }
  template <class A, class B>
  static constexpr Code elements() {
    return nn::detail::real_elements<A, B>();
  }
  constexpr void extents(ResultExtents const& c) const {
    nn::detail::set_conv_extents(c, kind, parts::info, nullptr);
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    nn::detail::ConvCall(kind, parts::info, c).append_exchange(p);
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return nn::detail::ConvCall(kind, parts::info, c).work();
  }
  template <class R, class A, class B>
  typename R::result run(std::source_location const& where, A const& x, B const& w) const;
  template <class Out, class A, class B>
  void fill(Out& out, A const& x, B const& w) const;
  template <class V, class A, class B>
  constexpr auto save(V const&, A const& x, B const& w) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};

/// The transposed convolution, with `rows` along the dims of windows: the cotangent of x, of that
/// of the result of a convolution and the kernel.
template <class... Parts>
struct ConvTransposed {
  using operation = ConvTransposed;
  using gradient = checking::PullsBySaved;
  using parts = nn::detail::WindowParts<Parts...>;
  using from = nn::detail::mentioned_t<typename parts::results, typename parts::kernels,
                                       typename parts::groups>;
  using to = nn::detail::mentioned_t<typename parts::new_images>;
  static constexpr std::string_view name = "conv_transposed";
  static constexpr bool communicates = true;
  static constexpr bool moves_windows = true;
  static constexpr bool sums_parts = true;  ///< over channels
  static constexpr nn::detail::ConvKind kind = nn::detail::ConvKind::back;
  /// Negative: the fewest that have so many places.
  std::array<std::int64_t, nn::detail::max_windows> rows{-1, -1, -1};
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::conv(q, parts::info, kind);
  }
  static constexpr planning::LocalPlan meet(rules::Question const& q, Spec const& wanted) {
    return nn::detail::conv_operands(q, parts::info, kind, wanted);
  }
  template <class A, class B>
  static constexpr Code elements() {
    return nn::detail::real_elements<A, B>();
  }
  constexpr void extents(ResultExtents const& c) const {
    nn::detail::set_conv_extents(c, kind, parts::info, rows.data());
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    nn::detail::ConvCall(kind, parts::info, c).append_exchange(p);
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return nn::detail::ConvCall(kind, parts::info, c).work();
  }
  template <class R, class A, class B>
  typename R::result run(std::source_location const& where, A const& y, B const& w) const;
  template <class Out, class A, class B>
  void fill(Out& out, A const& y, B const& w) const;
  template <class V, class A, class B>
  constexpr auto save(V const&, A const& y, B const& w) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};

/// The cotangent of the kernel, with `taps` along its dims, of x and the cotangent of the result: a
/// sum over batches and places, unreduced over the axes that split these.
template <class... Parts>
struct ConvKernel {
  using operation = ConvKernel;
  using gradient = checking::PullsBySaved;
  using parts = nn::detail::WindowParts<Parts...>;
  using from = nn::detail::mentioned_t<typename parts::images, typename parts::new_results,
                                       typename parts::groups>;
  using to = nn::detail::mentioned_t<typename parts::kernels>;
  static constexpr std::string_view name = "conv_kernel";
  static constexpr bool communicates = true;
  static constexpr bool moves_windows = true;
  static constexpr bool sums_parts = true;  ///< over batches
  static constexpr nn::detail::ConvKind kind = nn::detail::ConvKind::kernel;
  static constexpr bool has_named_form = false;
  std::array<std::int64_t, nn::detail::max_windows> taps{};
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::conv(q, parts::info, kind);
  }
  template <class A, class B>
  static constexpr Code elements() {
    return nn::detail::real_elements<A, B>();
  }
  constexpr void extents(ResultExtents const& c) const {
    nn::detail::set_conv_extents(c, kind, parts::info, taps.data());
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    nn::detail::ConvCall(kind, parts::info, c).append_exchange(p);
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return nn::detail::ConvCall(kind, parts::info, c).work();
  }
  template <class R, class A, class B>
  typename R::result run(std::source_location const& where, A const& x, B const& y) const;
  template <class Out, class A, class B>
  void fill(Out& out, A const& x, B const& y) const;
  template <class V, class A, class B>
  constexpr auto save(V const&, A const& x, B const& y) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};

}  // namespace op

}  // namespace shardtype
