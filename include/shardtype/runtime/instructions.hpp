#pragma once
/// The instruction sets among which a program chooses when it runs: the compiled part its
/// elementary functions, products of bfloat16 their sums.

namespace shardtype::runtime {

enum class Instructions { sse2, avx2, avx512, avx512_bf16 };  ///< each has those before it

/// The best set that this processor has.
inline Instructions best_instructions() {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
    bool const pairs = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                       __builtin_cpu_supports("avx512bf16");
    return pairs ? Instructions::avx512_bf16 : Instructions::avx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Instructions::avx2;
#endif
  return Instructions::sse2;
}

}  // namespace shardtype::runtime
