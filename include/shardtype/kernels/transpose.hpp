#pragma once
/// Host: transposing copies in tiles.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/row_moves.hpp>
#include <shardtype/kernels/vector_loop.hpp>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace shardtype::kernels::detail {

/// A square of elements that is transposed in registers: 16 x 16 of one byte, 8 x 8 of two, 4 x 4
/// of four, 2 x 2 of eight.
template <std::size_t Bytes>
struct TransposeSquare {
  static constexpr int side = 1;
};
#ifdef __SSE2__
template <>
struct TransposeSquare<1> {
  static constexpr int side = 16;
  SHARDTYPE_VECTOR_LOOP static void move(char const* in, std::int64_t in_row, char* out,
                                         std::int64_t out_row) {
    __m128i r[16];
    __m128i t[16];
    for (int k = 0; k < 16; ++k)
      r[k] = _mm_loadu_si128(reinterpret_cast<__m128i const*>(in + k * in_row));
    // rows k and k + 8 are interleaved; after four times, rows are columns
    interleave(r, t);
    interleave(t, r);
    interleave(r, t);
    interleave(t, r);
    for (int k = 0; k < 16; ++k)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + k * out_row), r[k]);
  }
  static void interleave(__m128i const* from, __m128i* to) {
    for (int k = 0; k < 8; ++k) {
      to[2 * k] = _mm_unpacklo_epi8(from[k], from[k + 8]);
      to[2 * k + 1] = _mm_unpackhi_epi8(from[k], from[k + 8]);
    }
  }
};
template <>
struct TransposeSquare<2> {
  static constexpr int side = 8;
  SHARDTYPE_VECTOR_LOOP static void move(char const* in, std::int64_t in_row, char* out,
                                         std::int64_t out_row) {
    __m128i r[8];
    __m128i t[8];
    for (int k = 0; k < 8; ++k)
      r[k] = _mm_loadu_si128(reinterpret_cast<__m128i const*>(in + k * in_row));
    // rows k and k + 4 are interleaved; after three times, rows are columns
    for (int k = 0; k < 4; ++k) {
      t[2 * k] = _mm_unpacklo_epi16(r[k], r[k + 4]);
      t[2 * k + 1] = _mm_unpackhi_epi16(r[k], r[k + 4]);
    }
    for (int k = 0; k < 4; ++k) {
      r[2 * k] = _mm_unpacklo_epi16(t[k], t[k + 4]);
      r[2 * k + 1] = _mm_unpackhi_epi16(t[k], t[k + 4]);
    }
    for (int k = 0; k < 4; ++k) {
      t[2 * k] = _mm_unpacklo_epi16(r[k], r[k + 4]);
      t[2 * k + 1] = _mm_unpackhi_epi16(r[k], r[k + 4]);
    }
    for (int k = 0; k < 8; ++k)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + k * out_row), t[k]);
  }
};
template <>
struct TransposeSquare<4> {
  static constexpr int side = 4;
  SHARDTYPE_VECTOR_LOOP static void move(char const* in, std::int64_t in_row, char* out,
                                         std::int64_t out_row) {
    __m128i r[4];
    for (int k = 0; k < 4; ++k)
      r[k] = _mm_loadu_si128(reinterpret_cast<__m128i const*>(in + k * in_row));
    __m128i const a = _mm_unpacklo_epi32(r[0], r[1]);
    __m128i const b = _mm_unpackhi_epi32(r[0], r[1]);
    __m128i const c = _mm_unpacklo_epi32(r[2], r[3]);
    __m128i const d = _mm_unpackhi_epi32(r[2], r[3]);
    __m128i const t[4] = {_mm_unpacklo_epi64(a, c), _mm_unpackhi_epi64(a, c),
                          _mm_unpacklo_epi64(b, d), _mm_unpackhi_epi64(b, d)};
    for (int k = 0; k < 4; ++k)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + k * out_row), t[k]);
  }
};
template <>
struct TransposeSquare<8> {
  static constexpr int side = 2;
  SHARDTYPE_VECTOR_LOOP static void move(char const* in, std::int64_t in_row, char* out,
                                         std::int64_t out_row) {
    __m128i const a = _mm_loadu_si128(reinterpret_cast<__m128i const*>(in));
    __m128i const b = _mm_loadu_si128(reinterpret_cast<__m128i const*>(in + in_row));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_unpacklo_epi64(a, b));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + out_row), _mm_unpackhi_epi64(a, b));
  }
};
#endif

