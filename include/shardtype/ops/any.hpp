#pragma once
/// Whether any element is true.

#include <source_location>
#include <utility>

#include <shardtype/check/call_site.hpp>
#include <shardtype/execute/reduce_run.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/ops/elementwise.hpp>

namespace shardtype {

namespace execute {
template <class T>
struct ReducerOf<reductions::Any, T> {
  using type = kernels::ExtremeReducer<T, true>;
};
}  // namespace execute

/// Whether any element of a bool tensor is true. `A[I@X, J]` -> `any<I>` -> `[J]{U_max:X}`, nothing
/// sent; `any<Dim<J>>` -> `[J]`, one all_reduce. Same forms as sum (ops/sum.hpp). Refused: as sum,
/// and P11 elements that are not bool. With both `using namespace std` and `using namespace
/// shardtype`, C++ finds std::any as well: write `using shardtype::any;`.
template <class... Out, class A>
  requires(detail::are_operands<A>)
constexpr auto any(A&& a, checking::CallSite where = std::source_location::current()) {
  return call(op::Any<Out...>{}, where, execute::passed(std::forward<A>(a)));
}

}  // namespace shardtype
