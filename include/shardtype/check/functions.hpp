#pragma once
/// The library's elementwise functions as tags: how they treat unreduced operands, and the element
/// types of their results. Their implementations are in kernels/functions.hpp.

#include <cstdint>
#include <type_traits>
#include <utility>

#include <shardtype/check/callable.hpp>
#include <shardtype/core/bfloat16.hpp>
#include <shardtype/rules/elementwise.hpp>

namespace shardtype::op {

/// A zero known by its type: `where(p, a, op::zero)` keeps an unreduced sum unreduced.
struct Zero {};
inline constexpr Zero zero{};

}  // namespace shardtype::op

namespace shardtype {

namespace functions {

/// The element type of a function's result: its operands' type; the same, but only floating or
/// complex; bool; or the real type of a complex type.
enum class Gives : std::int8_t { same, floating, boolean, real };

template <Linearity how = Linearity::none, Gives what = Gives::same>
struct Tag {
  static constexpr Linearity linearity = how;
  static constexpr Gives gives = what;
};
/// Base of the tags of functions of real numbers; complex numbers have no order.
template <class Base = Tag<>>
struct OfReal : Base {
  static constexpr bool of_real = true;
};
/// Base of functions of the bits of integers; `with_bools`: of bools too.
template <bool with_bools, class Base = Tag<>>
struct OfIntegers : Base {
  static constexpr bool of_integers = true;
  static constexpr bool of_bools = with_bools;
};
using Predicate = Tag<Linearity::none, Gives::boolean>;
using Analytic = Tag<Linearity::none, Gives::floating>;
using RealAnalytic = OfReal<Analytic>;

struct Add : Tag<Linearity::additive> {};
struct Subtract : Tag<Linearity::additive> {};
struct Multiply : Tag<Linearity::scaling> {};
struct Divide : Tag<Linearity::dividing> {};
struct Maximum : OfReal<Tag<Linearity::maximum>> {};
struct Minimum : OfReal<Tag<Linearity::minimum>> {};
struct Power : Tag<> {};
struct Remainder : OfReal<> {};
struct Atan2 : RealAnalytic {};
struct LogAddExp : RealAnalytic {};
struct Hypot : RealAnalytic {};
struct FloorDivide : OfReal<> {};
struct Clip : OfReal<> {};
struct Negate : Tag<Linearity::linear> {};
/// The value itself, through which no gradient flows: stop_gradient of an expression.
struct StopGradient : Tag<Linearity::linear> {};
struct Conjugate : Tag<Linearity::linear> {};
struct Real : Tag<Linearity::linear, Gives::real> {};
struct Imaginary : Tag<Linearity::linear, Gives::real> {};
struct Absolute : Tag<Linearity::none, Gives::real> {};
struct Sign : OfReal<> {};
struct Square : Tag<> {};
struct Sqrt : Analytic {};
struct Rsqrt : Analytic {};
struct Exp : Analytic {};
struct Exp2 : Analytic {};
struct Expm1 : Analytic {};
struct Log : Analytic {};
struct Log1p : Analytic {};
struct Log2 : Analytic {};
struct Log10 : Analytic {};
struct Sin : Analytic {};
struct Cos : Analytic {};
struct Tan : Analytic {};
struct Asin : Analytic {};
struct Acos : Analytic {};
struct Atan : Analytic {};
struct Sinh : Analytic {};
struct Cosh : Analytic {};
struct Tanh : Analytic {};
struct Cbrt : RealAnalytic {};
struct Erf : RealAnalytic {};
struct Erfc : RealAnalytic {};
struct ErfInv : RealAnalytic {};
struct LogGamma : RealAnalytic {};
struct Digamma : RealAnalytic {};
struct Relu : OfReal<> {};
struct Sigmoid : RealAnalytic {};
struct Silu : RealAnalytic {};
struct Softplus : RealAnalytic {};
struct Gelu : RealAnalytic {};
struct GeluTanh : RealAnalytic {};
struct Elu : RealAnalytic {};
struct LeakyRelu : RealAnalytic {};
struct Floor : OfReal<> {};
struct Ceil : OfReal<> {};
struct Round : OfReal<> {};
struct IsNan : Predicate {};
struct IsFinite : Predicate {};
struct IsInf : Predicate {};
struct Equal : Predicate {};
struct NotEqual : Predicate {};
struct Less : OfReal<Predicate> {};
struct LessEqual : OfReal<Predicate> {};
struct Greater : OfReal<Predicate> {};
struct GreaterEqual : OfReal<Predicate> {};
/// |a - b| <= atol + rtol |b|. Equal elements are close; an infinity and a finite number are not;
/// two NaNs are close with `equal_nan`.
struct Close : Predicate {
  double rtol = 0;
  double atol = 0;
  bool equal_nan = false;
};
/// Numbers in place of NaN and of infinities; what is beyond the element type is its largest
/// number.
struct NanToNum : Tag<> {
  double nan = 0;
  double posinf = 0;
  double neginf = 0;
};
struct And : Predicate {};
struct Or : Predicate {};
struct Not : Predicate {};
struct BitAnd : OfIntegers<true> {};
struct BitOr : OfIntegers<true> {};
struct BitXor : OfIntegers<true> {};
struct BitNot : OfIntegers<true> {};
struct ShiftLeft : OfIntegers<false> {};
struct ShiftRight : OfIntegers<false> {};
struct Where : Tag<Linearity::choosing> {};
template <class To>
struct Cast : Tag<Linearity::linear> {};

}  // namespace functions

namespace detail {

template <class F>
inline constexpr bool is_tag = requires { F::gives; };
template <class F>
inline constexpr bool is_of_real = requires { requires F::of_real; };
/// Whether `F` is a function of integers that does not take elements `T`.
template <class F, class T>
inline constexpr bool wants_integers = false;
template <class F, class T>
  requires requires { requires F::of_integers; }
inline constexpr bool wants_integers<F, T> =
    !std::is_integral_v<T> || (std::is_same_v<T, bool> && !F::of_bools);
template <class F>
inline constexpr bool is_cast = false;
template <class To>
inline constexpr bool is_cast<functions::Cast<To>> = true;

/// The real type of a complex type.
template <class T>
struct RealOf {
  using type = T;
};
template <class T>
  requires requires { typename T::value_type; }
struct RealOf<T> {
  using type = typename T::value_type;
};
template <class T>
using real_of = typename RealOf<T>::type;
template <class T>
inline constexpr bool is_complex = !std::is_same_v<real_of<T>, T>;
/// Whether T is a type of real floating-point numbers.
template <class T>
inline constexpr bool is_real_floating = std::is_floating_point_v<T> || std::is_same_v<T, bfloat16>;
template <class T>
inline constexpr bool is_floating = is_real_floating<real_of<T>>;

/// The type in which functions, sums and products of `T` are computed: float for bfloat16.
template <class T>
using computed_t = std::conditional_t<std::is_same_v<T, bfloat16>, float, T>;
template <class T>
inline constexpr bool is_converted = !std::is_same_v<computed_t<T>, T>;

/// Whether `<` orders the elements; complex numbers have no order.
template <class T>
inline constexpr bool is_ordered = requires(T x) { x < x; };

/// Whether a cast is additive: among floating and complex types, and to signed integers at least as
/// wide.
template <class From, class To>
inline constexpr bool cast_adds_up =
    is_floating<To> ? is_floating<From> && (is_complex<To> || !is_complex<From>)
                    : std::is_integral_v<From> && std::is_signed_v<From> && std::is_signed_v<To> &&
                          sizeof(To) >= sizeof(From);

/// The linearity of `F` for operands with elements `T`, which decides whether unreduced ones are
/// accepted. Unknown for a user's own function.
template <class F, class T>
inline constexpr Linearity linearity_of = Linearity::none;
template <class F, class T>
  requires is_tag<F>
inline constexpr Linearity linearity_of<F, T> =
    F::linearity == Linearity::dividing && !is_floating<T> ? Linearity::none : F::linearity;
template <class To, class T>
inline constexpr Linearity linearity_of<functions::Cast<To>, T> =
    cast_adds_up<T, To> ? Linearity::linear : Linearity::none;

/// The element type of the result of `F` for operands of `T` (ignoring the condition of a `where`).
/// For a user's function its return type; NotTaken if it does not accept them.
template <class F, class T, class... Ts>
struct ElementGiven {
  using type = std::remove_cvref_t<decltype(detail::or_not_taken(std::declval<F const&>())(
      std::declval<Ts>()...))>;
};
template <class F, class T, class... Ts>
  requires is_tag<F>
struct ElementGiven<F, T, Ts...> {
  using type =
      std::conditional_t<F::gives == functions::Gives::boolean, bool,
                         std::conditional_t<F::gives == functions::Gives::real, real_of<T>, T>>;
};
template <class To, class T, class... Ts>
struct ElementGiven<functions::Cast<To>, T, Ts...> {
  using type = To;
};

}  // namespace detail

}  // namespace shardtype
