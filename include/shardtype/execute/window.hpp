#pragma once
/// Runs the steps of plans that go along one dim of a tensor: rows that ranks fetch from each
/// other, or give back, and the totals of running values.

#include <cstdint>
#include <type_traits>

#include <shardtype/core/list.hpp>
#include <shardtype/execute/executor.hpp>
#include <shardtype/execute/local_run.hpp>
#include <shardtype/execute/staged.hpp>
#include <shardtype/kernels/functions.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/reduce.hpp>
#include <shardtype/kernels/scan.hpp>
#include <shardtype/plan/window_plan.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::execute {

/// The sizes of one call along a dim of its operand, for the steps of its plan.
template <class T, class Space>
struct AlongDim {
  LocalRun<T, Space> const& run;
  AxisMap map;
  Sizing sizing;
  int dim;

  explicit AlongDim(LocalRun<T, Space> const& its_run)
      : run(its_run),
        map(runtime::map_axes(run.mesh, run.call.names)),
        sizing{planning::extents_by_label(run.call.a(), run.call.given[0]), map.sizes, sizeof(T)},
        dim(run.call.dim()) {}
  std::int64_t extent() const { return run.call.given[0][dim]; }
};

/// The neighbor exchange of a plan and the local copies around it: fetches the rows of the step's
/// window for each rank from the ranks that hold them, or, `returned`, the transpose. One message
/// per pair of ranks. Collective over the mesh.
template <class T, class Space, bool returned>
class NeighborStep {
 public:
  /// `name`: of the operation, for SHARDTYPE_CHECK=agree.
  NeighborStep(LocalRun<T, Space> const& run, char const* name, Window const& w)
      : along_(run),
        step_(planning::neighbor_step(run.call.a(), along_.dim, w)),
        me_(core::rank_in_group(step_.axes, along_.map.sizes, along_.map.coords)) {
    execute::member_blocks(step_.before, along_.dim, along_.sizing, along_.map, step_.axes,
                           blocks_);
    if (ranks() > 1 && run.mesh.agreement().begin_step()) {
      Caller const caller{run.where, name, w.low, 2 * w.high + (w.edge == op::Edge::wrap ? 1 : 0)};
      execute::agree_on_collective(run.mesh, along_.map, along_.sizing, step_, caller);
    }
  }

  /// The packed rows of the window. `returned`: the operand is the rows of the window, and each row
  /// of the result is the sum of those that stand for it: the own one, others of this rank, then
  /// those of the other ranks in their order.
  Buffer run() {
    Range const mine = block(me_);
    Window const& w = step_.window;
    bool const empty = mine.size() == 0;
    std::int64_t const rows = returned || empty ? mine.size() : mine.size() + w.high - w.low;
    Buffer const out = run_.take(rows * in_.row());
    T* const to = run_.writable(out);
    if constexpr (returned) {
      add_own(to);
    } else {
      copy_own(to, rows);
    }
    if (ranks() > 1) exchange(to, rows);
    runtime::fence(run_.exec());
    return out;
  }

 private:
  std::int64_t ranks() const { return static_cast<std::int64_t>(blocks_.size()); }
  Range block(std::int64_t g) const { return blocks_[static_cast<std::size_t>(g)]; }

  /// `n` rows of the operand from row `from` on to row `to` of a result of `rows` rows.
  void copy(std::int64_t from, T* out, std::int64_t to, std::int64_t rows, std::int64_t n) const {
    kernels::copy_pitched(run_.exec(), run_.data + from * in_.inner, in_.n * in_.inner,
                          out + to * in_.inner, rows * in_.inner, in_.outer, n * in_.inner);
  }
  void copy_own(T* out, std::int64_t rows) const {
    Range const mine = block(me_);
    std::int64_t there = 0;
    planning::for_pieces(mine, along_.extent(), step_.window,
                         [&](WindowPiece const& p) { there += p.source.size(); });
    if (there < rows) kernels::fill(run_.exec(), out, rows * in_.row(), T{});
    planning::for_pieces(mine, along_.extent(), step_.window, [&](WindowPiece const& p) {
      Range const s = intersect(p.source, mine);
      copy(s.begin - mine.begin, out, p.at + s.begin - p.source.begin, rows, s.size());
    });
  }
  void add_own(T* out) const {
    Range const mine = block(me_);
    Window const& w = step_.window;
    copy(-w.low, out, 0, mine.size(), mine.size());
    planning::for_pieces(mine, along_.extent(), w, [&](WindowPiece const& p) {
      if (p.source.begin - p.at == mine.begin + w.low) return;  // the own rows
      Range const s = intersect(p.source, mine);
      kernels::add_pitched(run_.exec(), run_.data + (p.at + s.begin - p.source.begin) * in_.inner,
                           in_.n * in_.inner, out + (s.begin - mine.begin) * in_.inner,
                           mine.size() * in_.inner, in_.outer, s.size() * in_.inner);
    });
  }

