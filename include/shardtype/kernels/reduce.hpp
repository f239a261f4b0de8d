#pragma once
/// Reductions of a local block over some of its dims.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/core/sent.hpp>
#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/reduce_calls.hpp>
#include <shardtype/kernels/reduce_runs.hpp>
#include <shardtype/kernels/reduce_short.hpp>
#include <shardtype/kernels/truths.hpp>
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/pool.hpp>

namespace shardtype::kernels {

/// The pieces of a reduction, and the workspace in bytes that it needs.
struct ReducePlan {
  detail::ReduceShape shape;
  std::int64_t workspace = 0;
};

namespace detail {

/// Pieces of the terms of each output for `workers` threads of a host: of at least 1024 terms, if
/// the outputs alone make too few calls. `together`: neighbouring outputs may share calls
/// (outputs_of_call).
constexpr std::int64_t host_pieces(ReduceShape const& shape, std::int64_t workers, bool together) {
  constexpr std::int64_t least = 1024;
  if (workers == 1 || shape.outputs == 0 || shape.terms < 2 * least) return 1;
  std::int64_t wanted = shape.outputs < 4 * workers ? 4 * workers : 1;
  Layout const kept = merged(shape.kept);
  if (wanted == 1 && together && detail::in_rows(kept, shape)) {
    std::int64_t const inner = kept.extent[kept.rank - 1];
    std::int64_t const in_row = (inner + least_outputs - 1) / least_outputs;
    std::int64_t const calls = shape.outputs / inner * in_row;
    wanted = (workers + calls - 1) / calls;
  }
  return std::min(wanted, shape.terms / least);
}

/// Calls that keep all threads of a device busy.
inline constexpr std::int64_t device_calls = 65'536;
/// Pieces of the terms of each output on a device: of at least 16 terms, and as many as make so
/// many calls.
constexpr std::int64_t device_pieces(std::int64_t outputs, std::int64_t terms) {
  if (outputs == 0 || outputs >= device_calls) return 1;
  std::int64_t const wanted = (device_calls + outputs - 1) / outputs;
  std::int64_t const most = terms / 16;
  return most < 1 ? 1 : most < wanted ? most : wanted;
}

}  // namespace detail

/// `source` has its kept dims first, in the order of the result, then `source.rank - kept` reduced
/// dims.
template <class R, class Exec>
ReducePlan plan_reduce([[maybe_unused]] Exec const& exec, Layout const& source, int kept) {
  ReducePlan p;
  Layout& k = p.shape.kept;
  for (int d = 0; d < kept; ++d) {
    k.extent[k.rank] = source.extent[d];
    k.stride[k.rank++] = source.stride[d];
    p.shape.outputs *= source.extent[d];
  }
  Layout& r = p.shape.reduced;
  for (int d = kept; d < source.rank; ++d) {
    r.extent[r.rank] = source.extent[d];
    r.stride[r.rank++] = source.stride[d];
    p.shape.terms *= source.extent[d];
  }
  r = merged(r);
  std::int64_t joined = 0;
  if constexpr (runtime::host_reads<Exec>) {
    // moments have the same bits for neighbouring terms and for distant ones
    p.shape.pieces = detail::host_pieces(p.shape, static_cast<std::int64_t>(exec.concurrency()),
                                         !detail::takes_rows<R>);
  } else {
    using Join = detail::JoinPieces<R>;
    p.shape.pieces = detail::device_pieces(p.shape.outputs, p.shape.terms);
    if (p.shape.pieces > Join::together) joined = Join::joined(p.shape.pieces);
  }
  p.workspace = (p.shape.pieces + joined) * p.shape.outputs *
                static_cast<std::int64_t>(sizeof(typename R::Total));
  return p;
}
/// The workspace of a plan. The totals of several pieces on a device, fewer than 2^17, are counted
/// in `run_time.workspace`: plans do not depend on the device.
template <class Space>
Buffer take_workspace(Pool& pool, ReducePlan const& plan) {
  bool const planned = runtime::host_reads<Space> || plan.shape.pieces == 1;
  return pool.template take<Space>(static_cast<std::size_t>(plan.workspace),
                                   planned ? Pool::Use::blocks : Pool::Use::workspace);
}

namespace detail {

/// Computes the totals of all pieces, [pieces, outputs].
template <class R, class Exec, class In, class Store>
void total_pieces(Exec const& exec, ReduceShape shape, In const& in, Store const& store) {
  if constexpr (std::is_same_v<In, bool const*>)
    return detail::total_pieces<R>(exec, shape, Truths{in}, store);
  if (shape.pieces == 1 && detail::reduce_short<R>(exec, shape.kept, shape.reduced, shape.outputs,
                                                   shape.terms, in, store))
    return;
  if (shape.kept.rank > 0) shape.kept = merged(shape.kept);
  int const last = shape.kept.rank - 1;
  bool const rows = detail::in_rows(shape.kept, shape);
  if constexpr (runtime::host_reads<Exec>) {
    if (rows) {
      using Rows = ReduceRows<R, In, Store>;
      std::int64_t const inner = shape.kept.extent[last];
      --shape.kept.rank;
      using Narrow = ReduceNarrow<R, In, Store>;
      if constexpr (Narrow::narrow > 0) {
        if (Narrow::serves(shape, inner)) {
          kernels::launch(exec, "shardtype::reduce", shape.outputs / inner * shape.pieces,
                          Narrow{in, store, shape, inner});
          return;
        }
      }
      std::int64_t const rows_of_calls = shape.outputs / inner * shape.pieces;
      std::int64_t const width = detail::outputs_of_call(
          inner, rows_of_calls, static_cast<std::int64_t>(exec.concurrency()), Rows::run);
      std::int64_t const runs = (inner + width - 1) / width;
      kernels::launch(exec, "shardtype::reduce", runs * rows_of_calls,
                      Rows{in, store, shape, inner, runs, width});
      return;
    }
  }
  if constexpr (!runtime::host_reads<Exec>) {
    if (shape.pieces > 1 && shape.reduced.rank == 1 && shape.reduced.stride[0] == 1) {
      kernels::launch(exec, "shardtype::reduce", shape.outputs * shape.pieces,
                      ReduceApart<R, In, Store>{in, store, shape});
      return;
    }
  }
  kernels::launch(exec, "shardtype::reduce", shape.outputs * shape.pieces,
                  ReduceTerms<R, In, Store>{in, store, shape});
}

/// Reduces to what `Store` writes; the totals of several pieces are in `workspace` first.
template <class R, class Exec, class In, class Store>
void reduce_to(Exec const& exec, ReduceShape const& shape, In const& in, Store const& store,
               void* workspace) {
  if (shape.outputs == 0) return;
  if (shape.pieces == 1) return detail::total_pieces<R>(exec, shape, in, store);
  using Total = typename R::Total;
  auto* const totals = static_cast<Total*>(workspace);
  detail::total_pieces<R>(exec, shape, in, StoreTotal<R, false, Total>{totals});
  Total const* from = totals;
  std::int64_t pieces = shape.pieces;
  if constexpr (!runtime::host_reads<Exec>) {
    using Join = JoinPieces<R>;
    if (pieces > Join::together) {
      Total* const joined = totals + pieces * shape.outputs;
      kernels::launch(exec, "shardtype::reduce", Join::joined(pieces) * shape.outputs,
                      Join{totals, joined, shape.outputs, pieces});
      from = joined;
      pieces = Join::joined(pieces);
    }
  }
  kernels::launch(exec, "shardtype::reduce", shape.outputs,
                  ReducePieces<R, Store>{from, store, shape.outputs, pieces});
}

}  // namespace detail

/// out[k] = the reduction of the elements of output k; `workspace` has plan.workspace bytes of the
/// memory of `Exec`. Without elements: the reducer's neutral value. `in` is a pointer, or an
/// expression (kernels/expression.hpp). Runs on `exec`.
template <class R, class Exec, class In>
void reduce(Exec const& exec, ReducePlan const& plan, In const& in, typename R::Result* out,
            void* workspace) {
  detail::reduce_to<R>(exec, plan.shape, in, detail::StoreTotal<R, true, typename R::Result>{out},
                       workspace);
}

/// The same reduction, but it stops at the totals, as they are sent, which are combined with those
/// of other blocks before they are finished.
template <class R, class Exec, class In>
void reduce_to_totals(Exec const& exec, ReducePlan const& plan, In const& in,
                      shardtype::detail::sent_t<R>* out, void* workspace) {
  using Sent = shardtype::detail::sent_t<R>;
  detail::reduce_to<R>(exec, plan.shape, in, detail::StoreTotal<R, false, Sent>{out}, workspace);
}

/// The results of `n` totals, as they were sent.
template <class R, class Exec>
void finish_totals(Exec const& exec, shardtype::detail::sent_t<R> const* totals,
                   typename R::Result* out, std::int64_t n) {
  if (n > 0) kernels::launch(exec, "shardtype::reduce", n, detail::FinishSent<R>{totals, out});
}

}  // namespace shardtype::kernels
