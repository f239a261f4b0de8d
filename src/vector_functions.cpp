// Elementary functions of arrays for each instruction set that the C library has them for. Only
// what this file defines is compiled for more than the unit's own instructions, so that no other
// function can need them.
#include <cstdint>
#include <cstring>

#include <shardtype/kernels/has_vector_functions.hpp>
#include <shardtype/kernels/vector_dispatch.hpp>

#ifdef SHARDTYPE_VECTOR_FUNCTIONS

// clang wants a declaration to say for which instructions vectors are passed; g++ would take such a
// declaration for a version of another function
#ifdef __clang__
#define SHARDTYPE_DECLARED SHARDTYPE_TARGET
#else
#define SHARDTYPE_DECLARED
#endif

#define SHARDTYPE_SET sse2
#define SHARDTYPE_BYTES 16
#define SHARDTYPE_TARGET
#define SHARDTYPE_FLOAT(arguments, name) _ZGVbN4##arguments##_##name##f
#define SHARDTYPE_DOUBLE(arguments, name) _ZGVbN2##arguments##_##name
#define SHARDTYPE_FLOAT_ROOT(x) __builtin_ia32_sqrtps(x)
#define SHARDTYPE_DOUBLE_ROOT(x) __builtin_ia32_sqrtpd(x)
#define SHARDTYPE_FLOATS_LESS(x, y) __builtin_ia32_movmskps(reinterpret_cast<Floats>((x) < (y)))
#define SHARDTYPE_DOUBLES_LESS(x, y) __builtin_ia32_movmskpd(reinterpret_cast<Doubles>((x) < (y)))
#include "vector_set.ipp"

#define SHARDTYPE_SET avx2
#define SHARDTYPE_BYTES 32
#define SHARDTYPE_TARGET [[gnu::target("avx2,fma")]]
#define SHARDTYPE_FLOAT(arguments, name) _ZGVdN8##arguments##_##name##f
#define SHARDTYPE_DOUBLE(arguments, name) _ZGVdN4##arguments##_##name
#define SHARDTYPE_FLOAT_ROOT(x) __builtin_ia32_sqrtps256(x)
#define SHARDTYPE_DOUBLE_ROOT(x) __builtin_ia32_sqrtpd256(x)
#define SHARDTYPE_FLOATS_LESS(x, y) __builtin_ia32_movmskps256(reinterpret_cast<Floats>((x) < (y)))
#define SHARDTYPE_DOUBLES_LESS(x, y) \
  __builtin_ia32_movmskpd256(reinterpret_cast<Doubles>((x) < (y)))
#include "vector_set.ipp"

#define SHARDTYPE_SET avx512
#define SHARDTYPE_BYTES 64
#define SHARDTYPE_TARGET [[gnu::target("avx512f,avx512dq")]]
#define SHARDTYPE_FLOAT(arguments, name) _ZGVeN16##arguments##_##name##f
#define SHARDTYPE_DOUBLE(arguments, name) _ZGVeN8##arguments##_##name
#define SHARDTYPE_FLOAT_ROOT(x) __builtin_ia32_sqrtps512_mask(x, x, -1, 4)
#define SHARDTYPE_DOUBLE_ROOT(x) __builtin_ia32_sqrtpd512_mask(x, x, -1, 4)
#define SHARDTYPE_FLOATS_LESS(x, y) __builtin_ia32_cmpps512_mask(x, y, 0x11, 0xffff, 4)
#define SHARDTYPE_DOUBLES_LESS(x, y) __builtin_ia32_cmppd512_mask(x, y, 0x11, 0xff, 4)
#define SHARDTYPE_HALVES_OF_ERF
#include "vector_set.ipp"

namespace shardtype::kernels::vectors {

template <>
ArrayFunctions<float> const& array_functions<float>(runtime::Instructions set) {
  switch (set) {
    case runtime::Instructions::avx512_bf16:
    case runtime::Instructions::avx512:
      return avx512::of_floats;
    case runtime::Instructions::avx2:
      return avx2::of_floats;
    default:
      return sse2::of_floats;
  }
}
template <>
ArrayFunctions<double> const& array_functions<double>(runtime::Instructions set) {
  switch (set) {
    case runtime::Instructions::avx512_bf16:
    case runtime::Instructions::avx512:
      return avx512::of_doubles;
    case runtime::Instructions::avx2:
      return avx2::of_doubles;
    default:
      return sse2::of_doubles;
  }
}

}  // namespace shardtype::kernels::vectors

#endif
