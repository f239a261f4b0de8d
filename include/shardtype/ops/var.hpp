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

/// The variance: the sum of squared distances from the mean, divided by the actual number of
/// elements less `ddof`; real for complex elements. `var<I>(a, 1)` is the sample variance. A large
/// mean costs no accuracy. NaN if at most `ddof` elements are reduced. Same forms as sum
/// (ops/sum.hpp), except that a split dim needs a named result (S03): `A[I@X, J]` ->
/// `var<Dim<J>>(a)` -> `[J]`, one all_reduce or reduce_scatter of counts, means and sums, 32 bytes
/// per result (48 for complex elements); no element is sent. Refused: as prod, and P12 integers. As
/// jnp.var.
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto var(A&& a, double ddof = 0,
                   checking::CallSite where = std::source_location::current()) {
  return call(op::Var<Out...>{{ddof}}, where, execute::passed(std::forward<A>(a)));
}

/// The standard deviation: the square root of var; otherwise as var. As jnp.std; the name `std` is
/// not used because it would hide namespace std.
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto stddev(A&& a, double ddof = 0,
                      checking::CallSite where = std::source_location::current()) {
  return call(op::StdDev<Out...>{{ddof}}, where, execute::passed(std::forward<A>(a)));
}

}  // namespace shardtype
