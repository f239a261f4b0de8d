#pragma once
/// Visits the values of an expression, operands first: at compile time, by its type alone, to write
/// the program; at run time to collect the tensors and functions, in the same order.

#include <type_traits>

#include <shardtype/lazy/expression.hpp>
#include <shardtype/plan/program_builder.hpp>

namespace shardtype::detail {

/// The operands of a function or a product.
struct WalkedOperands {
  int size = 0;
  int at[max_program_labels]{};
  constexpr void push(int value) {
    if (size < max_program_labels) at[size++] = value;
  }
};

/// Calls `visitor` for each value of the expression of type `E` (at `e`, or null), operands first;
/// returns the visitor's result for the whole expression.
template <class V, class E>
constexpr int walk(V& visitor, Type<E>, E const* e);

template <class V, class A>
constexpr void walk_factor(V& visitor, Type<A>, A const* a, WalkedOperands& to) {
  to.push(walk(visitor, Type<A>{}, a));
}
/// The factors of a chain of products, from left to right.
template <class V, class A, class B, class Whole>
constexpr void walk_chain(V& visitor, Type<LazyProduct<A, B, Whole>>,
                          LazyProduct<A, B, Whole> const* p, WalkedOperands& to) {
  using C = Chain<LazyProduct<A, B, Whole>>;
  A const* const a = p == nullptr ? nullptr : &p->a();
  B const* const b = p == nullptr ? nullptr : &p->b();
  if constexpr (C::joins_a) {
    walk_chain(visitor, Type<A>{}, a, to);
  } else {
    walk_factor(visitor, Type<A>{}, a, to);
  }
  if constexpr (C::joins_b) {
    walk_chain(visitor, Type<B>{}, b, to);
  } else {
    walk_factor(visitor, Type<B>{}, b, to);
  }
}

/// The operands of a kernel, in the order of its slots.
template <class V, class A>
constexpr void walk_argument(V& visitor, Type<A>, A const* a, WalkedOperands& to) {
  if constexpr (is_lazy<A>) to.push(walk(visitor, Type<A>{}, a));
}
template <class V, class F, class... Args>
constexpr void walk_argument(V& visitor, Type<LazyMap<F, Args...>>, LazyMap<F, Args...> const* m,
                             WalkedOperands& to) {
  [&]<int... K>(std::integer_sequence<int, K...>) {
    (walk_argument(visitor, Type<Args>{}, m == nullptr ? nullptr : &m->template argument<K>(), to),
     ...);
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Args))>{});
}

template <class V, class A>
constexpr int walk_node(V& visitor, Type<LazyTensor<A>>, LazyTensor<A> const* e) {
  return visitor.given(Type<A>{}, e);
}
template <class V, class A, int Number>
constexpr int walk_node(V& visitor, Type<LazyInput<A, Number>>, LazyInput<A, Number> const* e) {
  return visitor.given(Type<A>{}, e);
}
template <class V, class A, int Number>
constexpr int walk_node(V& visitor, Type<LazySymbol<A, Number>>, LazySymbol<A, Number> const* e) {
  return visitor.given(Type<A>{}, e);
}
template <class V, class A, class B, class Whole>
constexpr int walk_node(V& visitor, Type<LazyProduct<A, B, Whole>> t,
                        LazyProduct<A, B, Whole> const* e) {
  WalkedOperands operands;
  walk_chain(visitor, t, e, operands);
  return visitor.product(Type<Whole>{}, operands);
}
template <class V, class F, class... Args>
constexpr int walk_node(V& visitor, Type<LazyMap<F, Args...>> t, LazyMap<F, Args...> const* e) {
  WalkedOperands operands;
  walk_argument(visitor, t, e, operands);
  return visitor.map(t, operands, e);
}
/// The arguments `As` of `e`, one operand each.
template <class V, class E, class... As>
constexpr WalkedOperands walk_arguments(V& visitor, E const* e, Pack<As...>) {
  WalkedOperands operands;
  [&]<int... K>(std::integer_sequence<int, K...>) {
    (operands.push(walk(visitor, Type<As>{}, e == nullptr ? nullptr : &e->template argument<K>())),
     ...);
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{});
  return operands;
}
template <class V, class Op, class Whole, class... As>
constexpr int walk_node(V& visitor, Type<LazyOperation<Op, Whole, As...>> t,
                        LazyOperation<Op, Whole, As...> const* e) {
  return visitor.operation(t, walk_arguments(visitor, e, Pack<As...>{}), e);
}
template <class V, class F, class Result, class... As>
constexpr int walk_node(V& visitor, Type<LazyShardMap<F, Result, As...>> t,
                        LazyShardMap<F, Result, As...> const* e) {
  return visitor.shard_map(t, walk_arguments(visitor, e, Pack<As...>{}), e);
}
template <class V, class F, class Whole, class A>
constexpr int walk_node(V& visitor, Type<LazyReduction<F, Whole, A>> t,
                        LazyReduction<F, Whole, A> const* e) {
  return visitor.reduction(t, walk(visitor, Type<A>{}, e == nullptr ? nullptr : &e->a()));
}
template <class V, class Whole, class A>
constexpr int walk_node(V& visitor, Type<LazyRelabel<Whole, A>> t, LazyRelabel<Whole, A> const* e) {
  return visitor.relabel(t, walk(visitor, Type<A>{}, e == nullptr ? nullptr : &e->a()));
}
template <class V, class Whole, class A>
constexpr int walk_node(V& visitor, Type<LazyTranspose<Whole, A>>,
                        LazyTranspose<Whole, A> const* e) {
  return walk(visitor, Type<A>{}, e == nullptr ? nullptr : &e->a());
}
template <class V, class Pin, class A>
constexpr int walk_node(V& visitor, Type<LazyConstrained<Pin, A>>,
                        LazyConstrained<Pin, A> const* e) {
  return visitor.constrain(Type<Pin>{}, walk(visitor, Type<A>{}, e == nullptr ? nullptr : &e->a()));
}
template <class V, class Tag, class A>
constexpr int walk_node(V& visitor, Type<LazyShared<Tag, A>>, LazyShared<Tag, A> const* e) {
  A const* const a = e == nullptr ? nullptr : &e->a();
  int known = -1;
  if (visitor.is_known(identity<LazyShared<Tag, A>>, a, known)) return known;
  return visitor.share(identity<LazyShared<Tag, A>>, a, walk(visitor, Type<A>{}, a));
}

template <class V, class E>
constexpr int walk(V& visitor, Type<E>, E const* e) {
  if constexpr (is_found_again<E>) {
    int known = -1;
    if (visitor.found(identity<E>, known)) return known;
    int const value = walk_node(visitor, Type<E>{}, e);
    visitor.remember(identity<E>, value);
    return value;
  } else {
    return walk_node(visitor, Type<E>{}, e);
  }
}

}  // namespace shardtype::detail
