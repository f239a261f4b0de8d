#pragma once
/// Host: transposing copies in tiles.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <shardtype/kernels/layout.hpp>

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
  static void move(char const* in, std::int64_t in_row, char* out, std::int64_t out_row) {
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
  static void move(char const* in, std::int64_t in_row, char* out, std::int64_t out_row) {
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
  static void move(char const* in, std::int64_t in_row, char* out, std::int64_t out_row) {
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
  static void move(char const* in, std::int64_t in_row, char* out, std::int64_t out_row) {
    __m128i const a = _mm_loadu_si128(reinterpret_cast<__m128i const*>(in));
    __m128i const b = _mm_loadu_si128(reinterpret_cast<__m128i const*>(in + in_row));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_unpacklo_epi64(a, b));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + out_row), _mm_unpackhi_epi64(a, b));
  }
};
#endif

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
  std::int64_t tiles_fast, tiles_last;
  bool stream;  ///< whether the stores bypass the cache

  void operator()(std::int64_t work) const {
    int const last = from.rank - 1;
    std::int64_t const j = work % tiles_last * tile;
    work /= tiles_last;
    std::int64_t const i = work % tiles_fast * tile;
    work /= tiles_fast;
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
    std::int64_t const rows = from.extent[fast] - i < tile ? from.extent[fast] - i : tile;
    std::int64_t const columns = from.extent[last] - j < tile ? from.extent[last] - j : tile;
    alignas(64) T buffer[static_cast<std::size_t>(tile * pitch)];
    if (rows == tile && columns == tile) {
      bool const more = j + tile < from.extent[last];
      fill(in, in_row, more, buffer);
      for (int k = 0; k < tile; ++k) put(out + k * out_row, buffer + k * pitch);
#ifdef __SSE2__
      if (stream) _mm_sfence();
#endif
      return;
    }
    for (std::int64_t c = 0; c < columns; ++c)
      for (std::int64_t r = 0; r < rows; ++r) buffer[r * pitch + c] = in[c * in_row + r];
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c) out[r * out_row + c] = buffer[r * pitch + c];
  }

 private:
  static constexpr int pitch = tile + static_cast<int>(64 / sizeof(T));

  /// Transposes a whole tile into the buffer and prefetches the next one, which the hardware does
  /// not foresee.
  static void fill(T const* in, std::int64_t in_row, bool more, T* buffer) {
    using Square = TransposeSquare<sizeof(T)>;
    constexpr int side = Square::side;
    for (int c = 0; c < tile; c += side) {
      if (more)
        for (int k = 0; k < side; ++k)
          for (int line = 0; line < tile; line += static_cast<int>(64 / sizeof(T)))
            __builtin_prefetch(in + (c + k + tile) * in_row + line);
      for (int r = 0; r < tile; r += side) {
        if constexpr (side == 1) {
          buffer[r * pitch + c] = in[c * in_row + r];
        } else {
          constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
          Square::move(reinterpret_cast<char const*>(in + c * in_row + r), in_row * bytes,
                       reinterpret_cast<char*>(buffer + r * pitch + c), pitch * bytes);
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

/// Whether all rows of tiles of a large result are aligned for stores that bypass the cache.
template <class T>
bool streams(T const* dst, Layout const& to) {
  constexpr std::int64_t large = std::int64_t{1} << 20;
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
  bool aligned = reinterpret_cast<std::uintptr_t>(dst) % 16 == 0;
  for (int d = 0; d + 1 < to.rank; ++d) aligned = aligned && to.stride[d] * bytes % 16 == 0;
  return aligned && to.elements() * bytes > large;
}

}  // namespace shardtype::kernels::detail
