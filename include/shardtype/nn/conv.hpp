#pragma once
/// Convolutions.

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/fused.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/kernels/copy.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/gemm.hpp>
#include <shardtype/nn/kernels_conv.hpp>
#include <shardtype/nn/labels.hpp>
#include <shardtype/nn/types_conv.hpp>
#include <shardtype/nn/window_rows.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype {

namespace nn::detail {

/// The local work of a convolution on elements `U`, in memory `Space`.
template <class U, class Space>
class ConvWork {
  using Exec = typename Space::execution_space;
  template <class V>
  using Matrix = shardtype::kernels::Matrix<V>;

 public:
  explicit ConvWork(runtime::MeshState& mesh) : mesh_(mesh) {}

  /// One part of a convolution of `a` and the kernel `w`, whose taps are those of the part, to
  /// `made` with `extent` places along its dims.
  void add_part(ConvSizes const& s, U const* a, U const* w, U* made, std::int64_t const* extent) {
    if (s.places() == 0) return;
    if (s.direct()) {
      kernels::DirectPlaces<U> work{s, a, w, made, {extent[0], extent[1], extent[2]}};
      shardtype::kernels::launch(exec(), "shardtype::conv_direct", s.places(), work);
      runtime::fence(exec());
      return;
    }
    std::int64_t const inner = s.taps() * s.inner, width = s.groups * s.outer;
    runtime::Buffer const beside = take(s.beside());
    each_panel(s, a, [&](U const* panel, std::int64_t first, std::int64_t places) {
      U* const to = s.apart() ? data(beside) : made + first * width;
      multiply(s.groups, {panel, places, inner, inner, 1, places * inner},
               {w, inner, s.outer, s.outer, 1, inner * s.outer},
               {to, places, s.outer, width, 1, s.outer}, false);
      if (!s.apart()) return;
      kernels::PlaceResults<U> work{s, to, made, first, width, {extent[0], extent[1], extent[2]}};
      shardtype::kernels::launch(exec(), "shardtype::conv_place", places, work);
    });
  }
  /// The cotangent of the kernel.
  void kernel(ConvSizes const& s, U const* a, U const* ct, U* made) {
    std::int64_t const inner = s.taps() * s.inner, width = s.groups * s.outer;
    if (s.direct()) {
      constexpr std::int64_t each = kernels::direct_channels;
      kernels::DirectKernel<U> work{s, a, ct, made};
      shardtype::kernels::launch(exec(), "shardtype::conv_direct_kernel",
                                 s.taps() * ((s.groups + each - 1) / each), work);
      runtime::fence(exec());
      return;
    }
    if (s.places() == 0) shardtype::kernels::fill(exec(), made, s.groups * inner * s.outer, U{});
    each_panel(s, a, [&](U const* panel, std::int64_t first, std::int64_t places) {
      multiply(s.groups, {panel, inner, places, 1, inner, places * inner},
               {ct + first * width, places, s.outer, width, 1, s.outer},
               {made, inner, s.outer, s.outer, 1, inner * s.outer}, first > 0);
    });
    runtime::fence(exec());
  }
  /// The taps of the kernel `w` that a part of a cotangent meets, in its order.
  U const* taps_of(ConvSizes const& s, ConvSizes const& all, U const* w, runtime::Buffer& keep) {
    shardtype::kernels::Layout l;
    std::int64_t at = 0;
    auto const push = [&](std::int64_t extent, std::int64_t stride) {
      l.extent[l.rank] = extent;
      l.stride[l.rank++] = stride;
    };
    std::int64_t stride = s.direct() ? s.groups : s.inner * s.outer;
    std::int64_t strides[max_windows];
    for (int i = max_windows - 1; i >= 0; --i) {
      strides[i] = stride;
      stride *= all.axis[i].taps;
    }
    if (!s.direct()) push(s.groups, stride);
    for (int i = 0; i < max_windows; ++i) {
      push(s.axis[i].taps, s.axis[i].tap_step * strides[i]);
      at += s.axis[i].tap_first * strides[i];
    }
    push(s.direct() ? s.groups : s.inner * s.outer, 1);
    keep = take(l.elements());
    if (l.elements() > 0) shardtype::kernels::copy_packed(exec(), w + at, l, data(keep));
    return data(keep);
  }