/// Whether all rows of tiles of a large result are aligned for stores that bypass the cache.
template <class T>
bool streams(T const* dst, Layout const& to) {
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
  bool aligned = reinterpret_cast<std::uintptr_t>(dst) % 16 == 0;
  for (int d = 0; d + 1 < to.rank; ++d) aligned = aligned && to.stride[d] * bytes % 16 == 0;
  return aligned && passes_cache(to.elements() * bytes);
}

/// dst (packed, last dim fastest) = src, whose dim `fast` has stride 1 and whose last dim has not.
/// One call copies a tile of these two dims through a small buffer: the lines of a tile compete for
/// the same places of the cache if the strides are powers of two, so each is read once as a whole
/// and written once as a whole.
template <class T>
struct TransposeTiles {
  static constexpr int tile = sizeof(T) < 4 ? 64 : static_cast<int>(256 / sizeof(T));
  T const* src;
  T* dst;
  Layout from;  // merged; its last dim is the inner one of dst
  Layout to;    // the same extents with packed strides
  int fast;
  std::int64_t high = tile;  ///< of a tile, along `fast`
  std::int64_t wide = tile;  ///< of a tile, along the last dim
  bool stream = false;       ///< whether the stores bypass the cache

  TransposeTiles(T const* its_src, T* its_dst, Layout const& all, int its_fast)
      : src(its_src), dst(its_dst), from(all), to(all.packed()), fast(its_fast) {
    std::int64_t const rows = from.extent[fast];
    std::int64_t const columns = from.extent[from.rank - 1];
    // as many elements in a tile if one of the dims is short
    if (rows <= tile / 2) {
      high = in_squares(rows);
      wide = tile * (tile / high);
    } else if (columns <= tile / 2) {
      wide = in_squares(columns);
      high = tile * (tile / wide);
    }
    stream = detail::streams(dst, to);
  }
  std::int64_t tiles_fast() const { return (from.extent[fast] + high - 1) / high; }
  std::int64_t tiles_last() const { return (from.extent[from.rank - 1] + wide - 1) / wide; }
  std::int64_t calls() const {
    std::int64_t n = tiles_fast() * tiles_last();
    for (int d = 0; d + 1 < from.rank; ++d) n *= d == fast ? 1 : from.extent[d];
    return n;
  }

  [[gnu::flatten]] SHARDTYPE_VECTOR_LOOP void operator()(std::int64_t work) const {
    int const last = from.rank - 1;
    std::int64_t const j = work % tiles_last() * wide;
    work /= tiles_last();
    std::int64_t const i = work % tiles_fast() * high;
    work /= tiles_fast();
    std::int64_t const in_row = from.stride[last];
    std::int64_t const out_row = to.stride[fast];
    T const* in = src + i + j * in_row;
    T* out = dst + i * out_row + j;
    for (int d = last; d >= 0; --d) {
      if (d == last || d == fast) continue;
      std::int64_t const at = work % from.extent[d];
      work /= from.extent[d];
      in += at * from.stride[d];
      out += at * to.stride[d];
    }
    std::int64_t const rows = std::min(from.extent[fast] - i, high);
    std::int64_t const columns = std::min(from.extent[last] - j, wide);
    alignas(64) T buffer[static_cast<std::size_t>(tile * pitch)];
    if (high == tile && wide == tile && rows == tile && columns == tile) {
      bool const more = j + tile < from.extent[last];
      fill(in, in_row, more, buffer);
      for (int k = 0; k < tile; ++k) put(out + k * out_row, buffer + k * pitch);
#ifdef __SSE2__
      if (stream) _mm_sfence();
#endif
      return;
    }
    std::int64_t const row = wide < tile ? wide : wide + pitch - tile;
    fill_part(in, in_row, rows, columns, buffer, row);
    constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
    detail::move_rows({reinterpret_cast<char const*>(buffer), row * bytes,
                       reinterpret_cast<char*>(out), out_row * bytes, columns * bytes, rows, 0});
  }

