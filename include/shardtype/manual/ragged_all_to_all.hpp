#pragma once
/// AllToAll of uneven pieces.

#include <array>
#include <cstdint>
#include <source_location>
#include <utility>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/ragged.hpp>
#include <shardtype/manual/moves.hpp>

namespace shardtype {

namespace execute {
template <class... Xs>
struct RunBlocks<op::RaggedAllToAll<Xs...>> {
  template <class R, class Op, class A, class B>
  static auto run(Op const& op, std::source_location const& where, A const& a, B const& b) {
    using Out = typename R::result;
    auto const extents = result_extents<R>(op, a, b);
    return Out(a.mesh(), extents, a.mesh().here() ? moved<R>(op, where, a, b, nullptr) : Buffer());
  }
  template <class R, class Op, class A, class B>
  static auto start(Op const& op, std::source_location const& where, A const& a, B const& b) {
    using Out = typename R::result;
    auto const extents = result_extents<R>(op, a, b);
    Started started = a.mesh().state().start();
    if (Exchange* const later = started.get()) {
      // a result that needed no communication
      if (Buffer result = moved<R>(op, where, a, b, later); result.data() != nullptr)
        later->result = std::move(result);
    }
    return Pending<Out>(a.mesh(), extents, started, where);
  }

 private:
  /// The received rows in a copy of `b`. With `later`: a result that needed no communication, or
  /// nothing.
  template <class R, class A, class B>
  static Buffer moved(op::RaggedAllToAll<Xs...> const& op, std::source_location const& where,
                      A const& a, B const& b, Exchange* later) {
    MeshState& mesh = a.mesh().state();
    MoveGroup const group(mesh, R::S::names, R::axes());
    BlockMoves<typename A::element, typename A::memory_space> moves(mesh, group, where, later);
    std::int64_t row = 1;
    for (std::size_t d = 1; d < A::rank; ++d) row *= a.extents()[d];
    return moves.ragged(a.buffer(), a.extents()[0], b.clone().buffer(), b.extents()[0], row,
                        op.rows, op.returns);
  }
};
}  // namespace execute

/// Sends rows of the first dim of `operand[I, ...]{V:X}` to the ranks of the group, to each the
/// number that `rows` says, and puts received rows where `rows` says into a copy of `output[I,
/// ...]`, whose first extent may differ: `ragged_all_to_all<X>(operand, output, rows)` -> `[I,
/// ...]{V:X}`. Offsets and sizes may differ between ranks. Sends the rows, and two numbers per
/// rank. JAX: ragged_all_to_all. Refused: V01, V03, V06, C10, D12. Errors: E23, E24, E64: rows
/// outside a block, or sizes on which two ranks disagree.
template <class... Xs, class A, class B>
  requires(detail::is_field<A> && detail::is_field<B>)
constexpr auto ragged_all_to_all(A const& operand, B const& output, op::RaggedRows const& rows,
                                 checking::CallSite where = std::source_location::current()) {
  return call(op::RaggedAllToAll<Xs...>{rows}, where, operand, output);
}

}  // namespace shardtype
