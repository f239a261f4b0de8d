#pragma once
/// Sums over labels.

#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/check/call_site.hpp>
#include <shardtype/execute/reduce_run.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/ops/elementwise.hpp>
#include <shardtype/ops/reproducible.hpp>

namespace shardtype {

namespace execute {
template <class T>
struct ReducerOf<reductions::Sum, T> {
  using type = kernels::SumReducer<T>;
};
}  // namespace execute

namespace detail {

/// Sums of integers are reproducible as they are.
template <class A, bool = is_tensor<A>>
inline constexpr bool sums_exactly = !is_floating<element_t<A>>;
template <class A>
inline constexpr bool sums_exactly<A, false> = false;
template <class A>
using reproducible_sum =
    std::conditional_t<sums_exactly<operand_t<A>>, reductions::Sum, reductions::ReproducibleSum>;

}  // namespace detail

// All reductions have these forms. `sum(a)` reduces over all dims and `sum<I, J>(a)` over those
// named; strict, they never communicate: over dims split over X the result is unreduced over X, of
// the reduction's own kind. `sum<Dim<J>>(a)` names the result, reduces over the labels that it
// lacks, and reshards: one all_reduce or reduce_scatter. A temporary elementwise expression is
// computed while it is reduced. Refused: S01 an index that `a` lacks, S02 an operand unreduced of
// another kind, N01, N03 to N05 a named result that does not fit, V14 a named result of a Local.

/// The sum; of bool the number of true ones. `A[I@X, J]` -> `sum<I>` -> `[J]{U:X}`, nothing sent;
/// `sum<Dim<J>>` -> `[J]`, one all_reduce. An operand that is unreduced as a sum stays so. Refused:
/// as all reductions.
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto sum(A&& a, checking::CallSite where = std::source_location::current()) {
  return call(op::Sum<Out...>{}, where, execute::passed(std::forward<A>(a)));
}

/// The sum, with the same bits for every order of the terms: on any number of ranks, for any sharding
/// of `a` and of the result, in every run. Over a split dim only by a named result (S03): `A[I@X, J]`
/// -> `sum<Dim<J>>` -> `[J]`, one all_reduce or reduce_scatter of 40 bytes per sum (80 for complex).
/// Each term is rounded by at most 2^-61 of the largest term, then their exact sum once to double: the
/// error is below n 2^-61 max|a| + 2^-53 |sum|, and nothing overflows on the way. A NaN, or infinities
/// of both signs, give NaN. Not under -ffast-math. An unreduced tensor is refused (S02): the summands
/// depend on the number of ranks. Integers: as sum(a), whose bits never differ.
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto sum(A&& a, Reproducible,
                   checking::CallSite where = std::source_location::current()) {
  return call(op::Reduce<detail::reproducible_sum<std::remove_cvref_t<A>>, Out...>{}, where,
              execute::passed(std::forward<A>(a)));
}

}  // namespace shardtype
