#pragma once
/// Attention by blocks of queries and keys: products by BLAS, and between them a pass over the rows of a block. What is
/// stored of all scores is one block. Sources: Milakov, Gimelshein, "Online normalizer calculation for softmax", 2018;
/// Dao, Fu, Ermon, Rudra, Re, "FlashAttention", NeurIPS 2022.

#include <algorithm>
#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#include <shardtype/core/block.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/functions.hpp>
#include <shardtype/kernels/gemm.hpp>
#include <shardtype/kernels/matrix.hpp>
#include <shardtype/nn/kernels_cross_entropy.hpp>
#include <shardtype/nn/types_attention.hpp>

namespace shardtype::nn::kernels {

using shardtype::kernels::Matrix;

/// Blocks [batch, positions, heads, features], packed. A rank's head h is head `first_head` + h, and reads key head
/// (first_head + h) / group - first_key_head.
struct AttentionShape {
  std::int64_t batch, queries, keys, heads, key_heads, features;
  std::int64_t first_head, first_key_head, group;
  AttentionOptions settings;
  core::Rows query_rows, key_rows;  ///< their positions

  std::int64_t key_head(std::int64_t h) const { return (first_head + h) / group - first_key_head; }
  /// The number of keys that query `i` sees: the first ones of the block, because positions increase.
  KOKKOS_FUNCTION std::int64_t seen(std::int64_t i) const {
    return settings.causal ? key_rows.below(settings.first + query_rows[i] + 1) : keys;
  }
  /// Rows i0, ..., i0 + rows - 1 of head h of a block of queries, whose rows have `length` elements.
  template <class T>
  Matrix<T> query(T* data, std::int64_t b, std::int64_t i0, std::int64_t rows, std::int64_t h,
                  std::int64_t length) const {
    return {data + ((b * queries + i0) * heads + h) * length, rows, features, heads * length, 1, 0};
  }
  template <class T>
  Matrix<T> key(T* data, std::int64_t b, std::int64_t j0, std::int64_t rows, std::int64_t g,
                std::int64_t length) const {
    return {data + ((b * keys + j0) * key_heads + g) * length,
            rows,
            features,
            key_heads * length,
            1,
            0};
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

/// Scores of a row become exponentials relative to the largest so far; the row of the result is brought to it.
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
/// The row of the result divided by its sum, 0 where no key is seen. `sums`: its logarithm behind the features.
template <class T>
struct AttentionFinish {
  Matrix<T> out;
  T const* largest;
  T const* total;
  bool empty;
  bool sums;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    T* const o = out.data + row * out.row_stride;
    bool const none = empty || total[row] == T{};
    T const factor = none ? T{} : T(1) / total[row];
    for (std::int64_t f = 0; f < out.cols; ++f) o[f] = none ? T{} : o[f] * factor;
    if (sums)
      o[out.cols] = none ? -std::numeric_limits<T>::infinity()
                         : largest[row] + shardtype::kernels::math::log(total[row]);
  }
};

/// Scores become probabilities, and `ds`, the products of the result's cotangent and the values, the cotangents of the
/// scores.
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
    for (std::int64_t k = n; k < columns; ++k) p[k] = d[k] = T{};
    if (n == 0) return;
    T const* const o = out.data + row * out.row_stride;
    T const* const c = ct.data + row * ct.row_stride;
    T const mean = kernels::sum_of<T>(out.cols, [&](std::int64_t f) { return o[f] * c[f]; });
    for (std::int64_t k = 0; k < n; ++k) p[k] *= scale;
    kernels::exponentials_of<Host>(p, n, sums[row * shape.heads]);
    for (std::int64_t k = 0; k < n; ++k) d[k] = p[k] * (d[k] - mean) * scale;
  }
};

template <class T>
T scale_of_scores(AttentionShape const& s) {
  return static_cast<T>(s.settings.scale != 0 ? s.settings.scale
                                              : 1 / std::sqrt(static_cast<double>(
                                                        std::max<std::int64_t>(s.features, 1))));
}

/// Calls `f(b, h, i0, rows)` for all blocks of queries.
template <class F>
void each_block_of_queries(AttentionShape const& s, F const& f) {
  for (std::int64_t b = 0; b < s.batch; ++b)
    for (std::int64_t h = 0; h < s.heads; ++h)
      for (std::int64_t i0 = 0; i0 < s.queries; i0 += attention_block)
        f(b, h, i0, std::min(attention_block, s.queries - i0));
}

