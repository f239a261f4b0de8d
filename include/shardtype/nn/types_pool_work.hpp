#pragma once
/// Pools: their notation, their rule, and the sizes and the plan of their local work.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <shardtype/nn/types_windows.hpp>
#include <shardtype/rules/elementwise.hpp>

namespace shardtype {

namespace nn {

/// A window of `size` rows along the dim I, which is dim O of the result: `nn::Pool<H, 2>`,
/// `nn::Pool<H, 3, nn::WindowOptions{.stride = 2, .before = 1}, OH>`. Without options windows do
/// not overlap.
template <class I, std::int64_t size, WindowOptions Options = WindowOptions{.stride = size},
          class O = I>
struct Pool {};

/// Whether means count the zeros of the padding.
struct AvgPoolOptions {
  bool count_include_pad = true;
};

namespace detail {

/// The largest element of each window, and the number of its tap; the element of a given tap; the
/// mean; and the cotangents of what they are of.
enum class PoolKind { max, max_taps, take, max_back, avg, avg_back };
constexpr bool makes_rows(PoolKind kind) {
  return kind == PoolKind::max_back || kind == PoolKind::avg_back;
}
constexpr bool reads_taps(PoolKind kind) {
  return kind == PoolKind::take || kind == PoolKind::max_back;
}
/// The number of a tap: row-major in the order of the operand's dims.
using tap_number = std::int32_t;

/// The pools of a call as values.
struct PoolsInfo {
  WindowsInfo windows{};
  std::int64_t size[max_windows]{};
};
/// One argument of a pool.
template <class P>
struct PoolPart;
template <class I, std::int64_t rows, WindowOptions Options, class O>
struct PoolPart<Pool<I, rows, Options, O>> {
  using window = Window<I, I, Options, O>;
  static constexpr std::int64_t size = rows;
};
template <class P>
concept IsPool = requires { typename PoolPart<P>::window; };

template <class I, std::int64_t rows, WindowOptions Options, class O>
inline constexpr bool says_windows<Pool<I, rows, Options, O>> = true;

/// The labels of all arguments.
template <class... Ps>
struct PoolParts : WindowParts<typename PoolPart<Ps>::window...> {
  using all = WindowParts<typename PoolPart<Ps>::window...>;
  static constexpr PoolsInfo info = [] {
    PoolsInfo out{all::info};
    int i = 0;
    ((i < max_windows ? void(out.size[i] = PoolPart<Ps>::size) : void(), ++i), ...);
    return out;
  }();
  /// The dims of windows of the first operand, and those that the taps of `take` have in their
  /// place; and those that the operation creates.
  template <PoolKind kind>
  using from = std::conditional_t<
      makes_rows(kind), mentioned_t<typename all::results>,
      std::conditional_t<kind == PoolKind::take,
                         mentioned_t<typename all::images, typename all::new_results>,
                         mentioned_t<typename all::images>>>;
  template <PoolKind kind>
  using to = std::conditional_t<makes_rows(kind), mentioned_t<typename all::new_images>,
                                std::conditional_t<kind == PoolKind::take, mentioned_t<>,
                                                   mentioned_t<typename all::new_results>>>;
};

/// The dims of windows of the first operand, and the same dims of the result.
struct PoolLabels {
  rules::Labels windows{}, made{};
  constexpr PoolLabels(WindowsInfo const& s, Spec const& from, Spec const& to) {
    int next = to.rank > 0 ? 0 : s.count;
    for (int i = 0; i < s.count; ++i) {
      windows.push(from.dims[i].label);
      made.push(s.renamed[i] ? (to.rank > 0 ? to : from).dims[next++].label : windows.at[i]);
    }
  }
};

}  // namespace detail
}  // namespace nn

namespace rules {

/// The sharding of a pool: that of the operand, whose dims of windows get other labels. Taps have
/// the dims of the result, or of its cotangent.
constexpr Verdict pool(Question const& q, nn::detail::PoolsInfo const& s,
                       nn::detail::PoolKind kind) {
  nn::detail::WindowsInfo const& w = s.windows;
  if (w.count < 1 || w.count > nn::detail::max_windows) return refuse(Code::D24_window_labels);
  nn::detail::PoolLabels const l(w, q.from, q.to);
  bool const back = nn::detail::makes_rows(kind);
  Spec out = q.a();
  for (int i = 0; i < w.count; ++i) {
    int const window = l.windows.at[i], made = l.made.at[i];
    if (s.size[i] < 1) return refuse(Code::D25_window_options, window);
    if (Verdict v = window_options(w.options[i], window); !v) return v;
    if (Verdict v = window_dim(q.a(), window); !v) return v;
    if (made != window && q.a().find(made) >= 0) return refuse(Code::D02_index_taken, made);
    if (Verdict v =
            window_extents(q, w.options[i], back ? made : window, back ? window : made, s.size[i]);
        !v)
      return v;
    out.dims[out.find(window)].label = static_cast<std::int8_t>(made);
  }
  Operands in;
  in.push(out);
  bool const means = kind == nn::detail::PoolKind::avg || kind == nn::detail::PoolKind::avg_back;
  if (!nn::detail::reads_taps(kind))
    return elementwise(in, labels_of(out), means ? Linearity::linear : Linearity::none);
  Spec taps = q.operands[1];
  Spec const& like = back ? q.a() : out;
  for (int d = 0; d < taps.rank || d < like.rank; ++d)
    if (d >= taps.rank || d >= like.rank || !(taps.dims[d] == like.dims[d]))
      return refuse(Code::D12_dims_differ, d < like.rank ? like.dims[d].label : taps.dims[d].label);
  for (int d = 0; d < taps.rank; ++d) taps.dims[d].label = out.dims[d].label;
  in.push(taps);
  return elementwise(in, labels_of(out), Linearity::dividing);
}

}  // namespace rules

namespace nn::detail {

/// How the local work reads one dim: tap t of place j is row first + j times + t step, if there is
/// one; `outer` elements of other dims are before it. Of all rows of the dim there are `all_rows`,
/// and the block's first is `row`.
struct PoolAxis {
  std::int64_t outer = 1;
  std::int64_t rows = 1, places = 1, taps = 1;
  std::int64_t first = 0, times = 1, step = 1;
  std::int64_t tap_stride = 1;
  std::int64_t row = 0, all_rows = 1;
};

/// The local sizes of a pool: the dims of windows in the operand's order, the first ones of one
/// row where there are fewer than three, and the `inner` elements of the dims behind.
struct PoolSizes {
  PoolAxis axis[max_windows]{};
  std::int64_t inner = 1;
  /// Whether means divide by the number of taps.
  bool count_all = true;

