// Elementary functions of arrays by AVX2. Compiled for it as a whole
// (cmake/ShardtypeCompiled.cmake); it includes no header whose functions or variables other units
// share, which the linker could take from here for a lesser processor.
#if defined(SHARDTYPE_HAVE_LIBMVEC) && defined(__x86_64__) && !defined(__CUDACC__) && \
    !defined(__HIPCC__)

#define SHARDTYPE_SET avx2
#define SHARDTYPE_BYTES 32
#define SHARDTYPE_FLOAT(arguments, name) _ZGVdN8##arguments##_##name##f
#define SHARDTYPE_DOUBLE(arguments, name) _ZGVdN4##arguments##_##name
#define SHARDTYPE_FLOAT_ROOT(x) __builtin_ia32_sqrtps256(x)
#define SHARDTYPE_DOUBLE_ROOT(x) __builtin_ia32_sqrtpd256(x)
#define SHARDTYPE_FLOATS_LESS(x, y) __builtin_ia32_movmskps256(reinterpret_cast<Floats>((x) < (y)))
#define SHARDTYPE_DOUBLES_LESS(x, y) \
  __builtin_ia32_movmskpd256(reinterpret_cast<Doubles>((x) < (y)))
#include "vector_set.ipp"

#endif
