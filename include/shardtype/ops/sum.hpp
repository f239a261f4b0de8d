#pragma once
/// Sums over labels.

#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/check/call_site.hpp>
#include <shardtype/execute/reduce_instances.hpp>
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

/// Sums of integers are reproducible in any order.
template <class A, bool = is_tensor<A>>
inline constexpr bool sums_exactly = !is_floating<element_t<A>>;
template <class A>
inline constexpr bool sums_exactly<A, false> = false;
template <class A>
using reproducible_sum =
    std::conditional_t<sums_exactly<operand_t<A>>, reductions::Sum, reductions::ReproducibleSum>;

}  // namespace detail

// The forms of all reductions. `sum(a)` reduces over all dims and `sum<I, J>(a)` over the named
// ones; both are strict and never communicate: over a dim split over X the result is unreduced over
// X, with the kind of the reduction. `sum<Dim<J>>(a)` names the result, reduces over the labels
// that it lacks, and reshards: one all_reduce or reduce_scatter. A temporary elementwise expression
// is computed while it is reduced. Refused: S01 an index that `a` lacks, S02 an operand unreduced
// of another kind, N01, N03 to N05 a named result that does not fit, V14 a named result of a Local.

/// The sum; for bool, the number of true elements. `A[I@X, J]` -> `sum<I>` -> `[J]{U:X}`, nothing
/// sent; `sum<Dim<J>>` -> `[J]`, one all_reduce. An unreduced sum stays unreduced. Refused: as all
/// reductions.
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto sum(A&& a, checking::CallSite where = std::source_location::current()) {
  return call(op::Sum<Out...>{}, where, execute::passed(std::forward<A>(a)));
}

/// The sum, with the same bits for every order of the terms: on any number of ranks, for any
/// sharding of `a` and of the result, in every run. A split dim needs a named result (S03): `A[I@X,
/// J]` -> `sum<Dim<J>>` -> `[J]`, one all_reduce or reduce_scatter of 40 bytes per sum (80 for
/// complex). Each term is rounded by at most 2^-61 of the largest term, then their exact sum is
/// rounded once to double: the error is below n 2^-61 max|a| + 2^-53 |sum|, and no intermediate
/// result overflows. A NaN, or infinities of both signs, give NaN. Not with -ffast-math. An
/// unreduced tensor is refused (S02): the summands depend on the number of ranks. Integers: as
/// sum(a), whose bits never differ.
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto sum(A&& a, Reproducible,
                   checking::CallSite where = std::source_location::current()) {
  return call(op::Reduce<detail::reproducible_sum<std::remove_cvref_t<A>>, Out...>{}, where,
              execute::passed(std::forward<A>(a)));
}

}  // namespace shardtype
