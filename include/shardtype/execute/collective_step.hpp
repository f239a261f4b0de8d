#pragma once
/// One collective of a plan on local blocks: packing, the call, unpacking.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/execute/blocks.hpp>
#include <shardtype/execute/group.hpp>
#include <shardtype/execute/staged.hpp>
#include <shardtype/execute/take_rows.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/segments.hpp>
#include <shardtype/plan/block_plan.hpp>

namespace shardtype::execute {

/// Error E42, for a step that would otherwise be skipped silently.
[[noreturn]] inline void throw_not_run(std::string const& what) {
  throw Error("E42", "a plan has a step that is not run: " + what, FailedOn::every_rank);
}

/// The partners of a step. Error E42: it needs some and has none.
inline Partners const& known(Step const& s, Partners const* with) {
  if (with == nullptr) throw_not_run(planning::kind_of(s.collective()).name);
  return *with;
}

/// Runs the collectives of plans. They need contiguous memory; nothing is packed along the
/// outermost dim. If MPI cannot access `Space`, blocks pass through the host.
template <class T, class Space>
class CollectiveStep {
  using Exec = typename Space::execution_space;

 public:
  /// `later`: where the completion is stored; null: a step returns when it has its result.
  explicit CollectiveStep(Blocks<T, Space>& blocks, Exchange* later = nullptr)
      : blocks_(blocks), later_(later) {}

  /// Runs the step's collective on `v`; in a broadcast and in permutes of whole blocks each rank
  /// has its partners. Collective over the step's group. Error E42: a collective for which a step
  /// does not say all.
  void run(Step const& s, Value<T>& v, Partners const* with = nullptr) {
    planning::MoveKind const& kind = planning::kind_of(s);
    if (kind.is(planning::move_rows::reshards) && blocks_.sizing.sizes.product(s.axes) == 1)
      return alone(s, v);
    runtime::fence(blocks_.exec);
    if (kind.is(planning::move_rows::packs)) blocks_.pack(v);
    switch (s.move) {
      case Move::gather:
        v = all_gather(s, v);
        break;
      case Move::reduce:
        v = all_reduce(s, v);
        break;
      case Move::scatter:
        v = reduce_scatter(s, v);
        break;
      case Move::scatter_cyclic:
        v = reduce_scatter_rows(s, v);
        break;
      case Move::exchange:
        v = all_to_all(s, v);
        break;
      case Move::gather_cyclic:
      case Move::exchange_cyclic:
      case Move::resplit:
        v = rows_of_others(s, v);
        break;
      case Move::reorder:
        v = permute(s, v);
        break;
      case Move::send_block:
        v = send_block(s, execute::known(s, with), v);
        break;
      case Move::broadcast:
        v = broadcast(s, execute::known(s, with), v);
        break;
      default:
        execute::known(s, nullptr);
    }
  }

  /// Runs an all_to_all of the rows of `v` and `out` that the lists in the mesh's scratch say;
  /// other rows of `out` stay. With an Exchange `later`, only starts it.
  void run_rows(Step const& s, Value<T> const& v, Value<T>& out) {
    runtime::fence(blocks_.exec);
    T* const into = staged_.in_place(blocks_.writable(out.keep), out.layout.elements());
    execute::group_of(blocks_.mesh, blocks_.axes, s.axes)
        .all_to_all(staged_.outgoing(v.data, v.layout.elements()), counts_, offsets_, into,
                    recv_counts_, recv_offsets_, Segments::sparse, calls());
    out = finish(v, out, {}, out.keep);
  }

  /// Runs the all_reduce `s` on `v`; with an Exchange `later`, only starts it.
  void run_all_reduce(Step const& s, Value<T>& v) {
    if (blocks_.sizing.sizes.product(s.axes) == 1) {
      v.spec = s.after;
      return;
    }
    runtime::fence(blocks_.exec);
    blocks_.pack(v);
    v = all_reduce(s, v);
  }

