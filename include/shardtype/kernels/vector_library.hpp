#pragma once
/// Elementary functions of one vector register: those of the C library for x86-64 (libmvec, glibc
/// 2.35 and later), for AVX-512, AVX2, AVX and SSE2 by the compiler's flags. docs/functions.md says
/// why this library and how accurate it is.

#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/check/functions.hpp>
#include <shardtype/kernels/has_vector_functions.hpp>
#include <shardtype/kernels/vector.hpp>
#include <shardtype/kernels/vector_formulas.hpp>

namespace shardtype::kernels::vectors {

/// `Library<F, T>::call(x...)` is `F` of vectors of `T`.
template <class F, class T>
struct Library {
  static constexpr bool has = false;
};

#ifdef SHARDTYPE_VECTOR_FUNCTIONS

using Floats = detail::vector_of<float>;
using Doubles = detail::vector_of<double>;

#if defined(__AVX512F__)
#define SHARDTYPE_MVEC_FLOAT(arguments, name) _ZGVeN16##arguments##_##name##f
#define SHARDTYPE_MVEC_DOUBLE(arguments, name) _ZGVeN8##arguments##_##name
#elif defined(__AVX2__)
#define SHARDTYPE_MVEC_FLOAT(arguments, name) _ZGVdN8##arguments##_##name##f
#define SHARDTYPE_MVEC_DOUBLE(arguments, name) _ZGVdN4##arguments##_##name
#elif defined(__AVX__)
#define SHARDTYPE_MVEC_FLOAT(arguments, name) _ZGVcN8##arguments##_##name##f
#define SHARDTYPE_MVEC_DOUBLE(arguments, name) _ZGVcN4##arguments##_##name
#else
#define SHARDTYPE_MVEC_FLOAT(arguments, name) _ZGVbN4##arguments##_##name##f
#define SHARDTYPE_MVEC_DOUBLE(arguments, name) _ZGVbN2##arguments##_##name
#endif

#define SHARDTYPE_MVEC_OF(Tag, T, V, function) \
  template <>                                  \
  struct Library<Tag, T> {                     \
    static constexpr bool has = true;          \
    template <class... Vs>                     \
    static V call(Vs const&... x) {            \
      return function(x...);                   \
    }                                          \
  };
#define SHARDTYPE_UNARY(Tag, name)                                     \
  extern "C" Floats SHARDTYPE_MVEC_FLOAT(v, name)(Floats);             \
  extern "C" Doubles SHARDTYPE_MVEC_DOUBLE(v, name)(Doubles);          \
  SHARDTYPE_MVEC_OF(Tag, float, Floats, SHARDTYPE_MVEC_FLOAT(v, name)) \
  SHARDTYPE_MVEC_OF(Tag, double, Doubles, SHARDTYPE_MVEC_DOUBLE(v, name))
#define SHARDTYPE_BINARY(Tag, name)                                     \
  extern "C" Floats SHARDTYPE_MVEC_FLOAT(vv, name)(Floats, Floats);     \
  extern "C" Doubles SHARDTYPE_MVEC_DOUBLE(vv, name)(Doubles, Doubles); \
  SHARDTYPE_MVEC_OF(Tag, float, Floats, SHARDTYPE_MVEC_FLOAT(vv, name)) \
  SHARDTYPE_MVEC_OF(Tag, double, Doubles, SHARDTYPE_MVEC_DOUBLE(vv, name))

/// The library's own, which formulas::exp calls.
struct LibraryExp {};
SHARDTYPE_UNARY(LibraryExp, exp)
SHARDTYPE_UNARY(functions::Exp2, exp2)
SHARDTYPE_UNARY(functions::Expm1, expm1)
SHARDTYPE_UNARY(functions::Log, log)
SHARDTYPE_UNARY(functions::Log2, log2)
SHARDTYPE_UNARY(functions::Log10, log10)
SHARDTYPE_UNARY(functions::Log1p, log1p)
SHARDTYPE_UNARY(functions::Sin, sin)
SHARDTYPE_UNARY(functions::Cos, cos)
SHARDTYPE_UNARY(functions::Tan, tan)
SHARDTYPE_UNARY(functions::Asin, asin)
SHARDTYPE_UNARY(functions::Acos, acos)
SHARDTYPE_UNARY(functions::Atan, atan)
SHARDTYPE_UNARY(functions::Sinh, sinh)
SHARDTYPE_UNARY(functions::Cosh, cosh)
SHARDTYPE_UNARY(functions::Tanh, tanh)
SHARDTYPE_UNARY(functions::Cbrt, cbrt)
SHARDTYPE_UNARY(functions::Erfc, erfc)
SHARDTYPE_BINARY(functions::Atan2, atan2)
/// The library's power, of bases that are not negative.
struct LibraryPower {};
SHARDTYPE_BINARY(LibraryPower, pow)

extern "C" Doubles SHARDTYPE_MVEC_DOUBLE(v, erf)(Doubles);
SHARDTYPE_MVEC_OF(functions::Erf, double, Doubles, SHARDTYPE_MVEC_DOUBLE(v, erf))
#if defined(__AVX512F__)
// of 16 floats it is up to 4 units in the last place off; of 8 it is as fast, and more accurate
using HalfFloats = detail::half_vector_of<float>;
extern "C" HalfFloats _ZGVdN8v_erff(HalfFloats);
template <>
struct Library<functions::Erf, float> {
  static constexpr bool has = true;
  static Floats call(Floats const& x) {
    HalfFloats const low = _ZGVdN8v_erff(__builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7));
    HalfFloats const high =
        _ZGVdN8v_erff(__builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15));
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  }
};
#else
extern "C" Floats SHARDTYPE_MVEC_FLOAT(v, erf)(Floats);
SHARDTYPE_MVEC_OF(functions::Erf, float, Floats, SHARDTYPE_MVEC_FLOAT(v, erf))
#endif

