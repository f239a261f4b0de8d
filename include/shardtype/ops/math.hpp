#pragma once
/// Mathematical functions of tensors, element by element: strict, fused, local. Linear functions
/// keep an unreduced sum unreduced (docs/rules.md); the others refuse it (P04).

#include <utility>

#include <shardtype/ops/elementwise.hpp>

namespace shardtype {

template <class A>
  requires(detail::are_operands<A>)
constexpr auto sqrt(A&& a) {
  return detail::fuse(functions::Sqrt{}, std::forward<A>(a));
}
/// 1 / sqrt(a). Refused: P12 of integers. As jax.lax.rsqrt.
template <class A>
  requires(detail::are_operands<A>)
constexpr auto rsqrt(A&& a) {
  return detail::fuse(functions::Rsqrt{}, std::forward<A>(a));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto exp(A&& a) {
  return detail::fuse(functions::Exp{}, std::forward<A>(a));
}
/// 2^a. Refused: P12 of integers. As jnp.exp2.
template <class A>
  requires(detail::are_operands<A>)
constexpr auto exp2(A&& a) {
  return detail::fuse(functions::Exp2{}, std::forward<A>(a));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto expm1(A&& a) {
  return detail::fuse(functions::Expm1{}, std::forward<A>(a));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto log(A&& a) {
  return detail::fuse(functions::Log{}, std::forward<A>(a));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto log1p(A&& a) {
  return detail::fuse(functions::Log1p{}, std::forward<A>(a));
}
/// Logarithms to base 2 and 10. Refused: P12 of integers. As jnp.log2, jnp.log10.
template <class A>
  requires(detail::are_operands<A>)
constexpr auto log2(A&& a) {
  return detail::fuse(functions::Log2{}, std::forward<A>(a));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto log10(A&& a) {
  return detail::fuse(functions::Log10{}, std::forward<A>(a));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto sin(A&& a) {
  return detail::fuse(functions::Sin{}, std::forward<A>(a));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto cos(A&& a) {
  return detail::fuse(functions::Cos{}, std::forward<A>(a));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto tan(A&& a) {
  return detail::fuse(functions::Tan{}, std::forward<A>(a));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto asin(A&& a) {
  return detail::fuse(functions::Asin{}, std::forward<A>(a));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto acos(A&& a) {
  return detail::fuse(functions::Acos{}, std::forward<A>(a));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto atan(A&& a) {
  return detail::fuse(functions::Atan{}, std::forward<A>(a));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto sinh(A&& a) {
  return detail::fuse(functions::Sinh{}, std::forward<A>(a));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto cosh(A&& a) {
  return detail::fuse(functions::Cosh{}, std::forward<A>(a));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto tanh(A&& a) {
  return detail::fuse(functions::Tanh{}, std::forward<A>(a));
}
/// The cube root, of negative numbers too. Refused: P12 of integers, P04 of unreduced values, S04 of
/// complex numbers. As jnp.cbrt.
template <class A>
  requires(detail::are_operands<A>)
constexpr auto cbrt(A&& a) {
  return detail::fuse(functions::Cbrt{}, std::forward<A>(a));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto erf(A&& a) {
  return detail::fuse(functions::Erf{}, std::forward<A>(a));
}
/// 1 - erf(a), accurate where it is small. Refused as cbrt. As jax.lax.erfc.
template <class A>
  requires(detail::are_operands<A>)
constexpr auto erfc(A&& a) {
  return detail::fuse(functions::Erfc{}, std::forward<A>(a));
}
/// max(a, 0), of integers too; NaN gives NaN. Refused: P04 of unreduced values, S04 of complex
/// numbers. As jax.nn.relu.
template <class A>
  requires(detail::are_operands<A>)
constexpr auto relu(A&& a) {
  return detail::fuse(functions::Relu{}, std::forward<A>(a));
}
/// 1 / (1 + e^-a), without overflow and accurate for small results. Refused: P12 of integers, P04
/// of unreduced values, S04 of complex numbers. As jax.nn.sigmoid.
template <class A>
  requires(detail::are_operands<A>)
constexpr auto sigmoid(A&& a) {
  return detail::fuse(functions::Sigmoid{}, std::forward<A>(a));
}
/// a sigmoid(a); 0 for -inf. Refused as sigmoid. As jax.nn.silu (swish).
template <class A>
  requires(detail::are_operands<A>)
constexpr auto silu(A&& a) {
  return detail::fuse(functions::Silu{}, std::forward<A>(a));
}
/// log(1 + e^a), without overflow. Refused as sigmoid. As jax.nn.softplus.
template <class A>
  requires(detail::are_operands<A>)
constexpr auto softplus(A&& a) {
  return detail::fuse(functions::Softplus{}, std::forward<A>(a));
}
/// a times the normal distribution function of a, computed by erfc; 0 for -inf. Refused as sigmoid.
/// As jax.nn.gelu(approximate=False); JAX's default is `gelu_tanh`.
template <class A>
  requires(detail::are_operands<A>)
constexpr auto gelu(A&& a) {
  return detail::fuse(functions::Gelu{}, std::forward<A>(a));
}
/// gelu approximated by tanh: a (1 + tanh(sqrt(2/pi) (a + 0.044715 a^3))) / 2. As
/// jax.nn.gelu(approximate=True).
template <class A>
  requires(detail::are_operands<A>)
constexpr auto gelu_tanh(A&& a) {
  return detail::fuse(functions::GeluTanh{}, std::forward<A>(a));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto floor(A&& a) {
  return detail::fuse(functions::Floor{}, std::forward<A>(a));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto ceil(A&& a) {
  return detail::fuse(functions::Ceil{}, std::forward<A>(a));
}
/// The nearest integer; halves round to even.
template <class A>
  requires(detail::are_operands<A>)
constexpr auto round(A&& a) {
  return detail::fuse(functions::Round{}, std::forward<A>(a));
}
/// The absolute value; real for complex numbers.
template <class A>
  requires(detail::are_operands<A>)
constexpr auto abs(A&& a) {
  return detail::fuse(functions::Absolute{}, std::forward<A>(a));
}
/// -1, 0 or 1; NaN gives NaN.
template <class A>
  requires(detail::are_operands<A>)
constexpr auto sign(A&& a) {
  return detail::fuse(functions::Sign{}, std::forward<A>(a));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto square(A&& a) {
  return detail::fuse(functions::Square{}, std::forward<A>(a));
}
/// The complex conjugate; linear.
template <class A>
  requires(detail::are_operands<A>)
constexpr auto conj(A&& a) {
  return detail::fuse(functions::Conjugate{}, std::forward<A>(a));
}
/// The real part; linear.
template <class A>
  requires(detail::are_operands<A>)
constexpr auto real(A&& a) {
  return detail::fuse(functions::Real{}, std::forward<A>(a));
}
/// The imaginary part; linear.
template <class A>
  requires(detail::are_operands<A>)
constexpr auto imag(A&& a) {
  return detail::fuse(functions::Imaginary{}, std::forward<A>(a));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto isnan(A&& a) {
  return detail::fuse(functions::IsNan{}, std::forward<A>(a));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto isfinite(A&& a) {
  return detail::fuse(functions::IsFinite{}, std::forward<A>(a));
}
/// Whether an element is inf or -inf; for a complex number, whether its real or imaginary part is.
/// As jnp.isinf.
template <class A>
  requires(detail::are_operands<A>)
constexpr auto isinf(A&& a) {
  return detail::fuse(functions::IsInf{}, std::forward<A>(a));
}
/// Whether elements are close: |a - b| <= atol + rtol |b|, in double. Equal elements, including
/// infinities, always are; NaNs only with `equal_nan`. Refused: P04 of unreduced values. As
/// jnp.isclose; `allclose` gives one bool for the whole tensor.
template <class A, class B>
  requires(detail::are_operands<A, B>)
constexpr auto isclose(A&& a, B&& b, double rtol = 1e-5, double atol = 1e-8,
                       bool equal_nan = false) {
  return detail::fuse(functions::Close{{}, rtol, atol, equal_nan}, std::forward<A>(a),
                      std::forward<B>(b));
}
/// The larger element; a NaN if one is. Keeps an unreduced maximum unreduced.
template <class A, class B>
  requires(detail::are_operands<A, B>)
constexpr auto max(A&& a, B&& b) {
  return detail::fuse(functions::Maximum{}, std::forward<A>(a), std::forward<B>(b));
}
/// The smaller element; a NaN if one is. Keeps an unreduced minimum unreduced.
template <class A, class B>
  requires(detail::are_operands<A, B>)
constexpr auto min(A&& a, B&& b) {
  return detail::fuse(functions::Minimum{}, std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires(detail::are_operands<A, B>)
constexpr auto pow(A&& a, B&& b) {
  return detail::fuse(functions::Power{}, std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires(detail::are_operands<A, B>)
constexpr auto atan2(A&& a, B&& b) {
  return detail::fuse(functions::Atan2{}, std::forward<A>(a), std::forward<B>(b));
}
/// log(e^a + e^b), without overflow; element types as jnp.logaddexp. Refused: P12 of integers, P04
/// of unreduced values.
template <class A, class B>
  requires(detail::are_operands<A, B>)
constexpr auto logaddexp(A&& a, B&& b) {
  return detail::fuse(functions::LogAddExp{}, std::forward<A>(a), std::forward<B>(b));
}
/// The largest integer that is at most a / b: `a == floor_divide(a, b) * b + a % b`. `a / b` of
/// integers rounds towards zero instead. An integer by zero gives 0. Refused: P04 of unreduced
/// values, S04 of complex numbers. As jnp.floor_divide.
template <class A, class B>
  requires(detail::are_operands<A, B>)
constexpr auto floor_divide(A&& a, B&& b) {
  return detail::fuse(functions::FloorDivide{}, std::forward<A>(a), std::forward<B>(b));
}
/// min(max(a, low), high); the bounds are numbers or tensors. NaN if any of the three is NaN.
/// Refused: P10 a bound that the element type cannot represent, P04 of unreduced values, S04 of
/// complex numbers. As jnp.clip.
template <class A, class Low, class High>
  requires(detail::are_operands<A, Low, High>)
constexpr auto clip(A&& a, Low&& low, High&& high) {
  return detail::fuse(functions::Clip{}, std::forward<A>(a), std::forward<Low>(low),
                      std::forward<High>(high));
}
/// `a` where the bool tensor `p` is true, else `b`; `p` may be a C++ bool as well. The result is an
/// unreduced sum if both values are, or if one is and the other is `zero`.
template <class P, class A, class B>
  requires(detail::are_operands<P, A, B>)
constexpr auto where(P&& p, A&& a, B&& b) {
  return detail::fuse(functions::Where{}, std::forward<P>(p), std::forward<A>(a),
                      std::forward<B>(b));
}
/// The elements converted to `T`. Additive casts (among floating and complex types, to signed
/// integers at least as wide) keep an unreduced sum unreduced.
template <class T, class A>
  requires(detail::are_operands<A>)
constexpr auto cast(A&& a) {
  return detail::fuse(functions::Cast<T>{}, std::forward<A>(a));
}

}  // namespace shardtype
