#pragma once
/// Positions of the largest and the least elements.

#include <source_location>
#include <utility>

#include <shardtype/check/call_site.hpp>
#include <shardtype/execute/reduce_run.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/ops/elementwise.hpp>

namespace shardtype {

namespace execute {
template <class T>
struct ReducerOf<reductions::PlaceOfMaximum, T> {
  using type = kernels::PlaceReducer<T, true>;
};
template <class T>
struct ReducerOf<reductions::PlaceOfMinimum, T> {
  using type = kernels::PlaceReducer<T, false>;
};
}  // namespace execute

/// The position of the largest element along `I` (row-major over several labels), as i64: the first
/// position if several elements are equal, -1 if there are no elements. Same forms as sum
/// (ops/sum.hpp), except that a split dim needs a named result (S03): `A[I@X, J]` ->
/// `argmax<Dim<J>>` -> `i64[J]`, one all_reduce or reduce_scatter of (value, position) pairs.
/// Refused: as prod, and S04 complex numbers.
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto argmax(A&& a, checking::CallSite where = std::source_location::current()) {
  return call(op::ArgMax<Out...>{}, where, execute::passed(std::forward<A>(a)));
}

/// The position of the least element; as argmax.
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto argmin(A&& a, checking::CallSite where = std::source_location::current()) {
  return call(op::ArgMin<Out...>{}, where, execute::passed(std::forward<A>(a)));
}

}  // namespace shardtype
