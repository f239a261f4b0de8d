#pragma once
/// The derivatives of the library's elementwise functions.

#include <numbers>

#include <shardtype/autodiff/derivative.hpp>

namespace shardtype::autodiff {

/// Whether a value has complex elements; shardings do not say.
template <class A>
inline constexpr bool is_complex_term = false;
template <class A>
  requires requires { typename A::element; }
inline constexpr bool is_complex_term<A> = shardtype::detail::is_complex<typename A::element>;

/// sqrt(1 - a^2). Of complex numbers the sign of a zero chooses the side of the cut, which 1 - a
/// loses, and squares overflow.
template <class A>
KOKKOS_FUNCTION constexpr auto root_of_one_minus_square(A const& a) {
  if constexpr (is_complex_term<A>) {
    return autodiff::on(functions::Sqrt{}, -(a - 1)) * autodiff::on(functions::Sqrt{}, a - -1);
  } else {
    return autodiff::on(functions::Sqrt{}, 1 - a * a);
  }
}
/// ct / (1 + a^2).
template <class C, class A>
KOKKOS_FUNCTION constexpr auto over_one_plus_square(C const& ct, A const& a) {
  if constexpr (is_complex_term<A>) {
    return ct / (a - typename A::element(0, 1)) / (a - typename A::element(0, -1));
  } else {
    return ct / (a * a + 1);
  }
}
/// ct a / b^2.
template <class C, class A, class B>
KOKKOS_FUNCTION constexpr auto over_square(C const& ct, A const& a, B const& b) {
  if constexpr (is_complex_term<B>) {
    return ct * (a / b) / b;
  } else {
    return ct * a / (b * b);
  }
}

// A row: a function, what the derivative reads, and the cotangent of the argument `a`, by that of
// the result, `ct`, and the result `y`. Of two arguments the same again for `b`.
#define SHARDTYPE_DERIVATIVE(F, uses_for_a, ...)                                         \
  template <>                                                                            \
  struct Derivative<functions::F> : Using<uses_for_a> {                                  \
    template <int, class C, class Y, class A>                                            \
    KOKKOS_FUNCTION static constexpr auto pull(C const& ct, [[maybe_unused]] Y const& y, \
                                               [[maybe_unused]] A const& a) {            \
      return __VA_ARGS__;                                                                \
    }                                                                                    \
  };
#define SHARDTYPE_DERIVATIVES(F, uses_for_a, of_a, uses_for_b, of_b)                               \
  template <>                                                                                      \
  struct Derivative<functions::F> : Using<uses_for_a, uses_for_b> {                                \
    template <int K, class C, class Y, class A, class B>                                           \
    KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, [[maybe_unused]] A const& a, \
                                               [[maybe_unused]] B const& b) {                      \
      if constexpr (K == 0) {                                                                      \
        return of_a;                                                                               \
      } else {                                                                                     \
        return of_b;                                                                               \
      }                                                                                            \
    }                                                                                              \
  };
#define SHARDTYPE_CONSTANT(F) \
  template <>                 \
  struct Derivative<functions::F> : Flat {};

/// The derivative of digamma, which has none itself.
struct Trigamma {
  template <class T>
  KOKKOS_FUNCTION constexpr T operator()(T const& a) const {
    return static_cast<T>(kernels::special::trigamma(static_cast<double>(a)));
  }
};

