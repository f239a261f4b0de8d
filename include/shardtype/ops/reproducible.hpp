#pragma once
/// Sums and norms with the same bits on any number of ranks.

#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/kernels/reproducible.hpp>
#include <shardtype/ops/reduce.hpp>

namespace shardtype {

/// Asks a sum or norm to be reproducible: `sum<Dim<J>>(a, reproducible)`.
struct Reproducible {};
inline constexpr Reproducible reproducible{};

namespace detail {

template <class T>
struct ReducerOf<reductions::ReproducibleSum, T> {
  using type = kernels::ReproducibleReducer<T, false>;
};
template <class T>
struct ReducerOf<reductions::ReproducibleNorm, T> {
  using type = kernels::ReproducibleReducer<T, true>;
};

/// Sums of integers are reproducible as they are.
template <class A, bool = is_tensor<A>>
inline constexpr bool sums_exactly = !is_floating<element_t<A>>;
template <class A>
inline constexpr bool sums_exactly<A, false> = false;
template <class A>
using reproducible_sum =
    std::conditional_t<sums_exactly<operand_t<A>>, reductions::Sum, reductions::ReproducibleSum>;

}  // namespace detail

/// The sum, with the same bits for every order of the terms: on any number of ranks, for any sharding
/// of `a` and of the result, in every run. Over a split dim only by a named result (S03): `A[I@X, J]`
/// -> `sum<Dim<J>>` -> `[J]`, one all_reduce or reduce_scatter of 40 bytes per sum (80 for complex).
/// Each term is rounded by at most 2^-61 of the largest term, then their exact sum once to double: the
/// error is below n 2^-61 max|a| + 2^-53 |sum|, and nothing overflows on the way. A NaN, or infinities
/// of both signs, give NaN. Not under -ffast-math. A tensor that owes a sum is refused (S02): what the
/// ranks hold depends on their number. Integers: as sum(a), whose bits never differ.
template <class... Out, class A>
auto sum(A&& a, Reproducible, std::source_location where = std::source_location::current()) {
  return detail::reduce<detail::reproducible_sum<std::remove_cvref_t<A>>, Out...>(
      std::forward<A>(a), where);
}
/// The 2-norm in the same way; the squares are those in double, so that those of double elements
/// overflow and vanish as norm's do. Refused on integers: P12.
template <class... Out, class A>
auto norm(A&& a, Reproducible, std::source_location where = std::source_location::current()) {
  return detail::reduce<reductions::ReproducibleNorm, Out...>(std::forward<A>(a), where);
}

}  // namespace shardtype
