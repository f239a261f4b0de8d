#pragma once
/// The computation of an elementwise expression, apart from the shardings of its operands, and the
/// kernel's expression for it. Expressions of the same functions and element types share it.

#include <type_traits>
#include <utility>

#include <shardtype/check/elementwise.hpp>
#include <shardtype/core/kept.hpp>
#include <shardtype/kernels/expression.hpp>

namespace shardtype::detail {

/// A tensor with elements of type `T`.
template <class T>
struct FusedLeaf {};
/// A function of tensors, numbers and further functions. `T`: the element type of numbers.
template <class F, class T, class... Parts>
struct FusedPart {
  F function;
  core::Kept<Parts...> args;
};

/// Number of a kernel's slots that a part reads.
template <class A>
inline constexpr int slots_of = 1;
template <class N>
inline constexpr int slots_of<Number<N>> = 0;
template <class F, class T, class... Parts>
inline constexpr int slots_of<FusedPart<F, T, Parts...>> = (slots_of<Parts> + ... + 0);
/// Number of slots of the arguments before the `K`-th.
template <class... Args>
constexpr int slots_before(int k) {
  int const each[] = {slots_of<Args>..., 0};
  int sum = 0;
  while (k > 0) sum += each[--k];
  return sum;
}

/// Converts a part to a part of a kernel: its kernel expression, and the element types that it
/// reads from slot `First` on. `T` is the element type of numbers.
template <class A, int First, class T>
struct Lowered;
template <class U, int First, class T>
struct Lowered<FusedLeaf<U>, First, T> {
  using types = kernels::Elements<U>;
  using expression = kernels::Leaf<U, First>;
  static expression make(FusedLeaf<U> const&) { return {}; }
};
template <class N, int First, class T>
struct Lowered<Number<N>, First, T> {
  using types = kernels::Elements<>;
  using expression = kernels::Constant<T>;
  static expression make(Number<N> const& n) {
    if constexpr (std::is_same_v<N, op::Zero>) {
      return {T{}};
    } else {
      return {kernels::detail::converted<T>(n.value)};
    }
  }
};

/// The element type of a number as argument `K` of `F` with elements `T`: bool for the condition of
/// a `where`.
template <class F, int K, class T>
using number_element = std::conditional_t<std::is_same_v<F, functions::Where> && K == 0, bool, T>;
/// A function of arguments; `T` is the element type of numbers among them.
template <class Order, class F, class T, int First, class... Args>
struct LoweredFunction;
template <int... K, class F, class T, int First, class... Args>
struct LoweredFunction<std::integer_sequence<int, K...>, F, T, First, Args...> {
  template <int J, class A>
  using argument = Lowered<A, First + detail::slots_before<Args...>(J), number_element<F, J, T>>;
  using types = decltype((kernels::Elements<>{} + ... + typename argument<K, Args>::types{}));
  using expression =
      kernels::Node<std::integer_sequence<int, K...>, F, typename argument<K, Args>::expression...>;
  static expression make(F const& function, core::Kept<Args...> const& args) {
    return expression(function, argument<K, Args>::make(
                                    static_cast<core::KeptAt<K, Args> const&>(args).value)...);
  }
};
template <class F, class T, int First, class... Args>
using lowered_function =
    LoweredFunction<std::make_integer_sequence<int, static_cast<int>(sizeof...(Args))>, F, T, First,
                    Args...>;
template <class F, class U, class... Parts, int First, class T>
struct Lowered<FusedPart<F, U, Parts...>, First, T> : lowered_function<F, U, First, Parts...> {
  static auto make(FusedPart<F, U, Parts...> const& f) {
    return lowered_function<F, U, First, Parts...>::make(f.function, f.args);
  }
};

}  // namespace shardtype::detail
