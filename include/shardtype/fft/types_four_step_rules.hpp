#pragma once
/// Long discrete Fourier transforms along one dim that may be split: the four-step algorithm.

#include <shardtype/fft/types_rules.hpp>

namespace shardtype::rules {

/// The orders of operand and result of a long transform of n = n1 n2 rows. In the transposed order
/// the frequencies are two dims, of which the first is split: element (k1, k2) is frequency
/// k1 + n1 k2.
enum class FourStepOrder : std::int8_t {
  transposed_result,   ///< `[I@X]` -> `[K1@X, K2]`
  transposed_operand,  ///< `[K1@X, K2]` -> `[I@X]`
  natural,             ///< `[I@X]` -> `[K@X]`
  unknown              ///< other numbers of labels
};

/// The dims of the operand that the transform replaces, 1 or 2.
constexpr int replaced_dims(FourStepOrder order) {
  return order == FourStepOrder::transposed_operand ? 2 : 1;
}

/// n1 n2, if both are known.
constexpr std::int64_t known_product(std::int64_t n1, std::int64_t n2) {
  return n1 == dynamic || n2 == dynamic ? dynamic : mul_sat(n1, n2);
}

/// A transform along the first labels of `from`, one or two, which the labels of `to` replace. The
/// axes of the split dim stay. A sum that is pending stays pending, because the transform is
/// linear.
constexpr Verdict four_step(Question const& q, FourStepOrder order) {
  if (order == FourStepOrder::unknown) return refuse(Code::D07_names_incomplete);
  Spec const& a = q.a();
  Spec taken;
  for (int k = 0; k < replaced_dims(order); ++k) taken.add(q.from.dims[k].label);
  if (Verdict v = has_all(a, taken); !v) return v;
  if (Verdict v = in_blocks(a, taken); !v) return v;
  int const first = a.find(taken.dims[0].label);
  int const second = order == FourStepOrder::transposed_operand ? a.find(taken.dims[1].label) : -1;
  if (second >= 0 && a.dims[second].axes.size > 0)
    return refuse(Code::F05_transposed_order, taken.dims[1].label, -1, a.dims[second].axes[0]);
  if (a.kind != ReduceKind::sum)
    for (int x = 0; x < max_axes; ++x)
      if (a.unreduced.contains(x)) return refuse(Code::F03_extremum, -1, -1, x);
  if (Verdict v = has_none(a, q.to); !v) return v;
  std::int64_t const before =
      second < 0 ? q.extent(taken, 0) : known_product(q.extent(taken, 0), q.extent(taken, 1));
  std::int64_t const after =
      q.to.rank == 1 ? q.extent(q.to, 0) : known_product(q.extent(q.to, 0), q.extent(q.to, 1));
  if (contradict(before, after))
    return refuse(Code::D06_extents_contradict, taken.dims[0].label, q.to.dims[0].label);
  Spec out = a;
  out.rank = 0;
  for (int d = 0; d < a.rank; ++d) {
    if (d == second) continue;
    if (d != first) {
      out.add(a.dims[d].label, a.dims[d].axes);
      continue;
    }
    out.add(q.to.dims[0].label, a.dims[d].axes);
    if (q.to.rank == 2) out.add(q.to.dims[1].label);
  }
  return accept(out);
}

}  // namespace shardtype::rules
