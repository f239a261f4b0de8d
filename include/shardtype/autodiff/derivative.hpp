#pragma once
/// Derivatives of the elementwise functions: expressions of the same functions, whose one text is
/// computed on elements in a kernel, on shardings by the rules, and on tensors whose gradient is
/// wanted again.

#include <type_traits>
#include <utility>

#include <shardtype/kernels/functions.hpp>
#include <shardtype/ops/elementwise.hpp>

namespace shardtype::autodiff {

/// Values with which the text of a derivative is computed in place of tensors.
struct Term {};
template <class T>
inline constexpr bool is_term = std::is_base_of_v<Term, T>;

/// One element.
template <class T>
struct Element : Term {
  using element = T;
  T value;
  KOKKOS_FUNCTION constexpr explicit Element(T const& x) : value(x) {}
};
template <class T>
inline constexpr bool is_one_element = false;
template <class T>
inline constexpr bool is_one_element<Element<T>> = true;

/// A sharding.
struct Sharded : Term {
  Verdict verdict{};
  bool zero = false;
  constexpr explicit Sharded(Verdict const& v) : verdict(v) {}
};

/// What a derivative does not use, of element type `T`.
template <class T>
struct Unused : Term {
  using element = T;
};

/// The common element type of the arguments of a function: that of the first that is no number.
template <class... As>
struct CommonOf {
  using type = void;
};
template <class A, class... Rest>
struct CommonOf<A, Rest...> : CommonOf<Rest...> {};
template <class T, class... Rest>
struct CommonOf<Element<T>, Rest...> {
  using type = T;
};
template <class F, class... As>
struct CommonFor : CommonOf<As...> {};
template <class P, class... As>
struct CommonFor<functions::Where, P, As...> : CommonOf<As...> {};

/// An argument as an element of type `T`.
template <class T, class A>
KOKKOS_FUNCTION constexpr auto element_of(A const& a) {
  if constexpr (is_one_element<A>) {
    return a.value;
  } else if constexpr (std::is_same_v<A, op::Zero>) {
    return T{};
  } else {
    return kernels::detail::converted<T>(a);
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
  Sharded const in[] = {sharding_of(as)...};
  rules::Operands operands;
  for (Sharded const& s : in) {
    if (!s.verdict) return s;
    operands.push(s.verdict.result, s.zero);
  }
  Verdict v = rules::elementwise(operands, shardtype::detail::LinearityOf<F, double>::value);
  if (v)
    for (Sharded const& s : in) {
      v.result.local = v.result.local || s.verdict.result.local;
      for (int x = 0; x < max_axes; ++x)
        if (s.verdict.result.varying.contains(x))
          v.result.varying.insert(x), v.result.reduced.erase(x);
    }
  return Sharded(v);
}

/// `where(p, a, b)` of elements of type `T`.
template <class T, class P, class A, class B>
KOKKOS_FUNCTION constexpr auto chosen(P const& p, A const& a, B const& b) {
  return kernels::apply(functions::Where{}, element_of<bool>(p), element_of<T>(a),
                        element_of<T>(b));
}

/// The function `f` of elements, shardings or tensors, and numbers.
template <class F, class... As>
KOKKOS_FUNCTION constexpr auto on(F const& f, As const&... as) {
  if constexpr ((is_one_element<As> || ...)) {
    using T = typename CommonFor<F, As...>::type;
    auto const y = [&] {
      if constexpr (std::is_same_v<F, functions::Where>) {
        return autodiff::chosen<T>(as...);
      } else {
        return kernels::apply(f, element_of<T>(as)...);
      }
    }();
    return Element<std::remove_cvref_t<decltype(y)>>(y);
  } else if constexpr ((shardtype::detail::is_number<As> && ...)) {
    using T = std::common_type_t<As...>;
    return kernels::apply(f, static_cast<T>(as)...);
  } else if constexpr ((std::is_same_v<As, Sharded> || ...)) {
    return rule_on<F>(as...);
  } else {
    return shardtype::detail::fuse(f, as...);
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
template <class A, class B>
  requires SomeTerm<A, B>
KOKKOS_FUNCTION constexpr auto operator+(A const& a, B const& b) {
  return autodiff::on(functions::Add{}, a, b);
}
template <class A, class B>
  requires SomeTerm<A, B>
KOKKOS_FUNCTION constexpr auto operator-(A const& a, B const& b) {
  return autodiff::on(functions::Subtract{}, a, b);
}
template <class A, class B>
  requires SomeTerm<A, B>
KOKKOS_FUNCTION constexpr auto operator*(A const& a, B const& b) {
  return autodiff::on(functions::Multiply{}, a, b);
}
template <class A, class B>
  requires SomeTerm<A, B>
KOKKOS_FUNCTION constexpr auto operator/(A const& a, B const& b) {
  return autodiff::on(functions::Divide{}, a, b);
}
template <class A>
  requires SomeTerm<A>
KOKKOS_FUNCTION constexpr auto operator-(A const& a) {
  return autodiff::on(functions::Negate{}, a);
}

/// What a derivative uses besides the cotangent: bit 0 the function's result, bit 1 + k its argument
/// k.
inline constexpr unsigned uses_nothing = 0;
inline constexpr unsigned uses_result = 1;
inline constexpr unsigned uses_a = 2;
inline constexpr unsigned uses_b = 4;
inline constexpr unsigned uses_c = 8;

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
/// `auto`, which `on(functions::Exp{}, x)` calls. Specialise it for a function of your own, with the
/// base `Using<masks...>` that says of each argument what its pull reads; the others are not there.
template <class F>
struct Derivative {
  static constexpr bool exists = false;
};

}  // namespace shardtype::autodiff
