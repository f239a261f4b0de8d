#pragma once
/// Whether a user's function accepts given arguments.

#include <type_traits>
#include <utility>

#include <shardtype/check/misused.hpp>

namespace shardtype::detail {

/// Result of a call of `or_not_taken(f)` if `f` does not accept the arguments.
struct NotTaken {};
/// `F` with a fallback to an ellipsis, which is chosen only if `F` does not accept the arguments.
/// This test instantiates the body of a generic lambda just as its call does, so a refusal in the
/// body is reported; in a requires-expression clang would take it for a negative answer.
template <class F>
struct OrNotTaken {
  NotTaken operator()(...) const;
};
template <class F>
  requires(std::is_class_v<F> && !std::is_final_v<F>)
struct OrNotTaken<F> : F {
  using F::operator();
  NotTaken operator()(...) const;
};
template <class R, class... Args>
struct OrNotTaken<R(Args...)> {
  R operator()(Args...) const;
  NotTaken operator()(...) const;
};
template <class R, class... Args>
struct OrNotTaken<R (*)(Args...)> : OrNotTaken<R(Args...)> {};
/// Not defined.
template <class F>
OrNotTaken<F> const& or_not_taken(F const&);

template <class Given>
inline constexpr bool not_taken = std::is_same_v<Given, NotTaken>;

/// The overload that is called if a function does not accept the arguments. It is a template whose
/// parameters need conversions, so that any other function is the better match.
struct WithoutTaker {
  using Any = checking::Anything;
  template <class... None>
  constexpr NotTaken operator()(Any const&, Any const& = {}, Any const& = {}, Any const& = {},
                                Any const& = {}, Any const& = {}, Any const& = {},
                                Any const& = {}) const {
    return {};
  }
};
/// `F`, whose call gives NotTaken if it does not accept the arguments. To ask before the call would
/// put a line above each refusal in the body of F.
template <class F>
struct OrWithout {
  F f;
  constexpr explicit OrWithout(F of) : f(std::move(of)) {}
  template <class... Args>
  constexpr decltype(auto) operator()(Args&&... args) const {
    return f(std::forward<Args>(args)...);
  }
};
template <class F>
  requires(std::is_class_v<F> && !std::is_final_v<F> && !std::is_base_of_v<WithoutTaker, F>)
struct OrWithout<F> : F, WithoutTaker {
  constexpr explicit OrWithout(F of) : F(std::move(of)) {}
  using F::operator();
  using WithoutTaker::operator();
};
template <class F>
  requires(std::is_base_of_v<WithoutTaker, F> && !std::is_final_v<F>)
struct OrWithout<F> : F {
  constexpr explicit OrWithout(F of) : F(std::move(of)) {}
  using F::operator();
};
template <class R, class... Args>
struct OrWithout<R (*)(Args...)> : WithoutTaker {
  R (*f)(Args...);
  constexpr explicit OrWithout(R (*of)(Args...)) : f(of) {}
  using WithoutTaker::operator();
  constexpr R operator()(Args... args) const { return f(std::forward<Args>(args)...); }
};

/// Whether `F`, or a reference to it, accepts these arguments. Without arguments, overload
/// resolution cannot prefer F to the ellipsis.
template <class F, class... Args>
constexpr bool takes() {
  if constexpr (sizeof...(Args) == 0) {
    return std::is_invocable_v<F>;
  } else {
    using Plain = std::remove_reference_t<F>;
    using Or = std::conditional_t<std::is_const_v<Plain>,
                                  OrNotTaken<std::remove_const_t<Plain>> const, OrNotTaken<Plain>>;
    return !not_taken<decltype(std::declval<Or&>()(std::declval<Args>()...))>;
  }
}

}  // namespace shardtype::detail
