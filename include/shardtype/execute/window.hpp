#pragma once
/// Fetches rows of a split dim from the ranks that hold them, or adds them there, and computes running
/// values along it.

#include <cstdint>
#include <source_location>
#include <string>

#include <shardtype/core/list.hpp>
#include <shardtype/execute/group.hpp>
#include <shardtype/execute/local_run.hpp>
#include <shardtype/kernels/functions.hpp>
#include <shardtype/kernels/scan.hpp>
#include <shardtype/plan/window.hpp>

namespace shardtype::execute {

/// Operations along one dim of a tensor whose blocks are on several ranks.
template <class T, class Space>
class AlongRanks {
  static constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible;

 public:
  /// Collective over the mesh. `text`, `first` and `second` describe the operation for
  /// SHARDTYPE_CHECK=agree.
  AlongRanks(LocalRun<T, Space> const& run, char const* text, std::int64_t first,
             std::int64_t second)
      : run_(run),
        map_(map_axes(run.mesh, run.call.names)),
        dim_(run.call.dim()),
        sizing_{run.call.names.extents(), map_.sizes, static_cast<std::int64_t>(sizeof(T))} {
    for (int d = 0; d < run.call.a().rank; ++d)
      sizing_.extents.at[run.call.a().dims[d].label] = run.call.given[0][d];
    member_blocks(run.call.a(), dim_, sizing_, map_, axes(), blocks_);
    me_ = static_cast<int>(place_in_group(map_, axes()));
    if (ranks() > 1 && run.mesh.agreement().begin_step()) agree(text, first, second, run.where);
  }

  /// Fetches the rows of window `w` for each rank from the ranks that hold them, with one message
  /// per pair of ranks.
  Buffer fetch(Window const& w) {
    Around const b(run_.in, dim_);
    Range const mine = block(me_);
    std::int64_t const rows = mine.size() == 0 ? 0 : mine.size() + w.high - w.low;
    Buffer const out = run_.take(b.outer * rows * b.inner);
    std::int64_t there = 0;
    for_pieces(mine, extent(), w, [&](WindowPiece const& p) { there += p.source.size(); });
    if (there < rows) kernels::fill(run_.exec(), write(out), b.outer * rows * b.inner, T{});
    // rows that this rank holds
    for_pieces(mine, extent(), w, [&](WindowPiece const& p) {
      Range const s = intersect(p.source, mine);
      kernels::copy_pitched(run_.exec(), run_.data + (s.begin - mine.begin) * b.inner,
                            b.n * b.inner, write(out) + (p.at + s.begin - p.source.begin) * b.inner,
                            rows * b.inner, b.outer, s.size() * b.inner);
    });
    if (ranks() > 1)
      exchange(
          w, b, [&](T* wire) { pack(w, b, wire); },
          [&](T const* wire) { unpack(w, b, rows, wire, write(out)); });
    run_.exec().fence();
    return out;
  }

  /// The transpose of `fetch`: the operand is the rows of window `w`, and each row of the result is
  /// the sum of those that stand for it: the own one, others of this rank, then those of the other
  /// ranks in their order.
  Buffer give_back(Window const& w) {
    Around const b(run_.in, dim_);
    Range const mine = block(me_);
    Buffer const out = run_.fresh();
    std::int64_t const pitch = mine.size() * b.inner;
    kernels::copy_pitched(run_.exec(), run_.data - w.low * b.inner, b.n * b.inner, write(out),
                          pitch, b.outer, pitch);
    for_pieces(mine, extent(), w, [&](WindowPiece const& p) {
      if (p.source.begin - p.at == mine.begin + w.low) return;  // the own rows
      Range const s = intersect(p.source, mine);
      kernels::add_pitched(run_.exec(), run_.data + (p.at + s.begin - p.source.begin) * b.inner,
                           b.n * b.inner, write(out) + (s.begin - mine.begin) * b.inner, pitch,
                           b.outer, s.size() * b.inner);
    });
    if (ranks() > 1)
      exchange(
          w, b, [&](T* wire) { pack_returned(w, b, wire); },
          [&](T const* wire) { add_returned(w, b, wire, write(out)); });
    run_.exec().fence();
    return out;
  }

