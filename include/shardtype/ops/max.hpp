#pragma once
/// Maxima over labels.

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
struct ReducerOf<reductions::Maximum, T> {
  using type = kernels::ExtremeReducer<T, true>;
};
}  // namespace execute

/// The largest element; a NaN if there is one, the least value of the type if there are no
/// elements. `A[I@X, J]` -> `max<I>` -> `[J]{U_max:X}`, nothing sent; `max<Dim<J>>` -> `[J]`, one
/// all_reduce. Same forms as sum (ops/sum.hpp). Refused: as sum, and S04 complex numbers. The
/// larger of two tensors' elements, `max(a, b)`, is in ops/math.hpp.
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto max(A&& a, checking::CallSite where = std::source_location::current()) {
  return call(op::Max<Out...>{}, where, execute::passed(std::forward<A>(a)));
}

}  // namespace shardtype
