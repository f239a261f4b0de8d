#pragma once
/// Definitions of few_terms.hpp.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/few_terms.hpp>
#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/matrix.hpp>
#include <shardtype/kernels/stream_copy.hpp>
#include <shardtype/kernels/thin_micro.hpp>
#include <shardtype/kernels/thin_product.hpp>
#include <shardtype/kernels/vector_loop.hpp>
#include <shardtype/runtime/run_time.hpp>

namespace shardtype::kernels::detail {

/// Terms and columns of a tile: its rows of B, in the type of the sums, stay in the cache.
inline constexpr std::int64_t few_terms = 8;
template <class Real>
inline constexpr auto few_terms_wide = static_cast<std::int64_t>(2048 / sizeof(Real));
/// From one such row to the next: the same places of rows and of the result are not congruent
/// modulo 4096, which processors take for the same address.
template <class Real>
inline constexpr auto few_terms_pitch =
    few_terms_wide<Real> + static_cast<std::int64_t>(64 / sizeof(Real));
/// Rows of C that one call computes.
inline constexpr std::int64_t few_terms_high = 64;

template <class T>
using few_terms_real = std::conditional_t<std::is_same_v<T, bfloat16>, float, T>;

#ifdef SHARDTYPE_THIN_PRODUCTS
/// out = the sum of `terms` rows of B times a factor each, plus what `out` is if `add`, of `n`
/// elements.
template <class T>
[[gnu::always_inline]] inline void few_terms_row(std::int64_t terms, std::int64_t n,
                                                 few_terms_real<T> const* factors,
                                                 few_terms_real<T> const* rows, T* out, bool add) {
  using Real = few_terms_real<T>;
  alignas(64) Real sum[static_cast<std::size_t>(few_terms_wide<Real>)];
  auto const row = [&](std::int64_t k) { return rows + k * few_terms_pitch<Real>; };
  std::int64_t k = 0;
  if (add) {
    for (std::int64_t j = 0; j < n; ++j) sum[j] = static_cast<Real>(out[j]);
  } else if (terms >= 4) {
    Real const *const r0 = row(0), *const r1 = row(1), *const r2 = row(2), *const r3 = row(3);
    Real const f0 = factors[0], f1 = factors[1], f2 = factors[2], f3 = factors[3];
    for (std::int64_t j = 0; j < n; ++j) sum[j] = f0 * r0[j] + f1 * r1[j] + f2 * r2[j] + f3 * r3[j];
    k = 4;
  } else {
    Real const* const r0 = row(0);
    Real const f0 = factors[0];
    for (std::int64_t j = 0; j < n; ++j) sum[j] = f0 * r0[j];
    k = 1;
  }
  for (; k + 4 <= terms; k += 4) {
    Real const *const r0 = row(k), *const r1 = row(k + 1), *const r2 = row(k + 2),
                      *const r3 = row(k + 3);
    Real const f0 = factors[k], f1 = factors[k + 1], f2 = factors[k + 2], f3 = factors[k + 3];
    for (std::int64_t j = 0; j < n; ++j)
      sum[j] = sum[j] + f0 * r0[j] + f1 * r1[j] + f2 * r2[j] + f3 * r3[j];
  }
  for (; k < terms; ++k) {
    Real const* const r0 = row(k);
    Real const f0 = factors[k];
    for (std::int64_t j = 0; j < n; ++j) sum[j] = sum[j] + f0 * r0[j];
  }
  for (std::int64_t j = 0; j < n; ++j) out[j] = static_cast<T>(sum[j]);
}
template <class T>
SHARDTYPE_VECTOR_LOOP void few_terms_plain(std::int64_t terms, std::int64_t n,
                                           few_terms_real<T> const* factors,
                                           few_terms_real<T> const* rows, T* out, bool add) {
  detail::few_terms_row<T>(terms, n, factors, rows, out, add);
}
template <class T>
[[gnu::target("avx2,fma")]] SHARDTYPE_VECTOR_LOOP void few_terms_avx2(
    std::int64_t terms, std::int64_t n, few_terms_real<T> const* factors,
    few_terms_real<T> const* rows, T* out, bool add) {
  detail::few_terms_row<T>(terms, n, factors, rows, out, add);
}
template <class T>
[[gnu::target("avx512f,avx512bw,avx512vl,fma")]] SHARDTYPE_VECTOR_LOOP void few_terms_avx512(
    std::int64_t terms, std::int64_t n, few_terms_real<T> const* factors,
    few_terms_real<T> const* rows, T* out, bool add) {
  detail::few_terms_row<T>(terms, n, factors, rows, out, add);
}

/// One call computes a part of `few_terms_high` rows and `few_terms_wide<Real>` columns of C, whose
/// columns are neighbours.
template <class T>
struct FewTerms {
  using Real = few_terms_real<T>;
  using Row = void (*)(std::int64_t, std::int64_t, Real const*, Real const*, T*, bool);
  Matrix<T const> a, b;
  Matrix<T> c;
  bool add;
  bool stream;  ///< past the cache
  Row row;
  std::int64_t down;    ///< parts of C's rows
  std::int64_t across;  ///< parts of C's columns

