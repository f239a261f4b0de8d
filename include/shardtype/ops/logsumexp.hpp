#pragma once
/// Logarithms of sums of exponentials.

#include <source_location>
#include <utility>

#include <shardtype/check/call_site.hpp>
#include <shardtype/execute/reduce_instances.hpp>
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

/// log(sum(exp(a))), computed relative to the maximum so that nothing overflows; -inf for no
/// elements or only -inf, inf if an element is inf, NaN if an element is NaN. Same forms as sum
/// (ops/sum.hpp), except that a split dim needs a named result (S03): `A[I@X, J]` ->
/// `logsumexp<Dim<J>>` -> `[J]`, one all_reduce or reduce_scatter of (maximum, sum) pairs. Refused:
/// as prod, P12 integers, and S04 complex numbers.
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto logsumexp(A&& a, checking::CallSite where = std::source_location::current()) {
  return call(op::LogSumExp<Out...>{}, where, execute::passed(std::forward<A>(a)));
}

}  // namespace shardtype
