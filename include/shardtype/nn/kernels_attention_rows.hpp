#pragma once
/// The rows of a block of scores, and elements that are not finite.

#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/functions.hpp>
#include <shardtype/kernels/gemm.hpp>
#include <shardtype/kernels/launch_name.hpp>
#include <shardtype/kernels/matrix.hpp>
#include <shardtype/nn/kernels_attention_shape.hpp>
#include <shardtype/nn/kernels_cross_entropy.hpp>

namespace shardtype::nn::kernels {

/// e^(x[k] - base) for a row, in place.
template <bool Host, class T>
KOKKOS_FUNCTION void exponentials_of(T* x, std::int64_t n, T base) {
  if constexpr (Host) {
    T const one(1);
    shardtype::kernels::vectors::scaled_exponentials<false>(n, x, x, &base, &one);
  } else {
    for (std::int64_t k = 0; k < n; ++k) x[k] = shardtype::kernels::math::exp(x[k] - base);
  }
}

/// Result row of a block += (or =) probabilities times the values of the keys that the row's query
/// sees. The product of the whole block reads the others too, times 0, which is NaN for values that
/// are not finite.
template <class T>
struct AttentionSeenValues {
  AttentionShape shape;
  T const* scores;
  Matrix<T const> values;
  Matrix<T> out;
  std::int64_t b, i0, j0, columns;
  bool begins;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    T* const o = out.data + row * out.row_stride;
    if (begins)
      for (std::int64_t f = 0; f < out.cols; ++f) o[f] = T{};
    SeenKeys const keys = shape.keys_of(b, i0 + row, j0, columns);
    for (std::int64_t k = keys.begin; k < keys.end; ++k) {
      if (!keys.has(k)) continue;
      T const p = scores[row * columns + k];
      T const* const v = values.data + k * values.row_stride;
      for (std::int64_t f = 0; f < out.cols; ++f) o[f] += p * v[f];
    }
  }
};

/// Scores of a row become exponentials relative to the largest so far; the row of the result is
/// brought to it.
template <bool Host, class T>
struct AttentionRows {
  AttentionShape shape;
  T* scores;
  T* largest;
  T* total;
  Matrix<T> out;
  std::int64_t b, h, i0, j0, columns;
  T scale;
  bool begins;  ///< whether these are the first keys
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    if (shape.by_options()) return by_options(row);
    T* const s = scores + row * columns;
    T const before = begins ? -std::numeric_limits<T>::infinity() : largest[row];
    std::int64_t const seen = shape.seen(i0 + row) - j0;
    std::int64_t const n = seen < 0 ? 0 : seen < columns ? seen : columns;
    T top = before;
    for (std::int64_t k = 0; k < n; ++k) {
      s[k] *= scale;
      top = s[k] > top ? s[k] : top;
    }
    for (std::int64_t k = n; k < columns; ++k) s[k] = T{};
    if (begins) total[row] = T{};
    largest[row] = top;
    if (n == 0) return;
    kernels::exponentials_of<Host>(s, n, top);
    joins(row, kernels::sum_of<T>(n, [&](std::int64_t k) { return s[k]; }), before, top);
  }

 private:
  /// The same where a window, segments or a function of the scores take part.
  KOKKOS_FUNCTION void by_options(std::int64_t row) const {
    T* const s = scores + row * columns;
    T const before = begins ? -std::numeric_limits<T>::infinity() : largest[row];
    SeenKeys const keys = shape.keys_of(b, i0 + row, j0, columns);
    T* const none = nullptr;
    kernels::scores_by_options<Host>(shape, s, none, keys, h, i0 + row, j0, scale);
    T top = before;
    bool any = false;
    for (std::int64_t k = keys.begin; k < keys.end; ++k) {
      if (!keys.has(k)) continue;
      any = true;
      top = s[k] > top ? s[k] : top;
    }
    std::int64_t const begin = any ? keys.begin : columns;
    std::int64_t const end = any ? keys.end : columns;
    for (std::int64_t k = 0; k < begin; ++k) s[k] = T{};
    for (std::int64_t k = end; k < columns; ++k) s[k] = T{};
    if (begins) total[row] = T{};
    largest[row] = top;
    if (!any) return;
    kernels::exponentials_of<Host>(s + begin, end - begin, top);
    if (keys.ids != nullptr)
      for (std::int64_t k = begin; k < end; ++k) s[k] = keys.has(k) ? s[k] : T{};
    joins(row, kernels::sum_of<T>(end - begin, [&](std::int64_t k) { return s[begin + k]; }),
          before, top);
  }
  /// Joins a block's sum of exponentials to what other keys gave.
  KOKKOS_FUNCTION void joins(std::int64_t row, T sum, T before, T top) const {
    if (begins) {
      total[row] = sum;
      return;
    }
    T const factor = shardtype::kernels::math::exp(before - top);
    total[row] = total[row] * factor + sum;
    if (factor == T(1)) return;
    T* const o = out.data + row * out.row_stride;
    for (std::int64_t f = 0; f < out.cols; ++f) o[f] *= factor;
  }
};
/// The row of the result divided by its sum, 0 where no key is seen.
template <class T>
struct AttentionFinish {
  Matrix<T> out;
  T const* largest;
  T const* total;
  bool empty;
  T* sums;  ///< of the first row, with distance `heads`: their logarithms; or null
  std::int64_t heads;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    T* const o = out.data + row * out.row_stride;
    bool const none = empty || total[row] == T{};
    T const factor = none ? T{} : T(1) / total[row];
    for (std::int64_t f = 0; f < out.cols; ++f) o[f] = none ? T{} : o[f] * factor;
    if (sums != nullptr)
      sums[row * heads] = none ? -std::numeric_limits<T>::infinity()
                               : largest[row] + shardtype::kernels::math::log(total[row]);
  }
};

