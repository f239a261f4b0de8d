#pragma once
/// Products over labels.

#include <source_location>
#include <utility>

#include <shardtype/check/call_site.hpp>
#include <shardtype/execute/reduce_run.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/ops/elementwise.hpp>

namespace shardtype {

namespace execute {
template <class T>
struct ReducerOf<reductions::Product, T> {
  using type = kernels::ProductReducer<T>;
};
}  // namespace execute

/// The product; of float, computed in double. Same forms as sum (ops/sum.hpp), except that a split
/// dim needs a named result (S03): `A[I@X, J]` -> `prod<Dim<J>>` -> `[J]`, one all_reduce or
/// reduce_scatter of the ranks' products. Refused: S01, S02 an unreduced operand, S03, N01, N04,
/// N05, V14.
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto prod(A&& a, checking::CallSite where = std::source_location::current()) {
  return call(op::Prod<Out...>{}, where, execute::passed(std::forward<A>(a)));
}

}  // namespace shardtype
