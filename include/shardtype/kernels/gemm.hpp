#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include "shardtype/kernels/few_terms.hpp"
#include "shardtype/kernels/gemm_blas.hpp"
#include "shardtype/kernels/gemm_cublas.hpp"
#include "shardtype/kernels/gemm_kokkos.hpp"
#include "shardtype/kernels/gemm_parts.hpp"
#include "shardtype/kernels/matrix.hpp"
#include "shardtype/kernels/thin_product.hpp"
#include <shardtype/core/bfloat16.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::kernels {

namespace detail {

/// The library that computes a product.
enum class GemmVendor { none, blas, cublas };

/// The vendor for products of T on Exec in this configuration.
template <class Exec, class T>
constexpr GemmVendor gemm_vendor() {
  if constexpr (is_blas_type<T>) {
#ifdef SHARDTYPE_HAVE_BLAS
    if constexpr (is_host_exec<Exec>) return GemmVendor::blas;
#endif
#if defined(KOKKOS_ENABLE_CUDA) && defined(SHARDTYPE_HAVE_CUBLAS)
    if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) return GemmVendor::cublas;
#endif
  }
  return GemmVendor::none;
}

}  // namespace detail

/// Whether gemm multiplies these matrices at full speed without a copy. It accepts others too, but
/// copying them to a unit stride first may pay.
template <class Exec, class T>
constexpr bool gemm_direct(Matrix<std::type_identity_t<T> const> const& a,
                           Matrix<std::type_identity_t<T> const> const& b, Matrix<T> const& c) {
  return detail::gemm_vendor<Exec, T>() == detail::GemmVendor::none || kernels::blas_can(a, b, c);
}

/// The workspace in bytes that gemm needs for these matrices; 0 if a vendor's library runs.
template <class Exec, class T>
std::size_t gemm_workspace_bytes(Exec const& exec, std::int64_t batch,
                                 Matrix<std::type_identity_t<T> const> const& a,
                                 Matrix<std::type_identity_t<T> const> const& b,
                                 Matrix<T> const& c) {
  if (detail::gemm_vendor<Exec, T>() != detail::GemmVendor::none && kernels::blas_can(a, b, c))
    return 0;
  return kernels::gemm_workspace_bytes<T>(exec, batch, c.rows, c.cols, a.cols);
}

/// C = A B, or C += A B if `accumulate`, for each member of the batch: the local matrix product of
/// this library. Uses our kernels for few terms, columns or rows where they pay, else the vendor's
/// library if there is one that can, else our packed kernel. Ordered with other work on `exec`;
/// fence before reading C on the host. A workspace (host memory) of gemm_workspace_bytes saves an
/// allocation in our kernel.
template <class Exec, class T>
void gemm(Exec const& exec, std::int64_t batch, Matrix<std::type_identity_t<T> const> const& a,
          Matrix<std::type_identity_t<T> const> const& b, Matrix<T> const& c, bool accumulate,
          void* workspace = nullptr, std::size_t workspace_bytes = 0) {
  static_assert(!std::is_const_v<T>);
  if (kernels::multiply_few_terms<T>(exec, batch, a, b, c, accumulate) ||
      kernels::multiply_thin<T>(exec, batch, a, b, c, accumulate))
    return;
  [[maybe_unused]] constexpr auto vendor = detail::gemm_vendor<Exec, T>();
#ifdef SHARDTYPE_HAVE_BLAS
  if constexpr (vendor == detail::GemmVendor::blas) {
    if (kernels::blas_can(a, b, c)) {
      runtime::fence(exec);  // BLAS does not wait for work queued on `exec`.
      kernels::blas_gemm_by_threads(exec, batch, a, b, c, accumulate);
      return;
    }
  }
#endif
#if defined(KOKKOS_ENABLE_CUDA) && defined(SHARDTYPE_HAVE_CUBLAS)
  if constexpr (vendor == detail::GemmVendor::cublas) {
    if (cublas_can(batch, a, b, c)) {
      cublas_gemm<T>(exec, batch, a, b, c, accumulate);
      return;
    }
  }
#endif
  kernels::kokkos_gemm(exec, batch, a, b, c, accumulate, workspace, workspace_bytes);
}

/// Whether it has multiplied matrices of bfloat16 to floats by a vendor's library for a device.
template <class Exec, class T, class U>
bool gemm_bfloat16([[maybe_unused]] Exec const& exec, [[maybe_unused]] std::int64_t batch,
                   [[maybe_unused]] Matrix<T const> const& a,
                   [[maybe_unused]] Matrix<T const> const& b, [[maybe_unused]] Matrix<U> const& c,
                   [[maybe_unused]] bool accumulate) {
#if defined(KOKKOS_ENABLE_CUDA) && defined(SHARDTYPE_HAVE_CUBLAS)
  if constexpr (std::is_same_v<T, bfloat16> && std::is_same_v<Exec, Kokkos::Cuda>) {
    if (!cublas_can(batch, a, b, c)) return false;
    cublas_gemm(exec, batch, a, b, c, accumulate);
    return true;
  }
#endif
  return false;
}

}  // namespace shardtype::kernels
