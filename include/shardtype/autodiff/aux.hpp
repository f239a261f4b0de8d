#pragma once
/// The values that a function returns beside its loss.

#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/active.hpp>
#include <shardtype/autodiff/container.hpp>

namespace shardtype {

/// Says that a function whose gradient is wanted gives a pair of a loss and other values, such as
/// metrics: `value_and_grad<0>(f, has_aux)`.
struct HasAux {};
inline constexpr HasAux has_aux{};

namespace autodiff {

/// A function that gives a loss and other values: a pair, or a tuple that begins with the loss.
template <class F>
struct WithAux : shardtype::detail::OrWithout<F> {
  using shardtype::detail::OrWithout<F>::OrWithout;
};
template <class F>
inline constexpr bool gives_aux = false;
template <class F>
inline constexpr bool gives_aux<WithAux<F>> = true;
template <class F>
inline constexpr bool gives_aux<Overlapped<F>> = gives_aux<F>;
template <class F>
inline constexpr bool gives_aux<Joined<F>> = gives_aux<F>;

/// The loss in what a function gives.
template <class R>
struct LossIn {
  static constexpr bool is_pair = false;
};
template <class L, class Aux>
struct LossIn<std::pair<L, Aux>> {
  static constexpr bool is_pair = true;
};
template <class L, class Aux, class... More>
struct LossIn<std::tuple<L, Aux, More...>> {
  static constexpr bool is_pair = true;
};

/// Values of level `Top` without gradients, alone or in arrays, vectors, pairs and tuples; others
/// as they are.
template <int Top, class A>
constexpr auto without_gradient(A const& a);
template <int Top, class A>
struct Plain {
  static constexpr auto of(A const& a) {
    if constexpr (Top > 0 && level<A> == Top) {
      return a.tensor().value();
    } else if constexpr (requires { a.tensor(); }) {
      return std::remove_cvref_t<decltype(a.tensor())>(a.tensor());
    } else {
      return a;
    }
  }
};
template <int Top>
struct WithoutGradient {
  template <class A>
  using of = decltype(autodiff::without_gradient<Top>(std::declval<A const&>()));
};
template <int Top, StdContainer C>
struct Plain<Top, C> {
  static constexpr auto of(C const& c) {
    return Container<C>::template build<
        typename Container<C>::template with<WithoutGradient<Top>::template of>>(
        []<class A>(Type<A>, auto const&, A const& a) {
          return autodiff::without_gradient<Top>(a);
        },
        c);
  }
};
template <int Top, class A>
constexpr auto without_gradient(A const& a) {
  return Plain<Top, A>::of(a);
}

/// The values beside the loss, without gradients: the second of a pair, or a tuple of the rest.
template <int Top, class L, class Aux>
constexpr auto aux_of(std::pair<L, Aux> const& both) {
  return autodiff::without_gradient<Top>(both.second);
}
template <int Top, class L, class Aux, class... More>
constexpr auto aux_of(std::tuple<L, Aux, More...> const& each) {
  return std::apply(
      [](L const&, auto const&... a) { return std::tuple(autodiff::without_gradient<Top>(a)...); },
      each);
}

}  // namespace autodiff

}  // namespace shardtype
