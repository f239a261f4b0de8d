#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/vector.hpp>

/// The innermost parts of the packed host product: tile shapes, packing, micro-kernel.
namespace shardtype::kernels::detail {

// A tile of C is kept in vector registers; this is the number of registers for sums.
#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr int vector_sums = 24;
#else
inline constexpr int vector_sums = 12;
#endif

constexpr std::int64_t ceil_div(std::int64_t x, std::int64_t y) { return (x + y - 1) / y; }
constexpr std::int64_t round_up(std::int64_t x, std::int64_t y) { return ceil_div(x, y) * y; }

/// The split of an element type into real planes. Packing separates the planes of a row, so that
/// complex products need no shuffles.
template <class T>
struct GemmScalar {
  using Real = T;
  static constexpr int planes = 1;
  static Real plane(T const& x, int) { return x; }
};

template <class R>
struct GemmScalar<Kokkos::complex<R>> {
  using Real = R;
  static constexpr int planes = 2;
  static Real plane(Kokkos::complex<R> const& x, int p) { return p == 0 ? x.real() : x.imag(); }
};

/// Tile and block shapes. A tile is `rows` x `cols` elements of C with its columns along the
/// vectors.
template <class T>
struct GemmTile {
  using Real = typename GemmScalar<T>::Real;
  static constexpr int planes = GemmScalar<T>::planes;
  static constexpr bool vectorised =
      std::is_arithmetic_v<Real> && sizeof(Real) <= 8 && !std::is_same_v<Real, bool>;
  using Vector = vector_of<Real, vectorised>;
  static constexpr int lanes = static_cast<int>(sizeof(Vector) / sizeof(Real));

  // Complex factors occupy twice the registers: with 16 of them only one vector fits.
  static constexpr int vectors = planes == 2 && vector_sums < 24 ? 1 : 2;
  static constexpr int rows = vector_sums / (vectors * planes);
  static constexpr int cols = vectors * lanes;

