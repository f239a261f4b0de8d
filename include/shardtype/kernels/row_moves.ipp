#pragma once
/// Definitions of row_moves.hpp.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <shardtype/kernels/row_moves.hpp>
#include <shardtype/kernels/stream_copy.hpp>
#include <shardtype/kernels/vector_loop.hpp>

#ifdef __SSE2__
#include <emmintrin.h>
#endif
// nvcc does not know all of these functions
#if defined(__AVX2__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

namespace shardtype::kernels::detail {

#ifdef __SSE2__
using Chunk16 = __m128i;
#else
struct Chunk16 {
  std::uint64_t low, high;
};
#endif

/// The elements of a chunk, of `Element` bytes each, in reverse order.
template <int Element, class Chunk>
Chunk reversed_chunk(Chunk x) {
  if constexpr (sizeof(Chunk) == 16) {
#ifdef __SSE2__
    if constexpr (Element == 1) x = _mm_or_si128(_mm_slli_epi16(x, 8), _mm_srli_epi16(x, 8));
    if constexpr (Element <= 2) {
      x = _mm_shufflehi_epi16(_mm_shufflelo_epi16(x, 0x1b), 0x1b);
      return _mm_shuffle_epi32(x, 0x4e);
    } else {
      return Element == 4 ? _mm_shuffle_epi32(x, 0x1b)
                          : (Element == 8 ? _mm_shuffle_epi32(x, 0x4e) : x);
    }
#else
    if constexpr (Element == 16) return x;
    return {detail::reversed_chunk<Element>(x.high), detail::reversed_chunk<Element>(x.low)};
#endif
  } else {
    // halves are swapped, then halves of these, down to elements
    std::uint64_t y = x;
    constexpr int size = static_cast<int>(sizeof(Chunk));
    if constexpr (Element <= 4 && size == 8) y = y << 32 | y >> 32;
    if constexpr (Element <= 2 && size >= 4)
      y = (y & 0x0000ffff0000ffff) << 16 | (y >> 16 & 0x0000ffff0000ffff);
    if constexpr (Element == 1 && size >= 2)
      y = (y & 0x00ff00ff00ff00ff) << 8 | (y >> 8 & 0x00ff00ff00ff00ff);
    return static_cast<Chunk>(y);
  }
}

#if defined(__AVX2__) && !defined(__CUDACC__)
using LongChunk = __m256i;
/// The same of a chunk of 32 bytes: in each half, then the halves.
template <int Element>
LongChunk reversed_chunk(LongChunk x) {
  if constexpr (Element == 1) x = _mm256_or_si256(_mm256_slli_epi16(x, 8), _mm256_srli_epi16(x, 8));
  if constexpr (Element <= 2) x = _mm256_shufflehi_epi16(_mm256_shufflelo_epi16(x, 0x1b), 0x1b);
  if constexpr (Element == 4) x = _mm256_shuffle_epi32(x, 0x1b);
  return Element == 4 || Element == 16 ? _mm256_permute2x128_si256(x, x, 1)
                                       : _mm256_permute4x64_epi64(x, 0x1b);
}
#else
using LongChunk = Chunk16;
#endif

/// Rows in `count` chunks, of which the last overlaps the one before it: moves of constant size
/// within the row, whatever its length. Element: as RowMove::reversed.
template <int Element, class Chunk, int count>
SHARDTYPE_VECTOR_LOOP void move_chunks(FewRows const& few) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Chunk));
  std::int64_t const last = few.bytes - size;
  std::int64_t const from_pitch = few.from_pitch;
  std::int64_t const to_pitch = few.to_pitch;
  char const* from = few.from;
  char* to = few.to;
  for (std::int64_t r = few.rows; r > 0; --r, from += from_pitch, to += to_pitch) {
    Chunk x[static_cast<std::size_t>(count)];
    for (int k = 0; k < count; ++k)
      std::memcpy(&x[k], from + (k + 1 < count ? k * size : last), sizeof(Chunk));
    for (int k = 0; k < count; ++k) {
      std::int64_t const at = k + 1 < count ? k * size : last;
      if constexpr (Element == 0) {
        std::memcpy(to + at, &x[k], sizeof(Chunk));
      } else {
        Chunk const y = detail::reversed_chunk<Element>(x[k]);
        std::memcpy(to + (last - at), &y, sizeof(Chunk));
      }
    }
  }
}
template <int Element>
SHARDTYPE_VECTOR_LOOP void reverse_long(char const* from, char* to, std::int64_t bytes) {
  constexpr std::int64_t line = 64;
  FewRows piece{from + bytes - line, 0, to, 0, line, 1, Element};
  std::int64_t rest = bytes;
  for (; rest >= line; rest -= line, piece.from -= line, piece.to += line) {
#if defined(__GNUC__)
    // the hardware follows descending addresses less well
    __builtin_prefetch(piece.from - 2048);
#endif
    detail::move_chunks<Element, LongChunk, static_cast<int>(line / sizeof(LongChunk))>(piece);
  }
  // the last line overlaps the one before it
  piece.from = from;
  piece.to = to + bytes - line;
  if (rest > 0)
    detail::move_chunks<Element, LongChunk, static_cast<int>(line / sizeof(LongChunk))>(piece);
}
template <int Element>
SHARDTYPE_VECTOR_LOOP void move_rows_of(FewRows const& few) {
  std::int64_t const n = few.bytes;
  if (n > 64) {
    for (std::int64_t r = 0; r < few.rows; ++r) {
      char const* const from = few.from + r * few.from_pitch;
      char* const to = few.to + r * few.to_pitch;
      if constexpr (Element == 0) {
        std::memcpy(to, from, static_cast<std::size_t>(n));
      } else {
        detail::reverse_long<Element>(from, to, n);
      }
    }
    return;
  }
  if (n > 48) return detail::move_chunks<Element, Chunk16, 4>(few);
  if (n > 32) return detail::move_chunks<Element, Chunk16, 3>(few);
  if (n > 16) return detail::move_chunks<Element, Chunk16, 2>(few);
  if (n == 16) return detail::move_chunks<Element, Chunk16, 1>(few);
  if constexpr (Element <= 8) {
    if (n > 8) return detail::move_chunks<Element, std::uint64_t, 2>(few);
    if (n == 8) return detail::move_chunks<Element, std::uint64_t, 1>(few);
  }
  if constexpr (Element <= 4) {
    if (n > 4) return detail::move_chunks<Element, std::uint32_t, 2>(few);
    if (n == 4) return detail::move_chunks<Element, std::uint32_t, 1>(few);
  }
  if constexpr (Element <= 2) {
    if (n > 2) return detail::move_chunks<Element, std::uint16_t, 2>(few);
    if (n == 2) return detail::move_chunks<Element, std::uint16_t, 1>(few);
  }
  if constexpr (Element <= 1) detail::move_chunks<Element, std::uint8_t, 1>(few);
}
#if defined(__AVX2__) && !defined(__CUDACC__)
/// Reverses packed rows of at most 16 bytes, as many at once as a vector has; gives how many.
inline std::int64_t reverse_short(FewRows const& few) {
  constexpr std::int64_t size = 16;
  std::int64_t const together = size / few.bytes;
  alignas(16) char order[static_cast<std::size_t>(size)];
  for (std::int64_t k = 0; k < size; ++k) {
    std::int64_t const row = k / few.bytes * few.bytes;
    std::int64_t const element = (k - row) / few.reversed * few.reversed;
    std::int64_t const from = row + few.bytes - few.reversed - element + k % few.reversed;
    order[k] = static_cast<char>(row < together * few.bytes ? from : k);
  }
  __m128i const places = _mm_load_si128(reinterpret_cast<__m128i const*>(order));
  // what is behind the last whole row is written again with the next rows
  std::int64_t row = 0;
  for (; (few.rows - row) * few.bytes >= size; row += together) {
    __m128i const x = _mm_loadu_si128(reinterpret_cast<__m128i const*>(few.from + row * few.bytes));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(few.to + row * few.bytes),
                     _mm_shuffle_epi8(x, places));
  }
  return row;
}
#endif
SHARDTYPE_INLINE void move_rows(FewRows const& rows) {
  FewRows few = rows;
  std::int64_t const n = few.bytes;
  bool const to_packed = few.to_pitch == n;
  if (few.reversed == 0 && few.from_pitch == -n && to_packed && n <= 16 && (n & (n - 1)) == 0) {
    // rows in the reverse order are the elements of a reversed row
    few = {few.from - (few.rows - 1) * n, 0, few.to, 0, few.rows * n, 1, n};
  }
#if defined(__AVX2__) && !defined(__CUDACC__)
  if (few.reversed > 0 && n <= 16 && few.from_pitch == n && few.to_pitch == n) {
    std::int64_t const done = detail::reverse_short(few);
    few.from += done * n;
    few.to += done * n;
    few.rows -= done;
  }
#endif
  if (few.reversed == 0) {
    bool const packed = few.from_pitch == n && to_packed;
    if (packed)
      std::memcpy(few.to, few.from, static_cast<std::size_t>(few.bytes * few.rows));
    else
      detail::move_rows_of<0>(few);
  } else if (few.reversed == 1) {
    detail::move_rows_of<1>(few);
  } else if (few.reversed == 2) {
    detail::move_rows_of<2>(few);
  } else if (few.reversed == 4) {
    detail::move_rows_of<4>(few);
  } else if (few.reversed == 8) {
    detail::move_rows_of<8>(few);
  } else {
    detail::move_rows_of<16>(few);
  }
}
/// The same, past the cache.
inline void stream_rows(FewRows const& few) {
  if (few.reversed == 0 && few.bytes >= 1024) {
    for (std::int64_t r = 0; r < few.rows; ++r)
      kernels::stream_copy(few.to + r * few.to_pitch, few.from + r * few.from_pitch,
                           static_cast<std::size_t>(few.bytes));
    return;
  }
  alignas(64) char buffer[static_cast<std::size_t>(made_together)];
  if (few.bytes > made_together) {
    for (std::int64_t r = 0; r < few.rows; ++r)
      for (std::int64_t at = 0; at < few.bytes; at += made_together) {
        std::int64_t const n = std::min(made_together, few.bytes - at);
        detail::move_rows(
            {few.from + r * few.from_pitch + few.bytes - at - n, 0, buffer, 0, n, 1, few.reversed});
        kernels::stream_copy(few.to + r * few.to_pitch + at, buffer, static_cast<std::size_t>(n));
      }
    return;
  }
  if (few.to_pitch != few.bytes) return detail::move_rows(few);
  std::int64_t const together = made_together / few.bytes;
  for (std::int64_t r = 0; r < few.rows; r += together) {
    std::int64_t const n = std::min(together, few.rows - r);
    detail::move_rows({few.from + r * few.from_pitch, few.from_pitch, buffer, few.bytes, few.bytes,
                       n, few.reversed});
    kernels::stream_copy(few.to + r * few.to_pitch, buffer,
                         static_cast<std::size_t>(n * few.bytes));
  }
}

