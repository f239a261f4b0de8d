#pragma once
/// AllToAll: an axis moves from one dim to another.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/reshard.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class... XFromTo>
struct Run<op::AllToAll<XFromTo...>> : ByPlan {};
}  // namespace execute

/// Moves a mesh axis from one dim to another, where it becomes the minor-most axis: `A[I@X, J]` ->
/// `all_to_all<X, I, J>` -> `A[I, J@X]`. Refused: K01, K02, K04, B04.
///
/// Of a Local: `a[I, J]{V:X}` -> `all_to_all<X, I, J>(a)` -> `[I, J]{V:X}`: cuts the block along I
/// into one piece per rank, and concatenates the received pieces along J, which may be I. A J that
/// `a` lacks becomes a new first dim; I, which must then have one row per rank, is removed (JAX:
/// untiled). Each rank sends n (p - 1) / p bytes. Refused: V03, V06, K04. Error E61.
template <class... XFromTo, class A>
constexpr auto all_to_all(A const& a, checking::CallSite where = std::source_location::current()) {
  return call(op::AllToAll<XFromTo...>{}, where, a);
}

}  // namespace shardtype
