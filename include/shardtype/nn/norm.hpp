#pragma once
/// Rows that are centred and scaled: layer_norm and rms_norm.

#include <cstddef>
#include <cstdint>
#include <source_location>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/execute/reduce_run.hpp>
#include <shardtype/kernels/runs.hpp>
#include <shardtype/nn/kernels_norm.hpp>
#include <shardtype/nn/types_norm.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/tensor/block_layout.hpp>

namespace shardtype {

namespace nn::detail {

using namespace execute;

template <class D, class A>
kernels::RowShape row_shape(A const& a) {
  constexpr int d = execute::dim_of<A, D>;
  shardtype::kernels::Layout const block = shardtype::detail::block_layout(a.rows());
  std::int64_t const inner = shardtype::kernels::inner_length(block, d);
  std::int64_t const length = block.extent[d];
  std::int64_t rows = 1;
  for (int e = 0; e < block.rank; ++e)
    if (e != d) rows *= block.extent[e];
  return {rows, length, inner};
}
/// Calls `work(row)` for `rows` rows where the block of an `A` is, on a device by a team or by a
/// call per element if `Work` says how, and waits.
template <class A, class Work>
void run_rows(char const* name, std::int64_t rows, Work const& work) {
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  constexpr bool on_device = !runtime::host_reads<typename A::memory_space>;
  if constexpr (on_device && requires { Work::by_teams; }) {
    kernels::each_row_by_team(name, exec, rows, work.row_length(), work);
  } else if constexpr (on_device && requires { work.elements(rows); }) {
    kernels::each_element(name, exec, work.elements(rows), work);
  } else {
    kernels::each_row(name, exec, rows, work);
  }
  runtime::fence(exec);
}

}  // namespace nn::detail

namespace op {

template <bool Centred, class D>
template <class Out, class A, class Gain, class... Bias>
void RowNorm<Centred, D>::fill(Out& out, A const& x, Gain const& gain, Bias const&... bias) const {
  using T = typename A::element;
  using Body = nn::kernels::NormRows<Centred, T>;
  T const* added = nullptr;
  ((added = execute::data_of(bias)), ...);
  auto const shape = nn::detail::row_shape<D>(x);
  nn::detail::run_rows<A>("shardtype::norm", shape.length == 0 ? 0 : shape.rows,
                          Body{shape, execute::written(out), execute::data_of(x),
                               execute::data_of(gain), added, static_cast<typename Body::W>(eps)});
}
template <bool Centred, class D>
template <class T, class Space, class A, class Gain, class... Bias>
auto RowNorm<Centred, D>::joined(execute::JoinedRows<T, Space> const& rows, A const& x,
                                 Gain const& gain, Bias const&... bias) const {
  using Total = shardtype::detail::sent_t<execute::reducer_t<row_totals, T>>;
  using Body = nn::kernels::NormRows<Centred, T, Total>;
  T const* added = nullptr;
  ((added = execute::data_of(bias)), ...);
  auto const shape = nn::detail::row_shape<D>(x);
  runtime::Buffer out = rows.template take<T>(rows.layout.elements());
  nn::detail::run_rows<A>(
      "shardtype::norm", shape.length == 0 ? 0 : shape.rows,
      Body{shape, static_cast<T*>(out.data()), execute::data_of(x), execute::data_of(gain), added,
           static_cast<typename Body::W>(eps), static_cast<Total const*>(rows.totals.data()),
           static_cast<typename Body::W>(rows.terms)});
  return out;
}
template <bool Centred, class D>
template <class Out, class C, class A, class Gain>
void RowNormBack<Centred, D>::fill(Out& out, C const& ct, A const& x, Gain const& gain) const {
  using T = typename A::element;
  using Body = nn::kernels::NormRowsBack<Centred, T>;
  auto const shape = nn::detail::row_shape<D>(x);
  nn::detail::run_rows<A>(
      "shardtype::norm_back", shape.length == 0 ? 0 : shape.rows,
      Body{shape, execute::written(out), execute::data_of(ct), execute::data_of(x),
           execute::data_of(gain), static_cast<typename Body::W>(eps)});
}
template <bool Centred, class D>
template <class Out, class C, class A>
void RowNormGain<Centred, D>::fill(Out& out, C const& ct, A const& x) const {
  using T = typename A::element;
  using W = shardtype::kernels::wide_t<T>;
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  auto const shape = nn::detail::row_shape<D>(x);
  using Space = typename A::memory_space;
  runtime::Pool& pool = x.mesh().state().pool();
  runtime::Buffer const sums = pool.template take<Space>(
      static_cast<std::size_t>(nn::kernels::parts_of(shape.rows) * shape.length) * sizeof(W));
  using Scale = nn::kernels::RowScale<W>;
  runtime::Buffer scales;
  if constexpr (!runtime::host_reads<Space>)
    scales = pool.template take<Space>(static_cast<std::size_t>(shape.rows) * sizeof(Scale),
                                       runtime::Pool::Use::workspace);
  nn::kernels::norm_gain<Centred>(exec, shape, execute::written(out), execute::data_of(ct),
                                  execute::data_of(x), static_cast<W>(eps),
                                  static_cast<W*>(sums.data()), static_cast<Scale*>(scales.data()));
  runtime::fence(exec);
}

}  // namespace op

namespace op {

template <bool Centred, class D>
template <class V, class A, class Gain, class... Bias>
constexpr auto RowNorm<Centred, D>::save(V const&, A const& x, Gain const& gain,
                                         Bias const&...) const {
  return autodiff::keep(x, gain);
}

template <bool Centred, class D>
template <class G>
constexpr auto RowNorm<Centred, D>::pull(G const& g) const {
  if constexpr (G::operand == 0) {
    return g.call(op::RowNormBack<Centred, D>{eps}, g.ct, g.template kept<0>(),
                  g.template kept<1>());
  } else if constexpr (G::operand == 1) {
    return g.call(op::RowNormGain<Centred, D>{eps}, g.ct, g.template kept<0>());
  } else {
    return g.unbroadcast();
  }
}

}  // namespace op

namespace nn::api {

/// Each row along D with its mean subtracted, divided by its deviation, then times `gain` plus
/// `bias`: (x - mean) / sqrt(var + eps) gain + bias. `x[B@X, S, D]`, `gain[D]`, `bias[D]` -> `[B@X,
/// S, D]`, of float, double or bfloat16 (computed in float). D is whole on each rank and may be any
/// dim of x. Reads each row once; the backward pass is a kernel for x and one for the gain.
///
/// Communicates nothing. The gradients of gain and bias are sums over rows, unreduced over the axes
/// that split them: write `used_as<Reduced<X>>(gain)`, or X01. Refused: S01 or D01 no dim D, D03 D
/// split (all_gather it first, or split another dim), D12 a gain or bias with other dims, P02 to
/// P05, P12, C10. First derivatives only, X03. As jax.nn.standardize with gain and bias,
/// torch.nn.functional.layer_norm. Source: Ba, Kiros, Hinton, "Layer normalization", 2016.
template <class D, class A, class Gain, class Bias>
constexpr auto layer_norm(core::Argument<A> const& x, Gain const& gain, Bias const& bias,
                          double eps = 1e-5, checking::CallSite where = {}) {
  return shardtype::call(op::LayerNorm<D>{eps}, where, x.self(), gain, bias);
}

/// Each row along D divided by the root of its mean square, times `gain`: x / sqrt(mean(x^2) + eps)
/// gain. Otherwise as layer_norm. As torch.nn.functional.rms_norm. Source: Zhang, Sennrich, "Root
/// mean square layer normalization", NeurIPS 2019.
template <class D, class A, class Gain>
constexpr auto rms_norm(core::Argument<A> const& x, Gain const& gain, double eps = 1e-6,
                        checking::CallSite where = {}) {
  return shardtype::call(op::RmsNorm<D>{eps}, where, x.self(), gain);
}

}  // namespace nn::api

}  // namespace shardtype
