// Elementary functions of arrays by AVX-512. As vector_functions_avx2.cpp.
#if defined(SHARDTYPE_HAVE_LIBMVEC) && defined(__x86_64__) && !defined(__CUDACC__) && \
    !defined(__HIPCC__)

#define SHARDTYPE_SET avx512
#define SHARDTYPE_BYTES 64
#define SHARDTYPE_FLOAT(arguments, name) _ZGVeN16##arguments##_##name##f
#define SHARDTYPE_DOUBLE(arguments, name) _ZGVeN8##arguments##_##name
#define SHARDTYPE_FLOAT_ROOT(x) __builtin_ia32_sqrtps512_mask(x, x, -1, 4)
#define SHARDTYPE_DOUBLE_ROOT(x) __builtin_ia32_sqrtpd512_mask(x, x, -1, 4)
#define SHARDTYPE_FLOATS_LESS(x, y) __builtin_ia32_cmpps512_mask(x, y, 0x11, 0xffff, 4)
#define SHARDTYPE_DOUBLES_LESS(x, y) __builtin_ia32_cmppd512_mask(x, y, 0x11, 0xff, 4)
#define SHARDTYPE_HALVES_OF_ERF
#include "vector_set.ipp"

#endif
