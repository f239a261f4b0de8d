#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include "shardtype/kernels/gemm_micro.hpp"
#include "shardtype/kernels/gemm_team.hpp"
#include "shardtype/kernels/launch.hpp"
#include "shardtype/kernels/matrix.hpp"
#include <shardtype/runtime/instance.hpp>

namespace shardtype::kernels {

namespace detail {

/// The block sizes of one product on the host, and the sizes of its packed blocks.
template <class T>
struct GemmPlan {
  using Tile = GemmTile<T>;
  using Real = typename Tile::Real;

  std::int64_t block_m = 0;  ///< Rows of C per block, a multiple of Tile::rows.
  std::int64_t block_n = 0;  ///< Columns of C per block, a multiple of Tile::cols.
  std::int64_t block_k = 0;  ///< Terms of the sums per block.
  std::int64_t size_a = 0;   ///< Reals of a packed block of A, rounded up to a cache line.
  std::int64_t size_b = 0;   ///< As above for B.

  /// Blocks of equal size near the sizes in Tile; with several workers each gets at least one block
  /// of rows.
  GemmPlan(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t workers) {
    std::int64_t const line = 64 / static_cast<std::int64_t>(sizeof(Real) > 64 ? 64 : sizeof(Real));
    block_m = equal(m, std::min(Tile::block_m, detail::round_up(ceil_div(m, workers), Tile::rows)),
                    Tile::rows);
    block_n = equal(n, Tile::block_n, Tile::cols);
    block_k = equal(k, Tile::block_k, 1);
    size_a = detail::round_up(block_m * block_k * Tile::planes, line);
    size_b = detail::round_up(block_n * block_k * Tile::planes, line);
  }

  /// The bytes of `count_a` blocks of A and `count_b` of B, with slack to align the first.
  std::size_t bytes(std::int64_t count_a, std::int64_t count_b) const {
    return static_cast<std::size_t>(count_a * size_a + count_b * size_b) * sizeof(Real) + 64;
  }

 private:
  static std::int64_t equal(std::int64_t extent, std::int64_t most, std::int64_t unit) {
    if (extent <= 0) return unit;
    return round_up(ceil_div(extent, ceil_div(extent, std::max(most, unit))), unit);
  }
};

/// Packs panel number `panel` of the block of B that begins at (p, j).
template <class T>
struct GemmPackB {
  GemmPlan<T> plan;
  Matrix<T const> b;
  typename GemmPlan<T>::Real* packed;
  std::int64_t p, j;

  void operator()(std::int64_t panel) const {
    constexpr int width = GemmTile<T>::cols;
    std::int64_t const depth = std::min(plan.block_k, b.rows - p);
    std::int64_t const first = j + panel * width;
    detail::pack_panel<T, width>(b.data + p * b.row_stride + first * b.col_stride, b.col_stride,
                                 b.row_stride, std::min<std::int64_t>(width, b.cols - first), depth,
                                 packed + panel * width * depth * GemmTile<T>::planes);
  }

  /// Number of panels in this block.
  std::int64_t panels() const {
    return detail::ceil_div(std::min(plan.block_n, b.cols - j), GemmTile<T>::cols);
  }
};

/// Packs a block of rows of A (worker w: the block at row i + w * block_m), and multiplies it by
/// the packed block of B that begins at (p, j).
template <class T>
struct GemmRowBlock {
  GemmPlan<T> plan;
  Matrix<T const> a;
  Matrix<T> c;
  typename GemmPlan<T>::Real* packed_a;
  typename GemmPlan<T>::Real const* packed_b;
  std::int64_t i, p, j;
  bool accumulate;

  void operator()(std::int64_t worker) const {
    using Tile = GemmTile<T>;
    std::int64_t const depth = std::min(plan.block_k, a.cols - p);
    std::int64_t const row = i + worker * plan.block_m;
    std::int64_t const rows = std::min(plan.block_m, c.rows - row);
    std::int64_t const cols = std::min(plan.block_n, c.cols - j);
    auto* const mine = packed_a + worker * plan.size_a;
    for (std::int64_t r = 0; r < rows; r += Tile::rows) {
      detail::pack_panel<T, Tile::rows>(
          a.data + (row + r) * a.row_stride + p * a.col_stride, a.row_stride, a.col_stride,
          std::min<std::int64_t>(Tile::rows, rows - r), depth, mine + r * depth * Tile::planes);
    }
    for (std::int64_t q = 0; q < cols; q += Tile::cols) {
      for (std::int64_t r = 0; r < rows; r += Tile::rows) {
        detail::gemm_tile<T>(
            depth, mine + r * depth * Tile::planes, packed_b + q * depth * Tile::planes,
            c.data + (row + r) * c.row_stride + (j + q) * c.col_stride, c.row_stride, c.col_stride,
            std::min<std::int64_t>(Tile::rows, rows - r),
            std::min<std::int64_t>(Tile::cols, cols - q), accumulate || p > 0);
      }
    }
  }
};

/// Computes whole members of the batch (worker w: the members w, w + workers, ...).
template <class T>
struct GemmMembers {
  GemmPlan<T> plan;
  Matrix<T const> a, b;
  Matrix<T> c;
  typename GemmPlan<T>::Real* packed;
  std::int64_t batch, workers;
  bool accumulate;

  void operator()(std::int64_t worker) const {
    auto* const packed_a = packed + worker * (plan.size_a + plan.size_b);
    for (std::int64_t t = worker; t < batch; t += workers) {
      if (a.cols == 0) clear(c.member(t));
      for (std::int64_t j = 0; j < c.cols; j += plan.block_n) {
        for (std::int64_t p = 0; p < a.cols; p += plan.block_k) {
          GemmPackB<T> const pack{plan, b.member(t), packed_a + plan.size_a, p, j};
          for (std::int64_t panel = 0; panel < pack.panels(); ++panel) pack(panel);
          for (std::int64_t i = 0; i < c.rows; i += plan.block_m) {
            GemmRowBlock<T>{plan, a.member(t), c.member(t), packed_a,  pack.packed,
                            i,    p,           j,           accumulate}(0);
          }
        }
      }
    }
  }

