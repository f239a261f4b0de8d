#pragma once
/// Values of a program that is written while its function runs: loops and branches are those of
/// this call, a value that several read is one, and types do not grow with the program.

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/check/refused.hpp>
#include <shardtype/lazy/expression.hpp>

namespace shardtype::automatic_mode {

/// A gradient flows through a value of a program under way.
struct Flows {};
/// It should, but the expression `E` has none.
template <class E>
struct HasNoGradient {};

/// A value of the program that `Recorder` writes. `Pin`: the Tensor type in whose sharding it is
/// computed; void if the planner chooses. `Varies`: void if it hangs on no argument whose gradient
/// is wanted, else Flows or HasNoGradient.
///
/// `Recorder::record(e)` adds the value of the expression `e` and gives its number; `record(e,
/// made)` a further result of the operation of value `made`. `varies<E>` is that of an expression.
template <class Whole, class Pin, class Varies, class Recorder>
class RecordedValue : public LazyOf<RecordedValue<Whole, Pin, Varies, Recorder>, Whole> {
 public:
  using pin = Pin;
  using recorder = Recorder;
  using varies = Varies;
  static constexpr bool determined = false;

  RecordedValue(Recorder& to, int number) : recorder_(&to), number_(number) {}
  /// As a value of which less is known: not its sharding, and that a gradient may flow.
  template <class P, class V>
    requires((std::is_void_v<Pin> || std::is_same_v<P, Pin>) &&
             (std::is_same_v<V, Varies> || (std::is_void_v<V> && std::is_same_v<Varies, Flows>)) &&
             !(std::is_same_v<P, Pin> && std::is_same_v<V, Varies>))
  RecordedValue(RecordedValue<Whole, P, V, Recorder> const& from)
      : recorder_(&from.recording()), number_(from.number()) {}
  template <class F, class... Args>
    requires(std::is_same_v<typename LazyMap<F, Args...>::whole, Whole> &&
             std::is_same_v<typename LazyMap<F, Args...>::recorder, Recorder>)
  RecordedValue(LazyMap<F, Args...> const& from) : RecordedValue(from.tensor()) {}

  Recorder& recording() const { return *recorder_; }
  int number() const { return number_; }
  /// As of a function of elements: the value.
  RecordedValue const& tensor() const { return *this; }

 private:
  Recorder* recorder_;
  int number_;
};

}  // namespace shardtype::automatic_mode

namespace shardtype::detail {

template <class E>
inline constexpr bool is_recorded_value = false;
template <class Whole, class Pin, class Varies, class Recorder>
inline constexpr bool
    is_recorded_value<automatic_mode::RecordedValue<Whole, Pin, Varies, Recorder>> = true;

/// The recorder of a program under way that `e` is part of.
template <class E>
typename E::recorder& recorder_of(E const& e);
template <int K = 0, class E, class A, class... As>
typename E::recorder& recorder_among(E const& e, Pack<A, As...>) {
  if constexpr (std::is_void_v<typename RecorderIn<A>::type>) {
    return detail::recorder_among<K + 1>(e, Pack<As...>{});
  } else {
    return detail::recorder_of(e.template argument<K>());
  }
}
template <class E>
typename E::recorder& recorder_of(E const& e) {
  if constexpr (is_recorded_value<E>) {
    return e.recording();
  } else {
    return detail::recorder_among(e, typename E::operands{});
  }
}

/// The type of an expression's value: of a program under way a RecordedValue, else the expression
/// itself.
template <class E>
constexpr auto recorded_type() {
  using R = typename E::recorder;
  if constexpr (std::is_void_v<R> || is_recorded_value<E>) {
    return Type<E>{};
  } else {
    return Type<automatic_mode::RecordedValue<typename E::whole, pin_t<E>,
                                              typename R::template varies<E>, R>>{};
  }
}
template <class E>
using as_recorded_t = typename decltype(detail::recorded_type<E>())::type;

/// The value of an expression; it is recorded if it belongs to a program under way.
template <class E>
  requires is_lazy<E>
as_recorded_t<E> as_recorded(E const& e) {
  using R = typename E::recorder;
  if constexpr (std::is_void_v<R> || is_recorded_value<E>) {
    return e;
  } else if constexpr (is_lazy_map<E>) {
    R& to = detail::recorder_of(e);
    if (*e.number < 0) *e.number = to.record(e);
    return {to, *e.number};
  } else {
    R& to = detail::recorder_of(e);
    return {to, to.record(e)};
  }
}

/// The results of a recorded operation, `Results` a std::tuple of tensors: a value each.
template <class Results, class Node, std::size_t... K>
auto recorded_results(std::shared_ptr<Node const> const& node, std::index_sequence<K...>) {
  using R = typename Node::recorder;
  R& to = detail::recorder_of(*node);
  int const made = to.record(*node);
  auto const one = [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
    using Whole = automatic_mode::whole_t<std::tuple_element_t<J, Results>>;
    using E = automatic_mode::LazyResult<J, Whole, Node>;
    if constexpr (J == 0) {
      using Varies = typename R::template varies<Node>;
      return automatic_mode::RecordedValue<Whole, pin_t<E>, Varies, R>(to, made);
    } else {
      using Varies = typename R::template varies<E>;
      return automatic_mode::RecordedValue<Whole, pin_t<E>, Varies, R>(to,
                                                                       to.record(E(node), made));
    }
  };
  return std::tuple(one(std::integral_constant<std::size_t, K>{})...);
}

}  // namespace shardtype::detail

namespace shardtype::automatic_mode {

template <class F, class... Args>
auto LazyMap<F, Args...>::tensor() const {
  return detail::as_recorded(*this);
}

}  // namespace shardtype::automatic_mode
