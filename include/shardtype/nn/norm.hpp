#pragma once
/// Rows that are centred and scaled: layer_norm and rms_norm.

#include <source_location>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/nn/run_norm.hpp>

namespace shardtype {

namespace autodiff {

template <bool Centred, class D>
struct Vjp<op::RowNorm<Centred, D>> : Differentiable {
  static constexpr bool first_order = true;
  using Op = op::RowNorm<Centred, D>;
  template <class V, class A, class Gain, class... Bias>
  static constexpr auto save(Op const&, V const&, A const& x, Gain const& gain, Bias const&...) {
    return autodiff::keep(x, gain);
  }
  template <int K, class V, class... As, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    auto const where = std::source_location::current();
    if constexpr (K == 0) {
      return api::call(op::RowNormBack<Centred, D>{op.eps}, where, ct, autodiff::kept<0>(saved),
                       autodiff::kept<1>(saved));
    } else if constexpr (K == 1) {
      return api::call(op::RowNormGain<Centred, D>{op.eps}, where, ct, autodiff::kept<0>(saved));
    } else {
      return autodiff::unbroadcast<tensor_of<nth_t<2, As...>>>(ct);
    }
  }
};

}  // namespace autodiff

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
