#pragma once
/// Convolutions, as operations: the rule, the sizes of their local work, the objects.

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>

#include <shardtype/nn/types_norm.hpp>
#include <shardtype/nn/types_windows.hpp>
#include <shardtype/plan/product_layout.hpp>

namespace shardtype {

namespace nn::detail {

/// A convolution of operand and kernel; the operand's cotangent, of that of the result and the
/// kernel; the kernel's cotangent, of operand and result.
enum class ConvKind { forward, back, kernel };

/// The labels of a convolution of `a` and `b` by their roles. `windows` are dims of a; `made` the
/// same dims of the result, or of b where the result is a kernel.
struct ConvLabels {
  rules::Labels batch{}, windows{}, made{}, kernels{}, groups{}, inner{}, outer{};

  constexpr ConvLabels(ConvKind kind, WindowsInfo const& s, Spec const& a, Spec const& b,
                       Spec const& from, Spec const& to) {
    bool const of_kernel = kind == ConvKind::kernel;
    int at = s.count;
    int next = 0;
    for (int i = 0; i < s.count; ++i) windows.push(from.dims[i].label);
    if (!of_kernel)
      for (int i = 0; i < s.count; ++i) kernels.push(from.dims[at++].label);
    for (int i = 0; i < s.count; ++i) {
      if (!s.renamed[i])
        made.push(windows.at[i]);
      else
        made.push(of_kernel ? from.dims[at++].label : to.dims[next++].label);
    }
    if (of_kernel)
      for (int i = 0; i < s.count; ++i) kernels.push(to.dims[next++].label);
    for (int i = 0; i < s.groups; ++i) groups.push(from.dims[at++].label);
    rules::Labels const& of_b = of_kernel ? made : kernels;
    auto const is_other = [&](int label) {
      return windows.contains(label) || of_b.contains(label) || groups.contains(label);
    };
    for (int d = 0; d < b.rank; ++d) {
      int const label = b.dims[d].label;
      if (is_other(label)) continue;
      if (a.find(label) < 0)
        outer.push(label);
      else
        (of_kernel ? batch : inner).push(label);
    }
    for (int d = 0; d < a.rank; ++d) {
      int const label = a.dims[d].label;
      if (!is_other(label) && b.find(label) < 0) (of_kernel ? inner : batch).push(label);
    }
  }
  /// The order in which the local work has the dims of a, of b and of the result.
  constexpr rules::Labels order_of_a() const {
    return join(join(batch, windows), join(groups, inner));
  }
  constexpr rules::Labels order_of_b(ConvKind kind, bool direct) const {
    if (kind == ConvKind::kernel) return join(join(batch, made), join(groups, outer));
    return join(direct ? join(kernels, groups) : join(groups, kernels), join(inner, outer));
  }
  constexpr rules::Labels order_of_result(ConvKind kind) const {
    return kind == ConvKind::kernel ? join(join(groups, kernels), join(inner, outer))
                                    : join(join(batch, made), join(groups, outer));
  }

