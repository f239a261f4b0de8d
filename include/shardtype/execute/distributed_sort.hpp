#pragma once
/// Sorts the rows of a tensor along a dim that ranks share (plan/distributed_sort.hpp).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/execute/block_sorter.hpp>
#include <shardtype/execute/key_search.hpp>
#include <shardtype/execute/shared_rows.hpp>
#include <shardtype/kernels/distributed_sort.hpp>
#include <shardtype/plan/distributed_sort.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::execute {

/// One call on the calling rank: sorts its block, finds the cuts, exchanges elements, merges. What
/// is sent passes through the host, where it is merged too. With `places`, the result is where the
/// elements were.
template <class T, class Space, bool places>
class DistributedSort : SharedRows<T, Space> {
  using Base = SharedRows<T, Space>;
  using Base::agree, Base::begin, Base::block, Base::group, Base::ranks, Base::rows;
  using Base::along_, Base::axes_, Base::caller_, Base::host_, Base::in_, Base::me_, Base::run_,
      Base::spec_;
  using typename Base::Int;
  using HostExec = Kokkos::DefaultHostExecutionSpace;
  using Placed = kernels::detail::Placed<T>;

  /// Memory of elements, and of their places.
  struct Elements {
    Buffer values, at;
    Placed data() const {
      return {static_cast<T*>(values.data()), places ? static_cast<Int*>(at.data()) : nullptr};
    }
  };

 public:
  DistributedSort(LocalRun<T, Space> const& run, char const* name, op::Order order)
      : Base(run, name, order == op::Order::descending ? 1 : 0),
        search_(in_.row(), ranks(), sizeof(T), 0),
        descending_(order == op::Order::descending) {
    core::Layout const largest = planning::packed_layout(spec_, along_.sizing);
    search_ = planning::CutSearch(core::cross_section(largest, along_.dim), ranks(), sizeof(T),
                                  mul_sat(largest.elements(), sizeof(T)));
  }

  /// The result's block.
  Buffer run() {
    // without rows of its own a rank takes the same steps as others, which are of the whole mesh
    if (along_.extent() == 0) return run_.mesh.pool().template take<Space>(0);
    Elements mine = sorted();
    Buffer const cuts = find_cuts(mine);
    Elements runs = exchange(std::move(mine), static_cast<Int const*>(cuts.data()));
    return finished(merged(std::move(runs)));
  }

 private:
  Int cuts_of_row() const { return ranks() - 1; }

  Elements take_elements() const {
    Int const n = rows() * block(me_);
    return {this->template take<T>(n), places ? this->template take<Int>(n) : Buffer()};
  }
  /// The own rows, sorted.
  Elements sorted() const {
    Int const n = rows() * block(me_);
    if (n == 0) return take_elements();
    BlockSorter<T, Space> sorter(run_.mesh, run_.data, run_.in, along_.dim, block(me_),
                                 descending_ ? op::Order::descending : op::Order::ascending);
    Buffer at;
    Buffer values = sorter.rows(begin(), places ? &at : nullptr);
    return {this->template near<T>(std::move(values), n),
            places ? this->template near<Int>(std::move(at), n) : Buffer()};
  }

  /// How many elements of each row each rank has before each cut: [rank, row, cut].
  Buffer find_cuts(Elements const& mine) const {
    Int const each = cuts_of_row();
    Int const all = rows() * each;
    Int const n = block(me_);
    T const* const values = mine.data().values;
    Buffer const of_prefix = this->template take<std::uint64_t>(all);
    Buffer const of_below = this->template take<Int>(all);
    auto* const prefix = static_cast<std::uint64_t*>(of_prefix.data());
    auto* const below = static_cast<Int*>(of_below.data());
    KeySearch<T, Space>(along_, caller_, search_, descending_)
        .run(values, n, rows(), [&](Int k) { return end_of_block(k % each); }, prefix, below);
    Buffer found = this->template take<Int>(2 * all * ranks());
    auto* const of_ranks = static_cast<Int*>(found.data());
    {
      Buffer const own = this->template take<Int>(2 * all);
      auto* const at_key = static_cast<Int*>(own.data());
      kernels::launch(runtime::instance<HostExec>(), "shardtype::count_at_key", all,
                      kernels::detail::CountAtKey<T>{values, prefix, at_key, n, each, descending_});
      core::Extents extents = along_.sizing.extents;
      agree(planning::cuts_step(spec_, along_.dim, extents, ranks()));
      detail::List<Int>& lengths = run_.mesh.scratch().counts;
      lengths.assign(static_cast<std::size_t>(ranks()), 2 * all);
      group().template all_gather<Int>(at_key, of_ranks, lengths);
    }
    // Of the elements with the cut's key, those of the first ranks come before it. Results are
    // written behind what is read.
    for (Int k = 0; k < all; ++k) below[k] = end_of_block(k % each) - below[k];
    for (Int g = 0; g < ranks(); ++g)
      for (Int k = 0; k < all; ++k) {
        Int const* const counted = of_ranks + 2 * (g * all + k);
        Int const taken = std::min(below[k], counted[1]);
        Int const before = counted[0] + taken;
        below[k] -= taken;
        of_ranks[g * all + k] = before;
      }
    return found;
  }
  /// Number of elements of a row in the blocks up to `g`.
  Int end_of_block(Int g) const {
    Int n = 0;
    for (Int k = 0; k <= g; ++k) n += block(k);
    return n;
  }
  /// Where the elements of rank `from` for rank `to` begin in its row.
  Int cut(Int const* cuts, Int from, Int row, Int to) const {
    if (to == 0) return 0;
    if (to == ranks()) return block(from);
    return cuts[(from * rows() + row) * cuts_of_row() + to - 1];
  }
  Int length(Int const* cuts, Int from, Int row, Int to) const {
    return cut(cuts, from, row, to + 1) - cut(cuts, from, row, to);
  }