/// Scores become probabilities, and `ds`, the products of the result's cotangent and the values,
/// the cotangents of the scores; both are 0 where a key is not seen, and in rows whose cotangent is
/// 0.
template <bool Host, class T>
struct AttentionRowsBack {
  AttentionShape shape;
  T* scores;
  T* ds;
  Matrix<T const> out, ct;
  T const* sums;  ///< of query i0, with distance `heads`
  std::int64_t b, h, i0, j0, columns;
  T scale;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    if (shape.by_options()) return by_options(row);
    T* const p = scores + row * columns;
    T* const d = ds + row * columns;
    std::int64_t const seen = shape.seen(i0 + row) - j0;
    std::int64_t const n = seen < 0 ? 0 : seen < columns ? seen : columns;
    T const* const o = out.data + row * out.row_stride;
    T const* const c = ct.data + row * ct.row_stride;
    bool const none = n == 0 || kernels::sum_of<T>(out.cols, [&](std::int64_t f) {
                                  return c[f] < 0 ? -c[f] : c[f];
                                }) == 0;
    for (std::int64_t k = none ? 0 : n; k < columns; ++k) p[k] = d[k] = T{};
    if (none) return;
    T const mean = kernels::sum_of<T>(out.cols, [&](std::int64_t f) { return o[f] * c[f]; });
    for (std::int64_t k = 0; k < n; ++k) p[k] *= scale;
    kernels::exponentials_of<Host>(p, n, sums[row * shape.heads]);
    for (std::int64_t k = 0; k < n; ++k) d[k] = p[k] * (d[k] - mean) * scale;
  }

 private:
  /// The same where a window, segments or a function of the scores take part.
  KOKKOS_FUNCTION void by_options(std::int64_t row) const {
    T* const p = scores + row * columns;
    T* const d = ds + row * columns;
    T const* const o = out.data + row * out.row_stride;
    T const* const c = ct.data + row * ct.row_stride;
    SeenKeys keys = shape.keys_of(b, i0 + row, j0, columns);
    if (kernels::sum_of<T>(out.cols, [&](std::int64_t f) { return c[f] < 0 ? -c[f] : c[f]; }) == 0)
      keys.end = keys.begin;
    for (std::int64_t k = 0; k < keys.begin; ++k) p[k] = d[k] = T{};
    for (std::int64_t k = keys.end; k < columns; ++k) p[k] = d[k] = T{};
    if (keys.begin == keys.end) return;
    T const mean = kernels::sum_of<T>(out.cols, [&](std::int64_t f) { return o[f] * c[f]; });
    for (std::int64_t k = keys.begin; k < keys.end; ++k) d[k] = (d[k] - mean) * scale;
    kernels::scores_by_options<Host>(shape, p, d, keys, h, i0 + row, j0, scale);
    kernels::exponentials_of<Host>(p + keys.begin, keys.end - keys.begin, sums[row * shape.heads]);
    for (std::int64_t k = keys.begin; k < keys.end; ++k) d[k] *= p[k];
    if (keys.ids == nullptr) return;
    for (std::int64_t k = keys.begin; k < keys.end; ++k)
      if (!keys.has(k)) p[k] = d[k] = T{};
  }
};

