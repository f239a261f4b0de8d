#pragma once
/// Norms over labels.

#include <source_location>
#include <utility>

#include <shardtype/check/call_site.hpp>
#include <shardtype/execute/reduce_instances.hpp>
#include <shardtype/execute/reduce_run.hpp>
#include <shardtype/kernels/norms.hpp>
#include <shardtype/ops/elementwise.hpp>
#include <shardtype/ops/reproducible.hpp>

namespace shardtype {

namespace execute {
template <class T>
struct ReducerOf<reductions::Norm, T> {
  using type = kernels::NormReducer<T>;
};
template <class T>
struct ReducerOf<reductions::Norm1, T> {
  using type = kernels::Norm1Reducer<T>;
};
template <class T>
struct ReducerOf<reductions::NormInf, T> {
  using type = kernels::NormInfReducer<T>;
};
}  // namespace execute

/// The 2-norm: the square root of the sum of squares (the Frobenius norm over several labels); real
/// for complex elements. Same forms as sum (ops/sum.hpp), except that a split dim needs a named
/// result (S03): `A[I@X, J]` -> `norm<Dim<J>>` -> `[J]`, one all_reduce or reduce_scatter of the
/// sums of squares. Squares of float are computed in double and cannot overflow or underflow;
/// squares of double overflow if an element exceeds 1.3e154 and vanish below 1.5e-162, as in NumPy:
/// divide by norm_inf first. Refused: as prod, and P12 integers.
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto norm(A&& a, checking::CallSite where = std::source_location::current()) {
  return call(op::Norm<Out...>{}, where, execute::passed(std::forward<A>(a)));
}

/// The 2-norm with the same bits on any number of ranks, as the reproducible sum (ops/sum.hpp).
/// Squares are computed in double, so squares of double elements overflow and vanish as in norm.
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto norm(A&& a, Reproducible,
                    checking::CallSite where = std::source_location::current()) {
  return call(op::ReproducibleNorm<Out...>{}, where, execute::passed(std::forward<A>(a)));
}

/// The 1-norm: the sum of absolute values; real for complex elements. `A[I@X, J]` -> `norm_1<I>` ->
/// `[J]{U:X}`, nothing sent; `norm_1<Dim<J>>` -> `[J]`, one all_reduce. Refused: as sum, P12
/// integers, and S02 any unreduced operand: the sum of the summands' absolute values is not the
/// absolute value of the sum.
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto norm_1(A&& a, checking::CallSite where = std::source_location::current()) {
  return call(op::Norm1<Out...>{}, where, execute::passed(std::forward<A>(a)));
}

/// The infinity norm: the largest absolute value, 0 for no elements, NaN if an element is NaN; real
/// for complex elements. `A[I@X, J]` -> `norm_inf<I>` -> `[J]{U_max:X}`. Refused as norm_1.
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto norm_inf(A&& a, checking::CallSite where = std::source_location::current()) {
  return call(op::NormInf<Out...>{}, where, execute::passed(std::forward<A>(a)));
}

}  // namespace shardtype