SHARDTYPE_CONSTANT(StopGradient)
// clang-format off
SHARDTYPE_DERIVATIVE(Negate, uses_nothing, -ct)
SHARDTYPE_DERIVATIVE(Square, uses_a, ct * a * 2)
SHARDTYPE_DERIVATIVE(Sqrt, uses_result, ct / (y * 2))
SHARDTYPE_DERIVATIVE(Rsqrt, uses_result, ct * y * y * y * -0.5)
SHARDTYPE_DERIVATIVE(Exp, uses_result, ct * y)
SHARDTYPE_DERIVATIVE(Exp2, uses_result, ct * y * std::numbers::ln2)
SHARDTYPE_DERIVATIVE(Expm1, uses_result, ct * (y + 1))
SHARDTYPE_DERIVATIVE(Log, uses_a, ct / a)
SHARDTYPE_DERIVATIVE(Log1p, uses_a, ct / (a + 1))
SHARDTYPE_DERIVATIVE(Log2, uses_a, ct / (a * std::numbers::ln2))
SHARDTYPE_DERIVATIVE(Log10, uses_a, ct / (a * std::numbers::ln10))
SHARDTYPE_DERIVATIVE(Sin, uses_a, ct * autodiff::on(functions::Cos{}, a))
SHARDTYPE_DERIVATIVE(Cos, uses_a, -(ct * autodiff::on(functions::Sin{}, a)))
SHARDTYPE_DERIVATIVE(Tan, uses_result, ct * (y * y + 1))
SHARDTYPE_DERIVATIVE(Asin, uses_a, ct / autodiff::root_of_one_minus_square(a))
SHARDTYPE_DERIVATIVE(Acos, uses_a, -(ct / autodiff::root_of_one_minus_square(a)))
SHARDTYPE_DERIVATIVE(Atan, uses_a, autodiff::over_one_plus_square(ct, a))
SHARDTYPE_DERIVATIVE(Sinh, uses_a, ct * autodiff::on(functions::Cosh{}, a))
SHARDTYPE_DERIVATIVE(Cosh, uses_a, ct * autodiff::on(functions::Sinh{}, a))
SHARDTYPE_DERIVATIVE(Tanh, uses_result, ct * (1 - y * y))
// infinite at 0, as JAX
SHARDTYPE_DERIVATIVE(Cbrt, uses_result, ct / (y * y * 3))
SHARDTYPE_DERIVATIVE(Erf, uses_a, ct * autodiff::on(functions::Exp{}, -(a * a)) * (2 * std::numbers::inv_sqrtpi))
SHARDTYPE_DERIVATIVE(Erfc, uses_a, ct * autodiff::on(functions::Exp{}, -(a * a)) * (-2 * std::numbers::inv_sqrtpi))
SHARDTYPE_DERIVATIVE(ErfInv, uses_result, ct * (autodiff::on(functions::Exp{}, y * y) * (1 / (2 * std::numbers::inv_sqrtpi))))
SHARDTYPE_DERIVATIVE(LogGamma, uses_a, ct * autodiff::on(functions::Digamma{}, a))
SHARDTYPE_DERIVATIVE(Digamma, uses_a, ct * autodiff::on(Trigamma{}, a))
SHARDTYPE_DERIVATIVE(NanToNum, uses_a, autodiff::on(functions::Where{}, autodiff::on(functions::IsFinite{}, a), ct, op::zero))
// 0 at 0, as JAX
SHARDTYPE_DERIVATIVE(Relu, uses_result, autodiff::on(functions::Where{}, autodiff::on(functions::Greater{}, y, 0), ct, op::zero))
SHARDTYPE_DERIVATIVE(Sigmoid, uses_result, ct * y * (1 - y))
SHARDTYPE_DERIVATIVE(Softplus, uses_a, ct * autodiff::on(functions::Sigmoid{}, a))
// For complex numbers z = x + iy, the gradient of a real f is df/dx - i df/dy, as in JAX.
SHARDTYPE_DERIVATIVE(Conjugate, uses_nothing, autodiff::on(functions::Conjugate{}, ct))
SHARDTYPE_DERIVATIVE(Real, uses_nothing, autodiff::cast_like<A>(ct))

