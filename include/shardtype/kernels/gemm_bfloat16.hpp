#pragma once
/// The packed host product of bfloat16, by instructions that add products of pairs to floats. It is
/// compiled for processors with AVX512_BF16 in any unit, and runs where all ranks have one, unless
/// SHARDTYPE_BFLOAT16 of a rank says floats.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <Kokkos_Core.hpp>

#include "shardtype/core/bfloat16.hpp"
#include "shardtype/kernels/gemm_kokkos.hpp"
#include "shardtype/kernels/launch.hpp"
#include "shardtype/kernels/matrix.hpp"
#include "shardtype/kernels/vector_loop.hpp"
#include "shardtype/runtime/run_time.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define SHARDTYPE_BFLOAT16_DOTS
#endif

namespace shardtype::kernels::detail {

/// Shapes. A step of a panel is one pair of neighbours along K for each row of A or column of B.
struct PairTile {
  static constexpr int rows = 12;
  static constexpr int cols = 32;
  // a panel of A and one of B in the L2 cache beside a block of rows of A
  static constexpr std::int64_t block_k = 768;
  static constexpr std::int64_t block_m = 20 * rows;
};

/// Writes a tile of sums, or adds it to `c`, of whole PairTile::rows x cols with rows at distance
/// `row_stride`: of each pair the second product is added first. A function of this type makes all
/// sums of `multiply_pairs`.
using PairSums = void (*)(std::int64_t pairs, std::uint32_t const* a, std::uint32_t const* b,
                          float* c, std::int64_t row_stride, bool add);

#ifdef SHARDTYPE_BFLOAT16_DOTS
struct PairVectors {
  using Floats = float __attribute__((vector_size(64)));
  using Words = std::uint32_t __attribute__((vector_size(64)));
};

/// Adds the products of the pairs in `x` and `y`. Written by hand, because <immintrin.h> costs a
/// program half a second of compile time.
[[gnu::target("avx512f,avx512bf16"), gnu::always_inline]] inline void add_pairs(
    PairVectors::Floats& sums, PairVectors::Words const& x, PairVectors::Words const& y) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sums) : "v"(x), "v"(y));
}

template <std::size_t... I>
[[gnu::target("avx512f,avx512bf16"), gnu::noinline]] void pair_sums_of(
    std::int64_t pairs, std::uint32_t const* a, std::uint32_t const* b, float* c,
    std::int64_t row_stride, bool add, std::index_sequence<I...>) {
  using Floats = PairVectors::Floats;
  using Words = PairVectors::Words;
  // named by constants, so that compilers keep every one in a register
  Floats sums[sizeof...(I)] = {};
  for (std::int64_t p = 0; p < pairs; ++p, a += PairTile::rows, b += PairTile::cols) {
    Words columns[2];
    std::memcpy(columns, b, sizeof(columns));
    Words row{};
    ((row = I % 2 == 0 ? Words{} + a[I / 2] : row, detail::add_pairs(sums[I], columns[I % 2], row)),
     ...);
  }
  auto const to = [&](std::size_t k) {
    return c + static_cast<std::int64_t>(k / 2) * row_stride +
           static_cast<std::int64_t>(k % 2) * 16;
  };
  Floats old;
  if (add) ((std::memcpy(&old, to(I), sizeof(old)), sums[I] += old), ...);
  (std::memcpy(to(I), &sums[I], sizeof(old)), ...);
}
/// By AVX512_BF16: each product is added in one rounding to nearest, the second of a pair first.
/// Denormal operands and sums count as zero.
inline void pair_sums_by_dots(std::int64_t pairs, std::uint32_t const* a, std::uint32_t const* b,
                              float* c, std::int64_t row_stride, bool add) {
  pair_sums_of(pairs, a, b, c, row_stride, add, std::make_index_sequence<2 * PairTile::rows>());
}
#endif

/// The sums of this program, or null if a rank's processor has no such instructions.
inline PairSums pair_sums() {
#ifdef SHARDTYPE_BFLOAT16_DOTS
  if (runtime::run_time.instructions >= runtime::Instructions::avx512_bf16)
    return &pair_sums_by_dots;
#endif
  return nullptr;
}

constexpr std::int64_t pairs_of(std::int64_t terms) { return ceil_div(terms, 2); }

/// The 32-bit words of packed operands: all panels of one block along K.
constexpr std::int64_t pair_words(std::int64_t lines, std::int64_t width, std::int64_t terms) {
  return round_up(lines, width) * pairs_of(std::min(terms, PairTile::block_k));
}
/// Whether `multiply_pairs` pays, and its packed operands fit into as many words as the operands
/// have elements.
constexpr bool pairs_fit(std::int64_t rows, std::int64_t cols, std::int64_t terms) {
  return rows >= PairTile::rows && cols >= PairTile::cols && terms >= 2 &&
         pair_words(rows, PairTile::rows, terms) <= rows * terms &&
         pair_words(cols, PairTile::cols, terms) <= cols * terms;
}

/// Packs panel number `panel` of lines of `x` (its rows) for the terms from `first` to `first +
/// terms`.
template <int Width>
struct PackPairs {
  Matrix<bfloat16 const> x;  ///< of B the transposed
  std::uint32_t* packed;
  std::int64_t first, terms;