#undef SHARDTYPE_MVEC_FLOAT
#undef SHARDTYPE_MVEC_DOUBLE
#undef SHARDTYPE_MVEC_OF
#undef SHARDTYPE_UNARY
#undef SHARDTYPE_BINARY

template <class T>
  requires(std::is_same_v<T, float> || std::is_same_v<T, double>)
struct Library<functions::Sqrt, T> {
  static constexpr bool has = true;
  template <class V>
  static V call(V const& x) {
    return detail::root(x);
  }
};
template <class T>
  requires(std::is_same_v<T, float> || std::is_same_v<T, double>)
struct Library<functions::Rsqrt, T> {
  static constexpr bool has = true;
  template <class V>
  static V call(V const& x) {
    return T(1) / detail::root(x);
  }
};

/// Whether an element of `x` is less than that of `y`.
inline bool any_less(Floats const& x, Floats const& y) {
#if defined(__AVX512F__)
  return __builtin_ia32_cmpps512_mask(x, y, 0x11, 0xffff, 4) != 0;
#elif defined(__AVX__)
  return __builtin_ia32_movmskps256(reinterpret_cast<Floats>(x < y)) != 0;
#else
  return __builtin_ia32_movmskps(reinterpret_cast<Floats>(x < y)) != 0;
#endif
}
inline bool any_less(Doubles const& x, Doubles const& y) {
#if defined(__AVX512F__)
  return __builtin_ia32_cmppd512_mask(x, y, 0x11, 0xff, 4) != 0;
#elif defined(__AVX__)
  return __builtin_ia32_movmskpd256(reinterpret_cast<Doubles>(x < y)) != 0;
#else
  return __builtin_ia32_movmskpd(reinterpret_cast<Doubles>(x < y)) != 0;
#endif
}

/// The library's functions of which others are composed.
struct Registers {
#define SHARDTYPE_REGISTERS(Tag, name)                  \
  template <class V>                                    \
  static void name(V& x) {                              \
    x = Library<Tag, formulas::element_of<V>>::call(x); \
  }
  SHARDTYPE_REGISTERS(LibraryExp, exp)
  SHARDTYPE_REGISTERS(functions::Expm1, expm1)
  SHARDTYPE_REGISTERS(functions::Log1p, log1p)
  SHARDTYPE_REGISTERS(functions::Erfc, erfc)
#undef SHARDTYPE_REGISTERS
  template <class V>
  static bool any_less(V const& x, V const& y) {
    return vectors::any_less(x, y);
  }
  template <class V>
  static void pow(V& x, V const& y) {
    x = Library<LibraryPower, formulas::element_of<V>>::call(x, y);
  }
};

#define SHARDTYPE_COMPOSED(Tag, name)                               \
  template <class T>                                                \
    requires(std::is_same_v<T, float> || std::is_same_v<T, double>) \
  struct Library<functions::Tag, T> {                               \
    static constexpr bool has = true;                               \
    template <class V, class... Vs>                                 \
    static V call(V x, Vs const&... more) {                         \
      formulas::name<Registers>(x, more...);                        \
      return x;                                                     \
    }                                                               \
  };
SHARDTYPE_FORMULAS_OF_ONE(SHARDTYPE_COMPOSED)
SHARDTYPE_FORMULAS_OF_TWO(SHARDTYPE_COMPOSED)
#undef SHARDTYPE_COMPOSED

#endif

}  // namespace shardtype::kernels::vectors
