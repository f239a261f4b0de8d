#pragma once
/// Packing for collectives: a block cut along one dim into one message per rank, and back, in one
/// kernel for all of them.

#include <cstdint>

#include <Kokkos_Core.hpp>

namespace shardtype::kernels {

/// Which way the elements go.
enum class Packing { split, join };

namespace detail {

/// One (outer, segment) pair per work item; `begin` holds the segments' begins along the dim and,
/// last, its extent.
template <class T, Packing Way>
struct Segments {
  T const* src;
  T* dst;
  std::int64_t const* begin;
  std::int64_t segments;
  std::int64_t outer, total, inner;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const s = work / outer;
    std::int64_t const o = work % outer;
    std::int64_t const length = (begin[s + 1] - begin[s]) * inner;
    std::int64_t const block = (o * total + begin[s]) * inner;
    std::int64_t const message = begin[s] * outer * inner + o * length;
    T const* const in = src + (Way == Packing::split ? block : message);
    T* const out = dst + (Way == Packing::split ? message : block);
    for (std::int64_t k = 0; k < length; ++k) out[k] = in[k];
  }
};

}  // namespace detail

/// split: `src` [outer, total, inner] is cut along its middle into segments that `dst` holds one
/// behind the other; join: the reverse. `begin` has segments + 1 entries, readable from `exec`.
template <Packing Way, class T, class Exec>
void move_segments(Exec const& exec, T const* src, T* dst, std::int64_t const* begin,
                   std::int64_t segments, std::int64_t outer, std::int64_t total,
                   std::int64_t inner) {
  if (outer * total * inner == 0) return;
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for("shardtype::segments", Policy(exec, 0, outer * segments),
                       detail::Segments<T, Way>{src, dst, begin, segments, outer, total, inner});
}

}  // namespace shardtype::kernels