  constexpr std::int64_t taps() const {
    return mul_sat(mul_sat(axis[0].taps, axis[1].taps), axis[2].taps);
  }
  /// Elements of the block with rows, and of that with places.
  constexpr std::int64_t elements(bool of_rows) const {
    std::int64_t n = inner;
    for (PoolAxis const& x : axis) n = mul_sat(n, mul_sat(x.outer, of_rows ? x.rows : x.places));
    return n;
  }
};
/// The sizes of the blocks with the rows `rows` and the places `places` of the dims `dims`, which
/// are those of the windows; `block` has one of both.
constexpr PoolSizes pool_sizes(core::Layout const& block, int count, int const* dims,
                               WindowNumbers const* numbers, core::Range const* rows,
                               core::Range const* places) {
  PoolSizes out;
  int from = 0;
  for (int k = 0; k < count; ++k) {
    int i = -1;  // the window along the k-th of these dims
    for (int j = 0; j < count; ++j)
      if (dims[j] >= from && (i < 0 || dims[j] < dims[i])) i = j;
    PoolAxis& x = out.axis[max_windows - count + k];
    for (; from < dims[i]; ++from) x.outer = mul_sat(x.outer, block.extent[from]);
    ++from;
    WindowNumbers const& n = numbers[i];
    x.rows = rows[i].size();
    x.places = places[i].size();
    x.taps = n.taps;
    x.first = places[i].begin * n.stride - n.before - rows[i].begin;
    x.times = n.stride;
    x.step = n.dilation;
    x.row = rows[i].begin;
    x.all_rows = n.rows;
  }
  for (; from < block.rank; ++from) out.inner = mul_sat(out.inner, block.extent[from]);
  std::int64_t stride = 1;
  for (int k = max_windows - 1; k >= 0; --k) {
    out.axis[k].tap_stride = stride;
    stride = mul_sat(stride, out.axis[k].taps);
  }
  return out;
}

/// A pool's numbers, labels and plan for one call.
struct PoolCall {
  PoolKind kind;
  PoolsInfo const& info;
  planning::CallSizing const& c;
  PoolLabels labels;
  WindowNumbers numbers[max_windows]{};

  constexpr PoolCall(PoolKind its_kind, PoolsInfo const& s, planning::CallSizing const& call)
      : kind(its_kind), info(s), c(call), labels(s.windows, call.from, call.to) {
    for (int i = 0; i < s.windows.count; ++i)
      numbers[i] = detail::numbers_of(s.windows.options[i],
                                      makes_rows(kind) ? c.made.extents[labels.made.at[i]]
                                                       : c.given[0].extents[labels.windows.at[i]],
                                      s.size[i]);
  }
  /// Whether the types say the sizes.
  constexpr bool known() const {
    for (int i = 0; i < info.windows.count; ++i)
      if (numbers[i].rows < 0 || numbers[i].places < 0) return false;
    return true;
  }
  constexpr planning::Window window(int i) const {
    return makes_rows(kind) ? numbers[i].places_of_rows() : numbers[i].rows_of_places();
  }
  constexpr int dim(int i) const { return c.operands[0].find(labels.windows.at[i]); }
  constexpr bool split(int i) const { return c.operands[0].dims[dim(i)].axes.size > 0; }
  /// Operands of which ranks exchange rows: the taps of `take` are those of the own results.
  constexpr int exchanged() const { return kind == PoolKind::max_back ? 2 : 1; }

  constexpr void append_exchanges(Plan& p) const {
    detail::append_window_exchanges(p, *this, exchanged(), info.windows.count);
  }
  constexpr planning::Work work() const {
    if (!known()) return {};
    WindowMemory memory;
    for (int k = 0; k < exchanged(); ++k) {
      core::Layout block = c.layout(k);
      memory.fetch(*this, k, info.windows.count, block);
    }
    std::int64_t places = c.result_elements();
    if (makes_rows(kind)) places = c.elements(0);
    std::int64_t taps = 1;
    for (int i = 0; i < info.windows.count; ++i) taps = mul_sat(taps, info.size[i]);
    return {mul_sat(taps, places), memory.besides(0), false};
  }
};

}  // namespace nn::detail

}  // namespace shardtype
