#pragma once
/// Host copies that bypass the cache.

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace shardtype::kernels {

/// Copies `bytes` bytes that will not be read soon. On x86 its stores do not first fetch the lines
/// that they overwrite, a third of a plain copy's traffic. Visible to other threads after
/// `stream_fence`.
inline void stream_copy(void* to, void const* from, std::size_t bytes) {
  auto* out = static_cast<char*>(to);
  auto const* in = static_cast<char const*>(from);
#ifdef __SSE2__
  constexpr int ahead = 2048;  // bytes to prefetch: runs are too short for the hardware prefetcher
  std::size_t const head = (64 - reinterpret_cast<std::uintptr_t>(out) % 64) % 64;
  if (bytes >= head + 64) {
    std::memcpy(out, in, head);
    out += head;
    in += head;
    bytes -= head;
    for (; bytes >= 64; bytes -= 64, in += 64, out += 64) {
      _mm_prefetch(in + ahead, _MM_HINT_T0);
      __m128i line[4];
      std::memcpy(line, in, sizeof line);
      for (int k = 0; k < 4; ++k) _mm_stream_si128(reinterpret_cast<__m128i*>(out) + k, line[k]);
    }
  }
#endif
  std::memcpy(out, in, bytes);
}

inline void stream_fence() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

/// Copies `rows` consecutive runs of `bytes` bytes at `from` to `to`, `stride` bytes apart;
/// bypasses the cache if they are too large for it. Visible to other threads on return.
inline void put_rows(void* to, std::size_t stride, void const* from, std::size_t bytes,
                     std::int64_t rows) {
  bool const stream = bytes * static_cast<std::size_t>(rows) > std::size_t{1} << 20;
  auto* out = static_cast<char*>(to);
  auto const* in = static_cast<char const*>(from);
  for (std::int64_t r = 0; r < rows; ++r, out += stride, in += bytes) {
    if (stream)
      stream_copy(out, in, bytes);
    else
      std::memcpy(out, in, bytes);
  }
  if (stream) stream_fence();
}

}  // namespace shardtype::kernels