  /// What this rank receives, from rank to rank, of each rank row by row; and the tables of these
  /// runs.
  Elements exchange(Elements mine, Int const* cuts) {
    Int const p = ranks();
    tables_ = this->template take<Int>(2 * rows() * p);
    auto* const starts = static_cast<Int*>(tables_.data());
    auto* const lengths = starts + rows() * p;
    StepScratch& s = run_.mesh.scratch();
    for (detail::List<Int>* list : {&s.counts, &s.offsets, &s.recv_counts, &s.recv_offsets})
      list->assign(static_cast<std::size_t>(p), 0);
    Int leaving = 0;
    Int arriving = 0;
    for (Int g = 0; g < p; ++g) {
      auto const k = static_cast<std::size_t>(g);
      s.offsets[k] = leaving;
      s.recv_offsets[k] = arriving;
      for (Int r = 0; r < rows(); ++r) {
        starts[r * p + g] = arriving;
        lengths[r * p + g] = length(cuts, g, r, me_);
        arriving += lengths[r * p + g];
        leaving += length(cuts, me_, r, g);
      }
      s.counts[k] = leaving - s.offsets[k];
      s.recv_counts[k] = arriving - s.recv_offsets[k];
    }
    if (rows() > 1) mine = packed(std::move(mine), cuts);
    Elements out = take_elements();
    agree(planning::elements_step(spec_, along_.dim, planning::elements_slot));
    send(mine.data().values, out.data().values);
    mine.values = {};
    if constexpr (places) {
      agree(planning::elements_step(spec_, along_.dim, planning::places_slot));
      send(mine.data().places, out.data().places);
    }
    return out;
  }
  template <class U>
  void send(U const* from, U* to) const {
    StepScratch const& s = run_.mesh.scratch();
    group().template all_to_all<U>(from, s.counts, s.offsets, to, s.recv_counts, s.recv_offsets,
                                   Segments::sparse);
  }
  /// The segments of all rows for one rank next to each other.
  Elements packed(Elements mine, Int const* cuts) const {
    Int const p = ranks();
    Int const n = rows() * p;
    Buffer const table = this->template take<Int>(3 * n);
    auto* const from_at = static_cast<Int*>(table.data());
    Int* const to_at = from_at + n;
    Int* const lengths = to_at + n;
    Int at = 0;
    for (Int g = 0; g < p; ++g)
      for (Int r = 0; r < rows(); ++r) {
        Int const k = g * rows() + r;
        from_at[k] = r * block(me_) + cut(cuts, me_, r, g);
        to_at[k] = at;
        lengths[k] = length(cuts, me_, r, g);
        at += lengths[k];
      }
    Elements out = take_elements();
    auto const copy = [&]<class U>(U const* from, U* to) {
      kernels::launch(runtime::instance<HostExec>(), "shardtype::copy_segments", n,
                      kernels::detail::CopySegments<U>{from, to, from_at, to_at, lengths});
    };
    copy(static_cast<T const*>(mine.data().values), out.data().values);
    if constexpr (places) copy(static_cast<Int const*>(mine.data().places), out.data().places);
    return out;
  }

  /// The sorted rows of the result.
  Elements merged(Elements from) const {
    Int const p = ranks();
    auto* const starts = static_cast<Int*>(tables_.data());
    kernels::RunTables const tables{starts, starts + rows() * p, p, rows(), block(me_)};
    for (Int runs = p; runs > 1;) {
      Elements to = take_elements();
      runs = kernels::merge_runs(runtime::instance<HostExec>(), from.data(), to.data(), tables,
                                 runs, descending_);
      from = std::move(to);
    }
    return from;
  }
  /// The result's block of its rows.
  Buffer finished(Elements rows_of_it) const {
    if constexpr (places) {
      return turned<Int>(std::move(rows_of_it.at));
    } else {
      return turned<T>(std::move(rows_of_it.values));
    }
  }
  template <class U>
  Buffer turned(Buffer from) const {
    Int const n = rows() * block(me_);
    from = host_.template back<U>(std::move(from), n);
    if (in_.inner == 1) return from;
    Buffer out = run_.mesh.pool().template take<Space>(static_cast<std::size_t>(n) * sizeof(U));
    kernels::copy_packed(run_.exec(), static_cast<U const*>(from.data()),
                         BlockSorter<T, Space>::rows_turned(in_), static_cast<U*>(out.data()));
    runtime::fence(run_.exec());
    return out;
  }

  planning::CutSearch search_;
  bool descending_;
  Buffer tables_;
};

}  // namespace shardtype::execute
