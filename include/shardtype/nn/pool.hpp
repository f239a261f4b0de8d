#pragma once
/// Pools: the largest elements and the means of windows.

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <tuple>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/nn/kernels_pool.hpp>
#include <shardtype/nn/labels.hpp>
#include <shardtype/nn/types_pool.hpp>
#include <shardtype/nn/window_rows.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype {

namespace nn::detail {

/// The block of an operand of a pool, with the rows that other ranks hold.
template <class T, class Space>
struct PoolBlock : execute::WidenedBlock<T, Space> {
  core::Range rows[max_windows]{};
};
/// The block of operand number `k` of `Op`, with the rows that its results need. Collective where a
/// dim of a window is split and the operand is one of `exchanged`.
template <class Rule, int k, class Op, class A>
PoolBlock<typename A::element, typename A::memory_space> pool_block(
    Op const&, std::source_location const& where, A const& a, PoolCall const& call) {
  using T = typename A::element;
  constexpr Spec s = Rule::S::parsed[k].spec;
  PoolBlock<T, typename A::memory_space> out{
      {execute::data_of(a), shardtype::detail::block_layout(a.rows())}};
  for (int i = 0; i < call.info.windows.count; ++i) {
    int const d = call.dim(i);
    out.rows[i] = detail::rows_at(a, s, d);
    if (!call.split(i) || k >= call.exchanged()) continue;
    auto const map = runtime::map_axes(a.mesh().state(), Rule::S::names);
    planning::Sizing const z{planning::extents_by_label(s, a.extents().data()), map.sizes,
                             sizeof(T)};
    planning::Window const w = call.window(i);
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): names are literals
    char const* const name = Op::name.data();
    out.rows[i] = out.fetch(a.mesh().state(), map, z, s, planning::operand_slot(k), d, w,
                            {where, name, w.low, w.high});
  }
  return out;
}

/// Writes the block of a pool's result, and the taps where these are wanted; of tensors with the
/// rows that other ranks hold.
template <class Op, class Out, class A, class... Taps>
void fill_pool(Op const& op, std::source_location const& where, Out& out, tap_number* chosen,
               A const& a, Taps const&... taps) {
  using T = typename A::element;
  using Exec = typename A::execution_space;
  using Rule = shardtype::detail::RuleOf<Op, A, Taps...>;
  constexpr PoolKind kind = Op::kind;
  constexpr PoolsInfo info = Op::parts::info;
  constexpr int count = info.windows.count;
  constexpr std::size_t operands = 1 + sizeof...(Taps);
  constexpr Spec of_out = Rule::verdict.result;
  constexpr std::size_t most = kernels::pool_tile<Exec>;

  // the numbers of the windows, from the extents of this call
  Spec specs[operands];
  for (std::size_t k = 0; k < operands; ++k) specs[k] = Rule::S::parsed[k].spec;
  planning::OwnSizing given[operands];
  given[0].extents = planning::extents_by_label(specs[0], a.extents().data());
  planning::CallSizing sizing;
  sizing.operands = specs;
  sizing.count = static_cast<int>(operands);
  sizing.result = of_out;
  sizing.from = Rule::S::parsed[operands].spec;
  sizing.to = Rule::S::parsed[operands + 1].spec;
  sizing.given = given;
  sizing.made.extents = planning::extents_by_label(of_out, out.extents().data());
  PoolCall const call(kind, info, sizing);

  auto const block = detail::pool_block<Rule, 0>(op, where, a, call);
  [[maybe_unused]] auto const with_taps = [&] {
    if constexpr (operands > 1) {
      return std::tuple(detail::pool_block<Rule, 1>(op, where, taps, call)...);
    } else {
      return std::tuple();
    }
  }();
  auto const made = shardtype::detail::block_layout(out.rows());
  if (made.elements() == 0) return;
  int dims[max_windows]{};
  core::Range own[max_windows];
  for (int i = 0; i < count; ++i) {
    dims[i] = call.dim(i);
    own[i] = detail::rows_at(out, of_out, of_out.find(call.labels.made.at[i]));
  }
  constexpr bool back = makes_rows(kind);
  PoolSizes sizes = detail::pool_sizes(made, count, dims, call.numbers, back ? own : block.rows,
                                       back ? block.rows : own);
  if constexpr (requires { op.options.count_include_pad; })
    sizes.count_all = op.options.count_include_pad;
  kernels::PoolTiles const tiles(sizes, back, static_cast<std::int64_t>(most));
  T* const to = execute::written(out);
  Exec const& exec = runtime::instance<Exec>();
  if constexpr (kind == PoolKind::max_back) {
    kernels::PoolCotangents<kind, T, most> const work{sizes, tiles, block.data, to,
                                                      std::get<0>(with_taps).data};
    shardtype::kernels::launch(exec, "shardtype::pool_back", tiles.calls, work);
  } else if constexpr (kind == PoolKind::avg_back) {
    kernels::PoolCotangents<kind, T, most> const work{sizes, tiles, block.data, to, nullptr};
    shardtype::kernels::launch(exec, "shardtype::pool_back", tiles.calls, work);
  } else if constexpr (kind == PoolKind::take) {
    kernels::PoolPlaces<kind, T, most> const work{sizes, tiles, block.data, to,
                                                  std::get<0>(with_taps).data};
    shardtype::kernels::launch(exec, "shardtype::pool", tiles.calls, work);
  } else {
    kernels::PoolPlaces<kind, T, most> const work{sizes, tiles, block.data, to, chosen};
    shardtype::kernels::launch(exec, "shardtype::pool", tiles.calls, work);
  }
  runtime::fence(exec);
}
/// The result of a pool of tensors.
template <class R, class Op, class A, class... Taps>
typename R::result run_pool(Op const& op, std::source_location const& where, A const& a,
                            Taps const&... taps) {
  using Out = typename R::result;
  Out out =
      shardtype::detail::uninitialized<Out>(a.mesh(), execute::result_extents<R>(op, a, taps...));
  if (a.mesh().here()) detail::fill_pool(op, where, out, nullptr, a, taps...);
  return out;
}
/// The extents of the operand of the pull `g` along the dims `Ls`.
template <class G, class... Ls>
constexpr auto rows_along(G const& g, Labels<Ls...>) {
  std::array<std::int64_t, max_windows> out{};
  std::size_t i = 0;
  ((out[i++] = g.template rows<Ls>()), ...);
  return out;
}

}  // namespace nn::detail

