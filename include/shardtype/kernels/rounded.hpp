#pragma once
/// Products that are rounded before they are added. Compilers fuse a product with a sum where the
/// processor can, which would give vectors and single elements different values.

// clang fuses within a statement only
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define SHARDTYPE_ROUNDED(x) __builtin_assoc_barrier(x)
#else
#define SHARDTYPE_ROUNDED(x) (x)
#endif

namespace shardtype::kernels {

/// The same of a vector of the processor's width, which g++ 12 takes apart for its barrier.
template <class V>
[[gnu::always_inline]] inline void rounded([[maybe_unused]] V& v) {
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#if defined(__x86_64__)
  __asm__("" : "+x"(v));
#else
  v = __builtin_assoc_barrier(v);
#endif
#endif
}

}  // namespace shardtype::kernels