 private:
  /// In a group of one rank a step only changes names, or keeps the part of a dim that other axes
  /// leave.
  void alone(Step const& s, Value<T>& v) {
    if (s.move == Move::resplit) {
      Coords const& me = blocks_.axes.coords;
      v.keep = execute::take_rows<T, Space>(blocks_.mesh, v.data, v.layout, s.to,
                                            planning::rows_of(s.before, s.to, blocks_.sizing, me),
                                            planning::rows_of(s.after, s.to, blocks_.sizing, me));
      v.data = static_cast<T const*>(v.keep.data());
    }
    v.spec = s.after;
  }

  // Segments along one dim, packed for sending and back.

  template <kernels::Packing Way>
  static void move_segments(MeshState& mesh, Exec const& exec, T const* from, T* to,
                            detail::List<std::int64_t> const& begin, Around const& l) {
    runs::TableIn<Space> const table(mesh, begin);
    kernels::move_segments<Way>(exec, from, to, table.at(),
                                static_cast<std::int64_t>(begin.size()) - 1, l.outer, l.n, l.inner);
    runtime::fence(exec);
  }

  /// The packed elements of `v`: its own memory if it is contiguous, else a copy in `wire`.
  T const* packed(Value<T> const& v, Buffer& wire) {
    if (v.layout.contiguous()) return v.data;
    wire = blocks_.take(v.layout.elements());
    kernels::copy_packed(blocks_.exec, v.data, v.layout, blocks_.writable(wire));
    runtime::fence(blocks_.exec);
    return blocks_.writable(wire);
  }
  /// The consecutive segments of `v` along `dim` with these begins: its own memory if they are
  /// already consecutive, else a copy in `wire`. A view is packed in the same pass.
  T const* segments(Value<T> const& v, detail::List<std::int64_t> const& begin, int dim,
                    Buffer& wire) {
    if (kernels::lies_in_segments(v.layout, dim)) return v.data;
    if (kernels::outer_length(v.layout, dim) == 1) return packed(v, wire);
    wire = blocks_.take(v.layout.elements());
    T* const to = blocks_.writable(wire);
    if (v.layout.contiguous()) {
      move_segments<kernels::Packing::split>(blocks_.mesh, blocks_.exec, v.data, to, begin,
                                             {v.layout, dim});
      return to;
    }
    detail::List<Rows>& parts = blocks_.mesh.scratch().rows;
    parts.clear();
    for (std::size_t k = 0; k + 1 < begin.size(); ++k)
      parts.push_back({begin[k], begin[k + 1] - begin[k]});
    execute::split_rows<Space>(blocks_.mesh, v.data, v.layout, dim, {0, v.layout.extent[dim]},
                               parts, to);
    return to;
  }

  UnderWay* calls() { return later_ == nullptr ? nullptr : &later_->calls; }
  /// Memory for what arrives in a started sum of `n` elements that is to have the bits of the
  /// blocking one.
  void take_arrivals(Comm const& comm, std::int64_t n, std::int64_t segment, ReduceKind kind) {
    if (later_ == nullptr || !later_->ordered) return;
    std::int64_t const arriving = comm.template arrivals<T>(n, segment, kind);
    if (arriving == 0) return;
    Buffer memory = blocks_.mesh.pool().template take<Kokkos::HostSpace>(
        static_cast<std::size_t>(arriving) * sizeof(T));
    later_->calls.arrivals = memory.data();
    later_->kept.push_back(std::move(memory));
  }

  /// Completes a collective of `v` that sent `sent` and received `wire`: segments with these begins
  /// (null: none) are joined along `dim` of `out`. If the collective was only started, its
  /// completion is stored in the Exchange.
  Value<T> finish(Value<T> const& v, Value<T>& out, Buffer const& sent, Buffer const& wire,
                  detail::List<std::int64_t> const* joins = nullptr, int dim = 0) {
    std::int64_t const n = out.layout.elements();
    if (later_ != nullptr) {
      staged_.put_off(*later_, v.keep, out.keep, n);
      later_->kept.push_back(sent);
      if (joins != nullptr) {
        later_->wire = wire;
        later_->begins = *joins;
        later_->joined = {out.layout, dim};
      }
      if (joins != nullptr || !runtime::host_reads<Space>) later_->rest = &rest;
      return std::move(out);
    }
    staged_.arrived(blocks_.writable(wire), n);
    if (joins != nullptr)
      move_segments<kernels::Packing::join>(blocks_.mesh, blocks_.exec, blocks_.writable(wire),
                                            blocks_.writable(out.keep), *joins, {out.layout, dim});
    return std::move(out);
  }
  /// The stored completion.
  static void rest(MeshState& mesh, Exchange& e) {
    bool const joins = e.wire.data() != nullptr;
    T* const came = static_cast<T*>((joins ? e.wire : e.result).data());
    Staged<T, Space>::arrived(e.host, came, e.arriving);
    if (joins)
      move_segments<kernels::Packing::join>(mesh, {}, came, static_cast<T*>(e.result.data()),
                                            e.begins, e.joined);
  }

