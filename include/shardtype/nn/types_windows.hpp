#pragma once
/// Windows along dims, of convolutions and pools: their notation, the extents that they give, and
/// the rows that each rank fetches where a dim is split.

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <type_traits>

#include <shardtype/check/along.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/check/named.hpp>
#include <shardtype/nn/types_norm.hpp>
#include <shardtype/plan/local_memory.hpp>
#include <shardtype/plan/window_plan.hpp>
#include <shardtype/rules/shape.hpp>

namespace shardtype {

namespace nn {

/// How a window moves along a dim: `stride` rows from each result to the next, `dilation` rows from
/// each element of the kernel to the next, `before` and `after` rows of padding; or `same`, padding
/// with which n rows give n / stride results, rounded up (as "SAME" of JAX: the odd row is behind).
struct WindowOptions {
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t before = 0;
  std::int64_t after = 0;
  bool same = false;
};
/// No padding, and padding that keeps the extent.
inline constexpr WindowOptions valid{};
inline constexpr WindowOptions same{.same = true};

/// The window of the kernel's index K along the dim I, which is dim O of the result:
/// `nn::Window<H, KH, nn::same>`, `nn::Window<H, KH, nn::WindowOptions{.stride = 2}, OH>`.
template <class I, class K, WindowOptions Options = WindowOptions{}, class O = I>
struct Window {};
/// Indices of both operands of which each element has a kernel of its own.
template <class... Gs>
struct Grouped {};

/// The extents of the result of a transposed convolution, one for each window.
struct Rows {
  std::array<std::int64_t, 3> of{};
};

namespace detail {

inline constexpr int max_windows = 3;

/// One dim of a call with windows: `rows` of the operand of a convolution, `places` of its result,
/// `taps` of the kernel.
struct WindowNumbers {
  std::int64_t rows = 1;
  std::int64_t places = 1;
  std::int64_t taps = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t before = 0;

