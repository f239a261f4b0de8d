#pragma once
/// Attention by blocks of queries and keys: products by BLAS, and between them a pass over the rows
/// of a block. What is stored of all scores is one block. Sources: Milakov, Gimelshein, "Online
/// normalizer calculation for softmax", 2018; Dao, Fu, Ermon, Rudra, Re, "FlashAttention", NeurIPS
/// 2022.

#include <algorithm>
#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/gemm.hpp>
#include <shardtype/kernels/matrix.hpp>
#include <shardtype/nn/kernels_attention_back_team.hpp>
#include <shardtype/nn/kernels_attention_rows.hpp>
#include <shardtype/nn/kernels_attention_team.hpp>
#include <shardtype/nn/types_attention.hpp>

namespace shardtype::nn::kernels {

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

/// One block of queries and the keys of `s`: their rows of the result, not divided yet, with the
/// largest score and the sum of exponentials of each row. Unless `begins`, these already hold what
/// other keys gave. `finite`: hidden_values_finite. Whether a key was seen.
template <class T, class Exec>
bool attention_of_block(Exec const& exec, AttentionShape const& s, T const* q, T const* k,
                        T const* v, std::int64_t b, std::int64_t h, std::int64_t i0,
                        std::int64_t rows, Matrix<T> const& out, T* largest, T* total, T* scores,
                        bool begins, bool finite) {
  T const scale = kernels::scale_of_scores<T>(s);
  std::int64_t const g = s.key_head(h);
  auto const qs = s.query(q, b, i0, rows, h);
  bool any = false;
  auto const add = [&](AttentionShape const& of, std::int64_t j0, std::int64_t n) {
    bool const first = begins && !any;
    any = true;
    Matrix<T> const block{scores, rows, n, n, 1, 0};
    shardtype::kernels::gemm<Exec, T>(exec, 1, qs, s.key(k, b, j0, n, g).transposed(), block,
                                      false);
    kernels::each_row("shardtype::attention", exec, rows,
                      AttentionRows<on_host<Exec>, T>{of, scores, largest, total, out, b, h, i0, j0,
                                                      n, scale, first});
    auto const vs = s.key(v, b, j0, n, g);
    if (finite || of.all_see(i0, rows, j0, n)) {
      shardtype::kernels::gemm<Exec, T>(exec, 1, block, vs, out, !first);
    } else {
      kernels::each_row("shardtype::attention", exec, rows,
                        AttentionSeenValues<T>{of, scores, vs, out, b, i0, j0, n, first});
    }
  };
  kernels::each_block_of_keys(s, b, i0, rows, add);
  return any;
}

/// The logarithms of the sums of rows i0, ... of a head, or null if none are wanted.
template <class T>
T* sums_of(AttentionShape const& s, T* sums, std::int64_t b, std::int64_t i0, std::int64_t h) {
  return sums == nullptr ? nullptr : sums + s.query_row(b, i0, h);
}

/// The result, and unless `sums` is null the logarithms of the sums, [batch, queries, heads].
template <class T, class Exec>
void attention(Exec const& exec, AttentionShape const& s, T const* q, T const* k, T const* v,
               T* out, T* sums, T* scratch) {
  if constexpr (!on_host<Exec>) {
    T* const none = nullptr;
    return kernels::attention_by_teams<Exec, T>(
        exec, {s, q, k, v, out, sums, none, none, kernels::scale_of_scores<T>(s), 0, 0});
  }
  std::int64_t const most = std::min(attention_block, s.queries);
  T* const largest = scratch;
  T* const total = scratch + most;
  bool const finite = kernels::hidden_values_finite(exec, s, v);
  kernels::each_block_of_queries(
      s, [&](std::int64_t b, std::int64_t h, std::int64_t i0, std::int64_t rows) {
        auto const os = s.query(out, b, i0, rows, h);
        bool const any = kernels::attention_of_block(exec, s, q, k, v, b, h, i0, rows, os, largest,
                                                     total, scratch + 2 * most, true, finite);
        kernels::each_row("shardtype::attention", exec, rows,
                          AttentionFinish<T>{os, largest, total, !any,
                                             kernels::sums_of(s, sums, b, i0, h), s.heads});
      });
}

/// Attention to blocks of keys that come one after the other: the results so far, and for each
/// sequence, head and query the largest score and the sum of exponentials relative to it.
template <class T>
struct AttentionSoFar {
  T* out;
  T* sums;  ///< their logarithms, or null
  T* largest;
  T* total;