/// to += weights m, over weights that are not 0. Parallel over the rows of `to`.
template <class T>
struct AttentionSumOfSeen {
  Matrix<T const> weights, m;
  Matrix<T> to;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    T* const o = to.data + row * to.row_stride;
    for (std::int64_t k = 0; k < weights.cols; ++k) {
      T const w = weights.data[row * weights.row_stride + k * weights.col_stride];
      if (w == T{}) continue;
      T const* const x = m.data + k * m.row_stride;
      for (std::int64_t f = 0; f < to.cols; ++f) o[f] += w * x[f];
    }
  }
};
/// to += weights m. Unless m is `finite`, zeros among the weights, of keys that are not seen, have
/// no part.
template <class T, class Exec>
void add_seen(Exec const& exec, Matrix<T> const& weights, Matrix<T const> const& m,
              Matrix<T> const& to, bool finite) {
  if (finite) {
    shardtype::kernels::gemm<Exec, T>(exec, 1, weights, m, to, true);
  } else {
    kernels::each_row("shardtype::attention_back", exec, to.rows,
                      AttentionSumOfSeen<T>{weights, m, to});
  }
}

/// Counts parts of `batch` runs of `n` elements, `stride` apart, in which an element is not finite.
template <class T>
struct CountNotFinite {
  static constexpr std::int64_t length = 1024;
  T const* x;
  std::int64_t n, stride, parts;
  KOKKOS_FUNCTION void operator()(std::int64_t part, std::int64_t& found) const {
    std::int64_t const begin = part % parts * length;
    T const* const from = x + part / parts * stride + begin;
    T const sum = kernels::sum_of<T>(n - begin < length ? n - begin : length,
                                     [&](std::int64_t k) { return from[k] * T(0); });
    found += sum == T(0) ? 0 : 1;
  }
};
template <class T, class Exec>
bool all_finite(Exec const& exec, T const* x, std::int64_t batch, std::int64_t n,
                std::int64_t stride) {
  if (batch <= 0 || n <= 0) return true;
  CountNotFinite<T> const count{x, n, stride,
                                (n + CountNotFinite<T>::length - 1) / CountNotFinite<T>::length};
  std::int64_t found = 0;
  Kokkos::parallel_reduce(
      shardtype::kernels::launch_name("shardtype::attention"),
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, batch * count.parts),
      count, found);
  return found == 0;
}
/// Whether the values of keys that some queries see and others do not are finite.
template <class T, class Exec>
bool hidden_values_finite(Exec const& exec, AttentionShape const& s, T const* v) {
  bool const options = s.settings.window > 0 || s.segments.keys != nullptr;
  if ((!s.settings.causal && !options) || s.queries == 0) return true;
  std::int64_t const begin = options ? s.from(0) : s.seen(0);
  std::int64_t const row = s.key_heads * s.features;
  return kernels::all_finite(exec, v + begin * row, s.batch, (s.seen(s.queries - 1) - begin) * row,
                             s.keys * row);
}

}  // namespace shardtype::nn::kernels
