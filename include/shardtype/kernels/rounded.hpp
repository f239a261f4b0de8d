#pragma once
/// Products that are rounded before they are added. Compilers fuse a product with a sum where the processor can, which
/// would give vectors and single elements different values.

// clang fuses within a statement only
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define SHARDTYPE_ROUNDED(x) __builtin_assoc_barrier(x)
#else
#define SHARDTYPE_ROUNDED(x) (x)
#endif
