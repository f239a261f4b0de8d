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

template <class T>
void cublas_gemm_column_major(cudaStream_t stream, std::int64_t batch, Matrix<T const> const& a,
                              Matrix<T const> const& b, Matrix<T> const& c, bool accumulate) {
  using Type = typename Cublas<T>::Type;
  static_assert(sizeof(Type) == sizeof(T));
  BlasFactor const fa = BlasFactor::of(a, blas_max_dim);
  BlasFactor const fb = BlasFactor::of(b, blas_max_dim);
  T const one(1);
  T const beta(accumulate ? 1 : 0);
  auto const op = [](BlasFactor const& f) { return f.op == 'N' ? CUBLAS_OP_N : CUBLAS_OP_T; };
  cublasHandle_t const handle = cublas_handle();
  check_cublas(cublasSetStream(handle, stream), "cublasSetStream");
  // alpha and beta are on the host, and are read before the call returns.
  check_cublas(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST), "cublasSetPointerMode");
  check_cublas(
      Cublas<T>::gemm(handle, op(fa), op(fb), static_cast<int>(c.rows), static_cast<int>(c.cols),
                      static_cast<int>(a.cols), reinterpret_cast<Type const*>(&one),
                      reinterpret_cast<Type const*>(a.data), fa.ld,
                      static_cast<long long>(a.batch_stride), reinterpret_cast<Type const*>(b.data),
                      fb.ld, static_cast<long long>(b.batch_stride),
                      reinterpret_cast<Type const*>(&beta), reinterpret_cast<Type*>(c.data),
                      leading_dimension(c, blas_max_dim), static_cast<long long>(c.batch_stride),
                      static_cast<int>(batch)),
      "the matrix product");
}

}  // namespace detail

/// Whether cublas_gemm accepts these matrices without a copy. It does not cut them; empty sums are
/// left to the other kernels.
template <class T, class U>
constexpr bool cublas_can(std::int64_t batch, Matrix<T> const& a, Matrix<T> const& b,
                          Matrix<U> const& c) {
  return blas_can(a, b, c) && batch <= blas_max_dim && c.rows <= blas_max_dim &&
         c.cols <= blas_max_dim && a.cols <= blas_max_dim && a.cols > 0;
}

/// C = A B, or C += A B if `accumulate`, for each member of the batch, in order on the stream of
/// `exec`. Needs cublas_can(batch, a, b, c).
template <class T>
void cublas_gemm(Kokkos::Cuda const& exec, std::int64_t batch,
                 Matrix<std::type_identity_t<T> const> const& a,
                 Matrix<std::type_identity_t<T> const> const& b, Matrix<T> const& c,
                 bool accumulate) {
  static_assert(is_blas_type<T>);
  if (batch <= 0 || c.rows <= 0 || c.cols <= 0) return;
  if (detail::is_column_major(c)) {
    detail::cublas_gemm_column_major<T>(exec.cuda_stream(), batch, a, b, c, accumulate);
  } else {
    // A row-major C is a column-major transpose, and that is B^T A^T.
    detail::cublas_gemm_column_major<T>(exec.cuda_stream(), batch, b.transposed(), a.transposed(),
                                        c.transposed(), accumulate);
  }
}

}  // namespace shardtype::kernels

#endif