  Value<T> all_gather(Step const& s, Value<T> const& v) {
    int const d = s.from;
    execute::member_blocks(s.before, d, blocks_.sizing, blocks_.axes, s.axes, old_ranges_);
    Value<T> out = blocks_.fresh(s.after);
    execute::counts(old_ranges_, kernels::cross_section(v.layout, d), recv_counts_);
    bool const direct = kernels::lies_in_segments(out.layout, d);
    Buffer const wire = direct ? out.keep : blocks_.take(out.layout.elements());
    std::int64_t const n = out.layout.elements();
    Comm& comm = execute::group_of(blocks_.mesh, blocks_.axes, s.axes);
    staged_.gather(comm, n);
    T* const into = staged_.incoming(blocks_.writable(wire), n);
    comm.all_gather(staged_.outgoing(v.data, v.layout.elements()), into, recv_counts_, calls());
    return finish(v, out, {}, wire, direct ? nullptr : &execute::begins(old_ranges_, joins_), d);
  }

  Value<T> all_reduce(Step const& s, Value<T> const& v) {
    staged_.read_by_host();
    bool const in_place = v.keep.holders() == 1 && v.data == v.keep.data();
    Value<T> out = v;
    if (!in_place) out = blocks_.fresh(s.after);
    out.spec = s.after;
    std::int64_t const n = v.layout.elements();
    T* const into = staged_.incoming(blocks_.writable(out.keep), n);
    Comm& comm = execute::group_of(blocks_.mesh, blocks_.axes, s.axes);
    take_arrivals(comm, n, n / comm.size(), s.before.kind);
    comm.all_reduce(staged_.outgoing(v.data, n), into, n, s.before.kind, calls());
    return finish(v, out, {}, out.keep);
  }

  /// A started one that packs its operand does not keep it.
  Value<T> reduce_scatter(Step const& s, Value<T>& v) {
    staged_.read_by_host();
    int const d = s.to;
    execute::member_blocks(s.after, d, blocks_.sizing, blocks_.axes, s.axes, ranges_);
    Value<T> out = blocks_.fresh(s.after);
    execute::counts(ranges_, kernels::cross_section(v.layout, d), counts_);
    Buffer wire;
    T const* const send = segments(v, execute::begins(ranges_, cuts_), d, wire);
    if (later_ != nullptr && wire.data() != nullptr) v.keep = {};
    std::int64_t const n = out.layout.elements();
    T* const into = staged_.incoming(blocks_.writable(out.keep), n);
    Comm& comm = execute::group_of(blocks_.mesh, blocks_.axes, s.axes);
    take_arrivals(comm, v.layout.elements(), n, s.before.kind);
    comm.reduce_scatter(staged_.outgoing(send, v.layout.elements()), into, counts_, s.before.kind,
                        calls());
    return finish(v, out, wire, out.keep);
  }

  /// The mean length of the largest rank's segments in an exchange of blocks.
  std::int64_t segment_of(Step const& s, Comm const& comm) const {
    return core::largest_elements(s.before, blocks_.sizing.extents, blocks_.sizing.sizes) /
           comm.size();
  }

