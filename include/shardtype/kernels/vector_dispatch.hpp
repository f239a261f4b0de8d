#pragma once
/// The elementary functions of arrays in the compiled part (src/vector_functions*.cpp), for each
/// instruction set. All units of a program that uses it call these, so that a value does not depend
/// on the flags of a unit.

#include <cstdint>

#include <shardtype/check/functions.hpp>
#include <shardtype/kernels/vector_formulas.hpp>
#include <shardtype/runtime/instructions.hpp>

/// Calls `Each(Tag, name)` for the C library's functions of one argument, and of two.
#define SHARDTYPE_VECTORS_OF_ONE(Each)                                                         \
  Each(Exp2, exp2) Each(Expm1, expm1) Each(Log, log) Each(Log2, log2) Each(Log10, log10)       \
      Each(Log1p, log1p) Each(Sin, sin) Each(Cos, cos) Each(Tan, tan) Each(Asin, asin)         \
          Each(Acos, acos) Each(Atan, atan) Each(Sinh, sinh) Each(Cosh, cosh) Each(Tanh, tanh) \
              Each(Cbrt, cbrt) Each(Erfc, erfc)
#define SHARDTYPE_VECTORS_OF_TWO(Each) Each(Atan2, atan2)

namespace shardtype::kernels::vectors {

/// Functions of arrays of `T`, by name.
template <class T>
struct ArrayFunctions {
  using One = void (*)(std::int64_t n, T* y, T const* x);
  using Two = void (*)(std::int64_t n, T* y, T const* a, T const* b);
#define SHARDTYPE_MEMBER(Tag, name) One name;
  SHARDTYPE_VECTORS_OF_ONE(SHARDTYPE_MEMBER)
#undef SHARDTYPE_MEMBER
  One erf, sqrt, rsqrt;
#define SHARDTYPE_MEMBER(Tag, name) One name;
  SHARDTYPE_FORMULAS_OF_ONE(SHARDTYPE_MEMBER)
#undef SHARDTYPE_MEMBER
#define SHARDTYPE_MEMBER(Tag, name) Two name;
  SHARDTYPE_VECTORS_OF_TWO(SHARDTYPE_MEMBER)
  SHARDTYPE_FORMULAS_OF_TWO(SHARDTYPE_MEMBER)
#undef SHARDTYPE_MEMBER
  // as scaled_exponentials and add_exponentials of kernels/vector_functions.hpp
  using Scaled = void (*)(std::int64_t n, T* y, T const* x, T const* base, T const* factor);
  Scaled scaled_exp, scaled_exp_each;
  Two add_exp, add_exp_each;
};

/// The functions compiled for an instruction set.
template <class T>
ArrayFunctions<T> const& array_functions(runtime::Instructions set);
template <>
ArrayFunctions<float> const& array_functions<float>(runtime::Instructions set);
template <>
ArrayFunctions<double> const& array_functions<double>(runtime::Instructions set);

/// The member of `ArrayFunctions` that is `F`.
template <class F>
struct MemberOf;
#define SHARDTYPE_MEMBER(Tag, name)                \
  template <>                                      \
  struct MemberOf<functions::Tag> {                \
    template <class T>                             \
    static auto of(ArrayFunctions<T> const& all) { \
      return all.name;                             \
    }                                              \
  };
SHARDTYPE_VECTORS_OF_ONE(SHARDTYPE_MEMBER)
SHARDTYPE_VECTORS_OF_TWO(SHARDTYPE_MEMBER)
SHARDTYPE_FORMULAS_OF_ONE(SHARDTYPE_MEMBER)
SHARDTYPE_FORMULAS_OF_TWO(SHARDTYPE_MEMBER)
SHARDTYPE_MEMBER(Erf, erf)
SHARDTYPE_MEMBER(Sqrt, sqrt)
SHARDTYPE_MEMBER(Rsqrt, rsqrt)
#undef SHARDTYPE_MEMBER

}  // namespace shardtype::kernels::vectors