  /// The group of the ranks along the dim; null if this is one rank. All ranks of the mesh create it,
  /// even those with nothing to send.
  Comm* comm() { return ranks() > 1 ? &group() : nullptr; }
  int ranks() const { return static_cast<int>(blocks_.size()); }
  int place() const { return me_; }
  /// Whether this rank has the last row, or the first one if `reverse`.
  bool ends(bool reverse) const {
    Range const mine = block(me_);
    return mine.size() > 0 && (reverse ? mine.begin == 0 : mine.end == extent());
  }
  /// `n` values of type `V` of each rank of `comm`, in order; `own` are this rank's.
  template <class V>
  Buffer of_all(Comm& comm, Buffer const& own, std::int64_t n) {
    run_.exec().fence();
    auto const bytes = static_cast<std::size_t>(n * ranks()) * sizeof(V);
    Buffer const all = run_.mesh.pool().template take<Space>(bytes);
    detail::List<std::int64_t>& counts = run_.mesh.scratch().counts;
    counts.assign(static_cast<std::size_t>(ranks()), n);
    Buffer const sent = to_host<V>(own, n);
    Buffer const received = on_host ? all : host_memory<V>(n * ranks());
    comm.all_gather(static_cast<V const*>(sent.data()), static_cast<V*>(received.data()), counts);
    if constexpr (!on_host) copy_back<V>(received, all, n * ranks());
    return all;
  }

  /// Running values along the dim, from the last row to the first if `reverse`. The value with which
  /// the own block begins is computed from the totals of other blocks, which all ranks exchange.
  template <class Reducer>
  Buffer scan(bool exclusive, bool reverse) {
    Around const b(run_.in, dim_);
    Buffer const out = run_.fresh();
    std::int64_t const row = b.outer * b.inner;
    T const* start = nullptr;
    Buffer before;
    Comm* const comm = this->comm();
    if (comm != nullptr && row > 0) {
      Buffer const total = run_.take(row);
      kernels::total_middle<Reducer>(run_.exec(), run_.data, write(total), b.outer, b.n, b.inner,
                                     reverse);
      Buffer const totals = of_all<T>(*comm, total, row);
      before = run_.take(row);
      kernels::combine_rows<Reducer>(run_.exec(), write(totals), write(before),
                                     std::int64_t{ranks()}, std::int64_t{me_}, row, reverse);
      run_.exec().fence();
      start = write(before);
    }
    kernels::scan_middle<Reducer>(run_.exec(), run_.data, write(out), start, b.outer, b.n, b.inner,
                                  exclusive, reverse);
    run_.exec().fence();
    return out;
  }

 private:
  AxisList const& axes() const { return run_.call.a().dims[dim_].axes; }
  std::int64_t extent() const { return run_.call.given[0][dim_]; }
  Range block(int g) const { return blocks_[static_cast<std::size_t>(g)]; }
  static T* write(Buffer const& b) { return static_cast<T*>(b.data()); }

  Comm& group() { return group_of(run_.mesh, map_, axes()); }

  /// Sends what `pack` writes, rank by rank, to the ranks of the dim, and passes to `unpack` what
  /// comes from them.
  template <class Pack, class Unpack>
  void exchange(Window const& w, Around const& b, Pack pack, Unpack unpack) {
    StepScratch& s = run_.mesh.scratch();
    auto const p = static_cast<std::size_t>(ranks());
    std::int64_t const row = b.outer * b.inner;
    s.counts.assign(p, 0);
    s.offsets.assign(p, 0);
    s.recv_counts.assign(p, 0);
    s.recv_offsets.assign(p, 0);
    std::int64_t sent = 0;
    std::int64_t received = 0;
    for (int g = 0; g < ranks(); ++g) {
      auto const k = static_cast<std::size_t>(g);
      s.offsets[k] = sent;
      s.recv_offsets[k] = received;
      if (g == me_) continue;
      s.counts[k] = planning::rows_between(block(me_), block(g), extent(), w) * row;
      s.recv_counts[k] = planning::rows_between(block(g), block(me_), extent(), w) * row;
      sent += s.counts[k];
      received += s.recv_counts[k];
    }
    Buffer const outgoing = run_.take(sent);
    pack(write(outgoing));
    run_.exec().fence();
    Buffer const from = to_host(outgoing, sent);
    Buffer const incoming = run_.take(received);
    Buffer const to = on_host ? incoming : host_memory(received);
    group().all_to_all(static_cast<T const*>(write(from)), s.counts, s.offsets, write(to),
                       s.recv_counts, s.recv_offsets, Segments::sparse);
    if constexpr (!on_host) copy_back(to, incoming, received);
    unpack(write(incoming));
    run_.exec().fence();
  }
  /// Packs the rows that other ranks need, rank by rank, piece by piece.
  void pack(Window const& w, Around const& b, T* wire) {
    Range const mine = block(me_);
    for (int g = 0; g < ranks(); ++g)
      if (g != me_)
        for_pieces(block(g), extent(), w, [&](WindowPiece const& p) {
          Range const s = intersect(p.source, mine);
          std::int64_t const length = s.size() * b.inner;
          kernels::copy_pitched(run_.exec(), run_.data + (s.begin - mine.begin) * b.inner,
                                b.n * b.inner, wire, length, b.outer, length);
          wire += b.outer * length;
        });
  }
  void unpack(Window const& w, Around const& b, std::int64_t rows, T const* wire, T* out) {
    for (int g = 0; g < ranks(); ++g)
      if (g != me_)
        for_pieces(block(me_), extent(), w, [&](WindowPiece const& p) {
          Range const s = intersect(p.source, block(g));
          std::int64_t const length = s.size() * b.inner;
          kernels::copy_pitched(run_.exec(), wire, length,
                                out + (p.at + s.begin - p.source.begin) * b.inner, rows * b.inner,
                                b.outer, length);
          wire += b.outer * length;
        });
  }

