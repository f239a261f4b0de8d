#pragma once
/// Rows that are centred and scaled: layer_norm and rms_norm.

#include <cstdint>
#include <source_location>
#include <string_view>
#include <type_traits>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/check/along.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/kernels/runs.hpp>
#include <shardtype/nn/kernels_norm.hpp>
#include <shardtype/rules/along.hpp>
#include <shardtype/rules/elementwise.hpp>
#include <shardtype/rules/reduction.hpp>

namespace shardtype {

namespace rules {

/// Operands with the dims of the first, and whether those are whole along the label that the operation works on. The
/// first may be an unreduced sum if `how` lets it.
constexpr Verdict on_whole_rows(Question const& q, Linearity how) {
  if (Verdict v = unsplit(q, Code::D03_along_split); !v) return v;
  Operands in;
  for (int k = 0; k < q.count; ++k) in.push(q.operands[k]);
  Labels labels;
  for (int d = 0; d < q.a().rank; ++d) labels.push(q.a().dims[d].label);
  for (int k = 1; k < q.count; ++k)
    for (int d = 0; d < q.operands[k].rank; ++d)
      if (!labels.contains(q.operands[k].dims[d].label))
        return refuse(Code::D12_dims_differ, q.operands[k].dims[d].label);
  Verdict const v = elementwise(in, labels, how);
  if (!v) return v;
  AxisList const& axes = v.result.dims[v.result.find(q.along())].axes;
  return axes.size == 0 ? v : refuse(Code::D03_along_split, q.along(), -1, axes[0]);
}
/// Rows, and vectors along them: gain and bias.
constexpr Verdict row_norm(Question const& q) {
  for (int k = 1; k < q.count; ++k)
    if (q.operands[k].rank != 1 || q.operands[k].find(q.along()) < 0)
      return refuse(Code::D12_dims_differ, q.along());
  return on_whole_rows(q, Linearity::none);
}

}  // namespace rules

namespace nn::detail {

using namespace execute;

/// The label of dim `d`.
template <class A, int d>
struct LabelAt;
template <class... Ls, int d>
struct LabelAt<shardtype::detail::Pack<Ls...>, d> {
  using type = autodiff::nth_t<d, Ls...>;
};
template <class A, int d>
using label_at = typename LabelAt<autodiff::labels_of_t<autodiff::tensor_of<A>>, d>::type;

/// The rows of a block along its dim `D`.
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

/// Requirements on elements: real floating numbers of one type.
template <class A, class... Bs>
constexpr rules::Code real_elements() {
  using T = checking::element_t<A>;
  if (!(std::is_same_v<T, checking::element_t<Bs>> && ...))
    return rules::Code::C10_element_types_differ;
  return shardtype::detail::is_real_floating<T> ? rules::Code::ok : rules::Code::P12_not_floating;
}

}  // namespace nn::detail

namespace op {

/// layer_norm along D of x, gain, bias (`Centred`), and rms_norm of x, gain.
template <bool Centred, class D>
struct RowNorm {
  using operation = RowNorm;
  using from = shardtype::detail::Bare<D>;
  static constexpr std::string_view name = Centred ? "layer_norm" : "rms_norm";
  double eps = Centred ? 1e-5 : 1e-6;
  static constexpr Verdict rule(rules::Question const& q) { return rules::row_norm(q); }
  template <class A, class... Bs>
  static constexpr Code elements() {
    return nn::detail::real_elements<A, Bs...>();
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {mul_sat(Centred ? 7 : 4, c.elements(0)), 0, false};
  }
};
template <class D>
using LayerNorm = RowNorm<true, D>;
template <class D>
using RmsNorm = RowNorm<false, D>;

/// The cotangent of x, of that of the result, x and the gain.
template <bool Centred, class D>
struct RowNormBack {
  using operation = RowNormBack;
  using from = shardtype::detail::Bare<D>;
  static constexpr std::string_view name = Centred ? "layer_norm_back" : "rms_norm_back";
  double eps = 0;
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::on_whole_rows(q, rules::Linearity::dividing);
  }
  template <class A, class B, class C>
  static constexpr Code elements() {
    return nn::detail::real_elements<A, B, C>();
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {mul_sat(Centred ? 14 : 10, c.elements(0)), 0, false};
  }
};
/// The cotangent of the gain, of that of the result and x: a sum over rows, unreduced over the axes that split them.
template <bool Centred, class D>
struct RowNormGain {
  using operation = RowNormGain;
  using from = shardtype::detail::Bare<D>;
  static constexpr std::string_view name = Centred ? "layer_norm_gain" : "rms_norm_gain";
  double eps = 0;
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict const v = rules::on_whole_rows(q, rules::Linearity::dividing);
    if (!v) return v;
    Labels kept;
    kept.push(q.along());
    return rules::reduction(v.result, kept, rules::ReductionKind::sum);
  }
  template <class A, class B>
  static constexpr Code elements() {
    return nn::detail::real_elements<A, B>();
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    std::int64_t const length = c.result_elements();
    std::int64_t const rows = length == 0 ? 0 : c.elements(0) / length;
    return {mul_sat(7, c.elements(0)),
            mul_sat(mul_sat(nn::kernels::parts_of(rows), length), sizeof(double)), false};
  }
};

}  // namespace op

