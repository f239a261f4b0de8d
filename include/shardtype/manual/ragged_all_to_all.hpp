#pragma once
/// Runs an AllToAll of uneven pieces.

#include <array>
#include <cstdint>
#include <source_location>
#include <utility>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/ragged.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/manual/moves.hpp>
#include <shardtype/ops/blocks.hpp>

namespace shardtype::execute {

/// One exchange of rows, `row` elements each, between a block of `in_rows` rows and one of
/// `out_rows`.
struct RaggedCall {
  op::RaggedRows const& rows;
  std::int64_t in_rows, out_rows, row;
  bool returns;

  /// Errors: E64 numbers for another group than one of `ranks` ranks, or rows beyond the block.
  void check(std::int64_t ranks) const;
  /// Writes the counts and offsets for MPI to the mesh's scratch, after the ranks of `comm` have
  /// told each other. Errors: E64 rows beyond the block, or sizes on which two ranks disagree.
  void negotiate(Comm& comm, StepScratch& scratch) const;

 private:
  static void check_within(std::int64_t at, std::int64_t n, std::int64_t extent, char const* what,
                           std::size_t rank);
};

template <class... Xs>
struct RunBlocks<op::RaggedAllToAll<Xs...>> {
  template <class R, class Op, class A, class B>
  static auto run(Op const& op, std::source_location const& where, A const& a, B const& b) {
    using Out = typename R::result;
    auto const extents = execute::result_extents<R>(op, a, b);
    return Out(a.mesh(), extents, a.mesh().here() ? moved<R>(op, where, a, b, nullptr) : Buffer());
  }
  template <class R, class Op, class A, class B>
  static auto start(Op const& op, std::source_location const& where, A const& a, B const& b) {
    using Out = typename R::result;
    auto const extents = execute::result_extents<R>(op, a, b);
    Started started = a.mesh().state().start();
    if (Exchange* const later = started.get()) moved<R>(op, where, a, b, later);
    return Pending<Out>(a.mesh(), extents, started, where);
  }

 private:
  /// The received rows in a copy of `b`. With `later` it is only started.
  template <class R, class A, class B>
  static Buffer moved(op::RaggedAllToAll<Xs...> const& op, std::source_location const& where,
                      A const& a, B const& b, Exchange* later) {
    using T = typename A::element;
    MeshState& mesh = a.mesh().state();
    AxisMap const map = runtime::map_axes(mesh, R::S::names);
    auto const value = [&](auto const& block) {
      Sizing z{{}, map.sizes, sizeof(T)};
      z.extents = planning::extents_by_label(R::S::template spec<0>, block.extents().data());
      return execute::whole_value<T>(planning::dims_of(R::S::template spec<0>), z, map.coords,
                                     block.buffer());
    };
    // the extents of blocks of one call may differ between ranks
    Sizing const z{{}, map.sizes, sizeof(T)};
    Executor<T, typename A::memory_space> run(mesh, map, z, where);
    Step const s = planning::chosen_rows_step({}, R::axes(), Slot::a);
    std::int64_t row = 1;
    for (std::size_t d = 1; d < A::rank; ++d) row *= a.extents()[d];
    RaggedCall const call{op.rows, a.extents()[0], b.extents()[0], row, op.returns};
    call.check(map.sizes.product(s.axes));
    run.agree_on(s);
    call.negotiate(group_of(mesh, map, s.axes), mesh.scratch());
    auto out = value(b.clone());
    return run.run_rows(s, value(a), std::move(out), later);
  }
};

}  // namespace shardtype::execute

#ifndef SHARDTYPE_COMPILED
#include <shardtype/manual/ragged_all_to_all.ipp>
#endif