/// One block of queries and the keys of `s`: their rows of the result, not divided yet, with the largest score and the sum
/// of exponentials of each row. Unless `begins`, these already hold what other keys gave. Whether a key was seen.
template <class T, class Exec>
bool attention_of_block(Exec const& exec, AttentionShape const& s, T const* q, T const* k,
                        T const* v, std::int64_t b, std::int64_t h, std::int64_t i0,
                        std::int64_t rows, Matrix<T> const& out, T* largest, T* total, T* scores,
                        bool begins) {
  T const scale = kernels::scale_of_scores<T>(s);
  std::int64_t const g = s.key_head(h);
  std::int64_t const end = s.seen(i0 + rows - 1);
  auto const qs = s.query(q, b, i0, rows, h, s.features);
  for (std::int64_t j0 = 0; j0 < end; j0 += attention_block) {
    bool const first = begins && j0 == 0;
    std::int64_t const n = std::min(attention_block, end - j0);
    Matrix<T> const block{scores, rows, n, n, 1, 0};
    shardtype::kernels::gemm<Exec, T>(exec, 1, qs, s.key(k, b, j0, n, g, s.features).transposed(),
                                      block, false);
    kernels::each_row(
        "shardtype::attention", exec, rows,
        AttentionRows<on_host<Exec>, T>{s, scores, largest, total, out, i0, j0, n, scale, first});
    shardtype::kernels::gemm<Exec, T>(exec, 1, block, s.key(v, b, j0, n, g, s.features), out,
                                      !first);
  }
  return end > 0;
}

/// The result, of rows of `length` elements: the features and, if there is room, the logarithm of the sum.
template <class T, class Exec>
void attention(Exec const& exec, AttentionShape const& s, T const* q, T const* k, T const* v,
               T* out, std::int64_t length, T* scratch) {
  std::int64_t const most = std::min(attention_block, s.queries);
  T* const largest = scratch;
  T* const total = scratch + most;
  kernels::each_block_of_queries(
      s, [&](std::int64_t b, std::int64_t h, std::int64_t i0, std::int64_t rows) {
        auto const os = s.query(out, b, i0, rows, h, length);
        bool const any = kernels::attention_of_block(exec, s, q, k, v, b, h, i0, rows, os, largest,
                                                     total, scratch + 2 * most, true);
        kernels::each_row("shardtype::attention", exec, rows,
                          AttentionFinish<T>{os, largest, total, !any, length > s.features});
      });
}

/// Attention to blocks of keys that come one after the other: the results so far, in rows of `length` elements, and for
/// each sequence, head and query the largest score and the sum of exponentials relative to it.
template <class T>
struct AttentionSoFar {
  T* out;
  std::int64_t length;
  T* largest;
  T* total;

  /// Before the first block.
  template <class Exec>
  void begin(Exec const& exec, AttentionShape const& s) const {
    std::int64_t const rows = s.batch * s.heads * s.queries;
    shardtype::kernels::fill(exec, out, rows * length, T{});
    shardtype::kernels::fill(exec, largest, rows, -std::numeric_limits<T>::infinity());
    shardtype::kernels::fill(exec, total, rows, T{});
  }
  /// Joins the keys of `s`. `scores`: memory of one block; `between` is called now and then.
  template <class Exec, class Between>
  void add(Exec const& exec, AttentionShape const& s, T const* q, T const* k, T const* v, T* scores,
           Between const& between) const {
    kernels::each_block_of_queries(
        s, [&](std::int64_t b, std::int64_t h, std::int64_t i0, std::int64_t rows) {
          std::int64_t const at = (b * s.heads + h) * s.queries + i0;
          kernels::attention_of_block(exec, s, q, k, v, b, h, i0, rows,
                                      s.query(out, b, i0, rows, h, length), largest + at,
                                      total + at, scores, false);
          between();
        });
  }
  /// After the last block.
  template <class Exec>
  void finish(Exec const& exec, AttentionShape const& s) const {
    kernels::each_block_of_queries(
        s, [&](std::int64_t b, std::int64_t h, std::int64_t i0, std::int64_t rows) {
          std::int64_t const at = (b * s.heads + h) * s.queries + i0;
          kernels::each_row("shardtype::attention", exec, rows,
                            AttentionFinish<T>{s.query(out, b, i0, rows, h, length), largest + at,
                                               total + at, false, length > s.features});
        });
  }
};

/// What the backward passes read.
template <class T>
struct AttentionSaved {
  T const* q;
  T const* k;
  T const* v;
  T const* out;
  T const* sums;
  T const* ct;
};

/// A block of scores: their probabilities and cotangents, and the rows of matrices that belong to it.
template <class T>
struct ScoresBack {
  AttentionShape const& shape;
  std::int64_t b, h, i0, rows, j0, n;
  Matrix<T> p, ds;