namespace execute {

template <bool Centred, class D>
struct Run<op::RowNorm<Centred, D>> : Filled<Run<op::RowNorm<Centred, D>>> {
  template <class Out, class A, class Gain, class... Bias>
  static void fill(op::RowNorm<Centred, D> const& op, Out& out, A const& x, Gain const& gain,
                   Bias const&... bias) {
    using T = typename A::element;
    using Work = nn::kernels::NormRows<Centred, T>;
    typename A::execution_space const exec{};
    T const* added = nullptr;
    ((added = data_of(bias)), ...);
    auto const shape = nn::detail::row_shape<D>(x);
    nn::kernels::each_row("shardtype::norm", exec, shape.length == 0 ? 0 : shape.rows,
                          Work{shape, static_cast<T*>(out.buffer().data()), data_of(x),
                               data_of(gain), added, static_cast<typename Work::W>(op.eps)});
    exec.fence();
  }
};
template <bool Centred, class D>
struct Run<op::RowNormBack<Centred, D>> : Filled<Run<op::RowNormBack<Centred, D>>> {
  template <class Out, class C, class A, class Gain>
  static void fill(op::RowNormBack<Centred, D> const& op, Out& out, C const& ct, A const& x,
                   Gain const& gain) {
    using T = typename A::element;
    using Work = nn::kernels::NormRowsBack<Centred, T>;
    typename A::execution_space const exec{};
    auto const shape = nn::detail::row_shape<D>(x);
    nn::kernels::each_row("shardtype::norm_back", exec, shape.length == 0 ? 0 : shape.rows,
                          Work{shape, static_cast<T*>(out.buffer().data()), data_of(ct), data_of(x),
                               data_of(gain), static_cast<typename Work::W>(op.eps)});
    exec.fence();
  }
};
template <bool Centred, class D>
struct Run<op::RowNormGain<Centred, D>> : Filled<Run<op::RowNormGain<Centred, D>>> {
  template <class Out, class C, class A>
  static void fill(op::RowNormGain<Centred, D> const& op, Out& out, C const& ct, A const& x) {
    using T = typename A::element;
    using W = shardtype::kernels::wide_t<T>;
    typename A::execution_space const exec{};
    auto const shape = nn::detail::row_shape<D>(x);
    Buffer const sums = x.mesh().state().pool().template take<typename A::memory_space>(
        static_cast<std::size_t>(nn::kernels::parts_of(shape.rows) * shape.length) * sizeof(W));
    nn::kernels::norm_gain<Centred>(exec, shape, static_cast<T*>(out.buffer().data()), data_of(ct),
                                    data_of(x), static_cast<W>(op.eps),
                                    static_cast<W*>(sums.data()));
    exec.fence();
  }
};

}  // namespace execute

namespace autodiff {

template <bool Centred, class D>
struct Vjp<op::RowNorm<Centred, D>> : Differentiable {
  static constexpr bool first_order = true;
  using Op = op::RowNorm<Centred, D>;
  template <class V, class A, class Gain, class... Bias>
  static constexpr auto save(Op const&, V const&, A const& x, Gain const& gain, Bias const&...) {
    return keep(x, gain);
  }
  template <int K, class V, class... As, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    auto const where = std::source_location::current();
    if constexpr (K == 0) {
      return call(op::RowNormBack<Centred, D>{op.eps}, where, ct, kept<0>(saved), kept<1>(saved));
    } else if constexpr (K == 1) {
      return call(op::RowNormGain<Centred, D>{op.eps}, where, ct, kept<0>(saved));
    } else {
      return autodiff::unbroadcast<tensor_of<nth_t<2, As...>>>(ct);
    }
  }
};

}  // namespace autodiff

namespace nn {

/// Public functions of nn; argument-dependent lookup does not find them (core/namespaces.hpp).
namespace api {

/// Each row along D with its mean subtracted, divided by its deviation, then times `gain` plus `bias`: (x - mean) /
/// sqrt(var + eps) gain + bias. `x[B@X, S, D]`, `gain[D]`, `bias[D]` -> `[B@X, S, D]`, of float, double or bfloat16
/// (computed in float). D is whole on each rank and may be any dim of x. Reads each row once; the backward pass is a
/// kernel for x and one for the gain.
///
/// Communicates nothing. The gradients of gain and bias are sums over rows, unreduced over the axes that split them:
/// write `used_as<Reduced<X>>(gain)`, or X01. Refused: S01 or D01 no dim D, D03 D split (all_gather it first, or split
/// another dim), D12 a gain or bias with other dims, P02 to P05, P12, C10. First derivatives only, X03. As
/// jax.nn.standardize with gain and bias, torch.nn.functional.layer_norm. Source: Ba, Kiros, Hinton, "Layer
/// normalization", 2016.
template <class D, class A, class Gain, class Bias>
constexpr auto layer_norm(core::Argument<A> const& x, Gain const& gain, Bias const& bias,
                          double eps = 1e-5,
                          checking::CallSite where = std::source_location::current()) {
  return call(op::LayerNorm<D>{eps}, where, x.self(), gain, bias);
}

/// Each row along D divided by the root of its mean square, times `gain`: x / sqrt(mean(x^2) + eps) gain. Otherwise as
/// layer_norm. As torch.nn.functional.rms_norm. Source: Zhang, Sennrich, "Root mean square layer normalization",
/// NeurIPS 2019.
template <class D, class A, class Gain>
constexpr auto rms_norm(core::Argument<A> const& x, Gain const& gain, double eps = 1e-6,
                        checking::CallSite where = std::source_location::current()) {
  return call(op::RmsNorm<D>{eps}, where, x.self(), gain);
}

}  // namespace api
using namespace api;

}  // namespace nn

}  // namespace shardtype