 private:
  static constexpr rules::Labels join(rules::Labels a, rules::Labels const& b) {
    return planning::joined(a, b);
  }
};

}  // namespace nn::detail

namespace rules {

/// The dims of a convolution's result, in order, under the labels of the operands: those of a, and
/// those of b alone in the place of the first one that both contract. Of a kernel: groups, kernel,
/// those of a alone, those of b alone.
constexpr Labels conv_dims(nn::detail::ConvKind kind, nn::detail::ConvLabels const& l,
                           Spec const& a) {
  Labels out;
  auto const push = [&out](Labels const& more) {
    for (int k = 0; k < more.size; ++k) out.push(more.at[k]);
  };
  if (kind == nn::detail::ConvKind::kernel) {
    push(l.groups), push(l.inner), push(l.outer);
    return out;
  }
  bool placed = false;
  for (int d = 0; d < a.rank; ++d) {
    int const label = a.dims[d].label;
    if (!l.inner.contains(label)) {
      out.push(label);
    } else if (!placed) {
      push(l.outer);
      placed = true;
    }
  }
  if (!placed) push(l.outer);
  return out;
}
/// The labels of a convolution: of which operand each is a dim, and no dim twice.
constexpr Verdict conv_labels(Question const& q, nn::detail::WindowsInfo const& s,
                              nn::detail::ConvKind kind, nn::detail::ConvLabels const& l) {
  bool const of_kernel = kind == nn::detail::ConvKind::kernel;
  Spec const& a = q.a();
  Spec const& b = q.operands[1];
  int splits = 0;
  for (int i = 0; i < s.count; ++i) {
    int const window = l.windows.at[i], made = l.made.at[i], kernel = l.kernels.at[i];
    if (Verdict v = window_options(s.options[i], window); !v) return v;
    if (Verdict v = window_dim(a, window, splits); !v) return v;
    if (of_kernel) {
      if (b.find(made) < 0) return refuse(Code::D01_no_such_index, made);
      continue;
    }
    int const k = b.find(kernel);
    if (k < 0 || b.find(window) >= 0 || a.find(kernel) >= 0)
      return refuse(Code::D24_window_labels, window, kernel);
    if (b.dims[k].axes.size > 0)
      return refuse(Code::D03_along_split, kernel, -1, b.dims[k].axes[0]);
    if (made != window && (a.find(made) >= 0 || b.find(made) >= 0))
      return refuse(Code::D02_index_taken, made);
    bool const forward = kind == nn::detail::ConvKind::forward;
    if (Verdict v = window_extents(q, s.options[i], forward ? window : made,
                                   forward ? made : window, kernel);
        !v)
      return v;
  }
  for (int i = 0; i < s.groups; ++i)
    if (a.find(l.groups.at[i]) < 0 || b.find(l.groups.at[i]) < 0)
      return refuse(Code::D24_window_labels, l.groups.at[i]);
  return {};
}
/// The sharding of a convolution: that of a product over the contracted indices and, where the
/// result is a kernel, over batches and places.
constexpr Verdict conv(Question const& q, nn::detail::WindowsInfo const& s,
                       nn::detail::ConvKind kind) {
  if (s.count < 1 || s.count > nn::detail::max_windows) return refuse(Code::D24_window_labels);
  Spec const& a = q.a();
  nn::detail::ConvLabels const l(kind, s, a, q.operands[1], q.from, q.to);
  if (Verdict v = conv_labels(q, s, kind, l); !v) return v;
  Spec b = q.operands[1];
  if (kind == nn::detail::ConvKind::kernel)
    for (int i = 0; i < s.count; ++i) b.dims[b.find(l.made.at[i])].label = l.windows.at[i];
  Labels const dims = conv_dims(kind, l, a);
  if (dims.size + (kind == nn::detail::ConvKind::kernel ? s.count : 0) > max_dims)
    return refuse(Code::T07_too_many);
  Verdict v = contraction(a, b, dims);
  if (!v) return v;
  if (kind != nn::detail::ConvKind::kernel) {
    for (int i = 0; i < s.count; ++i)
      v.result.dims[v.result.find(l.windows.at[i])].label = static_cast<std::int8_t>(l.made.at[i]);
    return v;
  }
  Spec out = v.result;
  out.rank = 0;
  auto const add = [&](int d) { out.add(v.result.dims[d].label, v.result.dims[d].axes); };
  for (int d = 0; d < l.groups.size; ++d) add(d);
  for (int i = 0; i < s.count; ++i) out.add(l.kernels.at[i]);
  for (int d = l.groups.size; d < v.result.rank; ++d) add(d);
  v.result = out;
  return v;
}

}  // namespace rules

namespace nn::detail {

/// How the local work reads one dim: place j and tap t read row first + j times + t step, if there
/// is one. The results of the places are `made_step` rows apart from `made_first` on, and the taps
/// are every `tap_step`-th of the kernel from `tap_first` on.
struct ConvAxis {
  std::int64_t rows = 1, places = 1, taps = 1;
  std::int64_t first = 0, times = 1, step = 1;
  std::int64_t made_first = 0, made_step = 1;
  std::int64_t tap_first = 0, tap_step = 1;
};
constexpr ConvAxis forward_axis(WindowNumbers const& n, core::Range rows, core::Range places) {
  ConvAxis out{rows.size(), places.size(), n.taps};
  out.first = places.begin * n.stride - n.before - rows.begin;
  out.times = n.stride;
  out.step = n.dilation;
  return out;
}
/// Of the cotangent of `rows`, which reads `places`, those rows with remainder `r` by the stride:
/// they meet the same taps, in the order in which the places rise.
constexpr ConvAxis back_axis(WindowNumbers const& n, core::Range places, core::Range rows,
                             std::int64_t r) {
  ConvAxis out{places.size(), 0, 0};
  std::int64_t const skip = ((r - rows.begin) % n.stride + n.stride) % n.stride;
  std::int64_t const row = rows.begin + skip;
  if (skip >= rows.size()) return out;
  out.places = (rows.size() - 1 - skip) / n.stride + 1;
  out.made_first = skip;
  out.made_step = n.stride;
  std::int64_t tap = 0;
  while (tap < n.taps && tap < n.stride && (row + n.before - tap * n.dilation) % n.stride != 0)
    ++tap;
  if (tap >= n.taps || (row + n.before - tap * n.dilation) % n.stride != 0) return out;
  std::int64_t const apart = n.stride / std::gcd(n.stride, n.dilation);
  out.taps = (n.taps - 1 - tap) / apart + 1;
  out.tap_first = tap + (out.taps - 1) * apart;
  out.tap_step = -apart;
  out.first = (row + n.before - out.tap_first * n.dilation) / n.stride - places.begin;
  out.step = apart * n.dilation / n.stride;
  return out;
}

/// The local sizes of a convolution.
struct ConvSizes {
  std::int64_t batch = 1, groups = 1, inner = 1, outer = 1;
  ConvAxis axis[max_windows]{};

