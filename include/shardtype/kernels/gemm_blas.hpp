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

/// Whether it has a unit stride in one direction and a leading dimension that covers it and fits
/// into 32 bits.
template <class T>
constexpr bool fits_blas(Matrix<T> const& x) {
  return detail::is_column_major(x) || detail::is_column_major(x.transposed());
}

/// One factor in the form that BLAS expects.
struct BlasFactor {
  char op;
  std::int32_t ld;

  template <class T>
  static constexpr BlasFactor of(Matrix<T> const& x, std::int64_t limit) {
    return detail::is_column_major(x)
               ? BlasFactor{'N', detail::leading_dimension(x, limit)}
               : BlasFactor{'T', detail::leading_dimension(x.transposed(), limit)};
  }
};

}  // namespace detail

/// Whether BLAS can compute C = A B on these matrices without a copy.
template <class T, class U>
constexpr bool blas_can(Matrix<T> const& a, Matrix<T> const& b, Matrix<U> const& c) {
  return is_blas_type<std::remove_const_t<T>> && detail::fits_blas(a) && detail::fits_blas(b) &&
         detail::fits_blas(c);
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
void sgemv_(char const* op_a, std::int32_t const* m, std::int32_t const* n, void const* alpha,
            void const* a, std::int32_t const* lda, void const* x, std::int32_t const* incx,
            void const* beta, void* y, std::int32_t const* incy);
void dgemv_(char const* op_a, std::int32_t const* m, std::int32_t const* n, void const* alpha,
            void const* a, std::int32_t const* lda, void const* x, std::int32_t const* incx,
            void const* beta, void* y, std::int32_t const* incy);
void cgemv_(char const* op_a, std::int32_t const* m, std::int32_t const* n, void const* alpha,
            void const* a, std::int32_t const* lda, void const* x, std::int32_t const* incx,
            void const* beta, void* y, std::int32_t const* incy);
void zgemv_(char const* op_a, std::int32_t const* m, std::int32_t const* n, void const* alpha,
            void const* a, std::int32_t const* lda, void const* x, std::int32_t const* incx,
            void const* beta, void* y, std::int32_t const* incy);
}
// NOLINTEND(readability-identifier-naming)

/// The BLAS routines for one element type.
template <class T>
struct Blas;
template <>
struct Blas<float> {
  static constexpr auto gemm = &sgemm_;
  static constexpr auto gemv = &sgemv_;
};
template <>
struct Blas<double> {
  static constexpr auto gemm = &dgemm_;
  static constexpr auto gemv = &dgemv_;
};
template <>
struct Blas<Kokkos::complex<float>> {
  static constexpr auto gemm = &cgemm_;
  static constexpr auto gemv = &cgemv_;
};
template <>
struct Blas<Kokkos::complex<double>> {
  static constexpr auto gemm = &zgemm_;
  static constexpr auto gemv = &zgemv_;
};

/// Whether A x is a sum of columns, for which A need not be transposed; one row gives a dot
/// product.
template <class T>
constexpr bool sums_columns(Matrix<T> const& a) {
  return detail::is_column_major(a) &&
         !(a.rows == 1 && a.cols > 1 && detail::is_column_major(a.transposed()));
}
/// Whether the routine for vectors is the faster one, which it is not for the sum of a few columns.
template <class T>
constexpr bool gemv_pays(Matrix<T> const& a) {
  return !detail::sums_columns(a) || a.cols >= 8;
}

/// y = A x, or y += A x, for matrices x and y of one column, in pieces of at most `limit` along
/// each dimension.
template <class T>
void blas_gemv(Matrix<T const> const& a, Matrix<T const> const& x, Matrix<T> const& y,
               bool accumulate, std::int64_t limit) {
  T const one(1);
  // not by a beta of 0, with which some versions of OpenBLAS keep a NaN
  for (std::int64_t i = 0; i < (accumulate ? 0 : y.rows); ++i) y.data[i * y.row_stride] = T(0);
  bool const columns = detail::sums_columns(a);
  Matrix<T const> const f = columns ? a : a.transposed();
  char const op = columns ? 'N' : 'T';
  std::int32_t const lda = detail::leading_dimension(f, limit);
  auto const step_of = [](auto const& v) {
    return v.rows <= 1 ? 1 : static_cast<std::int32_t>(v.row_stride);
  };
  std::int32_t const x_step = step_of(x);
  std::int32_t const y_step = step_of(y);
  for (std::int64_t j = 0; j < f.cols; j += limit) {
    auto const n = static_cast<std::int32_t>(std::min(limit, f.cols - j));
    for (std::int64_t i = 0; i < f.rows; i += limit) {
      auto const m = static_cast<std::int32_t>(std::min(limit, f.rows - i));
      Blas<T>::gemv(&op, &m, &n, &one, f.block(i, j, m, n).data, &lda,
                    x.data + (columns ? j : i) * x_step, &x_step, &one,
                    y.data + (columns ? i : j) * y_step, &y_step);
    }
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
  std::int32_t const ldc = detail::leading_dimension(c, limit);
  for (std::int64_t j = 0; j < c.cols; j += limit) {
    auto const n = static_cast<std::int32_t>(std::min(limit, c.cols - j));
    for (std::int64_t i = 0; i < c.rows; i += limit) {
      auto const m = static_cast<std::int32_t>(std::min(limit, c.rows - i));
      T* const target = c.block(i, j, m, n).data;
      for (std::int64_t p = 0; p < a.cols; p += limit) {
        auto const k = static_cast<std::int32_t>(std::min(limit, a.cols - p));
        T const* const beta = accumulate || p > 0 ? &one : &zero;
        Blas<T>::gemm(&fa.op, &fb.op, &m, &n, &k, &one, a.block(i, p, m, k).data, &fa.ld,
                      b.block(p, j, k, n).data, &fb.ld, beta, target, &ldc);
      }
    }
  }
}

}  // namespace shardtype::kernels::detail

namespace shardtype::kernels {

/// C = A B, or C += A B if `accumulate`, for each member of the batch, by BLAS; one row or column
/// as a product with a vector, for which it need not copy the matrix. Needs blas_can(a, b, c).
/// Dimensions above `limit` are cut; tests lower it.
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
    } else if (c.cols == 1 && detail::gemv_pays(a)) {
      detail::blas_gemv<T>(a.member(t), b.member(t), ct, accumulate, limit);
    } else if (c.rows == 1 && detail::gemv_pays(b.transposed())) {
      detail::blas_gemv<T>(b.member(t).transposed(), a.member(t).transposed(), ct.transposed(),
                           accumulate, limit);
    } else if (detail::is_column_major(c) &&
               !(c.rows == 1 && detail::is_column_major(c.transposed()))) {
      detail::blas_gemm_column_major<T>(a.member(t), b.member(t), ct, accumulate, limit);
    } else {
      // A row-major C is a column-major transpose, and that is B^T A^T; so is one row, because BLAS
      // is slow for it.
      detail::blas_gemm_column_major<T>(b.member(t).transposed(), a.member(t).transposed(),
                                        ct.transposed(), accumulate, limit);
    }
  }
}

}  // namespace shardtype::kernels

#endif