  // A panel of B should stay in the L1 cache, a block of A in L2, one of B in L3. Measured:
  // performance is flat around these sizes; 32 to 64 KiB, 384 to 768 KiB and 4 to 16 MiB differ by
  // 5 %.
  static constexpr std::int64_t element_bytes = planes * static_cast<int>(sizeof(Real));
  static constexpr std::int64_t block_k =
      std::clamp<std::int64_t>((48 << 10) / (cols * element_bytes), 64, 512);
  static constexpr std::int64_t block_m =
      std::max<std::int64_t>(1, (512 << 10) / (block_k * element_bytes) / rows) * rows;
  static constexpr std::int64_t block_n =
      std::max<std::int64_t>(1, (4 << 20) / (block_k * element_bytes) / cols) * cols;
};

/// Copies `width` <= W lines of `depth` elements into a panel: step p has W consecutive values of
/// each plane, with zeros for missing lines.
template <class T, int W>
void pack_panel(T const* source, std::int64_t line_stride, std::int64_t step_stride,
                std::int64_t width, std::int64_t depth, typename GemmScalar<T>::Real* panel) {
  constexpr int planes = GemmScalar<T>::planes;
  constexpr std::int64_t chunk = 16;
  if (width < W) std::fill_n(panel, depth * W * planes, typename GemmScalar<T>::Real(0));
  if (line_stride == 1 && width == W) {
    for (std::int64_t p = 0; p < depth; ++p, source += step_stride, panel += W * planes) {
      for (int q = 0; q < planes; ++q) {
        for (int w = 0; w < W; ++w) panel[q * W + w] = GemmScalar<T>::plane(source[w], q);
      }
    }
    return;
  }
  // In chunks of about a cache line per source line: if lines are a large power of two apart, they
  // all map to the same few cache sets.
  for (std::int64_t begin = 0; begin < depth; begin += chunk) {
    std::int64_t const count = std::min(chunk, depth - begin);
    for (std::int64_t w = 0; w < width; ++w) {
      T const* const line = source + w * line_stride + begin * step_stride;
      auto* const out = panel + begin * W * planes + w;
      for (std::int64_t p = 0; p < count; ++p) {
        for (int q = 0; q < planes; ++q) {
          out[(p * planes + q) * W] = GemmScalar<T>::plane(line[p * step_stride], q);
        }
      }
    }
  }
}

/// Adds one step, an outer product of `rows` values of A and `cols` of B, to the sums. The sums
/// are named by constants so that compilers keep every one in a register.
template <class T, std::size_t... I, std::size_t... J>
[[gnu::always_inline]] inline void gemm_step(typename GemmTile<T>::Vector* sums,
                                             typename GemmTile<T>::Real const* a,
                                             typename GemmTile<T>::Real const* b,
                                             std::index_sequence<I...>, std::index_sequence<J...>) {
  using Tile = GemmTile<T>;
  constexpr int nv = Tile::vectors;
  typename Tile::Vector row[nv * Tile::planes];
  (std::memcpy(&row[J], b + J * Tile::lanes, sizeof(row[J])), ...);
  if constexpr (Tile::planes == 1) {
    ((sums[I] += a[I / nv] * row[I % nv]), ...);
  } else {
    ((sums[2 * I] += a[I / nv] * row[I % nv], sums[2 * I + 1] += a[I / nv] * row[nv + I % nv],
      sums[2 * I] -= a[Tile::rows + I / nv] * row[nv + I % nv],
      sums[2 * I + 1] += a[Tile::rows + I / nv] * row[I % nv]),
     ...);
  }
}

/// Writes the sums, or adds them, to rows of whole vectors at distance `row_stride`.
template <class T, std::size_t... I>
[[gnu::always_inline]] inline void gemm_write(typename GemmTile<T>::Vector const* sums,
                                              typename GemmTile<T>::Real* c,
                                              std::int64_t row_stride, bool accumulate,
                                              std::index_sequence<I...>) {
  using Tile = GemmTile<T>;
  constexpr int nv = Tile::vectors * Tile::planes;
  auto const at = [&](std::size_t i) {
    return c + static_cast<std::int64_t>(i / nv) * row_stride +
           static_cast<std::int64_t>(i % nv) * Tile::lanes;
  };
  typename Tile::Vector old;
  if (accumulate) {
    ((std::memcpy(&old, at(I), sizeof(old)), old += sums[I], std::memcpy(at(I), &old, sizeof(old))),
     ...);
  } else {
    (std::memcpy(at(I), &sums[I], sizeof(old)), ...);
  }
}

/// Writes or adds `count` elements one by one; their planes are Tile::lanes apart.
template <class T>
[[gnu::always_inline]] inline void gemm_write_line(typename GemmTile<T>::Real const* from, T* to,
                                                   std::int64_t stride, std::int64_t count,
                                                   bool accumulate) {
  for (std::int64_t l = 0; l < count; ++l) {
    T& x = to[l * stride];
    if constexpr (GemmTile<T>::planes == 1) {
      x = static_cast<T>(accumulate ? x + from[l] : from[l]);
    } else {
      T const sum(from[l], from[GemmTile<T>::lanes + l]);
      x = accumulate ? x + sum : sum;
    }
  }
}

/// C = A B or C += A B for one tile, of which `rows` x `cols` elements exist, from one packed
/// panel of A and one of B of `depth` steps.
template <class T>
[[gnu::noinline]] void gemm_tile(std::int64_t depth, typename GemmTile<T>::Real const* a,
                                 typename GemmTile<T>::Real const* b, T* c, std::int64_t row_stride,
                                 std::int64_t col_stride, std::int64_t rows, std::int64_t cols,
                                 bool accumulate) {
  using Tile = GemmTile<T>;
  constexpr int nv = Tile::vectors;
  using Indices = std::make_index_sequence<static_cast<std::size_t>(Tile::rows * nv)>;
  using Row = std::make_index_sequence<static_cast<std::size_t>(nv * Tile::planes)>;
  using All = std::make_index_sequence<static_cast<std::size_t>(Tile::rows * nv * Tile::planes)>;
  bool const whole = rows == Tile::rows && cols == Tile::cols && col_stride == 1;
  // Prefetch C, which is not in cache now and is needed as soon as the sums are done. A row that
  // begins inside a cache line ends in one more line.
  if (col_stride == 1) {
    constexpr auto line = static_cast<std::int64_t>(std::max<std::size_t>(1, 64 / sizeof(T)));
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t j = 0; j < cols - 1 + line; j += line) {
        __builtin_prefetch(c + r * row_stride + std::min(j, cols - 1), 1);
      }
    }
  }
  typename Tile::Vector sums[Tile::rows * nv * Tile::planes] = {};
  for (std::int64_t p = 0; p < depth; ++p) {
    detail::gemm_step<T>(sums, a, b, Indices(), Row());
    a += Tile::rows * Tile::planes;
    b += Tile::cols * Tile::planes;
  }
  if constexpr (Tile::planes == 1) {
    if (whole) {
      detail::gemm_write<T>(sums, c, row_stride, accumulate, All());
      return;
    }
  }
  typename Tile::Real values[Tile::rows * Tile::cols * Tile::planes];
  detail::gemm_write<T>(sums, values, Tile::cols * Tile::planes, false, All());
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t j = 0; j < cols; j += Tile::lanes) {
      // The planes of one vector of elements are adjacent.
      auto const* const from = values + (r * Tile::cols + j) * Tile::planes;
      T* const to = c + r * row_stride + j * col_stride;
      std::int64_t const count = std::min<std::int64_t>(Tile::lanes, cols - j);
      if (col_stride == 1) {
        detail::gemm_write_line<T>(from, to, 1, count, accumulate);
      } else {
        detail::gemm_write_line<T>(from, to, col_stride, count, accumulate);
      }
    }
  }
}

}  // namespace shardtype::kernels::detail