  void operator()(std::int64_t work) const {
    std::int64_t const t = work / (down * across);
    std::int64_t const i = work / across % down * few_terms_high;
    std::int64_t const j = work % across * few_terms_wide<Real>;
    std::int64_t const m = std::min(few_terms_high, c.rows - i);
    std::int64_t const n = std::min(few_terms_wide<Real>, c.cols - j);
    Matrix<T const> const x = a.member(t).block(i, 0, m, a.cols);
    Matrix<T const> const y = b.member(t).block(0, j, b.rows, n);
    Matrix<T> const to = c.member(t).block(i, j, m, n);
    alignas(64) T out[static_cast<std::size_t>(few_terms_wide<Real>) + 64 / sizeof(T)];
    alignas(64) Real rows[static_cast<std::size_t>(few_terms * few_terms_pitch<Real>)];
    for (std::int64_t k = 0; k < y.rows; ++k)
      for (std::int64_t s = 0; s < n; ++s)
        rows[k * few_terms_pitch<Real> + s] = static_cast<Real>(*y.block(k, s, 1, 1).data);
    for (std::int64_t r = 0; r < m; ++r) {
      Real factors[static_cast<std::size_t>(few_terms)];
      for (std::int64_t k = 0; k < y.rows; ++k)
        factors[k] = static_cast<Real>(*x.block(r, k, 1, 1).data);
      T* const line = to.data + r * to.row_stride;
      row(y.rows, n, factors, rows, stream ? out : line, add);
      if (stream) kernels::stream_copy(line, out, static_cast<std::size_t>(n) * sizeof(T));
    }
    if (stream) kernels::stream_fence();
  }
};

template <class T>
bool multiply_few_terms_of(Kokkos::DefaultHostExecutionSpace const& exec, std::int64_t batch,
                           Matrix<T const> a, Matrix<T const> b, Matrix<T> c, bool add) {
  if (c.col_stride != 1) {
    std::swap(a, b);
    a = a.transposed();
    b = b.transposed();
    c = c.transposed();
  }
  constexpr std::int64_t many = 64;
  if (a.cols < 1 || a.cols > few_terms || c.col_stride != 1 || c.rows < many || c.cols < many ||
      batch < 1)
    return false;
  FewTerms<T> work{a, b, c, add, false, nullptr, 0, 0};
  constexpr std::int64_t cached = std::int64_t{1} << 24;  // bytes
  work.stream = !add && batch * c.rows * c.cols * static_cast<std::int64_t>(sizeof(T)) > cached;
  // results in the cache are computed faster by BLAS, except those that it has not
  if constexpr (!std::is_same_v<T, bfloat16>)
    if (!work.stream || detail::blas_has_more(static_cast<std::int64_t>(exec.concurrency())))
      return false;
  work.down = (c.rows + few_terms_high - 1) / few_terms_high;
  work.across =
      (c.cols + few_terms_wide<few_terms_real<T>> - 1) / few_terms_wide<few_terms_real<T>>;
  work.row = detail::few_terms_plain<T>;
  if (runtime::run_time.instructions >= runtime::Instructions::avx2)
    work.row = detail::few_terms_avx2<T>;
  if (runtime::run_time.instructions >= runtime::Instructions::avx512_bf16)
    work.row = detail::few_terms_avx512<T>;
  kernels::launch(exec, "shardtype::gemm", batch * work.down * work.across, work);
  return true;
}
#else
template <class T>
bool multiply_few_terms_of(Kokkos::DefaultHostExecutionSpace const&, std::int64_t, Matrix<T const>,
                           Matrix<T const>, Matrix<T>, bool) {
  return false;
}
#endif

SHARDTYPE_INLINE bool multiply_few_terms_on_host(Kokkos::DefaultHostExecutionSpace const& exec,
                                                 std::int64_t batch, Matrix<float const> const& a,
                                                 Matrix<float const> const& b,
                                                 Matrix<float> const& c, bool add) {
  return detail::multiply_few_terms_of<float>(exec, batch, a, b, c, add);
}
SHARDTYPE_INLINE bool multiply_few_terms_on_host(Kokkos::DefaultHostExecutionSpace const& exec,
                                                 std::int64_t batch, Matrix<double const> const& a,
                                                 Matrix<double const> const& b,
                                                 Matrix<double> const& c, bool add) {
  return detail::multiply_few_terms_of<double>(exec, batch, a, b, c, add);
}
SHARDTYPE_INLINE bool multiply_few_terms_on_host(Kokkos::DefaultHostExecutionSpace const& exec,
                                                 std::int64_t batch,
                                                 Matrix<bfloat16 const> const& a,
                                                 Matrix<bfloat16 const> const& b,
                                                 Matrix<bfloat16> const& c, bool add) {
  return detail::multiply_few_terms_of<bfloat16>(exec, batch, a, b, c, add);
}

}  // namespace shardtype::kernels::detail
