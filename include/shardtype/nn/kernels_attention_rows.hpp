#pragma once
/// The rows of a block of scores, what queries see, and elements that are not finite.

#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#include <shardtype/core/block.hpp>
#include <shardtype/kernels/functions.hpp>
#include <shardtype/kernels/gemm.hpp>
#include <shardtype/kernels/launch_name.hpp>
#include <shardtype/kernels/matrix.hpp>
#include <shardtype/nn/kernels_cross_entropy.hpp>
#include <shardtype/nn/types_attention.hpp>

namespace shardtype::nn::kernels {

using shardtype::kernels::Matrix;

/// Blocks [batch, positions, heads, features]. A rank's head h is head `first_head` + h,
/// and reads key head (first_head + h) / group - first_key_head.
struct AttentionShape {
  std::int64_t batch, queries, keys, heads, key_heads, features;
  std::int64_t first_head, first_key_head, group;
  AttentionOptions settings;
  core::Rows query_rows, key_rows;  ///< their positions

  KOKKOS_FUNCTION std::int64_t key_head(std::int64_t h) const {
    return (first_head + h) / group - first_key_head;
  }
  /// The number of keys that query `i` sees: the first ones of the block, because positions
  /// increase.
  KOKKOS_FUNCTION std::int64_t seen(std::int64_t i) const {
    return settings.causal ? key_rows.below(settings.first + query_rows[i] + 1) : keys;
  }
  /// Rows i0, ..., i0 + rows - 1 of head h of a block of queries.
  template <class T>
  KOKKOS_FUNCTION Matrix<T> query(T* data, std::int64_t b, std::int64_t i0, std::int64_t rows,
                                  std::int64_t h) const {
    std::int64_t const stride = heads * features;
    return {data + query_row(b, i0, h) * features, rows, features, stride, 1, 0};
  }
  /// The number of a query's row among the rows of all queries and heads.
  KOKKOS_FUNCTION std::int64_t query_row(std::int64_t b, std::int64_t i, std::int64_t h) const {
    return (b * queries + i) * heads + h;
  }
  template <class T>
  KOKKOS_FUNCTION Matrix<T> key(T* data, std::int64_t b, std::int64_t j0, std::int64_t rows,
                                std::int64_t g) const {
    std::int64_t const stride = key_heads * features;
    return {data + ((b * keys + j0) * key_heads + g) * features, rows, features, stride, 1, 0};
  }
};

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
  std::int64_t i0, j0, columns;
  bool begins;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    T* const o = out.data + row * out.row_stride;
    if (begins)
      for (std::int64_t f = 0; f < out.cols; ++f) o[f] = T{};
    std::int64_t const seen = shape.seen(i0 + row) - j0;
    for (std::int64_t k = 0; k < columns && k < seen; ++k) {
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
  std::int64_t i0, j0, columns;
  T scale;
  bool begins;  ///< whether these are the first keys
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
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
    T const sum = kernels::sum_of<T>(n, [&](std::int64_t k) { return s[k]; });
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
  std::int64_t i0, j0, columns;
  T scale;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
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
  if (!s.settings.causal || s.queries == 0) return true;
  std::int64_t const begin = s.seen(0);
  std::int64_t const row = s.key_heads * s.features;
  return kernels::all_finite(exec, v + begin * row, s.batch, (s.seen(s.queries - 1) - begin) * row,
                             s.keys * row);
}

}  // namespace shardtype::nn::kernels