/// Rows of which each is written `times` times: one row of each group after the other, so that many
/// are moved at once.
inline void repeat_rows(RowMove const& m, std::int64_t first, std::int64_t end,
                        std::int64_t times) {
  int const a = m.from.rank - 2;
  std::int64_t const group = m.bytes * times;
  alignas(64) char buffer[static_cast<std::size_t>(made_together)];
  for (std::int64_t row = first, n = 0; row < end; row += n * times) {
    std::int64_t const at = row / times;
    n = std::min((end - row) / times, m.from.extent[a] - at % m.from.extent[a]);
    n = std::min(n, made_together / group);
    char const* const from = m.src + offset_of(m.from, row);
    char* const out = m.dst + row * m.bytes;
    char* const to = m.stream ? buffer : out;
    for (std::int64_t k = 0; k < times; ++k)
      detail::move_rows({from, m.from.stride[a], to + k * m.bytes, group, m.bytes, n, m.reversed});
    if (m.stream) kernels::stream_copy(out, buffer, static_cast<std::size_t>(n * group));
  }
}

SHARDTYPE_INLINE void RowMove::move_some(RowMove const& m, std::int64_t work) {
  auto const move = [&](FewRows const& few) {
    if (m.stream)
      detail::stream_rows(few);
    else
      detail::move_rows(few);
  };
  std::int64_t const pieces = m.pieces();
  if (pieces > 1) {
    std::int64_t const row = work / pieces;
    std::int64_t const at = work % pieces * bytes_of_call;
    std::int64_t const n = std::min(bytes_of_call, m.bytes - at);
    char const* const from = m.src + offset_of(m.from, row);
    move({from + (m.reversed > 0 ? m.bytes - at - n : at), 0, m.dst + offset_of(m.to, row) + at, 0,
          n, 1, m.reversed});
  } else {
    // rows that are equally far from each other on both sides, at once
    int const a = m.from.rank - 1;
    int const b = m.to.rank - 1;
    std::int64_t const end = std::min(work * m.each + m.each, m.from.elements());
    if (m.times > 1) {
      detail::repeat_rows(m, work * m.each, end, m.times);
      if (m.stream) stream_fence();
      return;
    }
    for (std::int64_t row = work * m.each, n = 0; row < end; row += n) {
      n = end - row;
      if (a > 0) n = std::min(n, m.from.extent[a] - row % m.from.extent[a]);
      if (b > 0) n = std::min(n, m.to.extent[b] - row % m.to.extent[b]);
      move({m.src + offset_of(m.from, row), m.from.stride[a], m.dst + offset_of(m.to, row),
            m.to.stride[b], m.bytes, n, m.reversed});
    }
  }
  if (m.stream) stream_fence();
}

