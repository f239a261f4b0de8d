#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include "shardtype/kernels/matrix.hpp"
#include "shardtype/plan/product_layout.hpp"

namespace shardtype::kernels {

/// Whether BLAS has a matrix product for this element type.
template <class T>
inline constexpr bool is_blas_type =
    std::is_same_v<T, float> || std::is_same_v<T, double> ||
    std::is_same_v<T, Kokkos::complex<float>> || std::is_same_v<T, Kokkos::complex<double>>;

using planning::blas_max_dim;

namespace detail {

/// Whether the matrix is column-major for BLAS.
template <class T>
constexpr bool is_column_major(Matrix<T> const& x) {
  return planning::is_column_major(x.rows, x.cols, x.row_stride, x.col_stride);
}

/// The leading dimension of a column-major matrix if at most `limit` of its rows are passed.
template <class T>
constexpr std::int32_t leading_dimension(Matrix<T> const& x, std::int64_t limit) {
  return static_cast<std::int32_t>(x.cols <= 1 ? std::clamp<std::int64_t>(x.rows, 1, limit)
                                               : x.col_stride);
}

/// One factor in the form that BLAS expects.
struct BlasFactor {
  char op;
  std::int32_t ld;

  template <class T>
  static constexpr BlasFactor of(Matrix<T> const& x, std::int64_t limit) {
    return is_column_major(x) ? BlasFactor{'N', leading_dimension(x, limit)}
                              : BlasFactor{'T', leading_dimension(x.transposed(), limit)};
  }
};

}  // namespace detail

/// Whether BLAS can compute C = A B on these matrices without a copy: each has a unit stride in one
/// direction and a leading dimension that covers it and fits into 32 bits.
template <class T, class U>
constexpr bool blas_can(Matrix<T> const& a, Matrix<T> const& b, Matrix<U> const& c) {
  using detail::is_column_major;
  return is_blas_type<std::remove_const_t<T>> &&
         (is_column_major(a) || is_column_major(a.transposed())) &&
         (is_column_major(b) || is_column_major(b.transposed())) &&
         (is_column_major(c) || is_column_major(c.transposed()));
}

}  // namespace shardtype::kernels

#ifdef SHARDTYPE_HAVE_BLAS

namespace shardtype::kernels::detail {

// NOLINTBEGIN(readability-identifier-naming): the names of the Fortran interface
extern "C" {
void sgemm_(char const* op_a, char const* op_b, std::int32_t const* m, std::int32_t const* n,
            std::int32_t const* k, void const* alpha, void const* a, std::int32_t const* lda,
            void const* b, std::int32_t const* ldb, void const* beta, void* c,
            std::int32_t const* ldc);
void dgemm_(char const* op_a, char const* op_b, std::int32_t const* m, std::int32_t const* n,
            std::int32_t const* k, void const* alpha, void const* a, std::int32_t const* lda,
            void const* b, std::int32_t const* ldb, void const* beta, void* c,
            std::int32_t const* ldc);
void cgemm_(char const* op_a, char const* op_b, std::int32_t const* m, std::int32_t const* n,
            std::int32_t const* k, void const* alpha, void const* a, std::int32_t const* lda,
            void const* b, std::int32_t const* ldb, void const* beta, void* c,
            std::int32_t const* ldc);
void zgemm_(char const* op_a, char const* op_b, std::int32_t const* m, std::int32_t const* n,
            std::int32_t const* k, void const* alpha, void const* a, std::int32_t const* lda,
            void const* b, std::int32_t const* ldb, void const* beta, void* c,
            std::int32_t const* ldc);
}
// NOLINTEND(readability-identifier-naming)

/// The BLAS routine for one element type.
template <class T>
constexpr auto blas_routine() {
  if constexpr (std::is_same_v<T, float>) {
    return &sgemm_;
  } else if constexpr (std::is_same_v<T, double>) {
    return &dgemm_;
  } else if constexpr (std::is_same_v<T, Kokkos::complex<float>>) {
    return &cgemm_;
  } else {
    return &zgemm_;
  }
}

/// C = A B, or C += A B, for a column-major C, in pieces of at most `limit` along each dimension.
template <class T>
void blas_gemm_column_major(Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c,
                            bool accumulate, std::int64_t limit) {
  T const one(1);
  T const zero(0);
  BlasFactor const fa = BlasFactor::of(a, limit);
  BlasFactor const fb = BlasFactor::of(b, limit);
  std::int32_t const ldc = leading_dimension(c, limit);
  for (std::int64_t j = 0; j < c.cols; j += limit) {
    auto const n = static_cast<std::int32_t>(std::min(limit, c.cols - j));
    for (std::int64_t i = 0; i < c.rows; i += limit) {
      auto const m = static_cast<std::int32_t>(std::min(limit, c.rows - i));
      T* const target = c.block(i, j, m, n).data;
      for (std::int64_t p = 0; p < a.cols; p += limit) {
        auto const k = static_cast<std::int32_t>(std::min(limit, a.cols - p));
        T const* const beta = accumulate || p > 0 ? &one : &zero;
        blas_routine<T>()(&fa.op, &fb.op, &m, &n, &k, &one, a.block(i, p, m, k).data, &fa.ld,
                          b.block(p, j, k, n).data, &fb.ld, beta, target, &ldc);
      }
    }
  }
}

}  // namespace shardtype::kernels::detail

namespace shardtype::kernels {

/// C = A B, or C += A B if `accumulate`, for each member of the batch, by BLAS. Needs blas_can(a,
/// b, c). Dimensions above `limit` are cut; tests lower it.
template <class T>
void blas_gemm(std::int64_t batch, Matrix<std::type_identity_t<T> const> const& a,
               Matrix<std::type_identity_t<T> const> const& b, Matrix<T> const& c, bool accumulate,
               std::int64_t limit = blas_max_dim) {
  static_assert(is_blas_type<T>);
  for (std::int64_t t = 0; t < batch; ++t) {
    Matrix<T> const ct = c.member(t);
    if (a.cols == 0) {
      // Not left to BLAS: without columns there is no valid leading dimension to pass.
      for (std::int64_t i = 0; i < (accumulate ? 0 : c.rows); ++i) {
        for (std::int64_t j = 0; j < c.cols; ++j) *ct.block(i, j, 1, 1).data = T(0);
      }
    } else if (detail::is_column_major(c)) {
      detail::blas_gemm_column_major<T>(a.member(t), b.member(t), ct, accumulate, limit);
    } else {
      // A row-major C is a column-major transpose, and that is B^T A^T.
      detail::blas_gemm_column_major<T>(b.member(t).transposed(), a.member(t).transposed(),
                                        ct.transposed(), accumulate, limit);
    }
  }
}

}  // namespace shardtype::kernels

#endif