 private:
  static constexpr int pitch = tile + static_cast<int>(64 / sizeof(T));
  static constexpr std::int64_t side = TransposeSquare<sizeof(T)>::side;

  static std::int64_t in_squares(std::int64_t n) { return (n + side - 1) / side * side; }
  static void turn_square(T const* in, std::int64_t in_row, T* out, std::int64_t out_row) {
    constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
    TransposeSquare<sizeof(T)>::move(reinterpret_cast<char const*>(in), in_row * bytes,
                                     reinterpret_cast<char*>(out), out_row * bytes);
  }
  /// Transposes a part of a tile, in squares that overlap where it is no multiple of them.
  static void fill_part(T const* in, std::int64_t in_row, std::int64_t rows, std::int64_t columns,
                        T* buffer, std::int64_t out_row) {
    std::int64_t done = 0;
    if constexpr (side > 1) {
      // a square may read more than the row, but not behind the last one
      std::int64_t const more = rows < side ? (side - rows + in_row - 1) / in_row : 0;
      if (columns - more >= side) {
        done = columns - more;
        for (std::int64_t c = 0; c < done; c += side)
          for (std::int64_t r = 0; r < rows; r += side) {
            std::int64_t const at = std::min(c, done - side);
            std::int64_t const row = rows < side ? 0 : std::min(r, rows - side);
            turn_square(in + at * in_row + row, in_row, buffer + row * out_row + at, out_row);
          }
      } else if (columns < side && rows >= side) {
        fill_thin(in, in_row, rows, columns, buffer, out_row);
        return;
      }
    }
    for (std::int64_t c = done; c < columns; ++c)
      for (std::int64_t r = 0; r < rows; ++r) buffer[r * out_row + c] = in[c * in_row + r];
  }
  /// The same with fewer columns than a square has: the others are zero.
  static void fill_thin(T const* in, std::int64_t in_row, std::int64_t rows, std::int64_t columns,
                        T* buffer, std::int64_t out_row) {
    constexpr std::int64_t length = 64;
    T stage[static_cast<std::size_t>(side * length)]{};
    std::int64_t const n = std::min(rows, length);
    for (std::int64_t r = 0; r < rows; r += n) {
      std::int64_t const first = std::min(r, rows - n);
      for (std::int64_t c = 0; c < columns; ++c)
        std::memcpy(static_cast<void*>(stage + c * length), in + c * in_row + first,
                    static_cast<std::size_t>(n) * sizeof(T));
      for (std::int64_t k = 0; k < n; k += side) {
        std::int64_t const at = std::min(k, n - side);
        turn_square(stage + at, length, buffer + (first + at) * out_row, out_row);
      }
    }
  }

  /// Transposes a whole tile into the buffer and prefetches the next one, which the hardware does
  /// not foresee.
  static void fill(T const* in, std::int64_t in_row, bool more, T* buffer) {
    for (int c = 0; c < tile; c += static_cast<int>(side)) {
      if (more)
        for (int k = 0; k < side; ++k)
          for (int line = 0; line < tile; line += static_cast<int>(64 / sizeof(T)))
            __builtin_prefetch(in + (c + k + tile) * in_row + line);
      for (int r = 0; r < tile; r += static_cast<int>(side)) {
        if constexpr (side == 1) {
          buffer[r * pitch + c] = in[c * in_row + r];
        } else {
          turn_square(in + c * in_row + r, in_row, buffer + r * pitch + c, pitch);
        }
      }
    }
  }
  void put(T* line, T const* row) const {
#ifdef __SSE2__
    if (stream) {
      for (std::size_t k = 0; k < tile * sizeof(T); k += 16)
        _mm_stream_si128(reinterpret_cast<__m128i*>(reinterpret_cast<char*>(line) + k),
                         _mm_load_si128(reinterpret_cast<__m128i const*>(
                             reinterpret_cast<char const*>(row) + k)));
      return;
    }
#endif
    std::memcpy(static_cast<void*>(line), row, tile * sizeof(T));
  }
};

}  // namespace shardtype::kernels::detail
