#pragma once
/// Whether a user's function takes the arguments that it would be given.

#include <type_traits>
#include <utility>

namespace shardtype::detail {

/// What a call of `or_not_taken(f)` gives where `f` does not take the arguments.
struct NotTaken {};
/// `F`, or else the ellipsis, which is taken only where `F` cannot be. To ask like this makes the body of a generic
/// lambda once, as its call does, and a refusal in it is no answer: of a requires-expression clang would take it for
/// one.
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
/// Has no body.
template <class F>
OrNotTaken<F> const& or_not_taken(F const&);

template <class Given>
inline constexpr bool not_taken = std::is_same_v<Given, NotTaken>;

/// Whether `F`, or a reference to it, takes these arguments. Without arguments F and the ellipsis are alike.
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
