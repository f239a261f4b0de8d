#pragma once
/// From an operation and its operand types to the rule's verdict, and from a refusal to its
/// sentence with the user's types.

#include <type_traits>

#include <shardtype/check/sentences.hpp>
#include <shardtype/core/bridge.hpp>
#include <shardtype/plan/plan.hpp>
#include <shardtype/rules/laws.hpp>

namespace shardtype {

namespace detail {

template <class T>
struct ElementOf;
template <template <class, class...> class Any, class T, class... Parts>
struct ElementOf<Any<T, Parts...>> {
  using type = T;
};

/// Whether both tensors have the same memory. Numbers match any.
template <class A, class B>
inline constexpr bool same_memory = true;
template <class A, class B>
  requires(is_tensor<A> && is_tensor<B>)
inline constexpr bool same_memory<A, B> = Scope<A>::parsed[0].memory == Scope<B>::parsed[0].memory;

/// Whether both tensors have the same element type and memory.
template <class A, class B>
inline constexpr bool same_element =
    std::is_same_v<typename ElementOf<A>::type, typename ElementOf<B>::type> && same_memory<A, B>;

/// The Tensor type of a named result: a Tensor type unchanged, or dims and attributes with elements
/// `T` and the memory of `Like`.
template <class T, class Like, class... Parts>
struct NamedAs : Only<decltype(detail::as_tensor<Like, T>(
                     Pack<Parts...>{}, detail::memory_of(hana::basic_type<Like>{})))> {};
template <class T, class Like, class Out>
  requires is_tensor<Out>
struct NamedAs<T, Like, Out> {
  using type = Out;
};
template <class T, class Like, class... Parts>
using named_as_t = typename NamedAs<T, Like, Parts...>::type;

/// Whether `A` is a value of manual mode: a Local, or a Tensor that varies over manual axes.
template <class A>
constexpr bool is_of_manual_mode() {
  if constexpr (is_tensor<A> && !is_local<A>) {
    return !Scope<A>::parsed[0].spec.varying.empty();
  } else {
    return is_local<A>;
  }
}

template <class S, int Label>
constexpr auto fault_label() {
  if constexpr (Label >= 0) {
    return detail::label_type<S, Label>();
  } else {
    return Pack<>{};
  }
}
template <class S, int Axis>
constexpr auto fault_axis() {
  if constexpr (Axis >= 0) {
    return detail::axis_type<S, Axis>();
  } else {
    return Pack<>{};
  }
}

template <Code C, class... YourTypes>
refused<C, false, YourTypes...>* refused_for(Pack<YourTypes...>);

}  // namespace detail

namespace checking {

/// The dims and attributes `Parts`, or the Tensor type, as a result like `Like`.
template <class Like, class... Parts>
using named_t = detail::named_as_t<typename detail::ElementOf<Like>::type, Like, Parts...>;

/// The element type of a Tensor type.
template <class T>
using element_t = typename detail::ElementOf<T>::type;

/// The sentence for the refusal of `R` (a Resolve). Its arguments are `Types`, the indices at fault
/// and, last, the axis at fault.
template <class R, class... Types>
using refusal = std::remove_pointer_t<decltype(detail::refused_for<R::verdict.code>(
    detail::Pack<Types...>{} | detail::fault_label<typename R::S, R::verdict.label>() |
    detail::fault_label<typename R::S, R::verdict.other>() |
    detail::fault_axis<typename R::S, R::verdict.axis>()))>;

}  // namespace checking

namespace detail {

/// A scope without tensors, for refusals before there are any.
using NoScope = Scope<>;
/// A Resolve that refuses with `C`, without an index or axis.
template <Code C>
struct Plainly {
  using S = NoScope;
  static constexpr Verdict verdict = refuse(C);
};
/// A Resolve that refuses because one of `Operands` is not a Tensor, or not yet one.
template <class... Operands>
inline constexpr Code no_tensor =
    (is_pending<Operands> || ...)                           ? Code::A04_under_way
    : (is_lazy<Operands> || ...)                            ? Code::L01_not_recorded
    : ((is_tensor<Operands> && !is_local<Operands>) && ...) ? Code::T18_lacks_a_member
                                                            : Code::T09_not_a_tensor;
template <class... Operands>
using NotATensor = Plainly<no_tensor<Operands...>>;
/// A Resolve that refuses because `A` is not a Local.
template <class A>
struct NotALocal : NotATensor<A> {};
template <class A>
  requires is_tensor<A>
struct NotALocal<A> : Plainly<Code::V01_mixed> {};

/// The sharding that `Rule` accepts, as a type.
template <class Rule>
struct Accepted {
  static constexpr auto const& value = Rule::verdict.result;
};
/// The type of the result that `Rule` accepts: elements `T`, and all else as `Like`.
template <class Rule, class T, class Like>
using accepted_t = tensor_from_spec<typename Rule::S, Accepted<Rule>, T, Like>;

/// A tensor like `A`, with elements `T`.
template <class A, class T>
struct WithElements {
  using S = Scope<A>;
  static constexpr Spec value = S::template spec<0>;
  using type = tensor_from_spec<S, WithElements, T, A>;
};
template <class A, class T>
using with_elements = typename WithElements<A, T>::type;

template <bool accepted>
struct Resolved {
  template <class Result, class Rule>
  using of = Result;
};
template <>
struct Resolved<false> {
  template <class Result, class Rule>
  using of = Rule;
};
/// The result of Resolve: `Result<Rule, More...>`; if `Rule` refuses, the Rule itself, which has no
/// result.
template <template <class...> class Result, class Rule, class... More>
using resolved_t = typename Resolved<bool(Rule::verdict)>::template of<Result<Rule, More...>, Rule>;

}  // namespace detail

namespace checking {

/// The operation `Op` on `Operands`, decided by the rules: `verdict` and, if that accepts, `result`
/// (a Tensor type) and `make_plan(sizing, machine)`. Specialised per operation, for tensors.
template <class Op, class... Operands>
struct Resolve : detail::NotATensor<Operands...> {};

}  // namespace checking

}  // namespace shardtype
