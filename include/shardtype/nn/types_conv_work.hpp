#pragma once
/// The sizes of the local work of a convolution, and its plan.

#include <algorithm>
#include <cstdint>
#include <numeric>

#include <shardtype/nn/types_conv_rule.hpp>

namespace shardtype {

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
    detail::append_window_exchanges(p, *this, 1, info.count);
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
    WindowMemory memory;
    memory.fetch(*this, 0, info.count, block);
    for (int i = 0; i < info.count; ++i) {
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
    std::int64_t total = copied(block, a, labels.order_of_a());
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
    return {most.flops, memory.besides(add_sat(total, most.workspace)), false};
  }
};

}  // namespace nn::detail

}  // namespace shardtype
