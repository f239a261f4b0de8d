#pragma once
/// Norms, and logarithms of sums of exponentials.

#include <source_location>
#include <utility>

#include <shardtype/kernels/norms.hpp>
#include <shardtype/ops/reduce.hpp>

namespace shardtype {

namespace detail {

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
template <class T>
struct ReducerOf<reductions::LogSumExp, T> {
  using type = kernels::LogSumExpReducer<T>;
};

}  // namespace detail

// Over the labels named, over all dims, or over what a named result lacks, as all reductions
// (ops/reduce.hpp). Refused on integers: P12.

/// The 2-norm: the square root of the sum of squares (Frobenius' over several labels); real for
/// complex elements. Over a split dim only by a named result (S03): `A[I@X, J]` -> `norm<Dim<J>>` ->
/// `[J]`, one all_reduce or reduce_scatter of the sums of squares. Squares of float are kept in double
/// and cannot overflow or underflow; of double they overflow where an element exceeds 1.3e154 and
/// vanish below 1.5e-162, as in NumPy: divide by norm_inf first.
template <class... Out, class A>
auto norm(A&& a, std::source_location where = std::source_location::current()) {
  return detail::reduce<reductions::Norm, Out...>(std::forward<A>(a), where);
}
/// The 1-norm: the sum of absolute values; real for complex elements. Owed as a sum is:
/// `A[I@X, J]` -> `norm_1<I>` -> `[J]{U:X}`, nothing sent. Refused (S02) on what is unreduced: the sum of
/// the summands' sizes is not the size of the sum.
template <class... Out, class A>
auto norm_1(A&& a, std::source_location where = std::source_location::current()) {
  return detail::reduce<reductions::Norm1, Out...>(std::forward<A>(a), where);
}
/// The infinity norm: the largest absolute value, 0 of no elements, a NaN if there is one; real for
/// complex elements. Owed as a maximum is: `A[I@X, J]` -> `norm_inf<I>` -> `[J]{U_max:X}`. Refused (S02)
/// on what is unreduced.
template <class... Out, class A>
auto norm_inf(A&& a, std::source_location where = std::source_location::current()) {
  return detail::reduce<reductions::NormInf, Out...>(std::forward<A>(a), where);
}

/// log(sum(exp(a))), computed relative to the true maximum so that nothing overflows; -inf of no
/// elements or of -inf alone, inf where there is one, a NaN if there is one. Over a split dim only by
/// a named result (S03): one all_reduce or reduce_scatter of (maximum, sum) pairs. Refused on complex
/// numbers: S04.
template <class... Out, class A>
auto logsumexp(A&& a, std::source_location where = std::source_location::current()) {
  return detail::reduce<reductions::LogSumExp, Out...>(std::forward<A>(a), where);
}

}  // namespace shardtype