  /// Before the first block.
  template <class Exec>
  void begin(Exec const& exec, AttentionShape const& s) const {
    std::int64_t const rows = s.batch * s.heads * s.queries;
    shardtype::kernels::fill(exec, out, rows * s.features, T{});
    shardtype::kernels::fill(exec, largest, rows, -std::numeric_limits<T>::infinity());
    shardtype::kernels::fill(exec, total, rows, T{});
  }
  /// Joins the keys of `s`. `scores`: memory of one block; `between` is called now and then.
  template <class Exec, class Between>
  void add(Exec const& exec, AttentionShape const& s, T const* q, T const* k, T const* v, T* scores,
           Between const& between) const {
    if constexpr (!on_host<Exec>) {
      T* const none = nullptr;
      kernels::attention_by_teams<Exec, T>(
          exec, {s, q, k, v, out, none, largest, total, kernels::scale_of_scores<T>(s), 0, 0});
      return between();
    }
    bool const finite = kernels::hidden_values_finite(exec, s, v);
    kernels::each_block_of_queries(s, [&](std::int64_t b, std::int64_t h, std::int64_t i0,
                                          std::int64_t rows) {
      std::int64_t const at = (b * s.heads + h) * s.queries + i0;
      kernels::attention_of_block(exec, s, q, k, v, b, h, i0, rows, s.query(out, b, i0, rows, h),
                                  largest + at, total + at, scores, false, finite);
      between();
    });
  }
  /// After the last block.
  template <class Exec>
  void finish(Exec const& exec, AttentionShape const& s) const {
    kernels::each_block_of_queries(s, [&](std::int64_t b, std::int64_t h, std::int64_t i0,
                                          std::int64_t rows) {
      std::int64_t const at = (b * s.heads + h) * s.queries + i0;
      kernels::each_row("shardtype::attention", exec, rows,
                        AttentionFinish<T>{s.query(out, b, i0, rows, h), largest + at, total + at,
                                           false, kernels::sums_of(s, sums, b, i0, h), s.heads});
    });
  }
};

/// A block of scores: their probabilities and cotangents, and the rows of matrices that belong to
/// it.
template <class T>
struct ScoresBack {
  AttentionShape const& shape;
  std::int64_t b, h, i0, rows, j0, n;
  Matrix<T> p, ds;

  template <class U>
  Matrix<U> queries(U* data) const {
    return shape.query(data, b, i0, rows, h);
  }
  template <class U>
  Matrix<U> keys(U* data) const {
    return shape.key(data, b, j0, n, shape.key_head(h));
  }
};
/// Calls `add(block)` for each block of scores that is seen, in the two blocks of `scratch`, and
/// `between` now and then.
template <class T, class Exec, class Add, class Between>
void each_block_back(Exec const& exec, AttentionShape const& s, AttentionSaved<T> const& of,
                     T* scratch, Add const& add, Between const& between) {
  T const scale = kernels::scale_of_scores<T>(s);
  kernels::each_block_of_queries(
      s, [&](std::int64_t b, std::int64_t h, std::int64_t i0, std::int64_t rows) {
        auto const add_block = [&](AttentionShape const& shape, std::int64_t j0, std::int64_t n) {
          ScoresBack<T> const k{shape,
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
                                shape, k.p.data, k.ds.data, k.queries(of.out), k.queries(of.ct),
                                of.sums + s.query_row(b, i0, h), b, h, i0, j0, n, scale});
          add(k);
        };
        kernels::each_block_of_keys(s, b, i0, rows, add_block);
        between();
      });
}

/// Adds the cotangents. Each block of scores is computed once; `between` is called now and then.
template <class T, class Exec, class Between>
void add_attention_back(Exec const& exec, AttentionShape const& s, AttentionSaved<T> const& of,
                        AttentionCotangents<T> const& to, T* scratch, Between const& between) {
  if constexpr (!on_host<Exec>) {
    kernels::attention_back_by_teams<Exec, T>(exec, s, of, to, kernels::scale_of_scores<T>(s));
    between();
  } else {
    bool const finite = of.queries_finite(exec, s);
    bool const keys_finite = of.keys_finite(exec, s);
    bool const cts_finite = of.cotangents_finite(exec, s);
    auto const add = [&](ScoresBack<T> const& k) {
      kernels::add_seen<T>(exec, k.ds, k.keys(of.k), k.queries(to.queries), keys_finite);
      kernels::add_seen<T>(exec, k.ds.transposed(), k.queries(of.q), k.keys(to.keys), finite);
      kernels::add_seen<T>(exec, k.p.transposed(), k.queries(of.ct), k.keys(to.values), cts_finite);
    };
    kernels::each_block_back(exec, s, of, scratch, add, between);
  }
}

}  // namespace shardtype::nn::kernels