  /// Rows of the operand, from the first to the last, that one result reads.
  constexpr std::int64_t span() const { return (taps - 1) * dilation + 1; }
  /// What each rank needs of an operand in the place of the rows, or of the results.
  constexpr planning::Window rows_of_places() const {
    return {-before,
            (taps - 1) * dilation - before,
            shardtype::op::Edge::fill_zero,
            false,
            places,
            stride,
            1};
  }
  constexpr planning::Window places_of_rows() const {
    return {before - (taps - 1) * dilation,
            before,
            shardtype::op::Edge::fill_zero,
            false,
            rows,
            1,
            stride};
  }
};
/// The results of a window of `taps` along `rows` rows; -1 if it is longer than these with their
/// padding.
constexpr std::int64_t places_of(WindowOptions const& o, std::int64_t rows, std::int64_t taps) {
  std::int64_t const span = add_sat(mul_sat(taps - 1, o.dilation), 1);
  if (o.same) return rows / o.stride + (rows % o.stride != 0 ? 1 : 0);
  std::int64_t const padded = add_sat(rows, add_sat(o.before, o.after));
  return padded < span ? -1 : (padded - span) / o.stride + 1;
}
/// The fewest rows along which such a window has `places` results.
constexpr std::int64_t rows_of(WindowOptions const& o, std::int64_t places, std::int64_t taps) {
  if (o.same) return mul_sat(places, o.stride);
  std::int64_t const span = add_sat(mul_sat(taps - 1, o.dilation), 1);
  std::int64_t const all = add_sat(mul_sat(places - 1, o.stride), span);
  return std::max<std::int64_t>(0, all - o.before - o.after);
}
constexpr WindowNumbers numbers_of(WindowOptions const& o, std::int64_t rows, std::int64_t taps) {
  WindowNumbers out{rows, places_of(o, rows, taps), taps, o.stride, o.dilation, o.before};
  if (o.same)
    out.before = std::max<std::int64_t>(0, (out.places - 1) * o.stride + out.span() - rows) / 2;
  return out;
}

/// The windows of a call as values: `renamed`: the result's dim has another label.
struct WindowsInfo {
  int count = 0;
  int groups = 0;
  WindowOptions options[max_windows]{};
  bool renamed[max_windows]{};
};

template <class... Ls>
using Labels = shardtype::detail::Pack<Ls...>;
/// One argument of a convolution: its labels, and how many windows it is.
template <class P>
struct WindowPart;
template <class I, class K, WindowOptions Options, class O>
struct WindowPart<Window<I, K, Options, O>> {
  static constexpr bool renames = !std::is_same_v<I, O>;
  using images = Labels<I>;
  using kernels = Labels<K>;
  using results = Labels<O>;
  using new_images = std::conditional_t<renames, Labels<I>, Labels<>>;
  using new_results = std::conditional_t<renames, Labels<O>, Labels<>>;
  using groups = Labels<>;
  static constexpr void add(WindowsInfo& out) {
    if (out.count < max_windows) {
      out.options[out.count] = Options;
      out.renamed[out.count] = renames;
    }
    ++out.count;
  }
};
template <class... Gs>
struct WindowPart<Grouped<Gs...>> {
  using images = Labels<>;
  using kernels = Labels<>;
  using results = Labels<>;
  using new_images = Labels<>;
  using new_results = Labels<>;
  using groups = Labels<Gs...>;
  static constexpr void add(WindowsInfo& out) { out.groups += static_cast<int>(sizeof...(Gs)); }
};
template <class P>
concept IsWindowPart = requires { typename WindowPart<P>::images; };

template <class P>
inline constexpr bool says_windows = IsWindowPart<P>;
/// The operation of a call with the windows `Ws` and, behind them, the parts of a named result.
template <class Ws, class... Parts>
struct WindowCall;
template <class... Ws, class P, class... Parts>
  requires says_windows<P>
struct WindowCall<Labels<Ws...>, P, Parts...> : WindowCall<Labels<Ws..., P>, Parts...> {};
template <class... Ws, class... Out>
struct WindowCall<Labels<Ws...>, Out...> {
  template <template <class...> class Op>
  using strict = Op<Ws...>;
  template <class Op>
  static constexpr shardtype::op::MaybeNamed<Op, Out...> named(Op const& op) {
    return {op};
  }
};

/// `wanted`, a named result, with the labels that the operand has along windows.
constexpr Spec as_operand(Spec wanted, rules::Labels const& windows, rules::Labels const& made) {
  for (int i = 0; i < windows.size; ++i)
    if (int const d = wanted.find(made.at[i]); d >= 0)
      wanted.dims[d].label = static_cast<std::int8_t>(windows.at[i]);
  return wanted;
}

/// Labels as the dims that an operation mentions.
template <class Ls>
struct Mentioned;
template <class... Ls>
struct Mentioned<Labels<Ls...>> {
  using type = shardtype::detail::Bare<Ls...>;
};
template <class... Lists>
using mentioned_t = typename Mentioned<decltype((Labels<>{} | ... | Lists{}))>::type;

/// The labels of all arguments.
template <class... Ps>
struct WindowParts {
  using images = decltype((Labels<>{} | ... | typename WindowPart<Ps>::images{}));
  using kernels = decltype((Labels<>{} | ... | typename WindowPart<Ps>::kernels{}));
  using results = decltype((Labels<>{} | ... | typename WindowPart<Ps>::results{}));
  using new_images = decltype((Labels<>{} | ... | typename WindowPart<Ps>::new_images{}));
  using new_results = decltype((Labels<>{} | ... | typename WindowPart<Ps>::new_results{}));
  using groups = decltype((Labels<>{} | ... | typename WindowPart<Ps>::groups{}));
  static constexpr WindowsInfo info = [] {
    WindowsInfo out;
    (WindowPart<Ps>::add(out), ...);
    return out;
  }();
};

}  // namespace detail
}  // namespace nn

namespace rules {

/// The options of a window along `label`.
constexpr Verdict window_options(nn::WindowOptions const& o, int label) {
  bool const fits = o.stride >= 1 && o.dilation >= 1 && o.before >= 0 && o.after >= 0 &&
                    !(o.same && (o.before != 0 || o.after != 0));
  return fits ? Verdict{} : refuse(Code::D25_window_options, label);
}
/// The dim `label` of `a`, along which a window moves, is whole or split in blocks.
constexpr Verdict window_dim(Spec const& a, int label) {
  int const d = a.find(label);
  if (d < 0) return refuse(Code::D01_no_such_index, label);
  AxisList const& axes = a.dims[d].axes;
  return axes.cyclic == 0 ? Verdict{} : refuse(Code::B03_through_cyclic, label, -1, axes[0]);
}
/// The extents that the types fix: of `rows` and `places`, whose labels these are, with windows of
/// `k` rows (`dynamic`: known at run time only), the extent of the label `taps` if there is one.
constexpr Verdict window_extents(Question const& q, nn::WindowOptions const& o, int rows,
                                 int places, std::int64_t k, int taps = -1) {
  std::int64_t const n = q.extents[rows];
  if (k != dynamic && k < 1) return refuse(Code::D25_window_options, taps);
  bool const known = n != dynamic && (k != dynamic || o.same);
  std::int64_t const made = known ? nn::detail::places_of(o, n, k) : dynamic;
  if (known && made < 0) return refuse(Code::D27_window_too_long, rows, taps);
  if (rows == places) {
    bool const kept = known ? made == n : n == dynamic;
    return kept ? Verdict{} : refuse(Code::D05_extent_changes, rows);
  }
  return contradict(q.extents[places], made) ? refuse(Code::D06_extents_contradict, places)
                                             : Verdict{};
}

}  // namespace rules

namespace nn::detail {

/// Error E41 where a window does not fit.
constexpr void check_window(ResultExtents const& c, WindowNumbers const& n, int label, int taps) {
  if (n.taps >= 1 && n.places >= 0) return;
  std::string const along = "the window of " + std::string(c.names.label_name[taps]) + " along " +
                            std::string(c.names.label_name[label]);
  if (n.taps < 1) ResultExtents::fail(along + " has extent " + std::to_string(n.taps));
  ResultExtents::fail(along + " spans " + std::to_string(n.span()) + " rows, and there are " +
                      std::to_string(n.rows) + " and their padding");
}
/// Sets the extent of the result's dim `label`. Error E41 if the label has another one.
constexpr void set_window_extent(ResultExtents const& c, int label, std::int64_t n) {
  std::int64_t const fixed = c.names.label_extent[label];
  if (fixed != dynamic && fixed != n)
    ResultExtents::fail("index " + std::string(c.names.label_name[label]) + " has extent " +
                        std::to_string(fixed) + ", and windows give " + std::to_string(n));
  c.out[c.result.find(label)] = n;
}
/// The exchange of the rows that window `i` of `call` needs of operand `k`. Operands get the rows
/// of one dim after the other, with those that came before, so that the corners of blocks come
/// along.
template <class Call>
constexpr Step window_exchange(Call const& call, int k, int i) {
  Step s = planning::neighbor_step(call.c.operands[k], call.dim(i), call.window(i));
  s.slot = planning::operand_slot(k);
  for (int j = 0; j < i; ++j)
    if (call.split(j)) s.wide.push(call.dim(j), call.window(j));
  return s;
}
/// Appends these exchanges; those of unknown sizes have no windows.
template <class Call>
constexpr void append_window_exchanges(Plan& p, Call const& call, int operands, int windows) {
  for (int k = 0; k < operands; ++k)
    for (int i = 0; i < windows; ++i) {
      if (!call.split(i)) continue;
      Step s = detail::window_exchange(call, k, i);
      if (!call.known()) s.window = {}, s.wide = planning::WidenedDims();
      p.push(s);
    }
}
/// The memory of these exchanges on the busiest rank.
struct WindowMemory {
  std::int64_t kept = 0;      ///< bytes of the blocks with the rows that came
  std::int64_t most = 0;      ///< the most while rows come
  std::int64_t messages = 0;  ///< those of all messages, which planning::LocalMemory counts

  /// Bytes that a plan's work has besides: `later` ones are held after the exchanges.
  constexpr std::int64_t besides(std::int64_t later) const {
    return std::max<std::int64_t>(0, std::max(most, add_sat(kept, later)) - messages);
  }
  /// Makes `block` that of operand `k` after its exchanges for `call`.
  template <class Call>
  constexpr void fetch(Call const& call, int k, int windows, core::Layout& block) {
    planning::Sizing const z{call.c.given[k].extents, call.c.common.sizes, call.c.element_bytes(k)};
    core::Layout const own = block;
    std::int64_t before = 0;
    for (int i = 0; i < windows; ++i) {
      if (!call.split(i)) continue;
      Step const s = detail::window_exchange(call, k, i);
      std::int64_t const sent = planning::window_messages(s, z, own);
      block.extent[call.dim(i)] = planning::most_window_rows(s.before, s.from, z, s.window);
      block = block.packed();
      std::int64_t const fetched = mul_sat(block.elements(), z.element_bytes);
      messages = add_sat(messages, sent);
      most = std::max(most, add_sat(add_sat(kept, sent), add_sat(before, fetched)));
      before = fetched;
    }
    kept = add_sat(kept, before);
  }
};

}  // namespace nn::detail

}  // namespace shardtype
