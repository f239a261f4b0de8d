#pragma once
/// Cotangents: their shardings, and how the cotangent that a transposed operation gives becomes
/// that of an operand.

#include <shardtype/rules/contraction.hpp>
#include <shardtype/rules/laws.hpp>
#include <shardtype/rules/manual.hpp>
#include <shardtype/rules/verdict.hpp>

namespace shardtype::rules {

/// Whether a value of this sharding has a cotangent. A pending maximum or minimum has none.
constexpr bool has_cotangent(Spec const& s) {
  return s.unreduced.empty() || s.kind == ReduceKind::sum;
}
/// The sharding of the cotangent of a value: unreduced and reduced are swapped, all else stays.
constexpr Spec cotangent(Spec s) {
  AxisSet const u = s.unreduced;
  s.unreduced = s.reduced;
  s.reduced = u;
  s.kind = ReduceKind::sum;
  return s;
}
/// The sharding of partial results once each rank knows the whole result.
constexpr Spec everywhere(Spec s) {
  s.reduced = s.reduced | s.unreduced;
  s.unreduced = {};
  s.kind = ReduceKind::sum;
  return s;
}

/// The steps from one cotangent to another: a reshard to `met`, then to_partial over `partial`,
/// then a reshard to the other.
struct Finish {
  Verdict verdict{};
  Spec met{};
  AxisList partial{};
};

/// The axes of `list` that `out` lacks.
constexpr AxisList axes_kept(AxisList const& list, AxisList const& out) {
  AxisList kept;
  for (int k = 0; k < list.size; ++k)
    if (!out.contains(list[k])) kept.push(list[k]);
  if (kept.size > 0) kept.cyclic = list.cyclic;
  return kept;
}

/// The steps from the cotangent `got` of a block to `want`: casts of manual mode. Where no cast
/// exists a sum over ranks would be needed, which is refused, X01.
constexpr Finish finish_block(Spec const& got, Spec const& want) {
  Finish out{{}, want, {}};
  for (int x = 0; x < max_axes; ++x)
    if (AxisState const g = got.state(x), w = want.state(x);
        g != w && !exists({Movement::cast, g, w})) {
      out.verdict = refuse(Code::X01_gradient_unreduced, -1, -1, x);
      break;
    }
  return out;
}

/// The steps from the cotangent `got`, as it was computed, to `want`, the cotangent of the operand.
/// Both have the same labels. `communicates`: `got` is the cotangent of a named movement's result,
/// whose transpose may communicate; otherwise steps that would communicate are refused: X01 a sum
/// over an axis along which the operand is replicated, X02 blocks of an operand that was sliced for
/// free. Casts, slices, and zeros around a block (to_partial) are free; for blocks of manual mode
/// only casts.
constexpr Finish finish(Spec const& got, Spec const& want, bool communicates) {
  using enum AxisState;
  if (want.local) return finish_block(got, want);
  Finish out{{}, want, {}};
  for (int x = 0; x < max_axes; ++x) {
    // along manual axes only casts, as of blocks
    AxisState const g = got.state(x), w = want.state(x);
    if (g != w && (g == varying || w == varying) && !exists({Movement::cast, g, w})) {
      out.verdict = refuse(Code::X01_gradient_unreduced, -1, -1, x);
      return out;
    }
  }
  auto const no = [&](Code code, int x) {
    out.verdict = refuse(code, -1, -1, x);
    return out;
  };
  for (int x = 0; x < max_axes; ++x) {
    AxisState const g = got.state(x);
    AxisState const w = want.state(x);
    if (w == unreduced && g != unreduced && g != varying) {
      out.partial.push(x);
      continue;
    }
    if (communicates || g == w) continue;
    if (g == unreduced) return no(Code::X01_gradient_unreduced, x);
    if (g == split) return no(Code::X02_gradient_in_blocks, x);
  }
  bool nests = true;  // whether to_partial may take its axes off the blocks as they are
  for (int d = 0; d < want.rank; ++d) {
    AxisList const in = axes_on(got, want.dims[d].label);
    AxisList const kept = axes_kept(in, out.partial);
    nests = nests && in.starts_with(kept);
    if (communicates || want.dims[d].axes.starts_with(kept)) continue;
    return no(Code::X02_gradient_in_blocks, kept[0]);
  }
  if (out.partial.size == 0) return out;
  if (nests) {
    out.met = got;
    return out;
  }
  for (int d = 0; d < want.rank; ++d) {
    AxisList const in = axes_on(got, want.dims[d].label);
    for (int k = 0; k < in.size; ++k) {
      if (!out.partial.contains(in[k])) continue;
      if (!communicates) return no(Code::X02_gradient_in_blocks, in[k]);
      out.met.dims[d].axes.push(in[k]);
    }
  }
  out.met.unreduced = out.met.unreduced - out.partial.set();
  return out;
}

/// The cotangent of operand `p` of a product with a named result whose strict form is refused: the
/// plan depends on sizes, so it is judged by types. Along an axis along which `p` is replicated,
/// its cotangent would be a hidden sum (X01) if the axis splits an index that `p` lacks, in the
/// result or in another operand, which `others` are.
template <class... Specs>
constexpr Verdict named_product_cotangent(Spec const& p, Specs const&... others) {
  for (int x = 0; x < max_axes; ++x) {
    auto const hides_sum = [&](Spec const& s) {
      int const d = s.dim_of(x);
      return d >= 0 && p.find(s.dims[d].label) < 0;
    };
    if (p.state(x) == AxisState::replicated && (hides_sum(others) || ...))
      return refuse(Code::X01_gradient_unreduced, -1, -1, x);
  }
  return {};
}

/// `own` without the dims that none of the `others` has. Their axes are unused.
template <class... Specs>
constexpr Spec in_any(Spec const& own, Specs const&... others) {
  Spec out = own;
  out.rank = 0;
  for (int d = 0; d < own.rank; ++d)
    if (int const l = own.dims[d].label; ((others.find(l) >= 0) || ...))
      out.add(l, own.dims[d].axes);
  return out;
}

/// The sharding in which a named product of cotangent `ct` and `other` gives the cotangent of
/// `own`, before it becomes it for free: without the dims that `own` alone has, and whole along
/// axes along which the product has no sums that could stay unreduced.
constexpr Spec named_product_to(Spec const& own, Spec const& ct, Spec const& other) {
  Spec to = in_any(cotangent(own), ct, other);
  if (!named_contraction(ct, other, to, true)) to.unreduced = {};
  return to;
}

/// `own` in the sharding of a named result `to`, of whose indices it may lack some. Along an axis
/// that splits one of these, what is not replicated becomes reduced, so that its gradient is moved
/// back.
constexpr Spec brought(Spec const& own, Spec const& to) {
  Spec out = own;
  out.unreduced = to.unreduced;
  out.reduced = to.reduced;
  for (int d = 0; d < out.rank; ++d) out.dims[d].axes = axes_on(to, out.dims[d].label);
  for (int x = 0; x < max_axes; ++x)
    if (int const d = to.dim_of(x);
        d >= 0 && own.find(to.dims[d].label) < 0 && own.state(x) != AxisState::replicated)
      out.reduced.insert(x);
  return out;
}

/// A value repeated along new dims so that it has the dims `to`: along an axis that splits a new
/// dim each rank makes its own part. The transpose of a sum.
constexpr Verdict spread(Spec const& a, Spec const& to) {
  Spec out = to;
  out.unreduced = a.unreduced;
  out.kind = a.kind;
  out.varying = a.varying;
  out.local = a.local;
  for (int x = 0; x < max_axes; ++x) {
    if (a.reduced.contains(x) && to.dim_of(x) < 0) out.reduced.insert(x);
    if (a.unreduced.contains(x) && to.dim_of(x) >= 0)
      return refuse(Code::T01_axis_twice, -1, -1, x);
  }
  for (int d = 0; d < a.rank; ++d)
    if (!axes_on(to, a.dims[d].label).starts_with(a.dims[d].axes))
      return refuse(Code::D10_other_axes, a.dims[d].label);
  return accept(out);
}

/// The cotangent of operand `own` of a product, from that of its result and the other operand:
/// their product, moved for free to the cotangent without the dims that `own` alone has, and
/// repeated along these. X01, X02.
constexpr Verdict product_cotangent(Spec const& ct, Spec const& other, Spec const& own) {
  Spec const want = cotangent(own);
  Spec const met = in_any(want, ct, other);
  Verdict const made =
      in_manual_mode(in_manual_mode(contraction(ct, other, labels_of(met)), ct), other);
  if (!made || met.rank == own.rank) return made;
  Verdict const free = finish(made.result, met, false).verdict;
  return free ? spread(met, want) : free;
}

}  // namespace shardtype::rules
