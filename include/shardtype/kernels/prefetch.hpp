#pragma once
/// Reads or writes of memory that are announced to the processor.

#include <cstdint>

namespace shardtype::kernels::vectors {

/// Prefetches `n` elements to be read, or written: the processor waits for memory between
/// blocks that are computed in several passes, and where it sees no stream.
template <bool Write = false, class T>
void prefetch([[maybe_unused]] T const* at, [[maybe_unused]] std::int64_t n) {
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  auto const bytes = n * static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t k = 0; k < bytes; k += 64)
    __builtin_prefetch(reinterpret_cast<char const*>(at) + k, Write ? 1 : 0);
#endif
}

}  // namespace shardtype::kernels::vectors
