#pragma once
/// Packing for collectives: a block cut along one dim into one message per rank, and back; one
/// kernel for all messages.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/stream_copy.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::kernels {

/// The direction of the copy.
enum class Packing { split, join };

namespace detail {

/// The segments of one block: `begin` has their begins along the dim and, last, its extent.
template <class T, Packing Way>
struct Segments {
  T const* src;
  T* dst;
  std::int64_t const* begin;
  std::int64_t segments;
  std::int64_t outer, total, inner;

  /// Calls `move(to, from, elements)` for segment `s` at outer position `o`.
  template <class Move>
  KOKKOS_FUNCTION void run(std::int64_t s, std::int64_t o, Move move) const {
    std::int64_t const length = (begin[s + 1] - begin[s]) * inner;
    std::int64_t const block = (o * total + begin[s]) * inner;
    std::int64_t const message = begin[s] * outer * inner + o * length;
    move(dst + (Way == Packing::split ? message : block),
         src + (Way == Packing::split ? block : message), length);
  }
};

/// Device: one call moves one element of the block.
template <class T, Packing Way>
struct MoveElement {
  Segments<T, Way> of;
  template <class Number>
  KOKKOS_FUNCTION void operator()(Number work) const {
    auto const inner = static_cast<Number>(of.inner), total = static_cast<Number>(of.total);
    Number const row = work / inner;
    std::int64_t const o = row / total, k = row % total;
    std::int64_t low = 0, high = of.segments;  // the last segment that begins at or before k
    while (high - low > 1) {
      std::int64_t const middle = (low + high) / 2;
      (of.begin[middle] <= k ? low : high) = middle;
    }
    std::int64_t const length = of.begin[low + 1] - of.begin[low];
    std::int64_t const message =
        (of.begin[low] * of.outer + o * length + k - of.begin[low]) * of.inner +
        (work - row * inner);
    of.dst[Way == Packing::split ? message : work] = of.src[Way == Packing::split ? work : message];
  }
};

/// Host: one call moves all segments of some outer positions.
template <class T, Packing Way>
struct MoveRows {
  Segments<T, Way> of;
  std::int64_t rows;
  bool stream;  ///< whether the data are too large for the cache

  void operator()(std::int64_t work) const {
    std::int64_t const first = work * rows;
    std::int64_t const end = first + rows < of.outer ? first + rows : of.outer;
    for (std::int64_t o = first; o < end; ++o)
      for (std::int64_t s = 0; s < of.segments; ++s)
        of.run(s, o, [&](T* to, T const* from, std::int64_t n) {
          auto const bytes = static_cast<std::size_t>(n) * sizeof(T);
          if (stream) {
            kernels::stream_copy(to, from, bytes);
          } else {
            std::memcpy(static_cast<void*>(to), from, bytes);
          }
        });
    if (stream) stream_fence();
  }
};

}  // namespace detail

/// split: copies segments along the middle dim of `src` [outer, total, inner] to consecutive
/// messages in `dst`; join: the inverse. `begin` has segments + 1 entries, readable from `exec`.
template <Packing Way, class T, class Exec>
void move_segments(Exec const& exec, T const* src, T* dst, std::int64_t const* begin,
                   std::int64_t segments, std::int64_t outer, std::int64_t total,
                   std::int64_t inner) {
  if (outer * total * inner == 0) return;
  detail::Segments<T, Way> const of{src, dst, begin, segments, outer, total, inner};
  if constexpr (runtime::host_reads<Exec>) {
    std::int64_t const row = total * inner * static_cast<std::int64_t>(sizeof(T));
    std::int64_t const rows = (std::int64_t{1} << 18) / row + 1;
    bool const stream = outer * row > std::int64_t{4} << 20;
    kernels::launch(exec, "shardtype::segments", (outer + rows - 1) / rows,
                    detail::MoveRows<T, Way>{of, rows, stream});
  } else {
    kernels::launch(exec, "shardtype::segments", outer * total * inner,
                    detail::MoveElement<T, Way>{of});
  }
}

}  // namespace shardtype::kernels
