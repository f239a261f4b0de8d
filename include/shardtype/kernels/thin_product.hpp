#pragma once
/// Host: products of a matrix with few columns, or of few rows with a matrix. The matrix is read
/// once from memory as it lies, where a packed product would copy it first.

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/core/bfloat16.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/kernels/matrix.hpp>

namespace shardtype::kernels {

namespace detail {

#ifdef SHARDTYPE_HAVE_BLAS
// NOLINTNEXTLINE(readability-identifier-naming): OpenBLAS's name; null with another BLAS
extern "C" [[gnu::weak]] int openblas_get_num_threads();
#endif

/// Whether BLAS has more threads than these kernels.
inline bool blas_has_more(std::int64_t threads) {
#ifdef SHARDTYPE_HAVE_BLAS
  return openblas_get_num_threads != nullptr && openblas_get_num_threads() > threads;
#else
  return threads < 1;
#endif
}

// Whether they have computed C = A B, or C += A B if `add`, of a batch of products; if not, nothing
// has been done. Run in order on `exec`.
bool multiply_thin_on_host(Kokkos::DefaultHostExecutionSpace const& exec, std::int64_t batch,
                           Matrix<float const> const& a, Matrix<float const> const& b,
                           Matrix<float> const& c, bool add);
bool multiply_thin_on_host(Kokkos::DefaultHostExecutionSpace const& exec, std::int64_t batch,
                           Matrix<double const> const& a, Matrix<double const> const& b,
                           Matrix<double> const& c, bool add);
bool multiply_thin_on_host(Kokkos::DefaultHostExecutionSpace const& exec, std::int64_t batch,
                           Matrix<bfloat16 const> const& a, Matrix<bfloat16 const> const& b,
                           Matrix<float> const& c, bool add);

}  // namespace detail

/// Whether it has computed C = A B, or C += A B if `add`, of a batch of products with few columns
/// or few rows, by kernels for these; if not, nothing has been done. Products of bfloat16 are
/// written in float. Runs in order on `exec`.
template <class T, class Exec, class R>
bool multiply_thin([[maybe_unused]] Exec const& exec, [[maybe_unused]] std::int64_t batch,
                   [[maybe_unused]] Matrix<T const> const& a,
                   [[maybe_unused]] Matrix<T const> const& b, [[maybe_unused]] Matrix<R> const& c,
                   [[maybe_unused]] bool add) {
  constexpr bool here = std::is_same_v<Exec, Kokkos::DefaultHostExecutionSpace>;
  if constexpr (here && (std::is_same_v<T, float> || std::is_same_v<T, double> ||
                         std::is_same_v<T, bfloat16>)) {
    return detail::multiply_thin_on_host(exec, batch, a, b, c, add);
  } else {
    return false;
  }
}

}  // namespace shardtype::kernels

#ifndef SHARDTYPE_COMPILED
#include <shardtype/kernels/thin_product.ipp>
#endif