  runtime::Buffer take(std::int64_t n) const { return take_as<U>(n); }
  template <class V>
  runtime::Buffer take_as(std::int64_t n) const {
    return mesh_.pool().template take<Space>(static_cast<std::size_t>(n) * sizeof(V));
  }
  static U* data(runtime::Buffer const& b) { return static_cast<U*>(b.data()); }
  static Exec const& exec() { return runtime::instance<Exec>(); }

  /// The block `l` of `s` in the order of the local work and its element type.
  template <class T>
  U const* arranged(T const* from, shardtype::kernels::Layout const& l, Spec const& s,
                    rules::Labels const& order, runtime::Buffer& keep) const {
    auto const wanted = detail::in_order(l, s, order).layout;
    std::int64_t const n = l.elements();
    if (wanted.contiguous()) {
      if constexpr (std::is_same_v<T, U>) {
        return from;
      } else {
        keep = take(n);
        convert(from, data(keep), n);
      }
    } else if constexpr (std::is_same_v<T, U>) {
      keep = take(n);
      shardtype::kernels::copy_packed(exec(), from, wanted, data(keep));
    } else {
      runtime::Buffer const copy = take_as<T>(n);
      shardtype::kernels::copy_packed(exec(), from, wanted, static_cast<T*>(copy.data()));
      keep = take(n);
      convert(static_cast<T const*>(copy.data()), data(keep), n);
      runtime::fence(exec());
    }
    return data(keep);
  }
  /// Writes a result in the order of the local work to the block `l` of `s`.
  template <class T>
  void give(U const* made, shardtype::kernels::Layout const& l, Spec const& s,
            rules::Labels const& order, T* to) const {
    auto const block = detail::in_order(l, s, order);
    std::int64_t const n = l.elements();
    auto packed = block;
    packed.layout = block.layout.packed();
    auto const wanted = planning::view_in_order(packed, rules::labels_of(s)).layout;
    if constexpr (std::is_same_v<T, U>) {
      if (made != to) shardtype::kernels::copy_packed(exec(), made, wanted, to);
    } else if (block.layout.contiguous()) {
      convert(made, to, n);
    } else {
      runtime::Buffer const copy = take_as<T>(n);
      convert(made, static_cast<T*>(copy.data()), n);
      shardtype::kernels::copy_packed(exec(), static_cast<T const*>(copy.data()), wanted, to);
      runtime::fence(exec());
    }
    runtime::fence(exec());
  }

 private:
  template <class From, class To>
  void convert(From const* from, To* to, std::int64_t n) const {
    shardtype::kernels::convert<From, To>(exec(), 1, Matrix<From const>{from, 1, n, n, 1, 0},
                                          Matrix<To>{to, 1, n, n, 1, 0});
  }
  template <class Use>
  void each_panel(ConvSizes const& s, U const* a, Use const& use) {
    std::int64_t const all = s.places(), each = s.panel_places();
    runtime::Buffer const panel = take(s.panel());
    for (std::int64_t first = 0; first < all; first += each) {
      std::int64_t const n = each < all - first ? each : all - first;
      kernels::GatherWindows<U> work{s, a, data(panel), first, n};
      shardtype::kernels::launch(exec(), "shardtype::conv_gather", n, work);
      use(static_cast<U const*>(data(panel)), first, n);
    }
    runtime::fence(exec());
  }
  void multiply(std::int64_t batch, Matrix<U const> const& a, Matrix<U const> const& b,
                Matrix<U> const& c, bool add) {
    if (c.rows * c.cols * batch == 0) return;
    std::size_t const wanted =
        shardtype::kernels::gemm_workspace_bytes<Exec, U>(exec(), batch, a, b, c);
    runtime::Buffer const work =
        wanted == 0 ? runtime::Buffer{} : mesh_.pool().template take<Kokkos::HostSpace>(wanted);
    shardtype::kernels::gemm<Exec, U>(exec(), batch, a, b, c, add, work.data(), work.bytes());
    if (wanted != 0) runtime::fence(exec());
  }

