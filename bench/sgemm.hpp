// A direct call of the BLAS product.
#pragma once

#include <cstdint>

#include <shardtype/kernels/gemm_blas.hpp>

/// C (m x n) = A (m x k) B (k x n), row-major. BLAS is column-major, so the call computes the
/// transposed product.
inline void sgemm(std::int64_t m, std::int64_t n, std::int64_t k, float const* a, float const* b,
                  float* c) {
  auto const rows = static_cast<std::int32_t>(m);
  auto const cols = static_cast<std::int32_t>(n);
  auto const inner = static_cast<std::int32_t>(k);
  float const one = 1;
  float const zero = 0;
  shardtype::kernels::detail::sgemm_("N", "N", &cols, &rows, &inner, &one, b, &cols, a, &inner,
                                     &zero, c, &cols);
}
