#pragma once
/// Reductions over labels, and the pending reductions they leave.

#include <shardtype/rules/contraction.hpp>
#include <shardtype/rules/verdict.hpp>

namespace shardtype::rules {

/// The kinds of reductions, as far as sharding is concerned.
enum class ReductionKind : std::int8_t {
  sum,    ///< sum, mean: over split dims the result is an unreduced sum
  max,    ///< max, any: an unreduced maximum
  min,    ///< min, all: an unreduced minimum
  whole,  ///< prod, argmax, norm, logsumexp: no unreduced kind represents a partial result, so
          ///< strict calls refuse split dims
  sum_of_sizes,  ///< norm_1: an unreduced sum; unreduced operands are refused, because absolute
                 ///< values of summands do not add up
  max_of_sizes   ///< norm_inf: likewise an unreduced maximum
};

/// The kind of pending reduction that a reduction over split dims leaves.
constexpr ReduceKind unreduced_kind(ReductionKind how) {
  switch (how) {
    case ReductionKind::max:
    case ReductionKind::max_of_sizes:
      return ReduceKind::max;
    case ReductionKind::min:
      return ReduceKind::min;
    default:
      return ReduceKind::sum;
  }
}
/// Whether the reduction of an unreduced operand of the same kind is again unreduced.
constexpr bool goes_through_unreduced(ReductionKind how) {
  return how == ReductionKind::sum || how == ReductionKind::max || how == ReductionKind::min;
}

/// `s` reduced over the labels that `kept` lacks: their axes become unreduced, with the kind of the
/// reduction. Communicates nothing. JAX implicitly all-reduces here (lax.py, reduce_sum).
constexpr Verdict reduction(Spec const& s, Labels const& kept, ReductionKind how) {
  ReduceKind const kind = unreduced_kind(how);
  if (!goes_through_unreduced(how) || s.kind != kind)
    if (Verdict v = refuse_any(Code::S02_other_kind, s.unreduced); !v) return v;
  Spec out;
  out.unreduced = s.unreduced;
  out.kind = kind;
  out.reduced = s.reduced;
  for (int d = 0; d < s.rank; ++d) {
    AxisList const& axes = s.dims[d].axes;
    if (kept.contains(s.dims[d].label)) {
      out.add(s.dims[d].label, axes);
      continue;
    }
    if (how == ReductionKind::whole && axes.size > 0)
      return refuse(Code::S03_split, s.dims[d].label, -1, axes[0]);
    out.unreduced = out.unreduced | axes.set();
  }
  return accept(out);
}

/// Each element of `s` combined with a reduction over the labels that `kept` lacks: the same dims
/// with the same splits. Communicates nothing.
constexpr Verdict normalization(Spec const& s, Labels const& kept) {
  return accept_if(reduction(s, kept, ReductionKind::whole), s);
}

/// Whether a reduction of `s` may have the named sharding `wanted`. Labels that `wanted` lacks are
/// reduced over; then the result is resharded.
constexpr Verdict named_reduction(Spec const& s, Spec const& wanted, ReductionKind how) {
  for (int d = 0; d < wanted.rank; ++d)
    if (s.find(wanted.dims[d].label) < 0)
      return refuse(Code::N01_unknown_index, wanted.dims[d].label);
  if (how == ReductionKind::whole) {
    for (int x = 0; x < max_axes; ++x) {
      if (s.unreduced.contains(x)) return refuse(Code::S02_other_kind, -1, -1, x);
      if (wanted.unreduced.contains(x)) return refuse(Code::N04_nothing_unreduced, -1, -1, x);
    }
    return accept(wanted);
  }
  Verdict const strict = reduction(s, labels_of(wanted), how);
  if (!strict) return strict;
  if (Verdict v =
          refuse_any(Code::N04_nothing_unreduced, wanted.unreduced - strict.result.unreduced);
      !v)
    return v;
  if (!wanted.unreduced.empty() && wanted.kind != strict.result.kind)
    return refuse(Code::N03_wrong_kind);
  return accept(wanted);
}

}  // namespace shardtype::rules
