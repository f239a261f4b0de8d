#pragma once
/// Factors of the rows of half a spectrum.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/triangle.hpp>

namespace shardtype::kernels {

namespace detail {

template <class T, class Real>
struct WeighRows {
  T const* src;
  T* dst;
  HeldDim dim;
  std::int64_t last;  ///< the row that is its own mirror image, -1 if there is none
  Real alone, paired;

  KOKKOS_FUNCTION void operator()(std::int64_t n) const {
    std::int64_t const row = global_index(dim.rows, n / dim.inner % dim.rows.count);
    dst[n] = src[n] * (row == 0 || row == last ? alone : paired);
  }
};

}  // namespace detail

/// `dst` = `src`, `n` elements, times `alone` in row 0 and row `last` of `dim`, and `paired`
/// elsewhere.
template <class T, class Real, class Exec>
void weigh_rows(Exec const& exec, T const* src, T* dst, std::int64_t n, HeldDim const& dim,
                std::int64_t last, Real alone, Real paired) {
  if (n == 0) return;
  kernels::launch(exec, "shardtype::weigh_rows", n,
                  detail::WeighRows<T, Real>{src, dst, dim, last, alone, paired});
}

}  // namespace shardtype::kernels