namespace op {

template <class... Ps>
template <class R, class A>
typename R::result MaxPool<Ps...>::run(std::source_location const& where, A const& x) const {
  return nn::detail::run_pool<R>(*this, where, x);
}
template <class... Ps>
template <class R, class A>
typename R::results MaxPoolTaps<Ps...>::run(std::source_location const& where, A const& x) const {
  typename R::results both = execute::results_to_write<R>(*this, x);
  if (x.mesh().here())
    nn::detail::fill_pool(*this, where, std::get<0>(both), execute::written(std::get<1>(both)), x);
  return both;
}
template <class... Ps>
template <class R, class A, class Taps>
typename R::result PoolTake<Ps...>::run(std::source_location const& where, A const& v,
                                        Taps const& taps) const {
  return nn::detail::run_pool<R>(*this, where, v, taps);
}
template <class... Ps>
template <class R, class A, class Taps>
typename R::result MaxPoolBack<Ps...>::run(std::source_location const& where, A const& ct,
                                           Taps const& taps) const {
  return nn::detail::run_pool<R>(*this, where, ct, taps);
}
template <class... Ps>
template <class R, class A>
typename R::result AvgPool<Ps...>::run(std::source_location const& where, A const& x) const {
  return nn::detail::run_pool<R>(*this, where, x);
}
template <class... Ps>
template <class R, class A>
typename R::result AvgPoolBack<Ps...>::run(std::source_location const& where, A const& ct) const {
  return nn::detail::run_pool<R>(*this, where, ct);
}
template <class... Ps>
template <class Out, class A>
void MaxPool<Ps...>::fill(Out& out, A const& x) const {
  nn::detail::fill_pool(*this, {}, out, nullptr, x);
}
template <class... Ps>
template <class Out, class Taps, class A>
void MaxPoolTaps<Ps...>::fill(Out& out, Taps& taps, A const& x) const {
  nn::detail::fill_pool(*this, {}, out, execute::written(taps), x);
}
template <class... Ps>
template <class Out, class A, class Taps>
void PoolTake<Ps...>::fill(Out& out, A const& v, Taps const& taps) const {
  nn::detail::fill_pool(*this, {}, out, nullptr, v, taps);
}
template <class... Ps>
template <class Out, class A, class Taps>
void MaxPoolBack<Ps...>::fill(Out& out, A const& ct, Taps const& taps) const {
  nn::detail::fill_pool(*this, {}, out, nullptr, ct, taps);
}
template <class... Ps>
template <class Out, class A>
void AvgPool<Ps...>::fill(Out& out, A const& x) const {
  nn::detail::fill_pool(*this, {}, out, nullptr, x);
}
template <class... Ps>
template <class Out, class A>
void AvgPoolBack<Ps...>::fill(Out& out, A const& ct) const {
  nn::detail::fill_pool(*this, {}, out, nullptr, ct);
}

template <class... Ps>
template <class A>
constexpr auto MaxPool<Ps...>::forward(std::source_location const& where, A const& x) const {
  auto const both = shardtype::call(MaxPoolTaps<Ps...>{}, where, x);
  return autodiff::Forward{std::get<0>(both), autodiff::keep(x.extents(), std::get<1>(both))};
}
template <class... Ps>
template <class G>
constexpr auto MaxPool<Ps...>::pull(G const& g) const {
  auto const rows = nn::detail::rows_along(g, typename MaxPool::parts::images{});
  return g.call(MaxPoolBack<Ps...>{{rows}}, g.ct, g.template kept<1>());
}
template <class... Ps>
template <std::size_t, class V, class A>
constexpr auto MaxPoolTaps<Ps...>::save(V const& both, A const& x) const {
  return autodiff::keep(x.extents(), std::get<1>(both));
}
template <class... Ps>
template <class G>
constexpr auto MaxPoolTaps<Ps...>::pull(G const& g) const {
  return MaxPool<Ps...>{}.pull(g);
}
template <class... Ps>
template <class G>
constexpr auto PoolTake<Ps...>::pull(G const& g) const {
  auto const rows = nn::detail::rows_along(g, typename PoolTake::parts::images{});
  return g.with_ids(MaxPoolBack<Ps...>{{rows}}, g.ct);
}
template <class... Ps>
template <class G>
constexpr auto MaxPoolBack<Ps...>::pull(G const& g) const {
  return g.with_ids(PoolTake<Ps...>{}, g.ct);
}
template <class... Ps>
template <class G>
constexpr auto AvgPool<Ps...>::pull(G const& g) const {
  auto const rows = nn::detail::rows_along(g, typename AvgPool::parts::images{});
  return g(AvgPoolBack<Ps...>{{rows}, options});
}
template <class... Ps>
template <class G>
constexpr auto AvgPoolBack<Ps...>::pull(G const& g) const {
  return g(AvgPool<Ps...>{{}, options});
}

}  // namespace op

