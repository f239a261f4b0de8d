#pragma once
/// Elementwise operations: the sharding of their results, and their effect on unreduced operands.

#include <shardtype/rules/contraction.hpp>
#include <shardtype/rules/verdict.hpp>

namespace shardtype::rules {

/// The class of an elementwise function by its treatment of unreduced operands.
enum class Linearity : std::int8_t {
  none,      ///< f(a, b, ...): not of unreduced values
  linear,    ///< -a, real(a), additive casts: f(a + b) = f(a) + f(b)
  additive,  ///< a + b, a - b
  scaling,   ///< a * b: linear in each operand
  dividing,  ///< floating a / b: linear in a
  maximum,   ///< max(a, b)
  minimum,   ///< min(a, b)
  choosing   ///< where(p, a, b): linear in a and b together
};

/// The operands of an elementwise operation. A C++ number is an operand without dims.
struct Operands {
  static constexpr int most = 8;
  int size = 0;
  Spec at[most]{};
  bool zero[most]{};  ///< whether the operand is the constant `op::Zero`

  constexpr void push(Spec const& s, bool is_zero = false) {
    zero[size] = is_zero;
    at[size++] = s;
  }
};

/// Index of the first operand that has all labels of the others; -1 if there is none.
constexpr int covering(Operands const& in) {
  for (int k = 0; k < in.size; ++k) {
    Labels const mine = labels_of(in.at[k]);
    bool all = true;
    for (int m = 0; m < in.size; ++m)
      for (int d = 0; d < in.at[m].rank; ++d) all = all && mine.contains(in.at[m].dims[d].label);
    if (all) return k;
  }
  return -1;
}

/// The labels of the operand that has all labels of the others; P01 if there is none.
constexpr Verdict common_labels(Operands const& in, Labels& out) {
  if (int const k = covering(in); k >= 0) {
    out = labels_of(in.at[k]);
    return {};
  }
  // finds two labels that no operand has together
  for (int d = 0; d < in.at[0].rank; ++d) {
    int const l = in.at[0].dims[d].label;
    for (int m = 1; m < in.size; ++m)
      if (in.at[m].find(l) < 0)
        for (int e = 0; e < in.at[m].rank; ++e)
          if (in.at[0].find(in.at[m].dims[e].label) < 0)
            return refuse(Code::P01_no_operand_has_all, l, in.at[m].dims[e].label);
  }
  return refuse(Code::P01_no_operand_has_all);
}

/// Whether the operands' states along axis `x`, over which some are unreduced, suit the function.
constexpr Verdict unreduced_axis(Operands const& in, Linearity how, int x) {
  auto const no = [x](Code code) { return refuse(code, -1, -1, x); };
  int pending = 0;
  ReduceKind kind = ReduceKind::sum;
  for (int k = 0; k < in.size; ++k) {
    if (AxisState const s = in.at[k].state(x); s == AxisState::split || s == AxisState::varying)
      return no(Code::P06_unreduced_and_split);
    if (in.at[k].state(x) != AxisState::unreduced) continue;
    if (pending > 0 && in.at[k].kind != kind) return no(Code::P08_kinds_differ);
    kind = in.at[k].kind;
    ++pending;
  }
  bool const sum = kind == ReduceKind::sum;
  switch (how) {
    case Linearity::none:
      return no(Code::P04_not_linear);
    case Linearity::linear:
      return sum ? Verdict{} : no(Code::P08_kinds_differ);
    case Linearity::additive:
      if (!sum) return no(Code::P08_kinds_differ);
      return pending == in.size ? Verdict{} : no(Code::P05_unreduced_and_whole);
    case Linearity::scaling:
      if (!sum) return no(Code::P08_kinds_differ);
      return pending == 1 ? Verdict{} : no(Code::P07_two_unreduced);
    case Linearity::dividing:
      if (in.at[1].state(x) == AxisState::unreduced) return no(Code::P04_not_linear);
      return sum ? Verdict{} : no(Code::P08_kinds_differ);
    case Linearity::maximum:
      return kind == ReduceKind::max ? Verdict{} : no(Code::P08_kinds_differ);
    case Linearity::minimum:
      return kind == ReduceKind::min ? Verdict{} : no(Code::P08_kinds_differ);
    case Linearity::choosing:
      if (in.at[0].state(x) == AxisState::unreduced) return no(Code::P04_not_linear);
      for (int k = 1; k < in.size; ++k)
        if (in.at[k].state(x) != AxisState::unreduced && !(sum && in.zero[k]))
          return no(Code::P05_unreduced_and_whole);
      return {};
  }
  return {};
}

/// The sharding of an elementwise function of `in`, or the refusal. `out` are the result's labels,
/// which include all labels of the operands. For each label the longest list of axes wins; the
/// others must be a prefix of it, and are sliced, for free. Communicates nothing.
///
/// Per axis: S with I or R is S; R with I is R; U if the function allows it (design: unreduced
/// algebra). JAX's rule (lax.py, broadcasting_sharding_rule) also lets replicated operands be
/// sliced.
constexpr Verdict elementwise(Operands const& in, Labels const& out, Linearity how) {
  Spec c;
  for (int k = 0; k < out.size; ++k) {
    AxisList longest;
    for (int m = 0; m < in.size; ++m) {
      AxisList const mine = axes_on(in.at[m], out.at[k]);
      if (!mine.starts_with(longest) && !longest.starts_with(mine))
        return refuse(Code::P02_lists_differ, out.at[k], -1, mine[0]);
      if (mine.size > longest.size) longest = mine;
    }
    for (int a = 0; a < longest.size; ++a)
      if (int const d = c.dim_of(longest[a]); d >= 0)
        return refuse(Code::P03_axis_splits_two, c.dims[d].label, out.at[k], longest[a]);
    c.add(out.at[k], longest);
  }
  bool first = true;
  for (int x = 0; x < max_axes; ++x) {
    bool pending = false;
    bool reduced = false;
    for (int m = 0; m < in.size; ++m) {
      AxisState const state = in.at[m].state(x);
      reduced = reduced || state == AxisState::reduced;
      if (state != AxisState::unreduced) continue;
      pending = true;
      if (!first && c.kind != in.at[m].kind) return refuse(Code::P08_kinds_differ, -1, -1, x);
      c.kind = in.at[m].kind;
      first = false;
    }
    if (pending) {
      if (Verdict v = unreduced_axis(in, how, x); !v) return v;
      c.unreduced.insert(x);
    } else if (reduced && c.dim_of(x) < 0) {
      c.reduced.insert(x);
    }
  }
  return accept(c);
}

/// The same, with the labels of the operand that has all labels; refused (P01) if none has.
constexpr Verdict elementwise(Operands const& in, Linearity how) {
  Labels out;
  if (Verdict v = common_labels(in, out); !v) return v;
  return elementwise(in, out, how);
}

/// Whether an elementwise result may have the named sharding `wanted`. It must have exactly the
/// operands' labels. Where the strict rule refuses, operands are reduced and resharded first;
/// otherwise the result is resharded.
constexpr Verdict named_elementwise(Operands const& in, Spec const& wanted, Linearity how) {
  for (int d = 0; d < wanted.rank; ++d) {
    bool found = false;
    for (int m = 0; m < in.size; ++m) found = found || in.at[m].find(wanted.dims[d].label) >= 0;
    if (!found) return refuse(Code::N01_unknown_index, wanted.dims[d].label);
  }
  for (int m = 0; m < in.size; ++m)
    for (int d = 0; d < in.at[m].rank; ++d)
      if (wanted.find(in.at[m].dims[d].label) < 0)
        return refuse(Code::N02_missing_index, in.at[m].dims[d].label);
  Verdict const strict = elementwise(in, labels_of(wanted), how);
  if (Verdict v =
          refuse_any(Code::N04_nothing_unreduced, wanted.unreduced - strict.result.unreduced);
      !v)
    return v;
  if (!wanted.unreduced.empty() && strict.result.kind != wanted.kind)
    return refuse(Code::N03_wrong_kind);
  return accept(wanted);
}

/// The sharding of an operand when the function runs, for a result named `wanted`: its own if the
/// strict rule accepts; else reduced, and split like the result.
constexpr Spec elementwise_operand(Operands const& in, int which, Spec const& wanted,
                                   Linearity how) {
  Spec const& s = in.at[which];
  if (elementwise(in, labels_of(wanted), how)) return s;
  Spec out;
  for (int d = 0; d < s.rank; ++d) out.add(s.dims[d].label, axes_on(wanted, s.dims[d].label));
  out.reduced = s.reduced - out.mentioned();
  return out;
}

}  // namespace shardtype::rules