  template <class U>
  Matrix<U> queries(U* data) const {
    return shape.query(data, b, i0, rows, h, shape.features);
  }
  template <class U>
  Matrix<U> keys(U* data, std::int64_t length) const {
    return shape.key(data, b, j0, n, shape.key_head(h), length);
  }
  template <class U>
  Matrix<U> keys(U* data) const {
    return keys(data, shape.features);
  }
};
/// Calls `add(block)` for each block of scores that is seen, in the two blocks of `scratch`, and `between` now and then.
template <class T, class Exec, class Add, class Between>
void each_block_back(Exec const& exec, AttentionShape const& s, AttentionSaved<T> const& of,
                     T* scratch, Add const& add, Between const& between) {
  T const scale = kernels::scale_of_scores<T>(s);
  kernels::each_block_of_queries(
      s, [&](std::int64_t b, std::int64_t h, std::int64_t i0, std::int64_t rows) {
        std::int64_t const end = s.seen(i0 + rows - 1);
        for (std::int64_t j0 = 0; j0 < end; j0 += attention_block) {
          std::int64_t const n = std::min(attention_block, end - j0);
          ScoresBack<T> const k{s,
                                b,
                                h,
                                i0,
                                rows,
                                j0,
                                n,
                                {scratch, rows, n, n, 1, 0},
                                {scratch + rows * n, rows, n, n, 1, 0}};
          shardtype::kernels::gemm<Exec, T>(exec, 1, k.queries(of.q), k.keys(of.k).transposed(),
                                            k.p, false);
          shardtype::kernels::gemm<Exec, T>(exec, 1, k.queries(of.ct), k.keys(of.v).transposed(),
                                            k.ds, false);
          kernels::each_row("shardtype::attention_back", exec, rows,
                            AttentionRowsBack<on_host<Exec>, T>{
                                s, k.p.data, k.ds.data, k.queries(of.out), k.queries(of.ct),
                                of.sums + (b * s.queries + i0) * s.heads + h, i0, j0, n, scale});
          add(k);
        }
        between();
      });
}

/// The cotangent of the queries.
template <class T, class Exec>
void attention_back_queries(Exec const& exec, AttentionShape const& s, AttentionSaved<T> const& of,
                            T* out, T* scratch) {
  shardtype::kernels::fill(exec, out, s.batch * s.queries * s.heads * s.features, T{});
  auto const add = [&](ScoresBack<T> const& k) {
    shardtype::kernels::gemm<Exec, T>(exec, 1, k.ds, k.keys(of.k), k.queries(out), true);
  };
  kernels::each_block_back(exec, s, of, scratch, add, [] {});
}

/// The cotangents of keys and values, one behind the other in rows of 2 features.
template <class T, class Exec>
void attention_back_keys(Exec const& exec, AttentionShape const& s, AttentionSaved<T> const& of,
                         T* out, T* scratch) {
  std::int64_t const length = 2 * s.features;
  shardtype::kernels::fill(exec, out, s.batch * s.keys * s.key_heads * length, T{});
  auto const add = [&](ScoresBack<T> const& k) {
    shardtype::kernels::gemm<Exec, T>(exec, 1, k.ds.transposed(), k.queries(of.q),
                                      k.keys(out, length), true);
    shardtype::kernels::gemm<Exec, T>(exec, 1, k.p.transposed(), k.queries(of.ct),
                                      k.keys(out + s.features, length), true);
  };
  kernels::each_block_back(exec, s, of, scratch, add, [] {});
}

/// Adds the cotangents of queries, keys and values to the matrices `to_queries(b, h, i0, rows)`, `to_keys(b, g, j0, n)`
/// and `to_values`. Each block of scores is computed once; `between` is called now and then.
template <class T, class Exec, class Queries, class Keys, class Values, class Between>
void attention_back_into(Exec const& exec, AttentionShape const& s, AttentionSaved<T> const& of,
                         Queries const& to_queries, Keys const& to_keys, Values const& to_values,
                         T* scratch, Between const& between) {
  auto const add = [&](ScoresBack<T> const& k) {
    std::int64_t const g = s.key_head(k.h);
    shardtype::kernels::gemm<Exec, T>(exec, 1, k.ds, k.keys(of.k),
                                      to_queries(k.b, k.h, k.i0, k.rows), true);
    shardtype::kernels::gemm<Exec, T>(exec, 1, k.ds.transposed(), k.queries(of.q),
                                      to_keys(k.b, g, k.j0, k.n), true);
    shardtype::kernels::gemm<Exec, T>(exec, 1, k.p.transposed(), k.queries(of.ct),
                                      to_values(k.b, g, k.j0, k.n), true);
  };
  kernels::each_block_back(exec, s, of, scratch, add, between);
}

/// The cotangents of queries, keys and values, where each head has keys of its own: [batch, heads, queries + 2 keys,
/// features], one behind the other.
template <class T, class Exec>
void attention_back(Exec const& exec, AttentionShape const& s, AttentionSaved<T> const& of, T* out,
                    T* scratch) {
  std::int64_t const length = s.queries + 2 * s.keys;
  shardtype::kernels::fill(exec, out, s.batch * s.heads * length * s.features, T{});
  auto const part = [&](std::int64_t from) {
    return
        [&s, length, from, out](std::int64_t b, std::int64_t h, std::int64_t row, std::int64_t n) {
          return Matrix<T>{out + ((b * s.heads + h) * length + from + row) * s.features,
                           n,
                           s.features,
                           s.features,
                           1,
                           0};
        };
  };
  kernels::attention_back_into(exec, s, of, part(0), part(s.queries), part(s.queries + s.keys),
                               scratch, [] {});
}

}  // namespace shardtype::nn::kernels
