#pragma once
/// Elementwise expressions as types: their values, and the cotangents of their operands.

#include <type_traits>
#include <utility>

#include <shardtype/autodiff/derivatives.hpp>
#include <shardtype/autodiff/tape.hpp>

namespace shardtype::autodiff {

/// The operand number `I` of an expression, with elements of type `T`.
template <int I, class T>
struct Input {
  using element = T;
  static constexpr int inputs = 1;
  static constexpr int functions = 0;
};
/// A number in an expression; `T`: the element type in which it arrives.
template <class N, class T>
struct Constant {
  using element = T;
  static constexpr int inputs = 0;
  static constexpr int functions = 0;
  N value;
};
/// A function of expressions; elements of type `T`.
template <class F, class T, class... Args>
struct Applied {
  using element = T;
  static constexpr int inputs = (Args::inputs + ...);
  static constexpr int functions = 1 + (Args::functions + ...);
  F function;
  Kept<Args...> args;
};

/// Whether the operand `K` is in the expression.
template <int K, class E>
inline constexpr bool contains = false;
template <int K, class T>
inline constexpr bool contains<K, Input<K, T>> = true;
template <int K, class F, class T, class... Args>
inline constexpr bool contains<K, Applied<F, T, Args...>> = (contains<K, Args> || ...);

/// The operands that the expression reads, as bits.
template <class E>
inline constexpr unsigned inputs_of = 0;
template <int I, class T>
inline constexpr unsigned inputs_of<Input<I, T>> = 1U << I;
template <class F, class T, class... Args>
inline constexpr unsigned inputs_of<Applied<F, T, Args...>> = (inputs_of<Args> | ...);

/// The cotangent of operand `K` of the expression `E`.
template <int K, class E>
struct Path;
template <int K, class T>
struct Path<K, Input<K, T>> {
  static constexpr bool passes = true;
  /// The operands whose values the cotangent reads, as bits; `result`: whether the expression's own
  /// value is read outside.
  static constexpr unsigned needs(bool result) { return result ? 1U << K : 0; }
};
template <int K, class F, class T, class... Args>
struct Path<K, Applied<F, T, Args...>> {
  using D = Derivative<F>;
  static constexpr int count = static_cast<int>(sizeof...(Args));
  static constexpr int find() {
    bool const each[] = {contains<K, Args>...};
    int k = 0;
    while (!each[k]) ++k;
    return k;
  }
  /// The argument that has the operand.
  static constexpr int at = find();
  using Next = nth_t<at, Args...>;
  static constexpr unsigned mask = D::uses(at);

  /// Whether the cotangent is that of the result.
  static constexpr bool passes = (mask & passes_on) != 0 && Path<K, Next>::passes;

  static constexpr bool needs_result(bool outside) { return outside || (mask & uses_result) != 0; }
  static constexpr bool needs_argument(bool result, int k) {
    return result || ((mask >> (k + 1)) & 1U) != 0;
  }
  static constexpr unsigned needs(bool outside, bool has_result = false) {
    bool const result = needs_result(outside) && !has_result;
    unsigned const each[] = {inputs_of<Args>...};
    unsigned out = 0;
    for (int k = 0; k < count; ++k)
      if (k != at && needs_argument(result, k)) out |= each[k];
    return out | Path<K, Next>::needs(needs_argument(result, at));
  }
};

/// The value of an expression of the operands `x`.
template <class X, int I, class T>
KOKKOS_FUNCTION constexpr auto value_of(Input<I, T> const&, X const& x) {
  return autodiff::kept<I>(x);
}
/// Whether the operands are shardings.
template <class X>
inline constexpr bool of_shardings = false;
template <class Order, class... Xs>
inline constexpr bool of_shardings<KeptIn<Order, Xs...>> = (std::is_same_v<Xs, Sharded> || ...);
template <class X, class N, class T>
KOKKOS_FUNCTION constexpr auto value_of([[maybe_unused]] Constant<N, T> const& c, X const&) {
  if constexpr (of_shardings<X>) {
    return autodiff::sharding_of(N{});  // not computed with, so that the rule is a constant
  } else {
    return c.value;
  }
}
template <class X, class F, class T, class... Args>
KOKKOS_FUNCTION constexpr auto value_of(Applied<F, T, Args...> const& e, X const& x) {
  return [&]<int... K>(std::integer_sequence<int, K...>) {
    return autodiff::on(e.function, autodiff::value_of(autodiff::kept<K>(e.args), x)...);
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Args))>{});
}

