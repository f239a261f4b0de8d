#pragma once
/// Functions of vector registers that are composed of a library's functions. They are inlined, so
/// that each is compiled for the instruction set of its caller.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <shardtype/kernels/rounded.hpp>

/// Calls `Each(Tag, name)` for the functions of one argument that are composed of others, and of
/// two.
#define SHARDTYPE_FORMULAS_OF_ONE(Each)                                                            \
  Each(Exp, exp) Each(Sigmoid, sigmoid) Each(Silu, silu) Each(Softplus, softplus) Each(Gelu, gelu) \
      Each(GeluTanh, gelu_tanh)
#define SHARDTYPE_FORMULAS_OF_TWO(Each) \
  Each(LogAddExp, log_add_exp) Each(Power, power) Each(Elu, elu)

namespace shardtype::kernels::vectors::formulas {

/// `V` is a vector; `L` has a library's functions, each of which replaces its argument by the
/// result. So do these, of their first one. `L::any_less(x, y)`: whether an element of x is less
/// than that of y.
#define SHARDTYPE_FORMULA     \
  template <class L, class V> \
  [[gnu::always_inline]] inline

template <class V>
using element_of = std::remove_cvref_t<decltype(V{}[0])>;

/// -|x|.
template <class V>
[[gnu::always_inline]] inline void minus_magnitude(V& x) {
  using Bits = decltype(x < x);
  x = reinterpret_cast<V>(reinterpret_cast<Bits>(x) | reinterpret_cast<Bits>(-V{}));
}
/// a times a weight from 0 to 1; 0 if the weight is 0, also for -infinity.
template <class V>
[[gnu::always_inline]] inline void weigh(V& a, V const& weight) {
  a = weight == V{} ? V{} : a * weight;
}

/// e^x. The library's is slow for a vector in which one result is below the least normal number.
/// Such arguments are moved by a constant, which is exact; those below the least number, as masked
/// ones are, give 0.
SHARDTYPE_FORMULA void exp(V& x) {
  using T = element_of<V>;
  constexpr bool is_float = sizeof(T) == 4;
  V const normal = V{} + (is_float ? T(-87) : T(-708));
  if (!L::any_less(x, normal)) [[likely]] {
    L::exp(x);
    return;
  }
  V const least = V{} + (is_float ? T(-104) : T(-745.5));
  constexpr T distance = is_float ? T(32) : T(64);
  constexpr T of_distance = is_float ? T(1.2664165549094176e-14) : T(1.603810890548638e-28);
  V const one = V{} + T(1);
  V const factor = x < least ? V{} : (x < normal ? V{} + of_distance : one);
  x = x < least ? V{} : (x < normal ? x + distance : x);
  L::exp(x);
  x = x * factor;
  kernels::rounded(x);
}

/// 1 / (1 + e^-x), from e^-|x|, so that nothing overflows and small results are accurate.
SHARDTYPE_FORMULA void sigmoid(V& x) {
  V const one = V{} + element_of<V>(1);
  V e = x;
  formulas::minus_magnitude(e);
  formulas::exp<L>(e);
  x = (x < V{} ? e : one) / (one + e);
}
SHARDTYPE_FORMULA void silu(V& x) {
  V weight = x;
  formulas::sigmoid<L>(weight);
  formulas::weigh(x, weight);
}
/// log(1 + e^x).
SHARDTYPE_FORMULA void softplus(V& x) {
  V e = x;
  formulas::minus_magnitude(e);
  formulas::exp<L>(e);
  L::log1p(e);
  x = (x > V{} ? x : V{}) + e;
}
SHARDTYPE_FORMULA void gelu(V& x) {
  using T = element_of<V>;
  V weight = x * T(-0.7071067811865476);
  L::erfc(weight);
  weight = T(0.5) * weight;
  formulas::weigh(x, weight);
}
/// (1 + tanh(u)) / 2 is the sigmoid of 2 u, which is accurate where tanh is near -1.
SHARDTYPE_FORMULA void gelu_tanh(V& x) {
  using T = element_of<V>;
  V cube = T(0.044715) * x * x * x;
  kernels::rounded(cube);
  V weight = T(1.5957691216057308) * (x + cube);
  formulas::sigmoid<L>(weight);
  formulas::weigh(x, weight);
}
/// log(e^x + e^y) without overflow. Equal infinities are handled separately, because their
/// difference would be NaN.
SHARDTYPE_FORMULA void log_add_exp(V& x, V const& y) {
  V apart = x - y;
  formulas::minus_magnitude(apart);
  V e = x == y ? V{} : apart;
  formulas::exp<L>(e);
  L::log1p(e);
  x = (x > y ? x : y) + e;
}
/// x, below 0 alpha (e^x - 1).
SHARDTYPE_FORMULA void elu(V& x, V const& alpha) {
  V below = x > V{} ? V{} : x;
  L::expm1(below);
  x = x > V{} ? x : alpha * below;
}
/// x^y, by the power of |x|, because the library computes powers of negative numbers one by one.
SHARDTYPE_FORMULA void power(V& x, V const& y) {
  using T = element_of<V>;
  using Bits = decltype(x < x);
  constexpr T whole = T(1) / std::numeric_limits<T>::epsilon();  // from here on all are integers
  Bits const sign = reinterpret_cast<Bits>(-V{});
  V const exponent = reinterpret_cast<V>(reinterpret_cast<Bits>(y) & ~sign);
  V const half = T(0.5) * exponent;
  Bits const integer = (exponent >= whole) | ((exponent + whole) - whole == exponent);
  Bits const odd = integer & (exponent < 2 * whole) & ((half + whole) - whole != half);
  // infinity has powers of all exponents
  Bits const none = (x < V{}) & (x >= std::numeric_limits<T>::lowest()) & ~integer;
  Bits const flip = reinterpret_cast<Bits>(x) & sign & odd;
  x = reinterpret_cast<V>(reinterpret_cast<Bits>(x) & ~sign);
  L::pow(x, y);
  x = reinterpret_cast<V>((reinterpret_cast<Bits>(x) ^ flip) | none);  // all bits are set: a NaN
}
#undef SHARDTYPE_FORMULA

/// The first bytes of a vector; the others are those of a usual argument.
template <class V>
[[gnu::always_inline]] inline void load_some(V& v, void const* from, std::size_t bytes) {
  v = V{} + element_of<V>(0.5);
  std::memcpy(&v, from, bytes);
}

/// y[k] = e^(x[k] - base) factor for `n` elements; `Each`: with their own `base[k]` and
/// `factor[k]`, else with the first ones. A vector at the end is filled up. `y` may be `x`.
template <class L, class V, bool Each, class T>
[[gnu::always_inline]] inline void scaled_exponentials(std::int64_t n, T* y, T const* x,
                                                       T const* base, T const* factor) {
  constexpr auto lanes = static_cast<std::int64_t>(sizeof(V) / sizeof(T));
  if (n <= 0) return;
  V const first_base = V{} + *base;
  V const first_factor = V{} + *factor;
  std::int64_t k = 0;
  for (; k + lanes <= n; k += lanes) {
    V a;
    std::memcpy(&a, x + k, sizeof(V));
    V b = first_base;
    if constexpr (Each) std::memcpy(&b, base + k, sizeof(V));
    a = a - b;
    formulas::exp<L>(a);
    V f = first_factor;
    if constexpr (Each) std::memcpy(&f, factor + k, sizeof(V));
    a = a * f;
    std::memcpy(y + k, &a, sizeof(V));
  }
  if (k == n) return;
  auto const rest = static_cast<std::size_t>(n - k) * sizeof(T);
  V a;
  V b = first_base;
  V f = first_factor;
  formulas::load_some(a, x + k, rest);
  if constexpr (Each) formulas::load_some(b, base + k, rest);
  if constexpr (Each) formulas::load_some(f, factor + k, rest);
  V last = a - b;
  formulas::exp<L>(last);
  last = last * f;
  std::memcpy(y + k, &last, rest);
}

/// Sums of exponentials that `add_exponentials` keeps of elements of one base.
inline constexpr std::int64_t sums_of_one = 64;

/// Adds e^(x[k] - base) to sums[k % sums_of_one] for `n` elements; `Each`: e^(x[k] - base[k]) to
/// sums[k].
template <class L, class V, bool Each, class T>
[[gnu::always_inline]] inline void add_exponentials(std::int64_t n, T* sums, T const* x,
                                                    T const* base) {
  constexpr auto lanes = static_cast<std::int64_t>(sizeof(V) / sizeof(T));
  if (n <= 0) return;
  V const first_base = V{} + *base;
  std::int64_t k = 0;
  for (; k + lanes <= n; k += lanes) {
    V a;
    std::memcpy(&a, x + k, sizeof(V));
    V b = first_base;
    if constexpr (Each) std::memcpy(&b, base + k, sizeof(V));
    a = a - b;
    formulas::exp<L>(a);
    T* const sum = sums + (Each ? k : k % sums_of_one);
    V s;
    std::memcpy(&s, sum, sizeof(V));
    s = s + a;
    std::memcpy(sum, &s, sizeof(V));
  }
  if (k == n) return;
  auto const rest = static_cast<std::size_t>(n - k) * sizeof(T);
  V a;
  V b = first_base;
  V s;
  formulas::load_some(a, x + k, rest);
  if constexpr (Each) formulas::load_some(b, base + k, rest);
  V last = a - b;
  formulas::exp<L>(last);
  T* const sum = sums + (Each ? k : k % sums_of_one);
  formulas::load_some(s, sum, rest);
  last = s + last;
  std::memcpy(sum, &last, rest);
}

}  // namespace shardtype::kernels::vectors::formulas