  /// Calls `move(row, at, n)` for the pieces of `n` rows that other ranks get or send, rank by
  /// rank: `row` is the first one in the own window (`in_window`) or the own block, `at` in the
  /// messages.
  template <class Move>
  void each_piece(bool in_window, Move move) const {
    std::int64_t at = 0;
    for (std::int64_t g = 0; g < ranks(); ++g) {
      if (g == me_) continue;
      Range const held = block(in_window ? g : me_);
      planning::for_pieces(
          block(in_window ? me_ : g), along_.extent(), step_.window, [&](WindowPiece const& p) {
            Range const s = intersect(p.source, held);
            move(s.begin - (in_window ? p.source.begin - p.at : held.begin), at, s.size());
            at += s.size();
          });
    }
  }

  /// Sends what other ranks need and copies, or adds, what comes from them to `out`.
  void exchange(T* out, std::int64_t rows) {
    StepScratch& s = run_.mesh.scratch();
    auto const p = static_cast<std::size_t>(ranks());
    for (detail::List<std::int64_t>* list :
         {&s.counts, &s.offsets, &s.recv_counts, &s.recv_offsets})
      list->assign(p, 0);
    std::int64_t sent = 0;
    std::int64_t received = 0;
    for (std::int64_t g = 0; g < ranks(); ++g) {
      auto const k = static_cast<std::size_t>(g);
      s.offsets[k] = sent;
      s.recv_offsets[k] = received;
      if (g == me_) continue;
      s.counts[k] =
          planning::rows_between(block(me_), block(g), along_.extent(), step_.window) * in_.row();
      s.recv_counts[k] =
          planning::rows_between(block(g), block(me_), along_.extent(), step_.window) * in_.row();
      sent += s.counts[k];
      received += s.recv_counts[k];
    }
    Buffer const outgoing = run_.take(sent);
    T* const wire = run_.writable(outgoing);
    each_piece(returned, [&](std::int64_t row, std::int64_t at, std::int64_t n) {
      copy(row, wire + at * in_.row(), 0, n, n);
    });
    runtime::fence(run_.exec());
    Buffer const incoming = run_.take(received);
    T* const came = run_.writable(incoming);
    Staged<T, Space> staged(run_.mesh);
    T* const into = staged.incoming(came, received);
    execute::group_of(run_.mesh, along_.map, step_.axes)
        .all_to_all(staged.outgoing(wire, sent), s.counts, s.offsets, into, s.recv_counts,
                    s.recv_offsets, Segments::sparse);
    staged.arrived(came, received);
    each_piece(!returned, [&](std::int64_t row, std::int64_t at, std::int64_t n) {
      T const* const from = came + at * in_.row();
      T* const to = out + row * in_.inner;
      std::int64_t const length = n * in_.inner;
      if constexpr (returned) {
        kernels::add_pitched(run_.exec(), from, length, to, rows * in_.inner, in_.outer, length);
      } else {
        kernels::copy_pitched(run_.exec(), from, length, to, rows * in_.inner, in_.outer, length);
      }
    });
  }

  AlongDim<T, Space> along_;
  LocalRun<T, Space> const& run_ = along_.run;
  Around in_{run_.in, along_.dim};
  Step step_;
  std::int64_t me_;
  /// Blocks of the ranks along the dim's axes, in order; owned by the mesh, so that steps do not
  /// allocate.
  detail::List<Range>& blocks_ = run_.mesh.scratch().blocks;
};

