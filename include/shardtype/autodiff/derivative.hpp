#pragma once
/// Derivatives of the elementwise functions: expressions of the same functions, whose one text is
/// computed on elements in a kernel, on shardings by the rules, and on tensors whose gradient is
/// wanted again.

#include <type_traits>
#include <utility>

#include <shardtype/kernels/functions.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/run_elementwise.hpp>

namespace shardtype {

namespace autodiff {

/// Values with which the text of a derivative is computed in place of tensors.
struct Term {};
template <class T>
inline constexpr bool is_term = std::is_base_of_v<Term, T>;

/// A part of a kernel: an expression of kernels/expression_tree.hpp.
template <class E>
struct Part : Term {
  using element = std::remove_cvref_t<decltype(std::declval<E const&>().at(nullptr, 0))>;
  E expression;
  explicit Part(E const& e) : expression(e) {}
};
template <class T>
inline constexpr bool is_part = false;
template <class E>
inline constexpr bool is_part<Part<E>> = true;

}  // namespace autodiff

namespace detail {
template <class E, class... Rest>
struct CommonElement<autodiff::Part<E>, Rest...> {
  using type = typename autodiff::Part<E>::element;
};
}  // namespace detail

namespace autodiff {

/// A sharding.
struct Sharded : Term {
  Verdict verdict{};
  bool zero = false;
  constexpr explicit Sharded(Verdict const& v) : verdict(v) {}
};

/// In place of a value that a derivative does not use, with elements of type `T`.
template <class T>
struct Unused : Term {
  using element = T;
};

/// The text of an expression, whose elements are of type `T` (freeze/text.hpp).
template <class T>
struct Text;
template <class T>
inline constexpr bool is_text = false;
template <class T>
inline constexpr bool is_text<Text<T>> = true;
template <class F, class... As>
auto text_on(F const& f, As const&... as);

/// An argument as a part of a kernel, a number with element type `T`.
template <class T, class A>
auto part_from(A const& a) {
  if constexpr (is_part<A>) {
    return a.expression;
  } else if constexpr (std::is_same_v<A, op::Zero>) {
    return kernels::Constant<T>{T{}};
  } else {
    return kernels::Constant<T>{kernels::detail::converted<T>(a)};
  }
}
/// An argument as a sharding; a number has none.
template <class A>
constexpr Sharded sharding_of(A const& a) {
  if constexpr (std::is_same_v<A, Sharded>) {
    return a;
  } else {
    Sharded out(accept(Spec{}));
    out.zero = std::is_same_v<A, op::Zero>;
    return out;
  }
}
template <class F, class... As>
constexpr Sharded rule_on(As const&... as) {
  Sharded const in[] = {autodiff::sharding_of(as)...};
  rules::Operands operands;
  for (Sharded const& s : in) {
    if (!s.verdict) return s;
    operands.push(s.verdict.result, s.zero);
  }
  Verdict v = rules::elementwise(operands, shardtype::detail::linearity_of<F, double>);
  if (v)
    for (Sharded const& s : in) {
      v.result.local = v.result.local || s.verdict.result.local;
      for (int x = 0; x < max_axes; ++x)
        if (s.verdict.result.varying.contains(x))
          v.result.varying.insert(x), v.result.reduced.erase(x);
    }
  return Sharded(v);
}

/// The function `f` of parts of a kernel and numbers.
template <class F, class... As, int... K>
auto part_on(F const& f, std::integer_sequence<int, K...>, As const&... as) {
  using T = typename shardtype::detail::ElementFor<F, As...>::type;
  using Made =
      kernels::Node<std::integer_sequence<int, K...>, F,
                    decltype(autodiff::part_from<shardtype::detail::number_element<F, K, T>>(
                        as))...>;
  return Part<Made>(
      Made(f, autodiff::part_from<shardtype::detail::number_element<F, K, T>>(as)...));
}

/// Functions that are computed in vectors are worth it; others are computed where they are used.
template <class E>
Part<E> once_in_kernel(Part<E> const& x) {
  return x;
}
template <class Order, class F, class... Args>
  requires(kernels::Node<Order, F, Args...>::in_vectors)
auto once_in_kernel(Part<kernels::Node<Order, F, Args...>> const& x) {
  using Kept = kernels::Once<kernels::Node<Order, F, Args...>>;
  return Part<Kept>(Kept{x.expression});
}

/// The function `f` of parts of a kernel, shardings, texts or tensors, and numbers.
template <class F, class... As>
KOKKOS_FUNCTION constexpr auto on(F const& f, As const&... as) {
  if constexpr ((is_part<As> || ...)) {
    return autodiff::part_on(f, std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{},
                             as...);
  } else if constexpr ((shardtype::detail::is_number<As> && ...)) {
    using T = std::common_type_t<As...>;
    return kernels::apply(f, static_cast<T>(as)...);
  } else if constexpr ((std::is_same_v<As, Sharded> || ...)) {
    return autodiff::rule_on<F>(as...);
  } else if constexpr ((is_text<As> || ...)) {
    return autodiff::text_on(f, as...);
  } else {
    return shardtype::detail::fuse(f, as...);
  }
}

/// `x`, which a derivative uses several times: a kernel computes it once. All values of one form in
/// a derivative (the same functions of the same values, whatever their numbers) must be equal.
template <class X>
constexpr auto once(X const& x) {
  if constexpr (is_part<X>) {
    return autodiff::once_in_kernel(x);
  } else {
    return x;
  }
}

/// A cotangent with the element type of the argument `A` of the function.
template <class A, class C>
KOKKOS_FUNCTION constexpr auto cast_like(C const& ct) {
  if constexpr (std::is_same_v<C, Sharded>) {
    return ct;
  } else {
    return autodiff::on(functions::Cast<typename A::element>{}, ct);
  }
}

template <class... As>
concept SomeTerm = (is_term<As> || ...);
#define SHARDTYPE_OF_TERMS(sign, F)                                      \
  template <class A, class B>                                            \
    requires SomeTerm<A, B>                                              \
  KOKKOS_FUNCTION constexpr auto operator sign(A const& a, B const& b) { \
    return autodiff::on(functions::F{}, a, b);                           \
  }
SHARDTYPE_OF_TERMS(+, Add)
SHARDTYPE_OF_TERMS(-, Subtract)
SHARDTYPE_OF_TERMS(*, Multiply)
SHARDTYPE_OF_TERMS(/, Divide)
SHARDTYPE_OF_TERMS(<, Less)
SHARDTYPE_OF_TERMS(<=, LessEqual)
SHARDTYPE_OF_TERMS(>, Greater)
SHARDTYPE_OF_TERMS(>=, GreaterEqual)
#undef SHARDTYPE_OF_TERMS
template <class A>
  requires SomeTerm<A>
KOKKOS_FUNCTION constexpr auto operator-(A const& a) {
  return autodiff::on(functions::Negate{}, a);
}
/// Chooses between the pieces of a derivative: `?:` would need a bool, which a term is not.
template <class C, class A, class B>
  requires SomeTerm<C, A, B>
KOKKOS_FUNCTION constexpr auto where(C const& condition, A const& a, B const& b) {
  return autodiff::on(functions::Where{}, condition, a, b);
}
using api::where;

/// Bits for the values that a derivative uses besides the cotangent: bit 0 is the function's
/// result, bit 1 + k its argument k.
inline constexpr unsigned uses_nothing = 0;
inline constexpr unsigned uses_result = 1;
inline constexpr unsigned uses_a = 2;
inline constexpr unsigned uses_b = 4;
inline constexpr unsigned uses_c = 8;
/// The cotangent is that of the result.
inline constexpr unsigned passes_on = 1U << 31;

/// Base of a Derivative: what the one of each argument uses.
template <unsigned... Masks>
struct Using {
  static constexpr bool exists = true;
  static constexpr unsigned uses(int k) {
    unsigned const each[] = {Masks...};
    return each[k];
  }
};
/// Base of functions that are constant around each point, such as `sign` and comparisons.
struct Flat {
  static constexpr bool exists = true;
};

/// The derivative of the elementwise function `F`: `pull<K>(ct, y, a...)` is the cotangent of
/// argument K, of that of the result, the result and the arguments; an expression of functions on
/// `auto`, which `on(functions::Exp{}, x)` calls. Specialise it for a function of your own, with
/// the base `Using<masks...>` that says of each argument what its pull reads; the others are not
/// there.
template <class F>
struct Derivative {
  static constexpr bool exists = false;
};

}  // namespace autodiff

}  // namespace shardtype