  /// Needs at most three blocks, because the operand's is released once it is packed, unless a
  /// tensor holds it.
  Value<T> all_to_all(Step const& s, Value<T>& v) {
    execute::member_blocks(s.before, s.from, blocks_.sizing, blocks_.axes, s.axes, old_ranges_);
    execute::member_blocks(s.after, s.to, blocks_.sizing, blocks_.axes, s.axes, ranges_);
    Value<T> out = execute::whole_value<T>(s.after, blocks_.sizing, blocks_.axes.coords, {});
    bool const even = execute::all_equal(old_ranges_) && execute::all_equal(ranges_);
    // number of elements per pair of indices of the two dims that change
    std::int64_t rest = 1;
    for (int d = 0; d < v.layout.rank; ++d)
      if (d != s.from && d != s.to) rest *= v.layout.extent[d];
    std::int64_t const my_from = v.layout.extent[s.from];
    std::int64_t const my_to = out.layout.extent[s.to];
    std::int64_t const most = old_ranges_.front().size() * v.layout.extent[s.to] * rest;
    std::int64_t const most_in = out.layout.extent[s.from] * ranges_.front().size() * rest;

    Buffer send_wire;
    T const* const send = segments(v, execute::begins(ranges_, cuts_), s.to, send_wire);
    if (send_wire.data() != nullptr) v.keep = {};
    out.keep = blocks_.take(out.layout.elements());
    out.data = blocks_.writable(out.keep);
    bool const direct = kernels::lies_in_segments(out.layout, s.from);
    Buffer const recv_wire = direct ? out.keep : blocks_.take(out.layout.elements());
    execute::counts(ranges_, my_from * rest, counts_);
    execute::counts(old_ranges_, my_to * rest, recv_counts_);
    std::int64_t const n = out.layout.elements();
    Comm& comm = execute::group_of(blocks_.mesh, blocks_.axes, s.axes);
    std::int64_t const segment = segment_of(s, comm);
    if (later_ == nullptr) staged_.exchange(comm, segment);
    T* const into = staged_.incoming(blocks_.writable(recv_wire), n);
    comm.all_to_all(staged_.outgoing(send, v.layout.elements()), counts_,
                    execute::offsets(counts_, offsets_), into, recv_counts_,
                    execute::offsets(recv_counts_, recv_offsets_),
                    execute::sized(even, std::max(most, most_in)), calls(), segment);
    return finish(v, out, send_wire, recv_wire,
                  direct ? nullptr : &execute::begins(old_ranges_, joins_), s.from);
  }

  /// Changes the order of the axes on one dim. If all blocks are equal, whole blocks are exchanged;
  /// otherwise ranks exchange the overlaps of old and new blocks.
  Value<T> permute(Step const& s, Value<T> const& v) {
    int const d = s.from;
    AxisList const new_order = s.after.dims[d].axes.suffix(s.after.dims[d].axes.size - s.axes.size);
    execute::member_blocks(s.before, d, blocks_.sizing, blocks_.axes, s.axes, old_ranges_);
    execute::member_blocks(s.after, d, blocks_.sizing, blocks_.axes, s.axes, ranges_);
    Sizes const& sizes = blocks_.sizing.sizes;
    Coords const& here = blocks_.axes.coords;
    std::int64_t const p = sizes.product(s.axes);
    std::int64_t const me = core::rank_in_group(s.axes, sizes, here);
    // members are numbered in the old order: the one that gets the k-th of the new blocks
    auto const new_owner = [&](std::int64_t k) {
      return core::rank_in_group(s.axes, sizes, core::member(new_order, sizes, here, k));
    };

    Value<T> out = blocks_.fresh(s.after);
    Comm& comm = execute::group_of(blocks_.mesh, blocks_.axes, s.axes);
    std::int64_t const rest = kernels::cross_section(v.layout, d);
    if (execute::all_equal(old_ranges_)) {
      auto const to = static_cast<int>(new_owner(me));
      auto const from = static_cast<int>(core::rank_in_group(new_order, sizes, here));
      std::int64_t const n = out.layout.elements();
      T* const into = staged_.incoming(blocks_.writable(out.keep), n);
      Buffer wire;
      T const* const send = packed(v, wire);
      comm.permute(staged_.outgoing(send, n), n, to, into, n, from, calls());
      return finish(v, out, wire, out.keep);
    }
    Range const mine_old = old_ranges_[static_cast<std::size_t>(me)];
    Range const mine_new = ranges_[static_cast<std::size_t>(me)];
    // send segments are in the order of the new blocks, receive segments in that of the old ones
    counts_.assign(static_cast<std::size_t>(p), 0);
    offsets_.assign(static_cast<std::size_t>(p), 0);
    cuts_.assign(1, 0);
    for (std::int64_t k = 0; k < p; ++k) {
      auto const g = static_cast<std::size_t>(new_owner(k));
      std::int64_t const n = intersect(mine_old, ranges_[g]).size();
      counts_[g] = n * rest;
      offsets_[g] = cuts_.back() * rest;
      cuts_.push_back(cuts_.back() + n);
    }
    joins_.assign(1, 0);
    recv_counts_.clear();
    for (Range const& old_block : old_ranges_) {
      std::int64_t const n = intersect(mine_new, old_block).size();
      recv_counts_.push_back(n * rest);
      joins_.push_back(joins_.back() + n);
    }
    execute::offsets(recv_counts_, recv_offsets_);
    Buffer send_wire;
    T const* const send = segments(v, cuts_, d, send_wire);
    bool const direct = kernels::lies_in_segments(out.layout, d);
    Buffer const recv_wire = direct ? out.keep : blocks_.take(out.layout.elements());
    std::int64_t const most = std::max(old_ranges_.front().size(), ranges_.front().size()) * rest;
    std::int64_t const n = out.layout.elements();
    T* const into = staged_.incoming(blocks_.writable(recv_wire), n);
    comm.all_to_all(staged_.outgoing(send, v.layout.elements()), counts_, offsets_, into,
                    recv_counts_, recv_offsets_, execute::sized(false, most), calls());
    return finish(v, out, send_wire, recv_wire, direct ? nullptr : &joins_, d);
  }