  runtime::MeshState& mesh_;
};

/// Writes the block of a convolution; of tensors with the rows that other ranks hold.
template <class Op, class Out, class A, class B>
void fill_conv(Op const&, std::source_location const& where, Out& out, A const& a, B const& b) {
  using T = typename A::element;
  using U = shardtype::detail::computed_t<T>;
  using Space = typename A::memory_space;
  using Rule = shardtype::detail::RuleOf<Op, A, B>;
  constexpr Spec of_a = Rule::S::parsed[0].spec, of_b = Rule::S::parsed[1].spec;
  constexpr Spec of_out = Rule::verdict.result;
  constexpr ConvKind kind = Op::kind;
  constexpr WindowsInfo info = Op::parts::info;
  constexpr ConvLabels labels(kind, info, of_a, of_b, Rule::S::parsed[2].spec,
                              Rule::S::parsed[3].spec);
  constexpr int count = info.count;

  auto const extent = [](auto const& x, Spec const& s, int label) {
    return x.extents()[static_cast<std::size_t>(s.find(label))];
  };
  WindowNumbers numbers[max_windows];
  detail::window_numbers(
      info, numbers,
      [&](int i) {
        return kind == ConvKind::back ? extent(out, of_out, labels.made.at[i])
                                      : extent(a, of_a, labels.windows.at[i]);
      },
      [&](int i) {
        return kind == ConvKind::kernel ? extent(out, of_out, labels.kernels.at[i])
                                        : extent(b, of_b, labels.kernels.at[i]);
      });

  ConvWork<U, Space> work{a.mesh().state()};
  execute::WidenedBlock<T, Space> block{execute::data_of(a),
                                        shardtype::detail::block_layout(a.rows())};
  auto const second = shardtype::detail::block_layout(b.rows());
  auto const made = shardtype::detail::block_layout(out.rows());
  core::Range in[max_windows], places[max_windows];
  for (int i = 0; i < count; ++i) {
    int const d = of_a.find(labels.windows.at[i]);
    in[i] = detail::rows_at(a, of_a, d);
    int const made_label = labels.made.at[i];
    places[i] = kind == ConvKind::kernel ? detail::rows_at(b, of_b, of_b.find(made_label))
                                         : detail::rows_at(out, of_out, of_out.find(made_label));
    if (of_a.dims[d].axes.size == 0) continue;
    auto const map = runtime::map_axes(a.mesh().state(), Rule::S::names);
    planning::Sizing const z{planning::extents_by_label(of_a, a.extents().data()), map.sizes,
                             sizeof(T)};
    planning::Window const w =
        kind == ConvKind::back ? numbers[i].places_of_rows() : numbers[i].rows_of_places();
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): names are literals
    char const* const name = Op::name.data();
    in[i] = block.fetch(a.mesh().state(), map, z, of_a, planning::Slot::a, d, w,
                        {where, name, w.low, w.high});
  }
  if (made.elements() == 0) return;

  ConvSizes sizes;
  sizes.groups = detail::extent_of(block.layout, of_a, labels.groups);
  sizes.batch = detail::extent_of(block.layout, of_a, labels.batch);
  sizes.inner = detail::extent_of(block.layout, of_a, labels.inner);
  sizes.outer = detail::extent_of(second, of_b, labels.outer);
  runtime::Buffer kept[4];
  U const* const x = work.arranged(block.data, block.layout, of_a, labels.order_of_a(), kept[0]);
  U const* const y = work.arranged(execute::data_of(b), second, of_b,
                                   labels.order_of_b(kind, sizes.direct()), kept[1]);
  T* const result = execute::written(out);
  rules::Labels const order = labels.order_of_result(kind);
  U* to = nullptr;
  if constexpr (std::is_same_v<T, U>)
    if (detail::in_order(made, of_out, order).layout.contiguous()) to = result;
  if (to == nullptr) {
    kept[2] = work.take(made.elements());
    to = work.data(kept[2]);
  }
  std::int64_t extents[max_windows] = {1, 1, 1};
  ConvSizes all = sizes;
  bool several = false;
  for (int i = 0; i < count; ++i) {
    extents[max_windows - count + i] = places[i].size();
    all.axis[max_windows - count + i].taps = numbers[i].taps;
    several = several || (kind == ConvKind::back && numbers[i].stride > 1);
  }
  if (several) shardtype::kernels::fill(work.exec(), to, made.elements(), U{});
  detail::each_conv_part(kind, sizes, count, numbers, in, places, [&](ConvSizes const& part) {
    if constexpr (kind == ConvKind::kernel) {
      work.kernel(part, x, y, to);
    } else if constexpr (kind == ConvKind::forward) {
      work.add_part(part, x, y, to, extents);
    } else if (part.taps() > 0 && part.places() > 0) {
      work.add_part(part, x, work.taps_of(part, all, y, kept[3]), to, extents);
    }
  });
  work.give(static_cast<U const*>(to), made, of_out, order, result);
}
/// The result of a convolution of tensors.
template <class R, class Op, class A, class B>
typename R::result run_conv(Op const& op, std::source_location const& where, A const& a,
                            B const& b) {
  using Out = typename R::result;
  Out out = shardtype::detail::uninitialized<Out>(a.mesh(), execute::result_extents<R>(op, a, b));
  if (a.mesh().here()) detail::fill_conv(op, where, out, a, b);
  return out;
}
/// The extents of `a` along the dims `Ls`.
template <class A, class... Ls>
constexpr auto extents_along(A const& a, Labels<Ls...>) {
  using Value = nn::detail::tensor_of<A>;
  std::array<std::int64_t, max_windows> out{};
  std::size_t i = 0;
  ((out[i++] = a.extents()[autodiff::place_of<Value, Ls>]), ...);
  return out;
}

}  // namespace nn::detail

