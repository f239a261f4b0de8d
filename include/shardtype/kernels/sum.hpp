#pragma once
/// Sums of a block over one dim.

#include <cstdint>

#include <Kokkos_Core.hpp>

namespace shardtype::kernels {

namespace detail {
template <class T>
struct SumMiddle {
  T const* src;
  T* dst;
  std::int64_t middle, inner;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    T const* const in = src + (work / inner) * middle * inner + work % inner;
    T sum{};
    for (std::int64_t k = 0; k < middle; ++k) sum += in[k * inner];
    dst[work] = sum;
  }
};
}  // namespace detail

/// `dst` [outer, inner] = the sum of `src` [outer, middle, inner] over its middle.
template <class T, class Exec>
void sum_middle(Exec const& exec, T const* src, T* dst, std::int64_t outer, std::int64_t middle,
                std::int64_t inner) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  if (outer * inner == 0) return;
  Kokkos::parallel_for("shardtype::sum", Policy(exec, 0, outer * inner),
                       detail::SumMiddle<T>{src, dst, middle, inner});
}

}  // namespace shardtype::kernels