  // A block-cyclic dim: dim `to` is cut into the rows that each member gets, in any runs of
  // indices, and dim `from` is joined from the rows that each member held.

  /// The packed parts of `v`, whose sizes it writes to `counts_`.
  Buffer cut_rows(Step const& s, Value<T> const& v) {
    StepScratch& scratch = blocks_.mesh.scratch();
    Rows const mine = planning::rows_of(s.before, s.to, blocks_.sizing, blocks_.axes.coords);
    execute::member_rows(s.after, s.to, blocks_.sizing, blocks_.axes, s.axes, scratch.rows);
    execute::counts(mine, scratch.rows, kernels::cross_section(v.layout, s.to), counts_);
    std::int64_t sent = 0;
    for (std::int64_t n : counts_) sent += n;
    Buffer wire = blocks_.take(sent);
    execute::split_rows<Space>(blocks_.mesh, v.data, v.layout, s.to, mine, scratch.rows,
                               blocks_.writable(wire));
    return wire;
  }
  Value<T> reduce_scatter_rows(Step const& s, Value<T> const& v) {
    staged_.read_by_host();
    Value<T> out = blocks_.fresh(s.after);
    Buffer const cut = cut_rows(s, v);
    std::int64_t const n = out.layout.elements();
    T* const into = staged_.incoming(blocks_.writable(out.keep), n);
    execute::group_of(blocks_.mesh, blocks_.axes, s.axes)
        .reduce_scatter(staged_.outgoing(blocks_.writable(cut), v.layout.elements()), into, counts_,
                        s.before.kind);
    staged_.arrived(blocks_.writable(out.keep), n);
    return out;
  }
  /// gather_cyclic, exchange_cyclic and resplit.
  Value<T> rows_of_others(Step const& s, Value<T> const& v) {
    Sizing const& z = blocks_.sizing;
    Value<T> out = blocks_.fresh(s.after);
    bool const cuts = planning::kind_of(s).cuts == planning::Parts::rows;
    Buffer const cut = cuts ? cut_rows(s, v) : Buffer{};
    detail::List<Rows>& theirs = blocks_.mesh.scratch().old_rows;
    Rows const mine = planning::rows_of(s.after, s.from, z, blocks_.axes.coords);
    execute::member_rows(s.before, s.from, z, blocks_.axes, s.axes, theirs);
    execute::counts(mine, theirs, kernels::cross_section(out.layout, s.from), recv_counts_);
    std::int64_t const n = out.layout.elements();
    Buffer const wire = blocks_.take(n);
    Comm& comm = execute::group_of(blocks_.mesh, blocks_.axes, s.axes);
    std::int64_t const segment = s.move == Move::exchange_cyclic ? segment_of(s, comm) : -1;
    if (!cuts) staged_.gather(comm, n);
    if (segment >= 0) staged_.exchange(comm, segment);
    T* const into = staged_.incoming(blocks_.writable(wire), n);
    if (cuts) {
      // several ranks may need a part, if the dim is then split over other axes
      std::int64_t const times = s.move == Move::resplit ? z.sizes.product(s.axes) : 1;
      std::int64_t const most = std::max(largest_elements(s.before, z.extents, z.sizes) * times,
                                         largest_elements(s.after, z.extents, z.sizes));
      std::int64_t const sent = execute::offsets(counts_, offsets_).back() + counts_.back();
      comm.all_to_all(staged_.outgoing(blocks_.writable(cut), sent), counts_, offsets_, into,
                      recv_counts_, execute::offsets(recv_counts_, recv_offsets_),
                      execute::sized(false, most), nullptr, segment);
    } else {
      comm.all_gather(staged_.outgoing(v.data, v.layout.elements()), into, recv_counts_);
    }
    staged_.arrived(blocks_.writable(wire), n);
    execute::join_rows<Space>(blocks_.mesh, static_cast<T const*>(wire.data()),
                              blocks_.writable(out.keep), out.layout, s.from, mine, theirs);
    return out;
  }