namespace op {

template <class... Parts>
template <class R, class A, class B>
typename R::result Conv<Parts...>::run(std::source_location const& where, A const& x,
                                       B const& w) const {
  return nn::detail::run_conv<R>(*this, where, x, w);
}
template <class... Parts>
template <class R, class A, class B>
typename R::result ConvTransposed<Parts...>::run(std::source_location const& where, A const& y,
                                                 B const& w) const {
  return nn::detail::run_conv<R>(*this, where, y, w);
}
template <class... Parts>
template <class R, class A, class B>
typename R::result ConvKernel<Parts...>::run(std::source_location const& where, A const& x,
                                             B const& y) const {
  return nn::detail::run_conv<R>(*this, where, x, y);
}
template <class... Parts>
template <class Out, class A, class B>
void Conv<Parts...>::fill(Out& out, A const& x, B const& w) const {
  nn::detail::fill_conv(*this, {}, out, x, w);
}
template <class... Parts>
template <class Out, class A, class B>
void ConvTransposed<Parts...>::fill(Out& out, A const& y, B const& w) const {
  nn::detail::fill_conv(*this, {}, out, y, w);
}
template <class... Parts>
template <class Out, class A, class B>
void ConvKernel<Parts...>::fill(Out& out, A const& x, B const& y) const {
  nn::detail::fill_conv(*this, {}, out, x, y);
}

template <class... Parts>
template <class V, class A, class B>
constexpr auto Conv<Parts...>::save(V const&, A const& x, B const& w) const {
  return autodiff::keep(x, w);
}
template <class... Parts>
template <class V, class A, class B>
constexpr auto ConvTransposed<Parts...>::save(V const&, A const& y, B const& w) const {
  return autodiff::keep(y, w);
}
template <class... Parts>
template <class V, class A, class B>
constexpr auto ConvKernel<Parts...>::save(V const&, A const& x, B const& y) const {
  return autodiff::keep(x, y);
}
template <class... Parts>
template <class G>
constexpr auto Conv<Parts...>::pull(G const& g) const {
  auto const& x = g.template kept<0>();
  auto const& w = g.template kept<1>();
  if constexpr (G::operand == 0) {
    auto const rows = nn::detail::extents_along(x, typename parts::images{});
    return g.in_order(g.call(ConvTransposed<Parts...>{rows}, g.ct, w));
  } else {
    auto const taps = nn::detail::extents_along(w, typename parts::kernels{});
    return g.in_order(g.call(ConvKernel<Parts...>{taps}, x, g.ct));
  }
}
template <class... Parts>
template <class G>
constexpr auto ConvTransposed<Parts...>::pull(G const& g) const {
  auto const& y = g.template kept<0>();
  auto const& w = g.template kept<1>();
  if constexpr (G::operand == 0) {
    return g.in_order(g.call(Conv<Parts...>{}, g.ct, w));
  } else {
    auto const taps = nn::detail::extents_along(w, typename parts::kernels{});
    return g.in_order(g.call(ConvKernel<Parts...>{taps}, g.ct, y));
  }
}
template <class... Parts>
template <class G>
constexpr auto ConvKernel<Parts...>::pull(G const& g) const {
  auto const& x = g.template kept<0>();
  auto const& y = g.template kept<1>();
  if constexpr (G::operand == 0) {
    auto const rows = nn::detail::extents_along(x, typename parts::images{});
    return g.in_order(g.call(ConvTransposed<Parts...>{rows}, y, g.ct));
  } else {
    return g.in_order(g.call(Conv<Parts...>{}, x, g.ct));
  }
}

}  // namespace op

