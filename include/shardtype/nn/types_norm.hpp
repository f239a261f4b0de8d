#pragma once
/// Rows that are centred and scaled, as operations.

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <shardtype/check/along.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/check/reduction.hpp>
#include <shardtype/rules/along.hpp>
#include <shardtype/rules/elementwise.hpp>
#include <shardtype/rules/reduction.hpp>

namespace shardtype {

namespace rules {

/// Operands with the dims of the first, and whether those are whole along the label that the
/// operation works on. The first may be an unreduced sum if `how` lets it.
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
namespace nn {

/// Public functions of nn; argument-dependent lookup does not find them (core/namespaces.hpp).
namespace api {}
using namespace api;

}  // namespace nn

namespace nn::kernels {

/// Parts of the rows whose sums are apart. A constant, so that sums have the same bits with any
/// number of threads.
inline constexpr std::int64_t most_parts = 16;
constexpr std::int64_t parts_of(std::int64_t rows) { return rows < most_parts ? rows : most_parts; }

}  // namespace nn::kernels

namespace nn::detail {

using namespace checking;

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
  using gradient = checking::PullsBySaved;
  using from = shardtype::detail::Bare<D>;
  static constexpr std::string_view name = Centred ? "layer_norm" : "rms_norm";
  /// Automatic mode may split rows.
  using row_totals =
      std::conditional_t<Centred, shardtype::reductions::Variance, shardtype::reductions::Norm>;
  static constexpr bool rereads_rows = true;
  double eps = Centred ? 1e-5 : 1e-6;
  static constexpr Verdict rule(rules::Question const& q) { return rules::row_norm(q); }
  template <class A, class... Bs>
  static constexpr Code elements() {
    return nn::detail::real_elements<A, Bs...>();
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {mul_sat(Centred ? 7 : 4, c.elements(0)), 0, false};
  }
  template <class Out, class A, class Gain, class... Bias>
  void fill(Out& out, A const& x, Gain const& gain, Bias const&... bias) const;
  /// The block of the result, of totals.
  template <class T, class Space, class A, class Gain, class... Bias>
  auto joined(execute::JoinedRows<T, Space> const& rows, A const& x, Gain const& gain,
              Bias const&... bias) const;
  static constexpr bool first_order = true;
  template <class V, class A, class Gain, class... Bias>
  constexpr auto save(V const&, A const& x, Gain const& gain, Bias const&...) const;
  template <class G>
  constexpr auto pull(G const& g) const;
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
  template <class Out, class C, class A, class Gain>
  void fill(Out& out, C const& ct, A const& x, Gain const& gain) const;
};
/// The cotangent of the gain, of that of the result and x: a sum over rows, unreduced over the axes
/// that split them.
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
  template <class Out, class C, class A>
  void fill(Out& out, C const& ct, A const& x) const;
};

}  // namespace op

}  // namespace shardtype
