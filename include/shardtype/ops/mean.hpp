#pragma once
/// Means over labels.

#include <source_location>
#include <utility>

#include <shardtype/check/call_site.hpp>
#include <shardtype/execute/reduce_instances.hpp>
#include <shardtype/execute/reduce_run.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/ops/elementwise.hpp>

namespace shardtype {

namespace execute {
template <class T>
struct ReducerOf<reductions::Mean, T> {
  using type = kernels::SumReducer<T>;
};
}  // namespace execute

/// The mean, by the actual number of elements even if blocks are uneven. `A[I@X, J]` -> `mean<I>`
/// -> `[J]{U:X}`, an unreduced sum, nothing sent; `mean<Dim<J>>` -> `[J]`, one all_reduce. Same
/// forms as sum (ops/sum.hpp). Refused: as sum, and P12 integers.
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto mean(A&& a, checking::CallSite where = std::source_location::current()) {
  return call(op::Mean<Out...>{}, where, execute::passed(std::forward<A>(a)));
}

}  // namespace shardtype
