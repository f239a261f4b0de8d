#pragma once
/// The instruction sets among which the compiled part chooses its elementary functions when a program runs.

namespace shardtype::runtime {

enum class Instructions { sse2, avx2, avx512 };

/// The best set that this processor has.
inline Instructions best_instructions() {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    return Instructions::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Instructions::avx2;
#endif
  return Instructions::sse2;
}

}  // namespace shardtype::runtime
