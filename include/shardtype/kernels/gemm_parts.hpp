#pragma once
/// Host: products by a BLAS of one thread, in parts for the threads of an execution space.

#ifdef SHARDTYPE_HAVE_BLAS

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <shardtype/kernels/gemm_blas.hpp>
#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/matrix.hpp>
#include <shardtype/kernels/thin_product.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::kernels {

namespace detail {

// NOLINTNEXTLINE(readability-identifier-naming): OpenBLAS's name; null with another BLAS
extern "C" [[gnu::weak]] int openblas_get_parallel();

/// Whether several threads may call BLAS at once, each for a part of a product: OpenBLAS, built for
/// threads of its own, has one now. Others share products themselves, or are not known to allow it.
inline bool blas_leaves_threads() {
  constexpr int threads_of_its_own = 1;
  return openblas_get_parallel != nullptr && openblas_get_num_threads != nullptr &&
         openblas_get_parallel() == threads_of_its_own && openblas_get_num_threads() == 1;
}

/// Multiplications of products that threads share: they take longer than a launch.
inline constexpr std::int64_t gemm_shared = std::int64_t{1} << 19;
/// The parts of each member of a batch of m x n products with k terms, for `threads`: 1 if members
/// suffice, or if the whole work is too small to share.
constexpr std::int64_t gemm_parts(std::int64_t batch, std::int64_t m, std::int64_t n,
                                  std::int64_t k, std::int64_t threads) {
  constexpr std::int64_t least = 64;  // rows or columns of a part
  if (batch >= threads || batch * m * n * k < gemm_shared) return 1;
  return std::clamp<std::int64_t>(std::max(m, n) / least, 1, (threads + batch - 1) / batch);
}

/// One call computes a part of the rows of C, or of its columns if they are more, of one member.
template <class T>
struct GemmParts {
  Matrix<T const> a, b;
  Matrix<T> c;
  bool accumulate;
  std::int64_t parts;

  void operator()(std::int64_t work) const {
    constexpr std::int64_t unit = 16;
    std::int64_t const t = work / parts, part = work % parts;
    bool const rows = c.rows >= c.cols;
    std::int64_t const all = rows ? c.rows : c.cols;
    std::int64_t const each = ((all + parts - 1) / parts + unit - 1) / unit * unit;
    std::int64_t const first = std::min(part * each, all);
    std::int64_t const n = std::min(each, all - first);
    if (n == 0) return;
    if (rows)
      kernels::blas_gemm<T>(1, a.member(t).block(first, 0, n, a.cols), b.member(t),
                            c.member(t).block(first, 0, n, c.cols), accumulate);
    else
      kernels::blas_gemm<T>(1, a.member(t), b.member(t).block(0, first, b.rows, n),
                            c.member(t).block(0, first, c.rows, n), accumulate);
  }
};

}  // namespace detail

/// As blas_gemm, by the threads of `exec` if BLAS leaves them idle. Returns when it is done.
template <class T, class Exec>
void blas_gemm_by_threads(Exec const& exec, std::int64_t batch,
                          Matrix<std::type_identity_t<T> const> const& a,
                          Matrix<std::type_identity_t<T> const> const& b, Matrix<T> const& c,
                          bool accumulate) {
  auto const threads = static_cast<std::int64_t>(exec.concurrency());
  if (threads > 1 && batch > 0 && detail::blas_leaves_threads()) {
    std::int64_t const parts = detail::gemm_parts(batch, c.rows, c.cols, a.cols, threads);
    if (batch * parts > 1 && batch * c.rows * c.cols * a.cols >= detail::gemm_shared) {
      kernels::launch(exec, "shardtype::gemm", batch * parts,
                      detail::GemmParts<T>{a, b, c, accumulate, parts});
      runtime::fence(exec);
      return;
    }
  }
  kernels::blas_gemm<T>(batch, a, b, c, accumulate);
}

}  // namespace shardtype::kernels

#endif
