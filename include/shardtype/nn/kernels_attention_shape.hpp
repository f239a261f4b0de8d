#pragma once
/// The blocks of attention, which keys a query sees, and what options make of a score.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include <Kokkos_Core.hpp>

#include <shardtype/core/block.hpp>
#include <shardtype/kernels/functions.hpp>
#include <shardtype/kernels/matrix.hpp>
#include <shardtype/kernels/vector_functions.hpp>
#include <shardtype/nn/types_attention.hpp>

namespace shardtype::nn::kernels {

using shardtype::kernels::Matrix;

/// The segments of positions, [batch, queries] and [batch, keys]. Null: all are of one segment.
struct AttentionSegments {
  std::int64_t const* queries = nullptr;
  std::int64_t const* keys = nullptr;
};

/// The least and the largest segment of some positions.
struct SegmentBounds {
  std::int64_t least, most;

  static SegmentBounds of(std::int64_t const* ids, std::int64_t n) {
    SegmentBounds out{ids[0], ids[0]};
    for (std::int64_t k = 1; k < n; ++k) {
      out.least = ids[k] < out.least ? ids[k] : out.least;
      out.most = ids[k] > out.most ? ids[k] : out.most;
    }
    return out;
  }
  bool meets(SegmentBounds const& b) const { return least <= b.most && b.least <= most; }
  bool is_one_with(SegmentBounds const& b) const {
    return least == most && b.least == b.most && least == b.least;
  }
};

/// Of the keys of a block, those that a query sees: of [begin, end) those of its segment.
struct SeenKeys {
  std::int64_t begin, end;
  std::int64_t const* ids;  ///< of the keys of the block; null: all are of the query's segment
  std::int64_t id;

  /// Whether key `k` of [begin, end) is seen.
  KOKKOS_FUNCTION bool has(std::int64_t k) const { return ids == nullptr || ids[k] == id; }
};

/// Blocks [batch, positions, heads, features]. A rank's head h is head `first_head` + h,
/// and reads key head (first_head + h) / group - first_key_head.
struct AttentionShape {
  std::int64_t batch, queries, keys, heads, key_heads, features;
  std::int64_t first_head, first_key_head, group;
  AttentionOptions settings;
  core::Rows query_rows, key_rows;  ///< their positions
  std::int64_t all_heads = 1;       ///< of queries, on all ranks
  AttentionSegments segments{};
  AttentionSegments on_host{};  ///< the same in memory of the host, by which blocks are chosen

