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

template <>
struct Derivative<functions::Negate> : Using<uses_nothing> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const&) {
    return -ct;
  }
};

template <>
struct Derivative<functions::Square> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    return ct * a * 2;
  }
};

template <>
struct Derivative<functions::Sqrt> : Using<uses_result> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const& y, A const&) {
    return ct / (y * 2);
  }
};

template <>
struct Derivative<functions::Rsqrt> : Using<uses_result> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const& y, A const&) {
    return ct * y * y * y * -0.5;
  }
};

template <>
struct Derivative<functions::Exp> : Using<uses_result> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const& y, A const&) {
    return ct * y;
  }
};

template <>
struct Derivative<functions::Exp2> : Using<uses_result> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const& y, A const&) {
    return ct * y * std::numbers::ln2;
  }
};

template <>
struct Derivative<functions::Expm1> : Using<uses_result> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const& y, A const&) {
    return ct * (y + 1);
  }
};

template <>
struct Derivative<functions::Log> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    return ct / a;
  }
};

template <>
struct Derivative<functions::Log1p> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    return ct / (a + 1);
  }
};

template <>
struct Derivative<functions::Log2> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    return ct / (a * std::numbers::ln2);
  }
};

template <>
struct Derivative<functions::Log10> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    return ct / (a * std::numbers::ln10);
  }
};

template <>
struct Derivative<functions::Sin> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    return ct * on(functions::Cos{}, a);
  }
};

template <>
struct Derivative<functions::Cos> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    return -(ct * on(functions::Sin{}, a));
  }
};

template <>
struct Derivative<functions::Tan> : Using<uses_result> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const& y, A const&) {
    return ct * (y * y + 1);
  }
};

template <>
struct Derivative<functions::Asin> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    return ct / on(functions::Sqrt{}, 1 - a * a);
  }
};

template <>
struct Derivative<functions::Acos> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    return -(ct / on(functions::Sqrt{}, 1 - a * a));
  }
};

template <>
struct Derivative<functions::Atan> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    return ct / (a * a + 1);
  }
};

template <>
struct Derivative<functions::Sinh> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    return ct * on(functions::Cosh{}, a);
  }
};

template <>
struct Derivative<functions::Cosh> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    return ct * on(functions::Sinh{}, a);
  }
};

template <>
struct Derivative<functions::Tanh> : Using<uses_result> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const& y, A const&) {
    return ct * (1 - y * y);
  }
};

/// Infinite at 0, as JAX.
template <>
struct Derivative<functions::Cbrt> : Using<uses_result> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const& y, A const&) {
    return ct / (y * y * 3);
  }
};

template <>
struct Derivative<functions::Erf> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    return ct * on(functions::Exp{}, -(a * a)) * (2 * std::numbers::inv_sqrtpi);
  }
};

template <>
struct Derivative<functions::Erfc> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    return ct * on(functions::Exp{}, -(a * a)) * (-2 * std::numbers::inv_sqrtpi);
  }
};

/// 0 at 0, as JAX.
template <>
struct Derivative<functions::Relu> : Using<uses_result> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const& y, A const&) {
    return on(functions::Where{}, on(functions::Greater{}, y, 0), ct, op::zero);
  }
};

template <>
struct Derivative<functions::Sigmoid> : Using<uses_result> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const& y, A const&) {
    return ct * y * (1 - y);
  }
};

template <>
struct Derivative<functions::Softplus> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    return ct * on(functions::Sigmoid{}, a);
  }
};

/// s + a s (1 - s) with s = sigmoid(a).
template <>
struct Derivative<functions::Silu> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    auto const s = on(functions::Sigmoid{}, a);
    return ct * (s + a * s * (1 - s));
  }
};
/// P(a) + a p(a) with the normal distribution's function P and density p; P(a) by erfc, of which small
/// values are accurate.
template <>
struct Derivative<functions::Gelu> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    auto const below = on(functions::Erfc{}, a * (-1 / std::numbers::sqrt2)) * 0.5;
    auto const density =
        on(functions::Exp{}, a * a * -0.5) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    return ct * (below + a * density);
  }
};
/// a s(u) with s = sigmoid and u = 2 sqrt(2/pi) (a + 0.044715 a^3).
template <>
struct Derivative<functions::GeluTanh> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    double const scale = 1.5957691216057308;
    auto const s = on(functions::Sigmoid{}, (a + a * a * a * 0.044715) * scale);
    return ct * (s + a * s * (1 - s) * ((a * a * (3 * 0.044715) + 1) * scale));
  }
};
/// The sign; of complex numbers the conjugate over the absolute value; 0 at 0.
template <>
struct Derivative<functions::Absolute> : Using<uses_a> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a) {
    if constexpr (is_complex_term<A>) {
      auto const size = cast_like<A>(on(functions::Absolute{}, a));
      auto const there = on(functions::NotEqual{}, a, 0);
      return on(functions::Where{}, there, cast_like<A>(ct) * on(functions::Conjugate{}, a) / size,
                op::zero);
    } else {
      return ct * on(functions::Sign{}, a);
    }
  }
};
template <class To>
struct Derivative<functions::Cast<To>> : Using<uses_nothing> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const&) {
    return cast_like<A>(ct);
  }
};
// Of complex numbers z = x + iy the gradient of a real f is df/dx - i df/dy, as in JAX.
template <>
struct Derivative<functions::Conjugate> : Using<uses_nothing> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const&) {
    return on(functions::Conjugate{}, ct);
  }
};
template <>
struct Derivative<functions::Real> : Using<uses_nothing> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const&) {
    return cast_like<A>(ct);
  }
};
template <>
struct Derivative<functions::Imaginary> : Using<uses_nothing> {
  template <int, class C, class Y, class A>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const&) {
    if constexpr (std::is_same_v<C, Sharded> || !is_complex_term<A>) {
      return ct * 0;  // of shardings, for Kokkos' complex numbers are no constants
    } else {
      return cast_like<A>(ct) * typename A::element(0, -1);
    }
  }
};

