#pragma once

#include <Kokkos_Core.hpp>

#include "shardtype/kernels/gemm_blas.hpp"
#include "shardtype/kernels/matrix.hpp"

#if defined(KOKKOS_ENABLE_CUDA) && defined(SHARDTYPE_HAVE_CUBLAS)

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <cublas_v2.h>

#include <shardtype/check/functions.hpp>
#include <shardtype/core/bfloat16.hpp>
#include <shardtype/core/list.hpp>

namespace shardtype::kernels {

namespace detail {

inline void check_cublas(cublasStatus_t status, char const* what) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error(std::string("shardtype: ") + what + " failed with cuBLAS status " +
                             std::to_string(static_cast<int>(status)));
  }
}

/// This thread's handle for the current device; a handle must not be shared between threads.
inline cublasHandle_t cublas_handle() {
  thread_local shardtype::detail::List<cublasHandle_t> handles;
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) {
    throw std::runtime_error("shardtype: cudaGetDevice failed");
  }
  auto const index = static_cast<std::size_t>(device);
  if (handles.size() <= index) handles.resize(index + 1, nullptr);
  if (handles[index] == nullptr) {
    cublasHandle_t handle = nullptr;
    check_cublas(cublasCreate(&handle), "cublasCreate");
    handles[index] = handle;
    // Destroyed while the device still exists, which is not certain at the end of the thread.
    Kokkos::push_finalize_hook([handle] { cublasDestroy(handle); });
  }
  return handles[index];
}

/// The cuBLAS equivalent of an element type, and its routine.
template <class T>
struct Cublas;

template <>
struct Cublas<float> {
  using Type = float;
  static constexpr auto gemm = &cublasSgemmStridedBatched;
};

template <>
struct Cublas<double> {
  using Type = double;
  static constexpr auto gemm = &cublasDgemmStridedBatched;
};

template <>
struct Cublas<Kokkos::complex<float>> {
  using Type = cuComplex;
  static constexpr auto gemm = &cublasCgemmStridedBatched;
};

template <>
struct Cublas<Kokkos::complex<double>> {
  using Type = cuDoubleComplex;
  static constexpr auto gemm = &cublasZgemmStridedBatched;
};

/// This thread's handle, for calls on `stream`. Factors are on the host, and are read before a call
/// returns.
inline cublasHandle_t cublas_handle_on(cudaStream_t stream) {
  cublasHandle_t const handle = cublas_handle();
  check_cublas(cublasSetStream(handle, stream), "cublasSetStream");
  check_cublas(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST), "cublasSetPointerMode");
  return handle;
}
inline cublasOperation_t cublas_op(BlasFactor const& f) {
  return f.op == 'N' ? CUBLAS_OP_N : CUBLAS_OP_T;
}

/// bfloat16 by the tensor cores, which add up in float.
inline void cublas_gemm_column_major(cudaStream_t stream, std::int64_t batch,
                                     Matrix<bfloat16 const> const& a,
                                     Matrix<bfloat16 const> const& b, Matrix<float> const& c,
                                     bool accumulate) {
  BlasFactor const fa = BlasFactor::of(a, blas_max_dim);
  BlasFactor const fb = BlasFactor::of(b, blas_max_dim);
  float const one = 1;
  float const beta = accumulate ? 1 : 0;
  check_cublas(cublasGemmStridedBatchedEx(
                   cublas_handle_on(stream), cublas_op(fa), cublas_op(fb), static_cast<int>(c.rows),
                   static_cast<int>(c.cols), static_cast<int>(a.cols), &one, a.data, CUDA_R_16BF,
                   fa.ld, static_cast<long long>(a.batch_stride), b.data, CUDA_R_16BF, fb.ld,
                   static_cast<long long>(b.batch_stride), &beta, c.data, CUDA_R_32F,
                   leading_dimension(c, blas_max_dim), static_cast<long long>(c.batch_stride),
                   static_cast<int>(batch), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
               "the matrix product");
}

template <class T>
void cublas_gemm_column_major(cudaStream_t stream, std::int64_t batch, Matrix<T const> const& a,
                              Matrix<T const> const& b, Matrix<T> const& c, bool accumulate) {
  using Type = typename Cublas<T>::Type;
  static_assert(sizeof(Type) == sizeof(T));
  BlasFactor const fa = BlasFactor::of(a, blas_max_dim);
  BlasFactor const fb = BlasFactor::of(b, blas_max_dim);
  T const one(1);
  T const beta(accumulate ? 1 : 0);
  cublasHandle_t const handle = cublas_handle_on(stream);
  check_cublas(
      Cublas<T>::gemm(handle, cublas_op(fa), cublas_op(fb), static_cast<int>(c.rows),
                      static_cast<int>(c.cols), static_cast<int>(a.cols),
                      reinterpret_cast<Type const*>(&one), reinterpret_cast<Type const*>(a.data),
                      fa.ld, static_cast<long long>(a.batch_stride),
                      reinterpret_cast<Type const*>(b.data), fb.ld,
                      static_cast<long long>(b.batch_stride), reinterpret_cast<Type const*>(&beta),
                      reinterpret_cast<Type*>(c.data), leading_dimension(c, blas_max_dim),
                      static_cast<long long>(c.batch_stride), static_cast<int>(batch)),
      "the matrix product");
}

}  // namespace detail

/// Whether cublas_gemm accepts these matrices without a copy. It does not cut them; empty sums are
/// left to the other kernels.
template <class T, class U>
constexpr bool cublas_can(std::int64_t batch, Matrix<T> const& a, Matrix<T> const& b,
                          Matrix<U> const& c) {
  using Value = std::remove_const_t<T>;
  static_assert(is_blas_type<Value> || std::is_same_v<Value, bfloat16>);
  return detail::fits_blas(a) && detail::fits_blas(b) && detail::fits_blas(c) &&
         batch <= blas_max_dim && c.rows <= blas_max_dim && c.cols <= blas_max_dim &&
         a.cols <= blas_max_dim && a.cols > 0;
}

/// C = A B, or C += A B if `accumulate`, for each member of the batch, in order on the stream of
/// `exec`; of bfloat16 C is of floats. Needs cublas_can(batch, a, b, c).
template <class T, class U>
void cublas_gemm(Kokkos::Cuda const& exec, std::int64_t batch, Matrix<T const> const& a,
                 Matrix<T const> const& b, Matrix<U> const& c, bool accumulate) {
  static_assert(std::is_same_v<U, shardtype::detail::computed_t<T>> && is_blas_type<U>);
  if (batch <= 0 || c.rows <= 0 || c.cols <= 0) return;
  if (detail::is_column_major(c)) {
    detail::cublas_gemm_column_major(exec.cuda_stream(), batch, a, b, c, accumulate);
  } else {
    // A row-major C is a column-major transpose, and that is B^T A^T.
    detail::cublas_gemm_column_major(exec.cuda_stream(), batch, b.transposed(), a.transposed(),
                                     c.transposed(), accumulate);
  }
}

}  // namespace shardtype::kernels

#endif
