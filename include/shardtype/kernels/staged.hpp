#pragma once
/// Host: expressions with functions that are computed in vectors. Such a function is computed for a
/// block of elements into a small buffer, which the functions around it read; the others are
/// computed element by element, without buffers.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <shardtype/kernels/once.hpp>
#include <shardtype/kernels/prefetch.hpp>
#include <shardtype/kernels/vector_loop.hpp>

namespace shardtype::kernels {

namespace detail {

/// An expression at a block of elements: `fill` computes what has a buffer, `at(k)` is an element.
template <class E>
struct Staged {
  static_assert(!E::staged);
  E expression;
  void const* const* in;
  std::int64_t begin;

  Staged(E const& e, void const* const* from, std::int64_t first, std::int64_t)
      : expression(e), in(from), begin(first) {}
  auto at(std::int64_t k) const { return expression.at(in, begin + k); }
};

// By default clang warns if it cannot vectorise a loop as told; see kernels/expression.hpp.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
template <class E, class T>
#if defined(__clang__)
[[gnu::noinline]]
#endif
SHARDTYPE_VECTOR_LOOP void copy_elements(Staged<E> const& from, T* to, std::int64_t n) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#elif defined(__GNUC__)
#pragma GCC ivdep
#endif
  for (std::int64_t k = 0; k < n; ++k) to[k] = static_cast<T>(from.at(k));
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/// Whether an expression's elements are computed in vectors and stored as `T`.
template <class E, class T>
inline constexpr bool gives_vectors = false;
template <int... K, class F, class... Args, class T>
inline constexpr bool gives_vectors<Node<std::integer_sequence<int, K...>, F, Args...>, T> =
    std::is_same_v<typename Node<std::integer_sequence<int, K...>, F, Args...>::Computed, T> &&
    !(shardtype::detail::is_converted<decltype(std::declval<Args const&>().at(nullptr, 0))> || ...);

/// An argument of a function that is computed in vectors: where it lies, or computed to `buffer`.
template <class T, class E>
T const* argument_block(E const& e, void const* const* in, std::int64_t begin, std::int64_t n,
                        T* buffer) {
  if constexpr (gives_vectors<E, T>) {
    Staged<E>::write(e, in, begin, n, buffer);
  } else {
    detail::copy_elements(Staged<E>(e, in, begin, n), buffer, n);
  }
  return buffer;
}
template <class T, int Slot>
T const* argument_block(Leaf<T, Slot> const&, void const* const* in, std::int64_t begin,
                        std::int64_t, T*) {
  return static_cast<T const*>(in[Slot]) + begin;
}

template <int K, class A>
struct StagedArgument {
  Staged<A> block;
};

/// A part that lies there computed.
template <class T, int Slot>
struct Staged<BlockLeaf<T, Slot>> {
  T const* block;
  Staged(BlockLeaf<T, Slot> const&, void const* const* in, std::int64_t, std::int64_t)
      : block(static_cast<T const*>(in[Slot])) {}
  T at(std::int64_t k) const { return block[k]; }
};
template <class T, int Slot>
T const* argument_block(BlockLeaf<T, Slot> const&, void const* const* in, std::int64_t,
                        std::int64_t, T*) {
  return static_cast<T const*>(in[Slot]);
}

/// A function that is computed element by element, of blocks.
template <int... K, class F, class... Args>
  requires(Node<std::integer_sequence<int, K...>, F, Args...>::staged &&
           !Node<std::integer_sequence<int, K...>, F, Args...>::in_vectors)
struct Staged<Node<std::integer_sequence<int, K...>, F, Args...>> : StagedArgument<K, Args>... {
  using E = Node<std::integer_sequence<int, K...>, F, Args...>;
  F function;

  Staged(E const& e, void const* const* in, std::int64_t begin, std::int64_t n)
      : StagedArgument<K, Args>{Staged<Args>(static_cast<Argument<K, Args> const&>(e).expression,
                                             in, begin, n)}...,
        function(e.function) {}
  auto at(std::int64_t k) const {
    return kernels::apply(function,
                          static_cast<StagedArgument<K, Args> const&>(*this).block.at(k)...);
  }
};

/// A function that is computed in vectors.
template <int... K, class F, class... Args>
  requires(Node<std::integer_sequence<int, K...>, F, Args...>::in_vectors)
struct Staged<Node<std::integer_sequence<int, K...>, F, Args...>> {
  using E = Node<std::integer_sequence<int, K...>, F, Args...>;
  using T = typename E::Computed;
  using Value = std::remove_cvref_t<decltype(std::declval<E const&>().at(nullptr, 0))>;
  alignas(64) T buffer[Block::value];

  Staged(E const& e, void const* const* in, std::int64_t begin, std::int64_t n) {  // NOLINT
    write(e, in, begin, n, buffer);
  }
  Value at(std::int64_t k) const { return Value(buffer[k]); }

  /// Computes the block to `to`, which may be an operand.
  static void write(E const& e, void const* const* in, std::int64_t begin, std::int64_t n, T* to) {
    alignas(64) T given[sizeof...(Args)][Block::value];
    vectors::run<F>(n, to,
                    detail::argument_block<T>(static_cast<Argument<K, Args> const&>(e).expression,
                                              in, begin, n, given[K])...);
  }
};

/// Computes the elements from `begin` to `begin + n` of a staged expression to `to`, which may be
/// an operand, element by element the same.
template <class E, class T>
void compute_block(E const& e, void const* const* in, std::int64_t begin, std::int64_t n, T* to) {
  if constexpr (parts_of<E>::count > 0) {
    detail::compute_with_parts(e, in, begin, n, to);
  } else {
    for (std::int64_t k = 0; k < n; k += vectors::block) {
      std::int64_t const m = n - k < vectors::block ? n - k : vectors::block;
      if constexpr (gives_vectors<E, T>) {
        Staged<E>::write(e, in, begin + k, m, to + k);
      } else {
        vectors::prefetch<true>(to + k, m);
        detail::copy_elements(Staged<E>(e, in, begin + k, m), to + k, m);
      }
    }
  }
}

}  // namespace detail

/// Computes `n` elements of a staged expression that is read like memory.
template <class E, int Count, class T>
void compute(ExpressionAt<E, Count> const& e, std::int64_t n, T* to) {
  detail::compute_block(e.expression, e.from, e.offset, n, to);
}
/// The same of one without its type.
template <class T>
void compute(ElementBlocks<T> const& e, std::int64_t n, T* to) {
  e.write(e.expression, e.offset, n, to);
}

}  // namespace shardtype::kernels
