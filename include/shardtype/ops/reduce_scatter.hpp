#pragma once
/// ReduceScatter: each rank of a group receives one piece of the reduction of the group's blocks.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/reshard.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class... XI>
struct Run<op::ReduceScatter<XI...>> : ByPlan {};
}  // namespace execute

/// Finishes a pending reduction; each rank keeps its piece: `A[I, J]{U:X}` -> `reduce_scatter<X,
/// J>` -> `A[I, J@X]`. Refused: K03, K04, B04.
///
/// Of a Local: `a[I, J]{V:X}` or `{U:X}` -> `reduce_scatter<X, I>(a)` -> `[I, J]{V:X}`: sums the
/// ranks' blocks; each rank keeps its piece along I. `<Max, X, I>`, `<Min, X, I>`, `<Mean, X, I>`
/// likewise. Each rank sends n (p - 1) / p bytes. JAX: psum_scatter. Refused: V03, V06, V16, K04,
/// C11, S04, P12. Error E61.
template <class... XI, class A>
constexpr auto reduce_scatter(A const& a,
                              checking::CallSite where = std::source_location::current()) {
  return call(op::ReduceScatter<XI...>{}, where, a);
}

}  // namespace shardtype