/// Runs the neighbor exchange of the plan of operation `name`; its window is `w`.
template <bool returned, class T, class Space>
Buffer run_neighbor(LocalRun<T, Space> const& run, char const* name, Window const& w) {
  return NeighborStep<T, Space, returned>(run, name, w).run();
}

/// Runs the neighbor exchange of `op`, whose operand or result is a Halo: `a` has the block `in`,
/// and the result the block `out`.
template <class R, bool returned, class Op, class A>
Buffer exchange_halo(Op const& op, std::source_location const& where, A const& a,
                     kernels::Layout const& in, kernels::Layout const& out) {
  static_cast<void>(execute::result_extents<R>(op, a));  // errors, also on ranks outside the mesh
  if (!a.mesh().here()) return {};
  GivenExtents const given(a);
  ResultExtents const call{R::S::names, R::S::parsed, 1, R::verdict.result, {}, given.at, nullptr};
  Buffer const* const buffers[] = {&a.buffer()};
  LocalRun<typename A::element, typename A::memory_space> const run(a.mesh().state(), call, where,
                                                                    in, out, buffers, nullptr);
  return execute::run_neighbor<returned>(run, op.name.data(), op.window());
}

/// The totals of all ranks along the dim, [ranks, columns] of `V`, by the step `s` of the plan:
/// `own` are this rank's. `first` and `second` are what else all ranks pass alike. Collective over
/// the mesh.
template <class V, class T, class Space>
Buffer totals_of_all(AlongDim<T, Space> const& along, Step const& s, char const* name,
                     std::int64_t first, std::int64_t second, Buffer own) {
  Sizing sizing = along.sizing;
  sizing.element_bytes = sizeof(V);
  Executor<V, Space> gather(along.run.mesh, along.map, sizing,
                            {along.run.where, name, first, second});
  return gather.run(s, execute::whole_value<V>(s.before, sizing, along.map.coords, std::move(own)));
}

/// Running values along the dim, from the last row to the first if `reverse`. The value with which
/// the own block begins is computed from the totals of other blocks, which all ranks exchange by
/// the plan's all_gather. Collective over the mesh.
template <class Reducer, class T, class Space>
Buffer running_values(LocalRun<T, Space> const& run, char const* name, bool exclusive,
                      bool reverse) {
  AlongDim<T, Space> along(run);
  Around const b(run.in, along.dim);
  std::int64_t const extent = along.extent();
  Step const s =
      planning::totals_step(run.call.a(), along.dim, along.sizing.extents, along.map.sizes);
  std::int64_t const ranks = along.map.sizes.product(s.axes);
  Buffer const out = run.fresh();
  T const* start = nullptr;
  Buffer before;
  if (ranks > 1) {
    Buffer total = run.take(b.row());
    if constexpr (runtime::host_reads<Space> || !std::is_same_v<T, typename Reducer::Result>) {
      kernels::total_middle<Reducer>(run.exec(), run.data, run.writable(total), b.outer, b.n,
                                     b.inner, reverse);
    } else {
      kernels::Layout columns;
      columns.rank = 3;
      columns.extent[0] = b.outer, columns.stride[0] = b.n * b.inner;
      columns.extent[1] = b.inner, columns.stride[1] = 1;
      columns.extent[2] = b.n, columns.stride[2] = b.inner;
      auto const plan = kernels::plan_reduce<Reducer>(run.exec(), columns, 2);
      Buffer const work = kernels::take_workspace<Space>(run.mesh.pool(), plan);
      kernels::reduce<Reducer>(run.exec(), plan, run.data, run.writable(total), work.data());
      runtime::fence(run.exec());
    }
    Buffer const totals = execute::totals_of_all<T>(
        along, s, name, (exclusive ? 1 : 0) + (reverse ? 2 : 0), extent, std::move(total));
    before = run.take(b.row());
    kernels::combine_rows<Reducer>(run.exec(), run.writable(totals), run.writable(before), ranks,
                                   core::rank_in_group(s.axes, along.map.sizes, along.map.coords),
                                   b.row(), reverse);
    runtime::fence(run.exec());
    start = run.writable(before);
  }
  kernels::scan_middle<Reducer>(run.exec(), run.data, run.writable(out), start, b.outer, b.n,
                                b.inner, exclusive, reverse);
  runtime::fence(run.exec());
  return out;
}

}  // namespace shardtype::execute