/// Two blocks of rows of one chunk, of 1, 2, 4 or 8 bytes.
template <class Chunk>
void interleave(char const* a, char const* b, char* to, std::int64_t rows) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Chunk));
  std::int64_t at = 0;
#ifdef __SSE2__
  for (; at + 16 <= rows * size; at += 16) {
    __m128i const x = _mm_loadu_si128(reinterpret_cast<__m128i const*>(a + at));
    __m128i const y = _mm_loadu_si128(reinterpret_cast<__m128i const*>(b + at));
    __m128i low;
    __m128i high;
    if constexpr (size == 1) {
      low = _mm_unpacklo_epi8(x, y);
      high = _mm_unpackhi_epi8(x, y);
    } else if constexpr (size == 2) {
      low = _mm_unpacklo_epi16(x, y);
      high = _mm_unpackhi_epi16(x, y);
    } else if constexpr (size == 4) {
      low = _mm_unpacklo_epi32(x, y);
      high = _mm_unpackhi_epi32(x, y);
    } else {
      low = _mm_unpacklo_epi64(x, y);
      high = _mm_unpackhi_epi64(x, y);
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 2 * at), low);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 2 * at + 16), high);
  }
#endif
  for (; at < rows * size; at += size) {
    std::memcpy(to + 2 * at, a + at, sizeof(Chunk));
    std::memcpy(to + 2 * at + size, b + at, sizeof(Chunk));
  }
}
/// `rows` rows from row `first` on.
inline void join_rows(JoinedRows const& j, std::int64_t first, std::int64_t rows, char* to) {
  if (j.count == 2 && j.parts[0].bytes == j.parts[1].bytes) {
    std::int64_t const n = j.parts[0].bytes;
    char const* const a = j.parts[0].from + first * n;
    char const* const b = j.parts[1].from + first * n;
    if (n == 1) return detail::interleave<std::uint8_t>(a, b, to, rows);
    if (n == 2) return detail::interleave<std::uint16_t>(a, b, to, rows);
    if (n == 4) return detail::interleave<std::uint32_t>(a, b, to, rows);
    if (n == 8) return detail::interleave<std::uint64_t>(a, b, to, rows);
  }
  for (int k = 0; k < j.count; to += j.parts[k++].bytes) {
    std::int64_t const n = j.parts[k].bytes;
    if (n > 0) detail::move_rows({j.parts[k].from + first * n, n, to, j.width, n, rows, 0});
  }
}
SHARDTYPE_INLINE void JoinedRows::join_some(JoinedRows const& j, std::int64_t work) {
  alignas(64) char buffer[static_cast<std::size_t>(made_together)];
  std::int64_t const together = std::max(std::int64_t{1}, made_together / j.width);
  std::int64_t const end = std::min((work + 1) * j.each(), j.rows);
  for (std::int64_t row = work * j.each(); row < end; row += together) {
    std::int64_t const n = std::min(together, end - row);
    char* const to = j.dst + row * j.width;
    if (!j.stream) {
      detail::join_rows(j, row, n, to);
    } else if (n * j.width <= made_together) {
      detail::join_rows(j, row, n, buffer);
      kernels::stream_copy(to, buffer, static_cast<std::size_t>(n * j.width));
    } else {
      std::int64_t at = 0;
      for (int k = 0; k < j.count; at += j.parts[k++].bytes)
        kernels::stream_copy(to + at, j.parts[k].from + row * j.parts[k].bytes,
                             static_cast<std::size_t>(j.parts[k].bytes));
    }
  }
  if (j.stream) stream_fence();
}

}  // namespace shardtype::kernels::detail