/// Values on the way to one operand: the function's result, its arguments, and those below.
template <class Y, class Values, class Below>
struct Along {
  Y result;
  Values args;
  Below below;
};
template <class Y>
struct AlongEnd {
  Y result;
};

/// The values that the cotangent of operand `K` reads, of the operands `x`. `Result`: the number of
/// the expression's own value among `x`, or -1. `outside`: whether that value is read outside.
template <int K, int Result, bool outside, class X, class T>
KOKKOS_FUNCTION constexpr auto along(Input<K, T> const&, [[maybe_unused]] X const& x) {
  if constexpr (outside) {
    return AlongEnd<std::remove_cvref_t<decltype(autodiff::kept<K>(x))>>{autodiff::kept<K>(x)};
  } else {
    return AlongEnd<Unused<T>>{};
  }
}
template <int K, int Result, bool outside, class X, class F, class T, class... Args>
KOKKOS_FUNCTION constexpr auto along(Applied<F, T, Args...> const& e, X const& x) {
  using P = Path<K, Applied<F, T, Args...>>;
  constexpr bool result = P::needs_result(outside) && Result < 0;
  auto const below =
      autodiff::along<K, -1, P::needs_argument(result, P::at)>(autodiff::kept<P::at>(e.args), x);
  auto const argument = [&]<int J>() {
    if constexpr (J == P::at) {
      return below.result;
    } else if constexpr (P::needs_argument(result, J)) {
      return autodiff::once(autodiff::value_of(autodiff::kept<J>(e.args), x));
    } else {
      return Unused<typename nth_t<J, Args...>::element>{};
    }
  };
  return [&]<int... J>(std::integer_sequence<int, J...>) {
    auto const args = autodiff::keep(argument.template operator()<J>()...);
    auto const y = [&] {
      if constexpr (result) {
        return autodiff::once(autodiff::on(e.function, autodiff::kept<J>(args)...));
      } else if constexpr (P::needs_result(outside)) {
        return autodiff::kept<Result>(x);
      } else {
        return Unused<T>{};
      }
    }();
    return Along<std::remove_cvref_t<decltype(y)>, std::remove_cvref_t<decltype(args)>,
                 std::remove_cvref_t<decltype(below)>>{y, args, below};
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Args))>{});
}

/// The cotangent of operand `K`, of that of the expression.
template <int K, class V, class C, class T>
KOKKOS_FUNCTION constexpr auto descend(Input<K, T> const&, V const&, C const& ct) {
  return ct;
}
template <int K, class V, class C, class F, class T, class... Args>
KOKKOS_FUNCTION constexpr auto descend(Applied<F, T, Args...> const& e, V const& values,
                                       C const& ct) {
  using P = Path<K, Applied<F, T, Args...>>;
  return [&]<int... J>(std::integer_sequence<int, J...>) {
    return autodiff::descend<K>(
        autodiff::kept<P::at>(e.args), values.below,
        P::D::template pull<P::at>(ct, values.result, autodiff::kept<J>(values.args)...));
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Args))>{});
}

/// The numbers of the bits that are set, in order.
template <unsigned Mask, int Bit = 0, int... Found>
constexpr auto bits_of(std::integer_sequence<int, Found...> found = {}) {
  if constexpr (Mask >> Bit == 0) {
    return found;
  } else if constexpr (((Mask >> Bit) & 1U) != 0) {
    return autodiff::bits_of<Mask, Bit + 1>(std::integer_sequence<int, Found..., Bit>{});
  } else {
    return autodiff::bits_of<Mask, Bit + 1>(found);
  }
}

/// The values that the cotangent of operand `K` of `E` reads: the operands of these numbers and, as
/// one more, number E::inputs, the expression's value.
template <int K, class E>
struct Reads {
  static constexpr bool result = (Path<K, E>::mask & uses_result) != 0;
  static constexpr unsigned mask = Path<K, E>::needs(false, true) | (result ? 1U << E::inputs : 0U);
  using Numbers = decltype(autodiff::bits_of<mask>(std::integer_sequence<int>{}));
};

/// The cotangent of operand `K` of the expression, of its cotangent and of what it reads.
template <int K, class E, class C, class... Xs, int... I>
KOKKOS_FUNCTION constexpr auto pulled(E const& e, std::integer_sequence<int, I...>, C const& ct,
                                      Xs const&... xs) {
  KeptIn<std::integer_sequence<int, I...>, Xs...> const x{{xs}...};
  return autodiff::descend<K>(
      e, autodiff::along<K, Reads<K, E>::result ? E::inputs : -1, false>(e, x), ct);
}

}  // namespace shardtype::autodiff