  constexpr std::int64_t taps() const {
    return mul_sat(mul_sat(axis[0].taps, axis[1].taps), axis[2].taps);
  }
  constexpr std::int64_t places() const {
    return mul_sat(mul_sat(batch, axis[0].places), mul_sat(axis[1].places, axis[2].places));
  }
  /// Whether each channel has a kernel of its own: there is no product of matrices.
  constexpr bool direct() const { return inner == 1 && outer == 1; }
  /// Elements that one place reads.
  constexpr std::int64_t window() const { return mul_sat(mul_sat(groups, taps()), inner); }
  /// Places whose windows are copied at once, so that the copies stay in cache.
  constexpr std::int64_t panel_places() const {
    constexpr std::int64_t elements = std::int64_t{1} << 17, least = 64;
    std::int64_t const each = std::max<std::int64_t>(1, window());
    return std::min(places(), std::max(least, elements / each));
  }
  constexpr std::int64_t panel() const { return direct() ? 0 : mul_sat(panel_places(), window()); }
  /// Whether results lie apart, so that they are made beside and copied.
  constexpr bool apart() const {
    for (ConvAxis const& x : axis)
      if (x.made_step != 1) return true;
    return false;
  }
  constexpr std::int64_t beside() const {
    return apart() && !direct() ? mul_sat(panel_places(), mul_sat(groups, outer)) : 0;
  }
};

/// The product of the extents that `block` has of these labels of `s`.
constexpr std::int64_t extent_of(core::Layout const& block, Spec const& s,
                                 rules::Labels const& labels) {
  std::int64_t n = 1;
  for (int k = 0; k < labels.size; ++k) n = mul_sat(n, block.extent[s.find(labels.at[k])]);
  return n;
}
/// The block with its labels, its dims in the order of the local work.
constexpr planning::LabelledLayout in_order(core::Layout const& block, Spec const& s,
                                            rules::Labels const& order) {
  planning::LabelledLayout x;
  x.layout = block;
  for (int d = 0; d < s.rank; ++d) x.label[d] = s.dims[d].label;
  return planning::view_in_order(x, order);
}

/// Calls `use(ConvSizes)` for the parts of a convolution: one, or of an operand's cotangent those
/// of all remainders by the strides. `in`: the rows of the first operand; `out`: those of the
/// result, or of the second operand where that is made a kernel.
template <class Use>
constexpr void each_conv_part(ConvKind kind, ConvSizes sizes, int count,
                              WindowNumbers const* numbers, core::Range const* in,
                              core::Range const* out, Use const& use) {
  constexpr int most = max_windows;
  std::int64_t strides[most] = {1, 1, 1};
  bool const back = kind == ConvKind::back;
  for (int i = 0; i < count && back; ++i) strides[most - count + i] = numbers[i].stride;
  for (std::int64_t r0 = 0; r0 < strides[0]; ++r0)
    for (std::int64_t r1 = 0; r1 < strides[1]; ++r1)
      for (std::int64_t r2 = 0; r2 < strides[2]; ++r2) {
        std::int64_t const r[most] = {r0, r1, r2};
        for (int i = 0; i < count; ++i)
          sizes.axis[most - count + i] =
              back ? detail::back_axis(numbers[i], in[i], out[i], r[most - count + i])
                   : detail::forward_axis(numbers[i], in[i], out[i]);
        use(sizes);
      }
}

/// The numbers of the windows of one call, by extents of the labels.
template <class Rows, class Taps>
constexpr void window_numbers(WindowsInfo const& s, WindowNumbers* out, Rows const& rows,
                              Taps const& taps) {
  for (int i = 0; i < s.count; ++i) out[i] = detail::numbers_of(s.options[i], rows(i), taps(i));
}

/// A convolution's numbers, labels and plan for one call.
struct ConvCall {
  ConvKind kind;
  WindowsInfo const& info;
  planning::CallSizing const& c;
  ConvLabels labels;
  WindowNumbers numbers[max_windows]{};

