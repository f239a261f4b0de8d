#pragma once
/// The labels of a convolution, and its rule.

#include <shardtype/nn/types_windows.hpp>
#include <shardtype/plan/product_layout.hpp>
#include <shardtype/rules/contraction.hpp>

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
  for (int i = 0; i < s.count; ++i) {
    int const window = l.windows.at[i], made = l.made.at[i], kernel = l.kernels.at[i];
    if (Verdict v = window_options(s.options[i], window); !v) return v;
    if (Verdict v = window_dim(a, window); !v) return v;
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
                                   forward ? made : window, q.extents[kernel], kernel);
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

/// The operands of a convolution with a named result: sliced as the result is; while the rule
/// refuses them because of a mesh axis, one is gathered (or reduced) over it: the kernel if the
/// result has the axis where the other operand has it, or if it is split along its own dims.
constexpr planning::LocalPlan conv_operands(rules::Question q, WindowsInfo const& s, ConvKind kind,
                                            Spec const& wanted) {
  ConvLabels const l(kind, s, q.a(), q.operands[1], q.from, q.to);
  Spec const like = detail::as_operand(wanted, l.windows, l.made);
  planning::LocalPlan out;
  out.count = 2;
  out.operands[0] = planning::sliced_as(q.a(), like);
  out.operands[1] = planning::sliced_as(q.operands[1], wanted);
  q.operands = out.operands;
  Verdict v = rules::conv(q, s, kind);
  for (int round = 0; !v && v.axis >= 0 && round < 4 * max_axes; ++round) {
    Spec& a = out.operands[0];
    int const d = a.dim_of(v.axis), w = like.dim_of(v.axis);
    bool const keeps = d >= 0 && w >= 0 && a.dims[d].label == like.dims[w].label;
    bool const kernel_first = keeps || v.code == rules::Code::D03_along_split;
    if (!planning::take_off(out.operands[kernel_first ? 1 : 0], v.axis) &&
        !planning::take_off(out.operands[kernel_first ? 0 : 1], v.axis))
      break;
    v = rules::conv(q, s, kind);
  }
  return planning::arrive(out, v, wanted);
}

}  // namespace nn::detail

}  // namespace shardtype