SHARDTYPE_DERIVATIVES(Add, passes_on, ct, passes_on, ct)  // NOLINT(bugprone-branch-clone)
SHARDTYPE_DERIVATIVES(Subtract, passes_on, ct, uses_nothing, -ct)
SHARDTYPE_DERIVATIVES(Multiply, uses_b, ct * b, uses_a, ct * a)
SHARDTYPE_DERIVATIVES(Divide, uses_b, ct / b, uses_a | uses_b, -autodiff::over_square(ct, a, b))
SHARDTYPE_DERIVATIVES(Atan2, uses_a | uses_b, ct * b / (a * a + b * b), uses_a | uses_b, -(ct * a / (a * a + b * b)))
SHARDTYPE_DERIVATIVES(Elu, uses_a | uses_b, autodiff::on(functions::Where{}, autodiff::on(functions::Greater{}, a, 0), ct, ct * b * autodiff::on(functions::Exp{}, a)), uses_a, autodiff::on(functions::Where{}, autodiff::on(functions::Greater{}, a, 0), op::zero, ct * autodiff::on(functions::Expm1{}, a)))
SHARDTYPE_DERIVATIVES(LeakyRelu, uses_a | uses_b, autodiff::on(functions::Where{}, autodiff::on(functions::GreaterEqual{}, a, 0), ct, ct * b), uses_a, autodiff::on(functions::Where{}, autodiff::on(functions::GreaterEqual{}, a, 0), op::zero, ct * a))
/// A half each where both are equal, infinities too.
SHARDTYPE_DERIVATIVES(LogAddExp, uses_a | uses_b, ct * autodiff::on(functions::Sigmoid{}, autodiff::on(functions::Where{}, autodiff::on(functions::Equal{}, a, b), op::zero, a - b)), uses_a | uses_b, ct * autodiff::on(functions::Sigmoid{}, autodiff::on(functions::Where{}, autodiff::on(functions::Equal{}, a, b), op::zero, b - a)))
// a - b floor(a / b)
SHARDTYPE_DERIVATIVES(Remainder, passes_on, ct, uses_a | uses_b, -(ct * autodiff::on(functions::FloorDivide{}, a, b)))

SHARDTYPE_CONSTANT(Sign)
SHARDTYPE_CONSTANT(Floor)
SHARDTYPE_CONSTANT(Ceil)
SHARDTYPE_CONSTANT(Round)
SHARDTYPE_CONSTANT(FloorDivide)
SHARDTYPE_CONSTANT(BitAnd)
SHARDTYPE_CONSTANT(BitOr)
SHARDTYPE_CONSTANT(BitXor)
SHARDTYPE_CONSTANT(BitNot)
SHARDTYPE_CONSTANT(ShiftLeft)
SHARDTYPE_CONSTANT(ShiftRight)
// clang-format on

#undef SHARDTYPE_DERIVATIVE
#undef SHARDTYPE_DERIVATIVES
#undef SHARDTYPE_CONSTANT

