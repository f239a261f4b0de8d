#pragma once
/// ReduceScatter: what a group has together, a piece on each of its ranks.

#include <source_location>

#include <shardtype/check/reshard.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class... XI>
struct Run<op::ReduceScatter<XI...>> : ByPlan {};
}  // namespace execute

/// `A[I, J]{U:X}` -> `reduce_scatter<X, J>` -> `A[I, J@X]`: reduced, and each rank keeps its piece.
/// Refused: K03, K04, B04.
template <class... XI, class A>
constexpr auto reduce_scatter(A const& a,
                              std::source_location where = std::source_location::current()) {
  return call(op::ReduceScatter<XI...>{}, where, a);
}

}  // namespace shardtype