  SHARDTYPE_VECTOR_LOOP void operator()(std::int64_t panel) const {
    std::int64_t const line = panel * Width;
    auto const width = std::min<std::int64_t>(Width, x.rows - line);
    std::int64_t const whole = terms / 2;
    std::uint32_t* const out = packed + line * pairs_of(terms);
    bfloat16 const* const from = x.block(line, first, width, terms).data;
    if (width < Width) std::fill_n(out, Width * pairs_of(terms), 0U);
    if (x.row_stride == 1 && width == Width) {
      for (std::int64_t p = 0; p < whole; ++p) {
        bfloat16 const* const low = from + 2 * p * x.col_stride;
        bfloat16 const* const high = low + x.col_stride;
        for (int w = 0; w < Width; ++w) out[p * Width + w] = pair(low[w], high[w]);
      }
      if (terms % 2 != 0)
        for (int w = 0; w < Width; ++w)
          out[whole * Width + w] = pair(from[2 * whole * x.col_stride + w], bfloat16(0));
      return;
    }
    // in chunks of about a cache line per line, as in pack_panel
    constexpr std::int64_t chunk = 16;
    for (std::int64_t begin = 0; begin < whole; begin += chunk) {
      std::int64_t const end = std::min(begin + chunk, whole);
      for (std::int64_t w = 0; w < width; ++w) {
        bfloat16 const* const one = from + w * x.row_stride;
        for (std::int64_t p = begin; p < end; ++p)
          out[p * Width + w] = pair(one[2 * p * x.col_stride], one[(2 * p + 1) * x.col_stride]);
      }
    }
    if (terms % 2 != 0)
      for (std::int64_t w = 0; w < width; ++w)
        out[whole * Width + w] =
            pair(from[w * x.row_stride + 2 * whole * x.col_stride], bfloat16(0));
  }

 private:
  static std::uint32_t pair(bfloat16 low, bfloat16 high) {
    return static_cast<std::uint32_t>(low.bits()) | static_cast<std::uint32_t>(high.bits()) << 16;
  }
};

/// Multiplies block number `block` of the rows of a packed A by the packed B.
struct PairRows {
  PairSums sums;
  std::uint32_t const* a;
  std::uint32_t const* b;
  Matrix<float> c;  ///< with contiguous rows
  std::int64_t rows_per_block, pairs;
  bool add;

  void operator()(std::int64_t block) const {
    using Tile = PairTile;
    std::int64_t const first = block * rows_per_block;
    std::int64_t const last = std::min(first + rows_per_block, c.rows);
    for (std::int64_t j = 0; j < c.cols; j += Tile::cols) {
      for (std::int64_t i = first; i < last; i += Tile::rows) {
        float* const to = c.block(i, j, 1, 1).data;
        auto const rows = std::min<std::int64_t>(Tile::rows, last - i);
        auto const cols = std::min<std::int64_t>(Tile::cols, c.cols - j);
        if (rows == Tile::rows && cols == Tile::cols) {
          sums(pairs, a + i * pairs, b + j * pairs, to, c.row_stride, add);
          continue;
        }
        float edge[static_cast<std::size_t>(Tile::rows * Tile::cols)];
        sums(pairs, a + i * pairs, b + j * pairs, edge, Tile::cols, false);
        for (std::int64_t r = 0; r < rows; ++r) {
          for (std::int64_t k = 0; k < cols; ++k) {
            float& x = to[r * c.row_stride + k];
            x = add ? x + edge[r * Tile::cols + k] : edge[r * Tile::cols + k];
          }
        }
      }
    }
  }
};

/// C = A B, or C += A B if `accumulate`, by `sums`, for one member with contiguous rows or columns
/// of C. `words_a` and `words_b` have room for as many words as A and B have elements. An element's
/// value is that of sums along K alone, wherever it lies in C. Needs pairs_fit of C's rows and
/// columns, or of its columns and rows where its columns are contiguous. Runs in order on `exec`;
/// `between` is called when some milliseconds have passed.
template <class Exec, class Between>
void multiply_pairs(Exec const& exec, PairSums sums, Matrix<bfloat16 const> const& a,
                    Matrix<bfloat16 const> const& b, Matrix<float> const& c, bool accumulate,
                    std::uint32_t* words_a, std::uint32_t* words_b, Between const& between) {
  using Tile = PairTile;
  if (c.col_stride != 1) {
    detail::multiply_pairs(exec, sums, b.transposed(), a.transposed(), c.transposed(), accumulate,
                           words_b, words_a, between);
    return;
  }
  auto const workers = static_cast<std::int64_t>(exec.concurrency());
  std::int64_t const rows =
      std::min(Tile::block_m, round_up(ceil_div(c.rows, workers), Tile::rows));
  std::int64_t const blocks = ceil_div(c.rows, rows);
  for (std::int64_t p = 0; p < a.cols; p += Tile::block_k) {
    std::int64_t const terms = std::min(Tile::block_k, a.cols - p);
    kernels::launch(exec, "shardtype::gemm_pack", ceil_div(c.rows, Tile::rows),
                    PackPairs<Tile::rows>{a, words_a, p, terms});
    kernels::launch(exec, "shardtype::gemm_pack", ceil_div(c.cols, Tile::cols),
                    PackPairs<Tile::cols>{b.transposed(), words_b, p, terms});
    PairRows const work{sums, words_a, words_b, c, rows, pairs_of(terms), accumulate || p > 0};
    for (std::int64_t first = 0; first < blocks; first += workers) {
      kernels::launch(exec, "shardtype::gemm", std::min(workers, blocks - first),
                      [work, first](std::int64_t k) { work(first + k); });
      between();
    }
  }
}

}  // namespace shardtype::kernels::detail
