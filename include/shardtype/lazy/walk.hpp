#pragma once
/// Visits the values of an expression, operands first: at compile time, by its type alone, to write
/// the program; at run time to collect the tensors and functions, in the same order.

#include <utility>

#include <shardtype/lazy/expression.hpp>
#include <shardtype/plan/program_builder.hpp>

namespace shardtype::detail {

/// The operands of a function or a product.
struct WalkedOperands {
  int size = 0;
  static constexpr int most = 32;
  int at[most]{};
  constexpr void push(int value) {
    if (size < most) at[size++] = value;
  }
};

/// Calls `visitor.visit(e, operands)` for each value of the expression `e` (of which only the type
/// is known if it is null), operands first; returns the visitor's result for the whole expression.
/// A visitor that is `full()` visits no more.
template <class V, class E>
constexpr int walk(V& visitor, E const* e);

/// Whether operand `K` of the expression `E` is no value of its own, but part of E's: of a kernel,
/// or of a chain of products.
template <class E, int K, class A>
constexpr bool is_part() {
  if constexpr (is_lazy_map<E>) {
    return is_lazy_map<A>;
  } else if constexpr (Chain<E>::product) {
    return Chain<E>::joins(K);
  } else {
    return false;
  }
}
template <class... As>
constexpr std::make_integer_sequence<int, static_cast<int>(sizeof...(As))> numbers_of(Pack<As...>) {
  return {};
}
/// Whether `E` has one operand, a value of its own.
template <class E, class Operands>
inline constexpr bool one_value = false;
template <class E, class A>
inline constexpr bool one_value<E, Pack<A>> = is_lazy<A> && !detail::is_part<E, 0, A>();

// Functions and no lambdas, because compilers bound how deep a constant calls: so long may an
// expression be.
template <class V, class E, class... As, int... K>
constexpr void walk_operands(V& visitor, E const* e, Pack<As...>, std::integer_sequence<int, K...>,
                             WalkedOperands& to);
template <int K, class A, class V, class E>
constexpr void walk_operand(V& visitor, [[maybe_unused]] E const* e, WalkedOperands& to) {
  [[maybe_unused]] A const* a = nullptr;
  if constexpr (is_lazy<A>)
    if (e != nullptr) a = &e->template argument<K>();
  if constexpr (detail::is_part<E, K, A>()) {
    detail::walk_operands(visitor, a, typename A::operands{},
                          detail::numbers_of(typename A::operands{}), to);
  } else if constexpr (is_lazy<A>) {
    to.push(detail::walk(visitor, a));
  }
}
/// The operands of `e`, from left to right: of a kernel in the order of its slots, of a chain of
/// products its factors.
template <class V, class E, class... As, int... K>
constexpr void walk_operands(V& visitor, [[maybe_unused]] E const* e, Pack<As...>,
                             std::integer_sequence<int, K...>, WalkedOperands& to) {
  (detail::walk_operand<K, As>(visitor, e, to), ...);
}

template <class V, class E>
constexpr int walk_node(V& visitor, E const* e) {
  using Operands = typename E::operands;
  WalkedOperands operands;
  if constexpr (one_value<E, Operands>) {
    operands.push(detail::walk(visitor, e == nullptr ? nullptr : &e->template argument<0>()));
  } else {
    detail::walk_operands(visitor, e, Operands{}, detail::numbers_of(Operands{}), operands);
  }
  return visitor.visit(e, operands);
}
template <class V, class Whole, class A>
constexpr int walk_node(V& visitor, LazyTranspose<Whole, A> const* e) {
  return detail::walk(visitor, e == nullptr ? nullptr : &e->template argument<0>());
}
template <class V, class Tag, class A>
constexpr int walk_node(V& visitor, LazyShared<Tag, A> const* e) {
  A const* const a = e == nullptr ? nullptr : &e->a();
  int known = -1;
  if (visitor.is_known(identity<LazyShared<Tag, A>>, a, known)) return known;
  return visitor.share(identity<LazyShared<Tag, A>>, a, detail::walk(visitor, a));
}

/// A value of a program under way: it is known, and nothing is visited.
template <class V, class Whole, class Pin, class Varies, class Recorder>
constexpr int walk_node(V& visitor,
                        automatic_mode::RecordedValue<Whole, Pin, Varies, Recorder> const* e) {
  return visitor.number_of(*e);
}

/// A result of a recorded operation whose value is `made`, or is walked if that is negative. The
/// first result is that value; others are values that read it.
template <class V, std::size_t R, class Whole, class Node>
constexpr int walk_result(V& visitor, LazyResult<R, Whole, Node> const* e, int& made) {
  if (made < 0)
    made = detail::walk(visitor, e == nullptr ? nullptr : &e->node());
  else
    visitor.read_again(made);
  if constexpr (R == 0) {
    return made;
  } else {
    WalkedOperands operands;
    operands.push(made);
    return visitor.visit(e, operands);
  }
}
template <class V, class E>
constexpr int walk_result(V& visitor, E const* e, int&) {
  return detail::walk(visitor, e);
}
template <class V, std::size_t R, class Whole, class Node>
constexpr int walk_node(V& visitor, LazyResult<R, Whole, Node> const* e) {
  int made = -1;
  return detail::walk_result(visitor, e, made);
}
/// An operation that says which of its operands are the results of one call, `Op::results_from` to
/// `Op::results_to`: that call is one value.
template <class V, class E, class Op, class... As>
constexpr int walk_with_results(V& visitor, E const* e, Type<Op>, Pack<As...>) {
  WalkedOperands operands;
  int made = -1;
  auto const each = [&]<int K, class A>(Type<A>, std::integral_constant<int, K>) {
    A const* const a = e == nullptr ? nullptr : &e->template argument<K>();
    if constexpr (K >= Op::results_from && K < Op::results_to) {
      operands.push(detail::walk_result(visitor, a, made));
    } else {
      operands.push(detail::walk(visitor, a));
    }
  };
  [&]<int... K>(std::integer_sequence<int, K...>) {
    (each(Type<As>{}, std::integral_constant<int, K>{}), ...);
  }(detail::numbers_of(Pack<As...>{}));
  return visitor.visit(e, operands);
}
template <class V, class Op, class Whole, class... As>
  requires(Op::results_from < Op::results_to)
constexpr int walk_node(V& visitor, LazyOperation<Op, Whole, As...> const* e) {
  return detail::walk_with_results(visitor, e, Type<Op>{}, Pack<As...>{});
}
template <class V, class Op, class Results, class Result, class... As>
  requires(Op::results_from < Op::results_to)
constexpr int walk_node(V& visitor, LazyOwnCall<Op, Results, Result, As...> const* e) {
  return detail::walk_with_results(visitor, e, Type<Op>{}, Pack<As...>{});
}

template <class V, class E>
constexpr int walk(V& visitor, E const* e) {
  if constexpr (requires { visitor.full(); })
    if (visitor.full()) return 0;
  if constexpr (E::found_again && is_determined<E>) {
    int known = -1;
    if (visitor.found(identity<E>, known)) return known;
    int const value = detail::walk_node(visitor, e);
    visitor.remember(identity<E>, value);
    return value;
  } else {
    return detail::walk_node(visitor, e);
  }
}

}  // namespace shardtype::detail