template <>
struct Derivative<functions::Add> : Using<uses_nothing, uses_nothing> {
  static constexpr bool passes(int) { return true; }
  template <int, class C, class Y, class A, class B>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const&, B const&) {
    return ct;
  }
};
template <>
struct Derivative<functions::Subtract> : Using<uses_nothing, uses_nothing> {
  static constexpr bool passes(int k) { return k == 0; }
  template <int K, class C, class Y, class A, class B>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const&, B const&) {
    if constexpr (K == 0) {
      return ct;
    } else {
      return -ct;
    }
  }
};
template <>
struct Derivative<functions::Multiply> : Using<uses_b, uses_a> {
  template <int K, class C, class Y, class A, class B>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a, B const& b) {
    if constexpr (K == 0) {
      return ct * b;
    } else {
      return ct * a;
    }
  }
};
template <>
struct Derivative<functions::Divide> : Using<uses_b, uses_a | uses_b> {
  template <int K, class C, class Y, class A, class B>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a, B const& b) {
    if constexpr (K == 0) {
      return ct / b;
    } else {
      return -(ct * a / (b * b));
    }
  }
};
/// b a^(b - 1), 0 for b = 0; a^b log(a), 0 for a = 0.
template <>
struct Derivative<functions::Power> : Using<uses_a | uses_b, uses_a | uses_b> {
  template <int K, class C, class Y, class A, class B>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a, B const& b) {
    if constexpr (K == 0) {
      auto const slope = on(functions::Power{}, a, b - 1) * b;
      return on(functions::Where{}, on(functions::Equal{}, b, 0), op::zero, ct * slope);
    } else {
      auto const slope = on(functions::Power{}, a, b) * on(functions::Log{}, a);
      return on(functions::Where{}, on(functions::Equal{}, a, 0), op::zero, ct * slope);
    }
  }
};
template <>
struct Derivative<functions::Atan2> : Using<uses_a | uses_b, uses_a | uses_b> {
  template <int K, class C, class Y, class A, class B>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a, B const& b) {
    if constexpr (K == 0) {
      return ct * b / (a * a + b * b);
    } else {
      return -(ct * a / (a * a + b * b));
    }
  }
};
/// A half each where both are equal, infinities too.
template <>
struct Derivative<functions::LogAddExp> : Using<uses_a | uses_b, uses_a | uses_b> {
  template <int K, class C, class Y, class A, class B>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a, B const& b) {
    auto const equal = on(functions::Equal{}, a, b);
    if constexpr (K == 0) {
      return ct * on(functions::Sigmoid{}, on(functions::Where{}, equal, op::zero, a - b));
    } else {
      return ct * on(functions::Sigmoid{}, on(functions::Where{}, equal, op::zero, b - a));
    }
  }
};
/// Where the operands are equal, each gets a half.
template <class F, class Wins>
struct DerivativeOfExtremum : Using<uses_a | uses_b, uses_a | uses_b> {
  template <int K, class C, class Y, class A, class B>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a, B const& b) {
    auto const half = on(functions::Where{}, on(functions::Equal{}, a, b), ct * 0.5, op::zero);
    if constexpr (K == 0) {
      return on(functions::Where{}, on(Wins{}, a, b), ct, half);
    } else {
      return on(functions::Where{}, on(Wins{}, b, a), ct, half);
    }
  }
};
template <>
struct Derivative<functions::Maximum>
    : DerivativeOfExtremum<functions::Maximum, functions::Greater> {};
template <>
struct Derivative<functions::Minimum> : DerivativeOfExtremum<functions::Minimum, functions::Less> {
};
/// a - b floor(a / b).
template <>
struct Derivative<functions::Remainder> : Using<uses_nothing, uses_a | uses_b> {
  static constexpr bool passes(int k) { return k == 0; }
  template <int K, class C, class Y, class A, class B>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, A const& a, B const& b) {
    if constexpr (K == 0) {
      return ct;
    } else {
      return -(ct * on(functions::FloorDivide{}, a, b));
    }
  }
};
template <>
struct Derivative<functions::Where> : Using<uses_nothing, uses_a, uses_a> {
  template <int K, class C, class Y, class P, class A, class B>
  KOKKOS_FUNCTION static constexpr auto pull(C const& ct, Y const&, P const& p, A const&,
                                             B const&) {
    if constexpr (K == 1) {
      return on(functions::Where{}, p, ct, op::zero);
    } else {
      return on(functions::Where{}, p, op::zero, ct);
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
    auto const raised = on(functions::Maximum{}, a, low);
    if constexpr (K == 2) {
      return Upper::template pull<1>(ct, y, raised, high);
    } else {
      return Lower::template pull<K>(Upper::template pull<0>(ct, y, raised, high), y, a, low);
    }
  }
};

template <>
struct Derivative<functions::Sign> : Flat {};
template <>
struct Derivative<functions::Floor> : Flat {};
template <>
struct Derivative<functions::Ceil> : Flat {};
template <>
struct Derivative<functions::Round> : Flat {};
template <>
struct Derivative<functions::FloorDivide> : Flat {};

}  // namespace shardtype::autodiff
