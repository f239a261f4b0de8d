#pragma once
/// Running values of a block along one dim; `R` is a reducer (kernels/reducers.hpp).

#include <cstdint>

#include <Kokkos_Core.hpp>

namespace shardtype::kernels {

namespace detail {

/// One work item computes one column: each running value, or only the last if `totals_only`.
/// bfloat16 is accumulated in float.
template <class T, class R>
struct ScanMiddle {
  T const* src;
  T* dst;
  T const* start;  ///< [outer, inner], the value before the block; null: none
  std::int64_t middle, inner;
  bool exclusive, reverse, totals_only;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const at = (work / inner) * middle * inner + work % inner;
    using Part = typename R::Part;
    Part sum = start == nullptr ? R::nothing() : R::load(start[work]);
    for (std::int64_t n = 0; n < middle; ++n) {
      std::int64_t const k = reverse ? middle - 1 - n : n;
      Part next = sum;
      R::join(next, R::load(src[at + k * inner]));
      if (!totals_only) dst[at + k * inner] = static_cast<T>(exclusive ? sum : next);
      sum = next;
    }
    if (totals_only) dst[work] = static_cast<T>(sum);
  }
};

/// dst = `count` rows of `n` elements combined, the one at `src` first, each `step` elements behind
/// the one before.
template <class T, class R>
struct CombineRows {
  T const* src;
  T* dst;
  std::int64_t count, n, step;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    typename R::Part sum = R::nothing();
    for (std::int64_t r = 0; r < count; ++r) R::join(sum, R::load(src[r * step + k]));
    dst[k] = static_cast<T>(sum);
  }
};

}  // namespace detail

/// `dst` [outer, middle, inner] = the running values of `src` over its middle dim, beginning with
/// `start` [outer, inner] (null: the neutral value); `exclusive`: each without its own element;
/// `reverse`: from the last row to the first.
template <class R, class T, class Exec>
void scan_middle(Exec const& exec, T const* src, T* dst, T const* start, std::int64_t outer,
                 std::int64_t middle, std::int64_t inner, bool exclusive, bool reverse) {
  if (outer * middle * inner == 0) return;
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for(
      "shardtype::scan", Policy(exec, 0, outer * inner),
      detail::ScanMiddle<T, R>{src, dst, start, middle, inner, exclusive, reverse, false});
}

/// `dst` [outer, inner] = `src` [outer, middle, inner] combined over its middle, in that order.
template <class R, class T, class Exec>
void total_middle(Exec const& exec, T const* src, T* dst, std::int64_t outer, std::int64_t middle,
                  std::int64_t inner, bool reverse) {
  if (outer * inner == 0) return;
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for(
      "shardtype::total", Policy(exec, 0, outer * inner),
      detail::ScanMiddle<T, R>{src, dst, nullptr, middle, inner, false, reverse, true});
}

/// `dst` [n] = rows of `src` [rows, n] combined: the first `me` in order, or `reverse` those behind
/// row `me` from the last on.
template <class R, class T, class Exec>
void combine_rows(Exec const& exec, T const* src, T* dst, std::int64_t rows, std::int64_t me,
                  std::int64_t n, bool reverse) {
  if (n == 0) return;
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  std::int64_t const count = reverse ? rows - 1 - me : me;
  T const* const first = reverse ? src + (rows - 1) * n : src;
  Kokkos::parallel_for("shardtype::combine_rows", Policy(exec, 0, n),
                       detail::CombineRows<T, R>{first, dst, count, n, reverse ? -n : n});
}

}  // namespace shardtype::kernels