  KOKKOS_FUNCTION std::int64_t key_head(std::int64_t h) const {
    return (first_head + h) / group - first_key_head;
  }
  /// The keys that query `i` sees are [from(i), seen(i)) of the block, because positions increase,
  /// and of these the ones of its segment.
  KOKKOS_FUNCTION std::int64_t seen(std::int64_t i) const {
    if (settings.causal) return key_rows.below(settings.first + query_rows[i] + 1);
    return settings.window > 0 ? key_rows.below(settings.first + query_rows[i] + window() + 1)
                               : keys;
  }
  KOKKOS_FUNCTION std::int64_t from(std::int64_t i) const {
    return settings.window > 0 ? key_rows.below(settings.first + query_rows[i] - window()) : 0;
  }
  /// The window, so that no sum of positions overflows.
  KOKKOS_FUNCTION std::int64_t window() const {
    constexpr std::int64_t most = std::int64_t{1} << 60;
    return settings.window < most ? settings.window : most;
  }
  /// Whether anything but `causal` decides about scores.
  KOKKOS_FUNCTION bool by_options() const {
    return settings.window > 0 || settings.soft_cap != 0 || settings.alibi != 0 ||
           segments.keys != nullptr;
  }
  /// Of `columns` keys from j0 on, those that query `i` of sequence `b` sees.
  KOKKOS_FUNCTION SeenKeys keys_of(std::int64_t b, std::int64_t i, std::int64_t j0,
                                   std::int64_t columns) const {
    auto const within = [columns](std::int64_t n) { return n < 0 ? 0 : n < columns ? n : columns; };
    std::int64_t const end = within(seen(i) - j0);
    std::int64_t const begin = settings.window > 0 ? within(from(i) - j0) : 0;
    bool const all = segments.keys == nullptr;
    return {begin < end ? begin : end, end, all ? nullptr : segments.keys + b * keys + j0,
            all ? 0 : segments.queries[b * queries + i]};
  }
  /// Whether each of the queries i0, ..., i0 + rows - 1 sees each of `n` keys from j0 on.
  bool all_see(std::int64_t i0, std::int64_t rows, std::int64_t j0, std::int64_t n) const {
    return seen(i0) - j0 >= n && from(i0 + rows - 1) <= j0 && segments.keys == nullptr;
  }
  /// How much a score of head `h` falls from key to key: a geometric sequence, for a number of
  /// heads that is no power of two as of Press et al., "Train short, test long", ICLR 2022.
  KOKKOS_FUNCTION double slope(std::int64_t h) const {
    if (settings.alibi == 0) return 0;
    std::int64_t const head = first_head + h;
    std::int64_t below = 1;  // the largest power of two that is at most the number of heads
    while (2 * below <= all_heads) below *= 2;
    double const n = static_cast<double>(below);
    double const at = head < below ? static_cast<double>(head + 1)
                                   : static_cast<double>(2 * (head - below) + 1) / 2;
    return shardtype::kernels::math::exp(-std::numbers::ln2 * settings.alibi * at / n);
  }
  /// The distance of query `i` and key `j`.
  KOKKOS_FUNCTION std::int64_t distance(std::int64_t i, std::int64_t j) const {
    std::int64_t const d = settings.first + query_rows[i] - key_rows[j];
    return d < 0 ? -d : d;
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

/// Calls `f(shape, j0, n)` for the blocks of keys that a query of i0, ..., i0 + rows - 1 sees, with
/// the shape of the block: one without segments if they are all the same.
template <class F>
void each_block_of_keys(AttentionShape const& s, std::int64_t b, std::int64_t i0, std::int64_t rows,
                        F const& f) {
  std::int64_t const begin = s.from(i0), end = s.seen(i0 + rows - 1);
  AttentionSegments const& ids = s.on_host;
  SegmentBounds const of_queries = ids.keys == nullptr
                                       ? SegmentBounds{0, 0}
                                       : SegmentBounds::of(ids.queries + b * s.queries + i0, rows);
  for (std::int64_t j0 = begin; j0 < end; j0 += attention_block) {
    std::int64_t const n = std::min(attention_block, end - j0);
    if (ids.keys == nullptr) {
      f(s, j0, n);
      continue;
    }
    SegmentBounds const of_keys = SegmentBounds::of(ids.keys + b * s.keys + j0, n);
    if (!of_keys.meets(of_queries)) continue;
    AttentionShape block = s;
    if (of_keys.is_one_with(of_queries)) block.segments = {};
    f(block, j0, n);
  }
}

/// x[k] = tanh(x[k]) for `n` elements.
template <bool Host, class T>
KOKKOS_FUNCTION void tanh_of(T* x, std::int64_t n) {
  using Tanh = shardtype::functions::Tanh;
  if constexpr (Host && shardtype::kernels::vectors::vectorised<Tanh, T>) {
    shardtype::kernels::vectors::run<Tanh>(n, x, static_cast<T const*>(x));
  } else {
    for (std::int64_t k = 0; k < n; ++k) x[k] = shardtype::kernels::math::tanh(x[k]);
  }
}

/// The products x[k] of query `i` and the keys j0 + k become scores: scaled, capped, and lowered by
/// the distance. `slopes[k]`, unless null, is multiplied with the derivative of score k by the
/// scaled product.
template <bool Host, class T>
KOKKOS_FUNCTION void scores_by_options(AttentionShape const& shape, T* x, T* slopes,
                                       SeenKeys const& keys, std::int64_t h, std::int64_t i,
                                       std::int64_t j0, T scale) {
  std::int64_t const n = keys.end - keys.begin;
  x += keys.begin;
  if (shape.settings.soft_cap == 0) {
    for (std::int64_t k = 0; k < n; ++k) x[k] *= scale;
  } else {
    T const cap = static_cast<T>(shape.settings.soft_cap);
    T const factor = scale / cap;
    for (std::int64_t k = 0; k < n; ++k) x[k] *= factor;
    kernels::tanh_of<Host>(x, n);
    if (slopes != nullptr)
      for (std::int64_t k = 0; k < n; ++k) slopes[keys.begin + k] *= T(1) - x[k] * x[k];
    for (std::int64_t k = 0; k < n; ++k) x[k] *= cap;
  }
  if (shape.settings.alibi == 0) return;
  T const slope = static_cast<T>(shape.slope(h));
  for (std::int64_t k = 0; k < n; ++k)
    x[k] -= slope * static_cast<T>(shape.distance(i, j0 + keys.begin + k));
}

}  // namespace shardtype::nn::kernels