  /// Packs the rows of the own window that other ranks hold, rank by rank, piece by piece.
  void pack_returned(Window const& w, Around const& b, T* wire) {
    for (int g = 0; g < ranks(); ++g)
      if (g != me_)
        for_pieces(block(me_), extent(), w, [&](WindowPiece const& p) {
          Range const s = intersect(p.source, block(g));
          std::int64_t const length = s.size() * b.inner;
          kernels::copy_pitched(run_.exec(),
                                run_.data + (p.at + s.begin - p.source.begin) * b.inner,
                                b.n * b.inner, wire, length, b.outer, length);
          wire += b.outer * length;
        });
  }
  void add_returned(Window const& w, Around const& b, T const* wire, T* out) {
    Range const mine = block(me_);
    for (int g = 0; g < ranks(); ++g)
      if (g != me_)
        for_pieces(block(g), extent(), w, [&](WindowPiece const& p) {
          Range const s = intersect(p.source, mine);
          std::int64_t const length = s.size() * b.inner;
          kernels::add_pitched(run_.exec(), wire, length, out + (s.begin - mine.begin) * b.inner,
                               mine.size() * b.inner, b.outer, length);
          wire += b.outer * length;
        });
  }

  // If MPI cannot access the memory, rows pass through the host.

  template <class V, class Where>
  static auto flat(Buffer const& b, std::int64_t n) {
    return Kokkos::View<V*, Where, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        static_cast<V*>(b.data()), static_cast<std::size_t>(n));
  }
  template <class V = T>
  Buffer host_memory(std::int64_t n) {
    return run_.mesh.pool().template take<Kokkos::HostSpace>(static_cast<std::size_t>(n) *
                                                             sizeof(V));
  }
  template <class V = T>
  Buffer to_host(Buffer const& b, std::int64_t n) {
    if constexpr (on_host) {
      return b;
    } else {
      Buffer const out = host_memory<V>(n);
      Kokkos::deep_copy(flat<V, Kokkos::HostSpace>(out, n), flat<V, Space>(b, n));
      return out;
    }
  }
  template <class V = T>
  void copy_back(Buffer const& from, Buffer const& to, std::int64_t n) {
    Kokkos::deep_copy(flat<V, Space>(to, n), flat<V, Kokkos::HostSpace>(from, n));
  }

  /// Checks that all ranks of the mesh are about to run the same operation.
  void agree(char const* what, std::int64_t first, std::int64_t second,
             std::source_location const& where) {
    StepHash hash;
    std::string text = std::string(what) + " over ";
    hash.mix(text);
    for (int k = 0; k < axes().size; ++k) {
      text += (k == 0 ? "" : ",") + std::string(run_.call.names.axis_name[axes()[k]]);
      hash.mix(static_cast<std::uint64_t>(map_.position[axes()[k]]) + 1);
    }
    for (int d = 0; d < run_.call.a().rank; ++d)
      hash.mix(static_cast<std::uint64_t>(run_.call.given[0][d]));
    hash.mix(static_cast<std::uint64_t>(dim_));
    hash.mix(static_cast<std::uint64_t>(first));
    hash.mix(static_cast<std::uint64_t>(second));
    hash.mix(where.line());
    run_.mesh.agreement().meet(text + source_text(where), hash.value());
  }

  LocalRun<T, Space> const& run_;
  AxisMap map_;
  int dim_;
  Sizing sizing_;
  int me_ = 0;
  /// Blocks of the ranks along the dim's axes, in order; owned by the mesh, so that steps do not
  /// allocate.
  detail::List<Range>& blocks_ = run_.mesh.scratch().blocks;
};

}  // namespace shardtype::execute