namespace nn::api {

/// The largest element of each window, of windows along one to three dims:
///
///     auto y = nn::max_pool<nn::Pool<H, 2>, nn::Pool<W, 2>>(x);
///     auto z = nn::max_pool<nn::Pool<H, 3, nn::WindowOptions{.stride = 2, .before = 1}, OH>>(x);
///
/// `x[N, H, W, C]` -> `[N, H, W, C]`, of all elements but complex numbers. Element h of the result
/// is the largest of the rows h stride - before + t dilation of x, t from 0 to the size; rows
/// beyond the ends do not count, and of no rows it is -infinity, of integers the least one. A NaN
/// in a window makes a NaN. `nn::Pool<H, 2>` has the stride 2; of options the stride is theirs, 1
/// unless they say another. The result has x's dims in their order, of which `nn::Pool<H, size,
/// options, OH>` names one; without, it is H, whose type must not fix an extent that changes.
///
/// Shardings: those of x; any dims may be split. Where axes split dims of windows, each rank
/// fetches the rows that its results need from those that hold them (the plan gives the bytes), one
/// dim after the other and over several blocks, too; otherwise nothing is sent. The gradient goes
/// to the first of the largest elements, row-major in the order of x's dims, and fetches rows of
/// the cotangent and of the taps, which the forward pass keeps in 4 bytes each. Derivatives of any
/// order. In blocks of a `shard_map` and in automatic mode the dims of windows are not split.
///
/// `nn::max_pool<nn::Pool<H, 2>, Dim<N>, Dim<H, X>, Dim<C>>(x)` names the result behind the pools:
/// x is sliced as it is, or gathered where the rule refuses it, and the result is resharded.
///
/// Refused: D01, D02, D05, D06, D24 labels, D25 options, D27 a window longer than the rows, B03,
/// P04 unreduced values, S04 complex numbers; named N05, V14, R01 to R04. Errors: E41 windows that
/// do not fit. As torch.nn.functional.max_pool1d, 2d, 3d, flax.linen.max_pool and
/// jax.lax.reduce_window.
template <nn::detail::IsPool P, class... Parts, class A>
constexpr auto max_pool(core::Argument<A> const& x, checking::CallSite where = {}) {
  using Call = nn::detail::WindowCall<nn::detail::Labels<P>, Parts...>;
  return shardtype::call(Call::named(typename Call::template strict<op::MaxPool>{}), where,
                         x.self());
}

/// The mean of each window, whose rows beyond the ends are zeros, and count with `{}`, as PyTorch's
/// and Flax's do, and not with `{.count_include_pad = false}` (a mean of no rows is NaN). Of float,
/// double or bfloat16, computed in float. Notation, result, shardings and what is sent as of
/// max_pool; linear, so that unreduced sums stay so. The gradient fetches rows of the cotangent.
/// Refused: as max_pool but S04 and P04, P08 pending extremes, P12 integers and complex numbers.
/// Errors: E41. As torch.nn.functional.avg_pool1d, 2d, 3d and flax.linen.avg_pool.
template <nn::detail::IsPool P, class... Parts, class A>
constexpr auto avg_pool(core::Argument<A> const& x, AvgPoolOptions const& options = {},
                        checking::CallSite where = {}) {
  using Call = nn::detail::WindowCall<nn::detail::Labels<P>, Parts...>;
  return shardtype::call(Call::named(typename Call::template strict<op::AvgPool>{{}, options}),
                         where, x.self());
}

}  // namespace nn::api

}  // namespace shardtype
