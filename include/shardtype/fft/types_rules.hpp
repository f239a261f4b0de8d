#pragma once
/// Discrete Fourier transforms along dims that are not split.

#include <shardtype/rules/shape.hpp>

namespace shardtype::rules {

/// The kinds of transforms. The real ones halve the last dim that they name, or restore it.
enum class FourierKind : std::int8_t {
  forward,          ///< complex to complex, exp(-2 pi i j k / n)
  inverse,          ///< complex to complex, exp(+2 pi i j k / n)
  real_to_complex,  ///< forward, the rows k = 0 ... n / 2 of the last dim
  complex_to_real   ///< the inverse of that
};

constexpr bool is_real(FourierKind kind) {
  return kind == FourierKind::real_to_complex || kind == FourierKind::complex_to_real;
}
/// Rows along the halved dim of the transform of `n` real rows.
constexpr std::int64_t half_rows(std::int64_t n) { return n / 2 + 1; }

/// The label of the last dim that the transform names.
constexpr int last_label(Question const& q) { return q.from.dims[q.from.rank - 1].label; }

/// Whether static extents of the last dim before and after the transform contradict each other.
constexpr bool fourier_extents_contradict(FourierKind kind, std::int64_t before,
                                          std::int64_t after) {
  if (before == dynamic || after == dynamic) return false;
  if (kind == FourierKind::real_to_complex) return after != half_rows(before);
  if (kind == FourierKind::complex_to_real) return before != half_rows(after);
  return before != after;
}

/// A transform along all dims of `from`; the last one gets the label of `to`, if there is one. A
/// sum that is pending stays pending, because the transform is linear.
constexpr Verdict fourier(Question const& q, FourierKind kind) {
  Spec const& a = q.a();
  if (Verdict v = has_all(a, q.from); !v) return v;
  if (Verdict v = in_blocks(a, q.from); !v) return v;
  for (int k = 0; k < q.from.rank; ++k) {
    AxisList const& axes = a.dims[a.find(q.from.dims[k].label)].axes;
    if (axes.size > 0) return refuse(Code::F02_along_split, q.from.dims[k].label, -1, axes[0]);
  }
  if (a.kind != ReduceKind::sum)
    for (int x = 0; x < max_axes; ++x)
      if (a.unreduced.contains(x)) return refuse(Code::F03_extremum, -1, -1, x);
  if (q.from.rank == 0 || q.to.rank > 1) return refuse(Code::D07_names_incomplete);
  int const last = last_label(q);
  if (Verdict v = has_none(a, q.to); !v) return v;
  Spec out = a;
  if (q.to.rank == 0) {
    if (is_real(kind) && q.extents[last] != dynamic) return refuse(Code::D05_extent_changes, last);
  } else {
    if (fourier_extents_contradict(kind, q.extents[last], q.extent(q.to, 0)))
      return refuse(Code::D06_extents_contradict, q.to.dims[0].label);
    out.dims[a.find(last)].label = q.to.dims[0].label;
  }
  return accept(out);
}

}  // namespace shardtype::rules