  constexpr ConvCall(ConvKind its_kind, WindowsInfo const& s, planning::CallSizing const& call)
      : kind(its_kind),
        info(s),
        c(call),
        labels(its_kind, s, call.operands[0], call.operands[1], call.from, call.to) {
    bool const back = kind == ConvKind::back, of_kernel = kind == ConvKind::kernel;
    detail::window_numbers(
        s, numbers,
        [&](int i) {
          return back ? c.made.extents[labels.made.at[i]]
                      : c.given[0].extents[labels.windows.at[i]];
        },
        [&](int i) { return (of_kernel ? c.made : c.given[1]).extents[labels.kernels.at[i]]; });
  }
  /// Whether the types say the sizes.
  constexpr bool known() const {
    for (int i = 0; i < info.count; ++i)
      if (numbers[i].rows < 0 || numbers[i].taps < 1 || numbers[i].places < 0) return false;
    return true;
  }
  constexpr planning::Window window(int i) const {
    return kind == ConvKind::back ? numbers[i].places_of_rows() : numbers[i].rows_of_places();
  }
  constexpr int dim(int i) const { return c.operands[0].find(labels.windows.at[i]); }
  constexpr bool split(int i) const { return c.operands[0].dims[dim(i)].axes.size > 0; }

  constexpr void append_exchange(Plan& p) const {
    for (int i = 0; i < info.count; ++i)
      if (split(i)) planning::append_neighbor(p, dim(i), known() ? window(i) : planning::Window{});
  }
  constexpr planning::Work work() const {
    if (!known()) return {};
    bool const of_kernel = kind == ConvKind::kernel;
    Spec const& a = c.operands[0];
    Spec const& b = c.operands[1];
    core::Layout block = c.layout(0);
    core::Layout const second = c.layout(1);
    core::Layout const made = c.result_layout();
    std::int64_t const bytes = c.element_bytes(0);
    std::int64_t const computed = std::max<std::int64_t>(bytes, 4);
    core::Range in[max_windows], out[max_windows];
    std::int64_t total = 0;
    for (int i = 0; i < info.count; ++i) {
      if (split(i)) {
        planning::Sizing const z{c.given[0].extents, c.common.sizes, bytes};
        block.extent[dim(i)] = detail::most_needed(a, dim(i), z, window(i));
        block = block.packed();
        total = add_sat(total, mul_sat(block.elements(), bytes));
      }
      in[i] = {0, block.extent[dim(i)]};
      out[i] = {0, of_kernel ? second.extent[b.find(labels.made.at[i])]
                             : made.extent[c.result.find(labels.made.at[i])]};
    }
    // a copy in the order of the local work, and one in its element type
    auto const copied = [&](core::Layout const& l, Spec const& s, rules::Labels const& order) {
      bool const converts = bytes != computed;
      bool const in_place = detail::in_order(l, s, order).layout.contiguous();
      return mul_sat(l.elements(), add_sat(converts ? computed : 0, in_place ? 0 : bytes));
    };
    ConvSizes sizes;
    sizes.groups = detail::extent_of(block, a, labels.groups);
    sizes.batch = detail::extent_of(block, a, labels.batch);
    sizes.inner = detail::extent_of(block, a, labels.inner);
    sizes.outer = detail::extent_of(second, b, labels.outer);
    total = add_sat(total, copied(block, a, labels.order_of_a()));
    total = add_sat(total, copied(made, c.result, labels.order_of_result(kind)));
    total = add_sat(total, copied(second, b, labels.order_of_b(kind, sizes.direct())));
    planning::Work most;
    detail::each_conv_part(kind, sizes, info.count, numbers, in, out, [&](ConvSizes const& part) {
      std::int64_t const packed = kind == ConvKind::back ? mul_sat(part.window(), part.outer) : 0;
      most.flops = add_sat(most.flops,
                           mul_sat(mul_sat(2, part.places()), mul_sat(part.window(), part.outer)));
      most.workspace = std::max(
          most.workspace, mul_sat(add_sat(packed, add_sat(part.panel(), part.beside())), computed));
    });
    return {most.flops, add_sat(total, most.workspace), false};
  }
};

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
