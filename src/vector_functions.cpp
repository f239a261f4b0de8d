// Elementary functions of arrays: those of the instructions that every x86-64 has, and the choice
// among the sets.
#include <shardtype/kernels/has_vector_functions.hpp>

#ifdef SHARDTYPE_VECTOR_FUNCTIONS

#define SHARDTYPE_SET sse2
#define SHARDTYPE_BYTES 16
#define SHARDTYPE_FLOAT(arguments, name) _ZGVbN4##arguments##_##name##f
#define SHARDTYPE_DOUBLE(arguments, name) _ZGVbN2##arguments##_##name
#define SHARDTYPE_FLOAT_ROOT(x) __builtin_ia32_sqrtps(x)
#define SHARDTYPE_DOUBLE_ROOT(x) __builtin_ia32_sqrtpd(x)
#define SHARDTYPE_FLOATS_LESS(x, y) __builtin_ia32_movmskps(reinterpret_cast<Floats>((x) < (y)))
#define SHARDTYPE_DOUBLES_LESS(x, y) __builtin_ia32_movmskpd(reinterpret_cast<Doubles>((x) < (y)))
#include "vector_set.ipp"

namespace shardtype::kernels::vectors {

namespace avx2 {
extern ArrayFunctions<float> const of_floats;
extern ArrayFunctions<double> const of_doubles;
}  // namespace avx2
namespace avx512 {
extern ArrayFunctions<float> const of_floats;
extern ArrayFunctions<double> const of_doubles;
}  // namespace avx512

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
