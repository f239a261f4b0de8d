#pragma once
/// Host: products of few terms, such as outer products: a large result of which each element is a
/// sum of a few products. The result is written once, where a packed product reads it back.

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/core/bfloat16.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/kernels/matrix.hpp>

namespace shardtype::kernels {

namespace detail {

// Whether they have computed C = A B, or C += A B if `add`, of a batch of products; if not, nothing
// has been done. Run in order on `exec`.
bool multiply_few_terms_on_host(Kokkos::DefaultHostExecutionSpace const& exec, std::int64_t batch,
                                Matrix<float const> const& a, Matrix<float const> const& b,
                                Matrix<float> const& c, bool add);
bool multiply_few_terms_on_host(Kokkos::DefaultHostExecutionSpace const& exec, std::int64_t batch,
                                Matrix<double const> const& a, Matrix<double const> const& b,
                                Matrix<double> const& c, bool add);
bool multiply_few_terms_on_host(Kokkos::DefaultHostExecutionSpace const& exec, std::int64_t batch,
                                Matrix<bfloat16 const> const& a, Matrix<bfloat16 const> const& b,
                                Matrix<bfloat16> const& c, bool add);

}  // namespace detail

/// Whether it has computed C = A B, or C += A B if `add`, of a batch of products of few terms with
/// many elements; if not, nothing has been done. Terms are added in their order, of bfloat16 in
/// float and rounded once. Runs in order on `exec`.
template <class T, class Exec>
bool multiply_few_terms([[maybe_unused]] Exec const& exec, [[maybe_unused]] std::int64_t batch,
                        [[maybe_unused]] Matrix<T const> const& a,
                        [[maybe_unused]] Matrix<T const> const& b,
                        [[maybe_unused]] Matrix<T> const& c, [[maybe_unused]] bool add) {
  constexpr bool here = std::is_same_v<Exec, Kokkos::DefaultHostExecutionSpace>;
  if constexpr (here && (std::is_same_v<T, float> || std::is_same_v<T, double> ||
                         std::is_same_v<T, bfloat16>)) {
    return detail::multiply_few_terms_on_host(exec, batch, a, b, c, add);
  } else {
    return false;
  }
}

}  // namespace shardtype::kernels

#ifndef SHARDTYPE_COMPILED
#include <shardtype/kernels/few_terms.ipp>
#endif