  Value<T> broadcast(Step const& s, Partners const& with, Value<T> const& v) {
    bool const mine =
        core::rank_in_group(s.axes, blocks_.axes.sizes, blocks_.axes.coords) == with.from;
    Value<T> out = mine ? blocks_.copy(v) : blocks_.fresh(s.after);
    if (blocks_.sizing.sizes.product(s.axes) == 1) return out;
    std::int64_t const n = out.layout.elements();
    T* const block = blocks_.writable(out.keep);
    T* const at =
        mine ? staged_.in_place(block, n) : staged_.incoming(blocks_.writable(out.keep), n);
    execute::group_of(blocks_.mesh, blocks_.axes, s.axes).broadcast(at, n, with.from, calls());
    return finish(v, out, {}, out.keep);
  }

  /// This rank's block to one rank, and that of one rank to this one; zeros if none sends.
  Value<T> send_block(Step const& s, Partners const& with, Value<T> const& v) {
    // all ranks of the mesh create the group, even those with nothing to send
    Comm& comm = execute::group_of(blocks_.mesh, blocks_.axes, s.axes);
    if (with.to == comm.rank()) return blocks_.copy(v);
    Value<T> out = blocks_.fresh(s.after);
    std::int64_t const n = out.layout.elements();
    T* const block = blocks_.writable(out.keep);
    if (with.from < 0) {
      kernels::fill(blocks_.exec, block, n, T{});
      runtime::fence(blocks_.exec);
    }
    if (with.to < 0 && with.from < 0) return out;
    T* const into = with.from < 0 ? nullptr : staged_.incoming(blocks_.writable(out.keep), n);
    comm.permute(with.to < 0 ? nullptr : staged_.outgoing(v.data, n), n, with.to, into, n,
                 with.from, calls());
    return finish(v, out, {}, out.keep);
  }

  Blocks<T, Space>& blocks_;
  Staged<T, Space> staged_{blocks_.mesh};
  Exchange* later_;
  // owned by the mesh, so that only the first operation of a size allocates
  detail::List<Range>& ranges_ = blocks_.mesh.scratch().blocks;
  detail::List<Range>& old_ranges_ = blocks_.mesh.scratch().old_blocks;
  detail::List<std::int64_t>& counts_ = blocks_.mesh.scratch().counts;
  detail::List<std::int64_t>& recv_counts_ = blocks_.mesh.scratch().recv_counts;
  detail::List<std::int64_t>& offsets_ = blocks_.mesh.scratch().offsets;
  detail::List<std::int64_t>& recv_offsets_ = blocks_.mesh.scratch().recv_offsets;
  detail::List<std::int64_t>& cuts_ = blocks_.mesh.scratch().cuts;
  detail::List<std::int64_t>& joins_ = blocks_.mesh.scratch().joins;
};

}  // namespace shardtype::execute

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/instance.hpp>
#endif
