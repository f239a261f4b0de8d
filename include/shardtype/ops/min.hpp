#pragma once
/// Minima over labels.

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
struct ReducerOf<reductions::Minimum, T> {
  using type = kernels::ExtremeReducer<T, false>;
};
}  // namespace execute

/// The least element; a NaN if there is one, the largest value of the type if there are no
/// elements. `A[I@X, J]` -> `min<I>` -> `[J]{U_min:X}`, nothing sent; `min<Dim<J>>` -> `[J]`, one
/// all_reduce. As max (ops/max.hpp).
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto min(A&& a, checking::CallSite where = std::source_location::current()) {
  return call(op::Min<Out...>{}, where, execute::passed(std::forward<A>(a)));
}

}  // namespace shardtype
