#pragma once
/// Elementwise expressions as trees of operands, numbers and functions.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/functions.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/truths.hpp>
#include <shardtype/kernels/vector_functions.hpp>

namespace shardtype::kernels {

namespace detail {

/// The type in which a function of such elements is computed in vectors, if it is.
template <class F, class... Ts>
struct InVectors {
  using Type = void;
};
template <class F, class T, class... Ts>
  requires(std::is_same_v<shardtype::detail::computed_t<T>, shardtype::detail::computed_t<Ts>> &&
           ...)
struct InVectors<F, T, Ts...> {
  using Computed = shardtype::detail::computed_t<T>;
  using Type = std::conditional_t<vectors::vectorised<F, Computed>, Computed, void>;
};

}  // namespace detail

// Expressions. `staged`: whether one has functions that are computed in vectors, for a block of
// elements at once (kernels/staged.hpp).

/// An operand in memory, the `Slot`-th of its expression.
template <class T, int Slot>
struct Leaf {
  static constexpr bool staged = false;
  static constexpr int slot = Slot;
  KOKKOS_FUNCTION T at(void const* const* in, std::int64_t k) const {
    if constexpr (std::is_same_v<T, bool>) {
      return Truths{in[Slot]}[k];
    } else {
      return static_cast<T const*>(in[Slot])[k];
    }
  }
};

/// A number.
template <class T>
struct Constant {
  static constexpr bool staged = false;
  T value;
  KOKKOS_FUNCTION T at(void const* const*, std::int64_t) const { return value; }
};

template <int K, class A>
struct Argument {
  A expression;
};

/// A function of expressions.
template <class Order, class F, class... Args>
struct Node;
template <int... K, class F, class... Args>
struct Node<std::integer_sequence<int, K...>, F, Args...> : Argument<K, Args>... {
  /// The type in which `F` is computed in vectors, or void.
  using Computed = typename detail::InVectors<
      F, std::remove_cvref_t<decltype(std::declval<Args const&>().at(nullptr, 0))>...>::Type;
  static constexpr bool in_vectors = !std::is_void_v<Computed>;
  static constexpr bool staged = in_vectors || (Args::staged || ...);
  F function;
  KOKKOS_FUNCTION Node(F const& f, Args const&... args) : Argument<K, Args>{args}..., function(f) {}
  KOKKOS_FUNCTION auto at(void const* const* in, std::int64_t k) const {
    return of(static_cast<Argument<K, Args> const&>(*this).expression.at(in, k)...);
  }
  /// The function of one element.
  template <class... Ts>
  KOKKOS_FUNCTION auto of(Ts const&... x) const {
    if constexpr (!in_vectors) {
      return kernels::apply(function, x...);
    } else if constexpr ((shardtype::detail::is_converted<Ts> || ...)) {
      return bfloat16(vectors::one<F>(static_cast<Computed>(x)...));
    } else {
      return vectors::one<F>(x...);
    }
  }
};

/// A part that is computed once for each block, wherever the expression has one of this type: all
/// of them have the same value (kernels/once.hpp).
template <class E>
struct Once {
  using value_type = std::remove_cvref_t<decltype(std::declval<E const&>().at(nullptr, 0))>;
  static constexpr bool staged = true;
  E expression;
  KOKKOS_FUNCTION auto at(void const* const* in, std::int64_t k) const {
    return expression.at(in, k);
  }
};
/// The elements of such a part for the block that is computed.
template <class T, int Slot>
struct BlockLeaf {
  static constexpr bool staged = true;
  T at(void const* const* in, std::int64_t k) const { return static_cast<T const*>(in[Slot])[k]; }
};

/// The element types of an expression's operands, by slot.
template <class... Ts>
struct Elements {
  static constexpr int count = static_cast<int>(sizeof...(Ts));
};

template <class... A, class... B>
constexpr Elements<A..., B...> operator+(Elements<A...>, Elements<B...>) {
  return {};
}

/// The size of an array with one entry per operand, at least one.
constexpr std::size_t at_least_one(int count) {
  return static_cast<std::size_t>(count > 0 ? count : 1);
}

/// Data and strides of the operands: for each its first element, and its stride in elements along
/// each dim of the result; 0 along dims that it lacks.
template <int Count>
struct Sources {
  void const* data[at_least_one(Count)]{};
  std::int64_t stride[at_least_one(Count)][max_dims]{};
};

/// The elements of an expression whose operands have the same layout, read like memory. A `staged`
/// one is rather computed by blocks (`compute` of kernels/staged.hpp).
template <class E, int Count>
struct ExpressionAt {
  static constexpr bool staged = E::staged;
  E expression;
  void const* from[at_least_one(Count)]{};
  std::int64_t offset = 0;

  KOKKOS_FUNCTION ExpressionAt operator+(std::int64_t by) const {
    ExpressionAt out = *this;
    out.offset += by;
    return out;
  }
  KOKKOS_FUNCTION auto operator[](std::int64_t k) const { return expression.at(from, offset + k); }
};

/// Host: the elements of an expression without its type, counted in the order of its packed result,
/// and computed by blocks (`compute` of kernels/staged.hpp).
template <class T>
struct ElementBlocks {
  static constexpr bool staged = true;
  void const* expression;
  /// Writes the `n` elements from `begin` on.
  void (*write)(void const* expression, std::int64_t begin, std::int64_t n, T* to);
  std::int64_t offset = 0;

  ElementBlocks operator+(std::int64_t by) const { return {expression, write, offset + by}; }
  T operator[](std::int64_t k) const {
    T out;
    write(expression, offset + k, 1, &out);
    return out;
  }
};

}  // namespace shardtype::kernels
