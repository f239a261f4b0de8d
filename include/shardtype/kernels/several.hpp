#pragma once
/// Several elementwise expressions of the same operands: one kernel computes them all.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/expression_tree.hpp>
#include <shardtype/kernels/staged.hpp>
#include <shardtype/kernels/vector_loop.hpp>

namespace shardtype::kernels {

/// Expressions, each with a result of its own; all results have one element type and one layout.
template <class Order, class... Es>
struct SeveralIn;
template <int... K, class... Es>
struct SeveralIn<std::integer_sequence<int, K...>, Es...> : Argument<K, Es>... {};
template <class... Es>
using Several = SeveralIn<std::make_integer_sequence<int, static_cast<int>(sizeof...(Es))>, Es...>;

/// The results of `N` expressions. `to[k]`: null if that one is not wanted. `base[k]`: what is
/// added to it, which may be `to[k]`, or null; what an expression before this one has written is
/// there.
template <class T, int N>
struct Targets {
  T* to[static_cast<std::size_t>(N)]{};
  T const* base[static_cast<std::size_t>(N)]{};

  KOKKOS_FUNCTION Targets operator+(std::int64_t by) const {
    Targets out;
    for (int k = 0; k < N; ++k) {
      if (to[k] != nullptr) out.to[k] = to[k] + by;
      if (base[k] != nullptr) out.base[k] = base[k] + by;
    }
    return out;
  }
};

namespace detail {

// By default clang warns if it cannot vectorise a loop as told, because of calls that have no
// vector form (exp, or a user's function). Such a loop runs element by element, as intended. The
// warning is given for the function that holds the loop after inlining, so the function is not
// inlined; nor is it compiled anew for each kernel that calls it.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
/// Host: `n` elements of the expression from `begin` on to `to`; all loops have unit stride.
template <class T, class E>
[[gnu::noinline]] SHARDTYPE_VECTOR_LOOP void compute_run(E const& expression,
                                                         void const* const* from,
                                                         std::int64_t begin, std::int64_t n,
                                                         T* to) {
  if constexpr (E::staged) {
    detail::compute_block(expression, from, begin, n, to);
  } else {
    // iterations are independent
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#elif defined(__GNUC__)
#pragma GCC ivdep
#endif
    for (std::int64_t i = 0; i < n; ++i) to[i] = expression.at(from, begin + i);
  }
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/// One of several expressions.
template <class T, class E>
SHARDTYPE_VECTOR_LOOP void compute_sum(E const& expression, void const* const* from, std::int64_t n,
                                       T* to, T const* base) {
  if (to == nullptr) return;
  if (base == nullptr) return detail::compute_run(expression, from, 0, n, to);
  constexpr std::int64_t block = 2048;
  alignas(64) T made[static_cast<std::size_t>(block)];
  for (std::int64_t k = 0; k < n; k += block) {
    std::int64_t const m = n - k < block ? n - k : block;
    detail::compute_run(expression, from, k, m, static_cast<T*>(made));
    for (std::int64_t i = 0; i < m; ++i) to[k + i] = static_cast<T>(base[k + i] + made[i]);
  }
}
template <class T, int N, int... K, class... Es>
void compute_run(SeveralIn<std::integer_sequence<int, K...>, Es...> const& all,
                 void const* const* from, std::int64_t, std::int64_t n, Targets<T, N> const& to) {
  (detail::compute_sum(static_cast<Argument<K, Es> const&>(all).expression, from, n, to.to[K],
                       to.base[K]),
   ...);
}

/// One element.
template <class T, class E>
KOKKOS_FUNCTION void compute_element(E const& expression, void const* const* from, T* to) {
  *to = expression.at(from, 0);
}
template <class T, class E>
KOKKOS_FUNCTION void compute_one_sum(E const& expression, void const* const* from, T* to,
                                     T const* base) {
  if (to == nullptr) return;
  T const made = expression.at(from, 0);
  *to = base == nullptr ? made : static_cast<T>(*base + made);
}
template <class T, int N, int... K, class... Es>
KOKKOS_FUNCTION void compute_element(SeveralIn<std::integer_sequence<int, K...>, Es...> const& all,
                                     void const* const* from, Targets<T, N> const& to) {
  (detail::compute_one_sum(static_cast<Argument<K, Es> const&>(all).expression, from, to.to[K],
                           to.base[K]),
   ...);
}

}  // namespace detail

}  // namespace shardtype::kernels
