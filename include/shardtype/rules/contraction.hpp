#pragma once
/// Contractions: the sharding of the product of two sharded tensors, without communication.
///
/// Every mesh axis is judged by its role in both operands; docs/rules.md has the table.

#include <shardtype/rules/verdict.hpp>

namespace shardtype::rules {

/// The labels of a result, in order; the other labels of the operands are summed over.
struct Labels {
  std::int8_t size = 0;
  std::int8_t at[max_dims]{};

  constexpr void push(int label) { at[size++] = static_cast<std::int8_t>(label); }
  constexpr bool contains(int label) const {
    for (int k = 0; k < size; ++k)
      if (at[k] == label) return true;
    return false;
  }
  friend constexpr bool operator==(Labels const&, Labels const&) = default;
};

/// The labels of `s`, in order.
constexpr Labels labels_of(Spec const& s) {
  Labels out;
  for (int d = 0; d < s.rank; ++d) out.push(s.dims[d].label);
  return out;
}

/// The role of a label in a product.
enum class LabelRole : std::int8_t {
  free_a,      ///< in a and the result
  free_b,      ///< in b and the result
  batch,       ///< in both and the result
  contracted,  ///< in both, not in the result
  summed_a,    ///< in a alone, not in the result
  summed_b,    ///< in b alone, not in the result
  absent
};

constexpr LabelRole role_of(int label, Spec const& a, Spec const& b, Labels const& out) {
  bool const in_a = a.find(label) >= 0;
  bool const in_b = b.find(label) >= 0;
  bool const kept = out.contains(label);
  if (in_a && in_b) return kept ? LabelRole::batch : LabelRole::contracted;
  if (in_a) return kept ? LabelRole::free_a : LabelRole::summed_a;
  if (in_b) return kept ? LabelRole::free_b : LabelRole::summed_b;
  return LabelRole::absent;
}

/// The axes that split label `l` of `s`; empty if `s` has no such dim.
constexpr AxisList axes_on(Spec const& s, int l) {
  int const d = s.find(l);
  return d < 0 ? AxisList{} : s.dims[d].axes;
}

constexpr bool same_axes(AxisList const& a, AxisList const& b) {
  if (a.size != b.size) return false;
  for (int k = 0; k < a.size; ++k)
    if (!b.contains(a[k])) return false;
  return true;
}

/// An axis over which `u` is unreduced: the other operand must be replicated along it.
constexpr Verdict unreduced_axis(Spec const& u, Spec const& other, int x) {
  if (u.kind != ReduceKind::sum) return refuse(Code::C08_extremum_operand, -1, -1, x);
  AxisState const o = other.state(x);
  if (o == AxisState::unreduced || o == AxisState::split || o == AxisState::varying)
    return refuse(Code::C07_not_linear, -1, -1, x);
  return {};
}

/// A label of both operands: whether their splits agree.
constexpr Verdict shared_label(int l, bool batch, AxisList const& in_a, AxisList const& in_b) {
  if (in_a == in_b) return {};
  if (batch) {
    if (in_a.starts_with(in_b) || in_b.starts_with(in_a)) return {};
    return refuse(Code::C09_batch_lists_differ, l);
  }
  if (same_axes(in_a, in_b) && in_a.cyclic != in_b.cyclic)
    return refuse(Code::B06_block_sizes_differ, l, -1, in_a[0]);
  if (same_axes(in_a, in_b)) return refuse(Code::C06_order_differs, l, -1, in_a[0]);
  for (int k = 0; k < in_a.size; ++k)
    if (!in_b.contains(in_a[k])) return refuse(Code::C02_one_side_only, l, -1, in_a[k]);
  for (int k = 0; k < in_b.size; ++k)
    if (!in_a.contains(in_b[k])) return refuse(Code::C02_one_side_only, l, -1, in_b[k]);
  return {};
}

/// The strict product of `a` and `b` with the labels `out`: its sharding, or the refusal.
/// Communicates nothing; the result is unreduced over the axes of the summed labels.
constexpr Verdict contraction(Spec const& a, Spec const& b, Labels const& out) {
  for (int k = 0; k < out.size; ++k)
    if (a.find(out.at[k]) < 0 && b.find(out.at[k]) < 0)
      return refuse(Code::N01_unknown_index, out.at[k]);

  AxisSet const all = a.mentioned() | b.mentioned();
  Spec c;
  for (int x = 0; x < max_axes; ++x) {
    if (!all.contains(x)) continue;
    AxisState const in_a = a.state(x);
    AxisState const in_b = b.state(x);
    if (in_a == AxisState::unreduced)
      if (Verdict v = unreduced_axis(a, b, x); !v) return v;
    if (in_b == AxisState::unreduced)
      if (Verdict v = unreduced_axis(b, a, x); !v) return v;
    if (in_a == AxisState::unreduced || in_b == AxisState::unreduced) c.unreduced.insert(x);
    if (in_a == AxisState::split && in_b == AxisState::split) {
      int const la = a.dims[a.dim_of(x)].label;
      int const lb = b.dims[b.dim_of(x)].label;
      if (la != lb) {
        bool const both_free = role_of(la, a, b, out) == LabelRole::free_a &&
                               role_of(lb, a, b, out) == LabelRole::free_b;
        return refuse(both_free ? Code::C04_axis_splits_two : Code::C05_different_indices, la, lb,
                      x);
      }
    }
    bool const split = in_a == AxisState::split || in_b == AxisState::split;
    bool const r = in_a == AxisState::reduced || in_b == AxisState::reduced;
    if (r && !split && !c.unreduced.contains(x)) c.reduced.insert(x);
  }
  for (int d = 0; d < a.rank; ++d) {
    int const l = a.dims[d].label;
    if (b.find(l) < 0) continue;
    if (Verdict v = shared_label(l, out.contains(l), a.dims[d].axes, axes_on(b, l)); !v) return v;
  }

  for (int k = 0; k < out.size; ++k) {
    AxisList const in_a = axes_on(a, out.at[k]);
    AxisList const in_b = axes_on(b, out.at[k]);
    c.add(out.at[k], in_a.size >= in_b.size ? in_a : in_b);
  }
  auto add_unreduced = [&](Spec const& s) {
    for (int d = 0; d < s.rank; ++d)
      if (!out.contains(s.dims[d].label)) c.unreduced = c.unreduced | s.dims[d].axes.set();
  };
  add_unreduced(a);
  add_unreduced(b);
  return accept(c);
}

/// The labels of a matmul's result: a's, then b's, without the shared one. Refused if they share
/// none (C01) or several (C03).
constexpr Verdict matmul_labels(Spec const& a, Spec const& b, Labels& out) {
  int shared = -1;
  for (int d = 0; d < a.rank; ++d) {
    int const l = a.dims[d].label;
    if (b.find(l) < 0) {
      out.push(l);
    } else if (shared >= 0) {
      return refuse(Code::C03_several_shared, shared, l);
    } else {
      shared = l;
    }
  }
  if (shared < 0) return refuse(Code::C01_nothing_shared);
  for (int d = 0; d < b.rank; ++d)
    if (b.dims[d].label != shared) out.push(b.dims[d].label);
  return {};
}

/// Whether the product of `a` and `b` may have the named sharding `wanted`, with communication if
/// needed. With `sums` (einsum), labels that the result lacks are summed over; without, the result
/// must have each free label.
constexpr Verdict named_contraction(Spec const& a, Spec const& b, Spec const& wanted, bool sums) {
  for (int d = 0; d < wanted.rank; ++d)
    if (a.find(wanted.dims[d].label) < 0 && b.find(wanted.dims[d].label) < 0)
      return refuse(Code::N01_unknown_index, wanted.dims[d].label);
  if (!wanted.unreduced.empty() && wanted.kind != ReduceKind::sum)
    return refuse(Code::N03_wrong_kind);
  Labels const out = labels_of(wanted);
  bool summed = false;
  auto look = [&](Spec const& s, Spec const& other) {
    for (int d = 0; d < s.rank; ++d) {
      int const l = s.dims[d].label;
      if (!sums && out.contains(l) && other.find(l) >= 0)
        return refuse(Code::N06_contracted_kept, l);
      if (out.contains(l)) continue;
      summed = true;
      if (!sums && other.find(l) < 0) return refuse(Code::N02_missing_index, l);
    }
    return Verdict{};
  };
  if (Verdict v = look(a, b); !v) return v;
  if (Verdict v = look(b, a); !v) return v;
  for (int x = 0; x < max_axes; ++x) {
    if (a.unreduced.contains(x) && a.kind != ReduceKind::sum)
      return refuse(Code::C08_extremum_operand, -1, -1, x);
    if (b.unreduced.contains(x) && b.kind != ReduceKind::sum)
      return refuse(Code::C08_extremum_operand, -1, -1, x);
    if (wanted.unreduced.contains(x) && !summed && !a.unreduced.contains(x) &&
        !b.unreduced.contains(x))
      return refuse(Code::N04_nothing_unreduced, -1, -1, x);
  }
  return accept(wanted);
}

}  // namespace shardtype::rules
