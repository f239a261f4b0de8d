#pragma once
/// Variances and standard deviations over labels.

#include <source_location>
#include <utility>

#include <shardtype/execute/reduce_run.hpp>
#include <shardtype/kernels/moments.hpp>
#include <shardtype/ops/elementwise.hpp>

namespace shardtype {

namespace execute {
template <class T>
struct ReducerOf<reductions::Variance, T> {
  using type = kernels::VarianceReducer<T, false>;
};
template <class T>
struct ReducerOf<reductions::Deviation, T> {
  using type = kernels::VarianceReducer<T, true>;
};
}  // namespace execute

/// The variance: the mean of squared distances from the mean, by the true number of elements less `ddof`; real for
/// complex elements. `var<I>(a, 1)` is the sample variance. No digits are lost to a large mean. A NaN where no more than
/// `ddof` elements are reduced. Forms as sum's (ops/sum.hpp), but over a split dim only by a named result (S03):
/// `A[I@X, J]` -> `var<Dim<J>>(a)` -> `[J]`, one all_reduce or reduce_scatter of counts, means and sums, 32 bytes
/// per result (of complex elements 48); no element is sent. Refused: as prod, and P12 integers. As jnp.var.
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto var(A&& a, double ddof = 0,
                   checking::CallSite where = std::source_location::current()) {
  return call(op::Var<Out...>{{ddof}}, where, execute::passed(std::forward<A>(a)));
}

/// The standard deviation: the square root of var, in all else like it. As jnp.std; a function called `std` could not be
/// called beside namespace std, whose name it hides.
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto stddev(A&& a, double ddof = 0,
                      checking::CallSite where = std::source_location::current()) {
  return call(op::StdDev<Out...>{{ddof}}, where, execute::passed(std::forward<A>(a)));
}

}  // namespace shardtype