 private:
  void clear(Matrix<T> const& x) const {
    for (std::int64_t i = 0; i < (accumulate ? 0 : x.rows); ++i) {
      for (std::int64_t j = 0; j < x.cols; ++j) *x.block(i, j, 1, 1).data = T(0);
    }
  }
};

/// Whether the product is computed transposed: C's columns are contiguous, and vectors run along
/// contiguous elements.
template <class T>
bool gemm_transposes(Matrix<T> const& c) {
  return c.rows > 1 && c.row_stride == 1 && (c.col_stride != 1 || c.cols <= 1);
}

/// Bytes of workspace for a product with `workers`. Workers share each member if there are few, and
/// divide the members if there are many.
template <class T>
std::size_t gemm_host_bytes(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k,
                            std::int64_t workers) {
  return batch >= workers ? GemmPlan<T>(m, n, k, 1).bytes(workers, workers)
                          : GemmPlan<T>(m, n, k, workers).bytes(workers, 1);
}

/// The packed product on a host execution space with `workers` threads.
template <class Exec, class T>
void gemm_host(Exec const& exec, std::int64_t workers, std::int64_t batch, Matrix<T const> a,
               Matrix<T const> b, Matrix<T> c, bool accumulate, void* workspace) {
  using Real = typename GemmPlan<T>::Real;
  if (detail::gemm_transposes(c)) {
    std::swap(a, b);
    a = a.transposed();
    b = b.transposed();
    c = c.transposed();
  }
  auto const address = reinterpret_cast<std::uintptr_t>(workspace);
  auto* const packed = reinterpret_cast<Real*>((address + 63) / 64 * 64);
  if (batch >= workers || a.cols == 0) {
    GemmPlan<T> const plan(c.rows, c.cols, a.cols, 1);
    kernels::launch(exec, "shardtype::gemm", workers,
                    GemmMembers<T>{plan, a, b, c, packed, batch, workers, accumulate});
    return;
  }
  GemmPlan<T> const plan(c.rows, c.cols, a.cols, workers);
  Real* const packed_a = packed + plan.size_b;
  for (std::int64_t t = 0; t < batch; ++t) {
    for (std::int64_t j = 0; j < c.cols; j += plan.block_n) {
      for (std::int64_t p = 0; p < a.cols; p += plan.block_k) {
        GemmPackB<T> const pack{plan, b.member(t), packed, p, j};
        kernels::launch(exec, "shardtype::gemm_pack", pack.panels(), pack);
        for (std::int64_t i = 0; i < c.rows; i += plan.block_m * workers) {
          std::int64_t const blocks = std::min(workers, detail::ceil_div(c.rows - i, plan.block_m));
          kernels::launch(exec, "shardtype::gemm", blocks,
                          GemmRowBlock<T>{plan, a.member(t), c.member(t), packed_a, packed, i, p, j,
                                          accumulate});
        }
      }
    }
  }
}

}  // namespace detail

/// Whether the packed product runs on this execution space; others use the product with teams.
template <class Exec>
inline constexpr bool is_host_exec = std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;

/// The workspace in bytes that kokkos_gemm needs for C (m x n) += A (m x k) B with any strides.
template <class T, class Exec>
std::size_t gemm_workspace_bytes(Exec const& exec, std::int64_t batch, std::int64_t m,
                                 std::int64_t n, std::int64_t k) {
  if constexpr (is_host_exec<Exec>) {
    auto const workers = static_cast<std::int64_t>(exec.concurrency());
    // The layout of C decides which of the two products runs.
    return std::max(detail::gemm_host_bytes<T>(batch, m, n, k, workers),
                    detail::gemm_host_bytes<T>(batch, n, m, k, workers));
  } else {
    return 0;
  }
}

/// C = A B, or C += A B if `accumulate`, for each member of the batch, without BLAS and for any
/// strides. Runs in order on `exec`. A workspace (host memory) smaller than gemm_workspace_bytes is
/// not used; then the call allocates its own and waits for the product.
template <class Exec, class T>
void kokkos_gemm(Exec const& exec, std::int64_t batch,
                 Matrix<std::type_identity_t<T> const> const& a,
                 Matrix<std::type_identity_t<T> const> const& b, Matrix<T> const& c,
                 bool accumulate, void* workspace = nullptr, std::size_t workspace_bytes = 0) {
  if (batch <= 0 || c.rows <= 0 || c.cols <= 0) return;
  if constexpr (is_host_exec<Exec>) {
    auto const workers = static_cast<std::int64_t>(exec.concurrency());
    std::size_t const wanted =
        kernels::gemm_workspace_bytes<T>(exec, batch, c.rows, c.cols, a.cols);
    if (workspace != nullptr && workspace_bytes >= wanted) {
      detail::gemm_host<Exec, T>(exec, workers, batch, a, b, c, accumulate, workspace);
      return;
    }
    void* const own = Kokkos::kokkos_malloc<typename Exec::memory_space>("shardtype::gemm", wanted);
    detail::gemm_host<Exec, T>(exec, workers, batch, a, b, c, accumulate, own);
    runtime::fence(exec);
    Kokkos::kokkos_free<typename Exec::memory_space>(own);
  } else {
    detail::gemm_team<Exec, T>(exec, batch, a, b, c, accumulate);
  }
}

}  // namespace shardtype::kernels
