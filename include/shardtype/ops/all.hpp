#pragma once
/// Whether all elements are true.

#include <source_location>
#include <utility>

#include <shardtype/check/call_site.hpp>
#include <shardtype/execute/reduce_run.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/ops/elementwise.hpp>

namespace shardtype {

namespace execute {
template <class T>
struct ReducerOf<reductions::All, T> {
  using type = kernels::ExtremeReducer<T, false>;
};
}  // namespace execute

/// Whether all elements of a bool tensor are true. `A[I@X, J]` -> `all<I>` -> `[J]{U_min:X}`,
/// nothing sent; `all<Dim<J>>` -> `[J]`, one all_reduce. Same forms as sum (ops/sum.hpp). Refused:
/// as sum, and P11 elements that are not bool.
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto all(A&& a, checking::CallSite where = std::source_location::current()) {
  return call(op::All<Out...>{}, where, execute::passed(std::forward<A>(a)));
}

}  // namespace shardtype
