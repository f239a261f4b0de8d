// The functions of one instruction set. src/vector_functions.cpp and its like for larger sets
// include it: a unit that is compiled for the set, because compilers pass a vector in a register
// only where the whole unit has it.
#include <cstdint>
#include <cstring>

#include <shardtype/kernels/vector_dispatch.hpp>

namespace shardtype::kernels::vectors::SHARDTYPE_SET {

// NOLINTBEGIN(modernize-use-using): the attribute needs it
typedef float Floats __attribute__((vector_size(SHARDTYPE_BYTES)));
typedef double Doubles __attribute__((vector_size(SHARDTYPE_BYTES)));
// NOLINTEND(modernize-use-using)

#define SHARDTYPE_DECLARE(Tag, name)                                 \
  extern "C" Floats SHARDTYPE_FLOAT(v, name)(Floats);                \
  extern "C" Doubles SHARDTYPE_DOUBLE(v, name)(Doubles);             \
  struct Tag {                                                       \
    static void of(Floats& x) { x = SHARDTYPE_FLOAT(v, name)(x); }   \
    static void of(Doubles& x) { x = SHARDTYPE_DOUBLE(v, name)(x); } \
  };
SHARDTYPE_VECTORS_OF_ONE(SHARDTYPE_DECLARE)
SHARDTYPE_DECLARE(LibraryExp, exp)
#undef SHARDTYPE_DECLARE
#define SHARDTYPE_DECLARE(Tag, name)                                                       \
  extern "C" Floats SHARDTYPE_FLOAT(vv, name)(Floats, Floats);                             \
  extern "C" Doubles SHARDTYPE_DOUBLE(vv, name)(Doubles, Doubles);                         \
  struct Tag {                                                                             \
    static void of(Floats& x, Floats const& y) { x = SHARDTYPE_FLOAT(vv, name)(x, y); }    \
    static void of(Doubles& x, Doubles const& y) { x = SHARDTYPE_DOUBLE(vv, name)(x, y); } \
  };
SHARDTYPE_VECTORS_OF_TWO(SHARDTYPE_DECLARE)
SHARDTYPE_DECLARE(LibraryPower, pow)
#undef SHARDTYPE_DECLARE

extern "C" Doubles SHARDTYPE_DOUBLE(v, erf)(Doubles);
#ifdef SHARDTYPE_HALVES_OF_ERF
// as in kernels/vector_library.hpp
typedef float Halves __attribute__((vector_size(SHARDTYPE_BYTES / 2)));  // NOLINT
extern "C" Halves _ZGVdN8v_erff(Halves);
struct Erf {
  static void of(Floats& x) {
    Halves half[2];
    std::memcpy(half, &x, sizeof(x));
    half[0] = _ZGVdN8v_erff(half[0]);
    half[1] = _ZGVdN8v_erff(half[1]);
    std::memcpy(&x, half, sizeof(x));
  }
#else
extern "C" Floats SHARDTYPE_FLOAT(v, erf)(Floats);
struct Erf {
  static void of(Floats& x) { x = SHARDTYPE_FLOAT(v, erf)(x); }
#endif
  static void of(Doubles& x) { x = SHARDTYPE_DOUBLE(v, erf)(x); }
};
struct Sqrt {
#ifdef __clang__
  static void of(Floats& x) { x = __builtin_elementwise_sqrt(x); }
  static void of(Doubles& x) { x = __builtin_elementwise_sqrt(x); }
#else
  static void of(Floats& x) { x = SHARDTYPE_FLOAT_ROOT(x); }
  static void of(Doubles& x) { x = SHARDTYPE_DOUBLE_ROOT(x); }
#endif
};
struct Rsqrt {
  template <class V>
  static void of(V& x) {
    Sqrt::of(x);
    x = 1 / x;
  }
};

inline bool less(Floats const& x, Floats const& y) { return SHARDTYPE_FLOATS_LESS(x, y) != 0; }
inline bool less(Doubles const& x, Doubles const& y) { return SHARDTYPE_DOUBLES_LESS(x, y) != 0; }

/// The library's functions of which others are composed.
struct Registers {
  template <class V>
  static void exp(V& x) {
    LibraryExp::of(x);
  }
  template <class V>
  static void expm1(V& x) {
    Expm1::of(x);
  }
  template <class V>
  static void log1p(V& x) {
    Log1p::of(x);
  }
  template <class V>
  static void erfc(V& x) {
    Erfc::of(x);
  }
  template <class V>
  static bool any_less(V const& x, V const& y) {
    return less(x, y);
  }
  template <class V>
  static void pow(V& x, V const& y) {
    LibraryPower::of(x, y);
  }
};
#define SHARDTYPE_COMPOSED(Tag, name) \
  struct Tag {                        \
    template <class V>                \
    static void of(V& x) {            \
      formulas::name<Registers>(x);   \
    }                                 \
  };
SHARDTYPE_FORMULAS_OF_ONE(SHARDTYPE_COMPOSED)
#undef SHARDTYPE_COMPOSED
#define SHARDTYPE_COMPOSED(Tag, name)  \
  struct Tag {                         \
    template <class V>                 \
    static void of(V& x, V const& y) { \
      formulas::name<Registers>(x, y); \
    }                                  \
  };
SHARDTYPE_FORMULAS_OF_TWO(SHARDTYPE_COMPOSED)
#undef SHARDTYPE_COMPOSED

/// y[k] = F(x[k]...); a vector at the end is filled up with a usual argument of every function.
template <class F, class V, class T>
void array(std::int64_t n, T* y, T const* x) {
  constexpr auto lanes = static_cast<std::int64_t>(sizeof(V) / sizeof(T));
  V a;
  std::int64_t k = 0;
  for (; k + lanes <= n; k += lanes) {
    std::memcpy(&a, x + k, sizeof(V));
    F::of(a);
    std::memcpy(y + k, &a, sizeof(V));
  }
  if (k == n) return;
  auto const rest = static_cast<std::size_t>(n - k) * sizeof(T);
  a = V{} + T(0.5);
  std::memcpy(&a, x + k, rest);
  F::of(a);
  std::memcpy(y + k, &a, rest);
}
template <class F, class V, class T>
void array_of_two(std::int64_t n, T* y, T const* x, T const* z) {
  constexpr auto lanes = static_cast<std::int64_t>(sizeof(V) / sizeof(T));
  V a;
  V b;
  std::int64_t k = 0;
  for (; k + lanes <= n; k += lanes) {
    std::memcpy(&a, x + k, sizeof(V));
    std::memcpy(&b, z + k, sizeof(V));
    F::of(a, b);
    std::memcpy(y + k, &a, sizeof(V));
  }
  if (k == n) return;
  auto const rest = static_cast<std::size_t>(n - k) * sizeof(T);
  a = V{} + T(0.5);
  b = V{} + T(0.5);
  std::memcpy(&a, x + k, rest);
  std::memcpy(&b, z + k, rest);
  F::of(a, b);
  std::memcpy(y + k, &a, rest);
}

template <class V, bool Each, class T>
void scaled_exponentials(std::int64_t n, T* y, T const* x, T const* base, T const* factor) {
  formulas::scaled_exponentials<Registers, V, Each>(n, y, x, base, factor);
}
template <class V, bool Each, class T>
void add_exponentials(std::int64_t n, T* sums, T const* x, T const* base) {
  formulas::add_exponentials<Registers, V, Each>(n, sums, x, base);
}

#define SHARDTYPE_ONE(Tag, name) &array<Tag, Vectors>,
#define SHARDTYPE_TWO(Tag, name) &array_of_two<Tag, Vectors>,
#define SHARDTYPE_ALL                                                               \
  {SHARDTYPE_VECTORS_OF_ONE(SHARDTYPE_ONE) & array<Erf, Vectors>,                   \
   &array<Sqrt, Vectors>,                                                           \
   &array<Rsqrt, Vectors>,                                                          \
   SHARDTYPE_FORMULAS_OF_ONE(SHARDTYPE_ONE) SHARDTYPE_VECTORS_OF_TWO(SHARDTYPE_TWO) \
           SHARDTYPE_FORMULAS_OF_TWO(SHARDTYPE_TWO) &                               \
       scaled_exponentials<Vectors, false>,                                         \
   &scaled_exponentials<Vectors, true>,                                             \
   &add_exponentials<Vectors, false>,                                               \
   &add_exponentials<Vectors, true>}
extern ArrayFunctions<float> const of_floats;
extern ArrayFunctions<double> const of_doubles;
#define Vectors Floats
constexpr ArrayFunctions<float> of_floats = SHARDTYPE_ALL;
#undef Vectors
#define Vectors Doubles
constexpr ArrayFunctions<double> of_doubles = SHARDTYPE_ALL;
#undef Vectors
#undef SHARDTYPE_ALL
#undef SHARDTYPE_ONE
#undef SHARDTYPE_TWO

}  // namespace shardtype::kernels::vectors::SHARDTYPE_SET