namespace nn::api {

/// The convolution of `x` with the kernel `w`, over windows along one to three dims:
///
///     auto y = nn::conv<nn::Window<H, KH, nn::same>, nn::Window<W, KW, nn::same>>(x, w);
///
/// `x[N, H, W, C]`, `w[KH, KW, C, F]` -> `[N, H, W, F]`, of float, double or bfloat16 (computed in
/// float). Element h of the result is the sum over KH of the rows h stride - before + KH dilation
/// of x, which are zeros beyond the ends, times w. An index of both operands is summed over, as in
/// matmul, unless `nn::Grouped<G>` names it: each of its elements has a kernel of its own. The
/// result has x's dims in their order, and those of w alone in the place of the first one that is
/// summed over, or behind. `nn::Window<H, KH, options, OH>` names the result's dim; without, it is
/// H, whose type must not fix an extent that changes.
///
/// Shardings as of a product: any dim of both but those of the kernel may be split, channels of
/// both operands alike, which gives a sum `{U:Y}`. Where axes split dims of windows, each rank
/// fetches the rows that its results need from those that hold them, one dim after the other, so
/// that the corners of blocks come along (the plan gives the bytes); otherwise nothing is sent. The
/// gradient of x fetches rows of the cotangent; that of w is a sum over the axes that split batches
/// or windows, as of a product. Derivatives of any order. In blocks of a `shard_map` and in
/// automatic mode the dims of windows are not split.
///
/// `nn::conv<Rows, Columns, Dim<N>, Dim<H, X>, Dim<W, Y>, Dim<F>>(x, w)` names the result behind
/// the windows. Operands are sliced as it is, and gathered over the axes for which the rule refuses
/// them: the kernel where the result has the axis as x does, or else x. Then the result is
/// resharded. A dim whose extent changes has a label of its own in the result (E41).
///
/// Refused: D01, D02, D03 a kernel that is split, D05, D06, D24 labels, D25 options, D27 a window
/// longer than the rows, B03, C02 to C10, P12; named N05, V14, R01 to R04. Errors: E24 extents, E41
/// windows that do not fit. As jax.lax.conv_general_dilated, torch.nn.functional.conv1d, conv2d,
/// conv3d (without a flip of the kernel; a bias is an addition).
template <nn::detail::IsWindowPart Part, class... Parts, class A, class W>
constexpr auto conv(core::Argument<A> const& x, W const& w, checking::CallSite where = {}) {
  using Call = nn::detail::WindowCall<nn::detail::Labels<Part>, Parts...>;
  return shardtype::call(Call::named(typename Call::template strict<op::Conv>{}), where, x.self(),
                         w);
}

/// The transposed convolution: the gradient that `conv` has of x, as an operation. `y[N, H, W, F]`,
/// `w[KH, KW, C, F]` -> `[N, H, W, C]`; of `nn::Window<H, KH, options, OH>` y has the dim OH and
/// the result H. Along H it has the fewest rows of which the windows of `conv` make those of y, or
/// as many as `nn::Rows{height, width}` says, a number for each window. Shardings, what is sent and
/// refusals as of conv. Errors: E24 extents, E41 rows of which windows make another number. As
/// torch.nn.functional.conv_transpose1d, 2d, 3d (whose output_padding is more `rows`) and the
/// transpose of jax.lax.conv_general_dilated.
template <nn::detail::IsWindowPart Part, class... Parts, class A, class W>
constexpr auto conv_transposed(core::Argument<A> const& y, W const& w,
                               checking::CallSite where = {}) {
  using Call = nn::detail::WindowCall<nn::detail::Labels<Part>, Parts...>;
  return shardtype::call(Call::named(typename Call::template strict<op::ConvTransposed>{}), where,
                         y.self(), w);
}
template <nn::detail::IsWindowPart Part, class... Parts, class A, class W>
constexpr auto conv_transposed(core::Argument<A> const& y, W const& w, Rows const& rows,
                               checking::CallSite where = {}) {
  using Call = nn::detail::WindowCall<nn::detail::Labels<Part>, Parts...>;
  return shardtype::call(Call::named(typename Call::template strict<op::ConvTransposed>{rows.of}),
                         where, y.self(), w);
}

}  // namespace nn::api

}  // namespace shardtype
