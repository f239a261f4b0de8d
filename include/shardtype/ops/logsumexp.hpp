#pragma once
/// Logarithms of sums of exponentials.

#include <source_location>
#include <utility>

#include <shardtype/check/call_site.hpp>
#include <shardtype/execute/reduce_run.hpp>
#include <shardtype/kernels/norms.hpp>
#include <shardtype/ops/elementwise.hpp>

namespace shardtype {

namespace execute {
template <class T>
struct ReducerOf<reductions::LogSumExp, T> {
  using type = kernels::LogSumExpReducer<T>;
};
}  // namespace execute

/// log(sum(exp(a))), computed relative to the true maximum so that nothing overflows; -inf of no
/// elements or of -inf alone, inf where there is one, a NaN if there is one. Forms as sum's
/// (ops/sum.hpp), but over a split dim only by a named result (S03): `A[I@X, J]` ->
/// `logsumexp<Dim<J>>` -> `[J]`, one all_reduce or reduce_scatter of (maximum, sum) pairs. Refused:
/// as prod, P12 integers, and S04 complex numbers.
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto logsumexp(A&& a, checking::CallSite where = std::source_location::current()) {
  return call(op::LogSumExp<Out...>{}, where, execute::passed(std::forward<A>(a)));
}

}  // namespace shardtype