/// s + a s (1 - s) with s = sigmoid(a).
template <>
struct Derivative<functions::Silu> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    auto const s = autodiff::once(autodiff::on(functions::Sigmoid{}, a));
    return ct * (s + a * s * (1 - s));
  }
};
/// P(a) + a p(a) with the normal distribution's function P and density p; P(a) by erfc, of which
/// small values are accurate.
template <>
struct Derivative<functions::Gelu> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    auto const below = autodiff::on(functions::Erfc{}, a * (-1 / std::numbers::sqrt2)) * 0.5;
    auto const density = autodiff::on(functions::Exp{}, a * a * -0.5) *
                         (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    return ct * (below + a * density);
  }
};
/// a s(u) with s = sigmoid and u = 2 sqrt(2/pi) (a + 0.044715 a^3).
template <>
struct Derivative<functions::GeluTanh> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    double const scale = 1.5957691216057308;
    auto const s =
        autodiff::once(autodiff::on(functions::Sigmoid{}, (a + a * a * a * 0.044715) * scale));
    return ct * (s + a * s * (1 - s) * ((a * a * (3 * 0.044715) + 1) * scale));
  }
};
/// Shares of the length, 0 where it is 0.
template <>
struct Derivative<functions::Hypot> : Using<uses_result | uses_a, uses_result | uses_b> {
  template <int K, class C, class Y, class A, class B>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const& y, A const& a, B const& b) {
    auto const none = autodiff::on(functions::Equal{}, y, 0);
    if constexpr (K == 0) {
      return autodiff::on(functions::Where{}, none, op::zero, ct * (a / y));
    } else {
      return autodiff::on(functions::Where{}, none, op::zero, ct * (b / y));
    }
  }
};
/// b a^(b - 1), 0 for b = 0; y log(a), 0 for a = 0.
template <>
struct Derivative<functions::Power> : Using<uses_a | uses_b, uses_result | uses_a> {
  template <int K, class C, class Y, class A, class B>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const& y, A const& a, B const& b) {
    if constexpr (K == 0) {
      return autodiff::on(functions::Where{}, autodiff::on(functions::Equal{}, b, 0), op::zero,
                          ct * (autodiff::on(functions::Power{}, a, b - 1) * b));
    } else {
      return autodiff::on(functions::Where{}, autodiff::on(functions::Equal{}, a, 0), op::zero,
                          ct * (y * autodiff::on(functions::Log{}, a)));
    }
  }
};
/// The sign; of complex numbers the conjugate over the absolute value; 0 at 0.
template <>
struct Derivative<functions::Absolute> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    if constexpr (is_complex_term<A>) {
      auto const size = autodiff::cast_like<A>(autodiff::on(functions::Absolute{}, a));
      auto const there = autodiff::on(functions::NotEqual{}, a, 0);
      return autodiff::on(
          functions::Where{}, there,
          autodiff::cast_like<A>(ct) * (autodiff::on(functions::Conjugate{}, a) / size), op::zero);
    } else {
      return ct * autodiff::on(functions::Sign{}, a);
    }
  }
};
template <class To>
struct Derivative<functions::Cast<To>> : Using<uses_nothing> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const&) {
    return autodiff::cast_like<A>(ct);
  }
};
template <>
struct Derivative<functions::Imaginary> : Using<uses_nothing> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const&) {
    if constexpr (std::is_same_v<C, Sharded> || !is_complex_term<A>) {
      return ct * 0;  // of shardings, for Kokkos' complex numbers are no constants
    } else {
      return autodiff::cast_like<A>(ct) * typename A::element(0, -1);
    }
  }
};
/// Where the operands are equal, each gets a half.
template <class Wins>
struct DerivativeOfExtremum : Using<uses_a | uses_b, uses_a | uses_b> {
  template <int K, class C, class Y, class A, class B>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a, B const& b) {
    auto const half = autodiff::on(functions::Where{}, autodiff::on(functions::Equal{}, a, b),
                                   ct * 0.5, op::zero);
    if constexpr (K == 0) {
      return autodiff::on(functions::Where{}, autodiff::on(Wins{}, a, b), ct, half);
    } else {
      return autodiff::on(functions::Where{}, autodiff::on(Wins{}, b, a), ct, half);
    }
  }
};
template <>
struct Derivative<functions::Maximum> : DerivativeOfExtremum<functions::Greater> {};
template <>
struct Derivative<functions::Minimum> : DerivativeOfExtremum<functions::Less> {};
template <>
struct Derivative<functions::Where> : Using<uses_nothing, uses_a, uses_a> {
  template <int K, class C, class Y, class P, class A, class B>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, P const& p, A const&,
                                             B const&) {
    if constexpr (K == 1) {
      return autodiff::on(functions::Where{}, p, ct, op::zero);
    } else {
      return autodiff::on(functions::Where{}, p, op::zero, ct);
    }
  }
};
/// Inside the bounds to `a`, outside to the bound that is met; at a bound to both, a half each.
template <>
struct Derivative<functions::Clip>
    : Using<uses_a | uses_b | uses_c, uses_a | uses_b | uses_c, uses_a | uses_b | uses_c> {
  using Upper = Derivative<functions::Minimum>;
  using Lower = Derivative<functions::Maximum>;
  template <int K, class C, class Y, class A, class B, class D>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const& y, A const& a, B const& low,
                                             D const& high) {
    auto const raised = autodiff::on(functions::Maximum{}, a, low);
    if constexpr (K == 2) {
      return Upper::template pull<1>(ct, y, raised, high);
    } else {
      return Lower::template pull<K>(Upper::template pull<0>(ct, y, raised, high), y, a, low);
    }
  }
};

}  // namespace shardtype::autodiff
