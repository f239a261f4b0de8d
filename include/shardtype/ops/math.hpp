#pragma once
/// Mathematical functions of tensors, element by element: strict, fused, local. Linear functions
/// keep an unreduced sum unreduced (docs/rules.md); the others refuse it (P04).

#include <limits>
#include <type_traits>
#include <utility>

#include <shardtype/ops/elementwise.hpp>

namespace shardtype::api {

// Functions are overloaded for a variable, `Argument<A> const&`, and a temporary, `Argument<A>&&`
// (core/dim.hpp). A number may take the place of one of several tensors.
#define SHARDTYPE_OF_ONE(name, F)                             \
  template <class A>                                          \
  constexpr auto name(core::Argument<A> const& a) {           \
    return detail::fuse(functions::F{}, a.self());            \
  }                                                           \
  template <class A>                                          \
  constexpr auto name(core::Argument<A>&& a) {                \
    return detail::fuse(functions::F{}, std::move(a).self()); \
  }
#define SHARDTYPE_OF_TWO(name, F)                                                  \
  template <class A, detail::OperandType B>                                        \
  constexpr auto name(core::Argument<A> const& a, B&& b) {                         \
    return detail::fuse(functions::F{}, a.self(), static_cast<B&&>(b));            \
  }                                                                                \
  template <class A, detail::OperandType B>                                        \
  constexpr auto name(core::Argument<A>&& a, B&& b) {                              \
    return detail::fuse(functions::F{}, std::move(a).self(), static_cast<B&&>(b)); \
  }                                                                                \
  template <detail::NumberType A, class B>                                         \
  constexpr auto name(A const& a, core::Argument<B> const& b) {                    \
    return detail::fuse(functions::F{}, a, b.self());                              \
  }                                                                                \
  template <detail::NumberType A, class B>                                         \
  constexpr auto name(A const& a, core::Argument<B>&& b) {                         \
    return detail::fuse(functions::F{}, a, std::move(b).self());                   \
  }

SHARDTYPE_OF_ONE(sqrt, Sqrt)
/// 1 / sqrt(a). Refused: P12 of integers. As jax.lax.rsqrt.
SHARDTYPE_OF_ONE(rsqrt, Rsqrt)
SHARDTYPE_OF_ONE(exp, Exp)
/// 2^a. Refused: P12 of integers. As jnp.exp2.
SHARDTYPE_OF_ONE(exp2, Exp2)
SHARDTYPE_OF_ONE(expm1, Expm1)
SHARDTYPE_OF_ONE(log, Log)
SHARDTYPE_OF_ONE(log1p, Log1p)
/// Logarithms to base 2 and 10. Refused: P12 of integers. As jnp.log2, jnp.log10.
SHARDTYPE_OF_ONE(log2, Log2)
SHARDTYPE_OF_ONE(log10, Log10)
SHARDTYPE_OF_ONE(sin, Sin)
SHARDTYPE_OF_ONE(cos, Cos)
SHARDTYPE_OF_ONE(tan, Tan)
SHARDTYPE_OF_ONE(asin, Asin)
SHARDTYPE_OF_ONE(acos, Acos)
SHARDTYPE_OF_ONE(atan, Atan)
SHARDTYPE_OF_ONE(sinh, Sinh)
SHARDTYPE_OF_ONE(cosh, Cosh)
SHARDTYPE_OF_ONE(tanh, Tanh)
/// The cube root, of negative numbers too. Refused: P12 of integers, P04 of unreduced values, S04
/// of complex numbers. As jnp.cbrt.
SHARDTYPE_OF_ONE(cbrt, Cbrt)
SHARDTYPE_OF_ONE(erf, Erf)
/// 1 - erf(a), accurate where it is small. Refused as cbrt. As jax.lax.erfc.
SHARDTYPE_OF_ONE(erfc, Erfc)
/// The inverse of erf; infinite at -1 and 1, NaN beyond. Refused as cbrt. As jax.lax.erf_inv.
SHARDTYPE_OF_ONE(erfinv, ErfInv)
/// log |Gamma(a)|: infinite at 0 and negative integers. Refused as cbrt. As jax.lax.lgamma.
SHARDTYPE_OF_ONE(lgamma, LogGamma)
/// The derivative of lgamma; its own gradient is the last one (X03 beyond). NaN at negative
/// integers. Refused as cbrt. As jax.lax.digamma; at 0 infinite, as SciPy's.
SHARDTYPE_OF_ONE(digamma, Digamma)
/// max(a, 0), of integers too; NaN gives NaN. Refused: P04 of unreduced values, S04 of complex
/// numbers. As jax.nn.relu.
SHARDTYPE_OF_ONE(relu, Relu)
/// 1 / (1 + e^-a), without overflow and accurate for small results. Refused: P12 of integers, P04
/// of unreduced values, S04 of complex numbers. As jax.nn.sigmoid.
SHARDTYPE_OF_ONE(sigmoid, Sigmoid)
/// a sigmoid(a); 0 for -inf. Refused as sigmoid. As jax.nn.silu (swish).
SHARDTYPE_OF_ONE(silu, Silu)
/// log(1 + e^a), without overflow. Refused as sigmoid. As jax.nn.softplus.
SHARDTYPE_OF_ONE(softplus, Softplus)
/// a times the normal distribution function of a, computed by erfc, as
/// jax.nn.gelu(approximate=False); JAX's default is `gelu_tanh`. 0 for -inf. Refused as sigmoid.
SHARDTYPE_OF_ONE(gelu, Gelu)
/// gelu approximated by tanh: a (1 + tanh(sqrt(2/pi) (a + 0.044715 a^3))) / 2. As
/// jax.nn.gelu(approximate=True).
SHARDTYPE_OF_ONE(gelu_tanh, GeluTanh)
/// a, below 0 alpha (e^a - 1), accurate near 0; `alpha` is a number or a tensor. Refused as
/// sigmoid. As jax.nn.elu.
template <class A, detail::OperandType Alpha = double>
constexpr auto elu(core::Argument<A> const& a, Alpha&& alpha = 1.0) {
  return detail::fuse(functions::Elu{}, a.self(), static_cast<Alpha&&>(alpha));
}
template <class A, detail::OperandType Alpha = double>
constexpr auto elu(core::Argument<A>&& a, Alpha&& alpha = 1.0) {
  return detail::fuse(functions::Elu{}, std::move(a).self(), static_cast<Alpha&&>(alpha));
}
/// a, below 0 `slope` a; the slope is a number or a tensor, such as a parameter. Refused as
/// sigmoid. As jax.nn.leaky_relu.
template <class A, detail::OperandType Slope = double>
constexpr auto leaky_relu(core::Argument<A> const& a, Slope&& slope = 0.01) {
  return detail::fuse(functions::LeakyRelu{}, a.self(), static_cast<Slope&&>(slope));
}
template <class A, detail::OperandType Slope = double>
constexpr auto leaky_relu(core::Argument<A>&& a, Slope&& slope = 0.01) {
  return detail::fuse(functions::LeakyRelu{}, std::move(a).self(), static_cast<Slope&&>(slope));
}
SHARDTYPE_OF_ONE(floor, Floor)
SHARDTYPE_OF_ONE(ceil, Ceil)
/// The nearest integer; halves round to even.
SHARDTYPE_OF_ONE(round, Round)
/// The absolute value; real for complex numbers.
SHARDTYPE_OF_ONE(abs, Absolute)
/// -1, 0 or 1; NaN gives NaN.
SHARDTYPE_OF_ONE(sign, Sign)
SHARDTYPE_OF_ONE(square, Square)
/// The complex conjugate; linear.
SHARDTYPE_OF_ONE(conj, Conjugate)
/// The real part; linear.
SHARDTYPE_OF_ONE(real, Real)
/// The imaginary part; linear.
SHARDTYPE_OF_ONE(imag, Imaginary)
SHARDTYPE_OF_ONE(isnan, IsNan)
SHARDTYPE_OF_ONE(isfinite, IsFinite)
/// Whether an element is inf or -inf, as jnp.isinf; for a complex number, whether its real or
/// imaginary part is.
SHARDTYPE_OF_ONE(isinf, IsInf)
/// `nan` in place of NaN, `posinf` and `neginf` in place of infinities: by default 0 and the
/// largest finite numbers of either sign, as a number beyond the element type is. Integers stay; of
/// complex numbers both parts. Its gradient is 0 where a number is replaced. Refused: P04 of
/// unreduced values. As jnp.nan_to_num.
template <class A>
constexpr auto nan_to_num(core::Argument<A> const& a, double nan = 0,
                          double posinf = std::numeric_limits<double>::max(),
                          double neginf = std::numeric_limits<double>::lowest()) {
  return detail::fuse(functions::NanToNum{{}, nan, posinf, neginf}, a.self());
}
template <class A>
constexpr auto nan_to_num(core::Argument<A>&& a, double nan = 0,
                          double posinf = std::numeric_limits<double>::max(),
                          double neginf = std::numeric_limits<double>::lowest()) {
  return detail::fuse(functions::NanToNum{{}, nan, posinf, neginf}, std::move(a).self());
}
/// Whether elements are close: |a - b| <= atol + rtol |b|, in double. Equal elements, including
/// infinities, always are; NaNs only with `equal_nan`. Refused: P04 of unreduced values. As
/// jnp.isclose; `allclose` gives one bool for the whole tensor.
template <class A, detail::OperandType B>
constexpr auto isclose(core::Argument<A> const& a, B&& b, double rtol = 1e-5, double atol = 1e-8,
                       bool equal_nan = false) {
  return detail::fuse(functions::Close{{}, rtol, atol, equal_nan}, a.self(), static_cast<B&&>(b));
}
template <class A, detail::OperandType B>
constexpr auto isclose(core::Argument<A>&& a, B&& b, double rtol = 1e-5, double atol = 1e-8,
                       bool equal_nan = false) {
  return detail::fuse(functions::Close{{}, rtol, atol, equal_nan}, std::move(a).self(),
                      static_cast<B&&>(b));
}
template <detail::NumberType A, class B>
constexpr auto isclose(A const& a, core::Argument<B> const& b, double rtol = 1e-5,
                       double atol = 1e-8, bool equal_nan = false) {
  return detail::fuse(functions::Close{{}, rtol, atol, equal_nan}, a, b.self());
}
template <detail::NumberType A, class B>
constexpr auto isclose(A const& a, core::Argument<B>&& b, double rtol = 1e-5, double atol = 1e-8,
                       bool equal_nan = false) {
  return detail::fuse(functions::Close{{}, rtol, atol, equal_nan}, a, std::move(b).self());
}
/// The larger element; a NaN if one is. Keeps an unreduced maximum unreduced.
SHARDTYPE_OF_TWO(max, Maximum)
/// The smaller element; a NaN if one is. Keeps an unreduced minimum unreduced.
SHARDTYPE_OF_TWO(min, Minimum)
SHARDTYPE_OF_TWO(pow, Power)
SHARDTYPE_OF_TWO(atan2, Atan2)
/// log(e^a + e^b), without overflow; element types as jnp.logaddexp. Refused: P12 of integers, P04
/// of unreduced values.
SHARDTYPE_OF_TWO(logaddexp, LogAddExp)
/// sqrt(a^2 + b^2), without overflow; infinite if one is, also beside NaN. Its gradient at two
/// zeros is 0. Refused: P12 of integers, P04 of unreduced values, S04 of complex numbers. As
/// jnp.hypot.
SHARDTYPE_OF_TWO(hypot, Hypot)
/// The largest integer that is at most a / b: `a == floor_divide(a, b) * b + a % b`. `a / b` of
/// integers rounds towards zero instead. An integer by zero gives 0. Refused: P04 of unreduced
/// values, S04 of complex numbers. As jnp.floor_divide.
SHARDTYPE_OF_TWO(floor_divide, FloorDivide)
/// min(max(a, low), high); the bounds are numbers or tensors. NaN if any of the three is NaN.
/// Refused: P10 a bound that the element type cannot represent, P04 of unreduced values, S04 of
/// complex numbers. As jnp.clip.
template <class A, detail::OperandType Low, detail::OperandType High>
constexpr auto clip(core::Argument<A> const& a, Low&& low, High&& high) {
  return detail::fuse(functions::Clip{}, a.self(), static_cast<Low&&>(low),
                      static_cast<High&&>(high));
}
template <class A, detail::OperandType Low, detail::OperandType High>
constexpr auto clip(core::Argument<A>&& a, Low&& low, High&& high) {
  return detail::fuse(functions::Clip{}, std::move(a).self(), static_cast<Low&&>(low),
                      static_cast<High&&>(high));
}
template <detail::NumberType A, class Low, detail::OperandType High>
constexpr auto clip(A const& a, core::Argument<Low> const& low, High&& high) {
  return detail::fuse(functions::Clip{}, a, low.self(), static_cast<High&&>(high));
}
template <detail::NumberType A, class Low, detail::OperandType High>
constexpr auto clip(A const& a, core::Argument<Low>&& low, High&& high) {
  return detail::fuse(functions::Clip{}, a, std::move(low).self(), static_cast<High&&>(high));
}
template <detail::NumberType A, detail::NumberType Low, class High>
constexpr auto clip(A const& a, Low const& low, core::Argument<High> const& high) {
  return detail::fuse(functions::Clip{}, a, low, high.self());
}
template <detail::NumberType A, detail::NumberType Low, class High>
constexpr auto clip(A const& a, Low const& low, core::Argument<High>&& high) {
  return detail::fuse(functions::Clip{}, a, low, std::move(high).self());
}
/// `a` where the bool tensor `p` is true, else `b`; `p` may be a C++ bool as well. The result is an
/// unreduced sum if both values are, or if one is and the other is `zero`.
template <class P, detail::OperandType A, detail::OperandType B>
constexpr auto where(core::Argument<P> const& p, A&& a, B&& b) {
  return detail::fuse(functions::Where{}, p.self(), static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class P, detail::OperandType A, detail::OperandType B>
constexpr auto where(core::Argument<P>&& p, A&& a, B&& b) {
  return detail::fuse(functions::Where{}, std::move(p).self(), static_cast<A&&>(a),
                      static_cast<B&&>(b));
}
template <detail::NumberType P, class A, detail::OperandType B>
constexpr auto where(P const& p, core::Argument<A> const& a, B&& b) {
  return detail::fuse(functions::Where{}, p, a.self(), static_cast<B&&>(b));
}
template <detail::NumberType P, class A, detail::OperandType B>
constexpr auto where(P const& p, core::Argument<A>&& a, B&& b) {
  return detail::fuse(functions::Where{}, p, std::move(a).self(), static_cast<B&&>(b));
}
template <detail::NumberType P, detail::NumberType A, class B>
constexpr auto where(P const& p, A const& a, core::Argument<B> const& b) {
  return detail::fuse(functions::Where{}, p, a, b.self());
}
template <detail::NumberType P, detail::NumberType A, class B>
constexpr auto where(P const& p, A const& a, core::Argument<B>&& b) {
  return detail::fuse(functions::Where{}, p, a, std::move(b).self());
}
/// The elements converted to `T`. Additive casts (among floating and complex types, to signed
/// integers at least as wide) keep an unreduced sum unreduced.
template <class T, class A>
constexpr auto cast(core::Argument<A> const& a) {
  return detail::fuse(functions::Cast<T>{}, a.self());
}
template <class T, class A>
constexpr auto cast(core::Argument<A>&& a) {
  return detail::fuse(functions::Cast<T>{}, std::move(a).self());
}

#undef SHARDTYPE_OF_ONE
#undef SHARDTYPE_OF_TWO

}  // namespace shardtype::api
