#pragma once
/// The largest elements of the rows of a tensor along a dim that ranks may share (plan/top_k.hpp).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/execute/block_sorter.hpp>
#include <shardtype/execute/key_search.hpp>
#include <shardtype/execute/shared_rows.hpp>
#include <shardtype/kernels/distributed_sort.hpp>
#include <shardtype/plan/top_k.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::execute {

/// One call on the calling rank: sorts its candidates, gathers those of all ranks, merges. What is
/// sent passes through the host, where it is merged too.
template <class T, class Space>
class SharedTopK : SharedRows<T, Space> {
  using Base = SharedRows<T, Space>;
  using Base::agree, Base::begin, Base::block, Base::group, Base::ranks, Base::rows;
  using Base::along_, Base::axes_, Base::caller_, Base::host_, Base::in_, Base::me_, Base::run_,
      Base::spec_;
  using typename Base::Int;
  using HostExec = Kokkos::DefaultHostExecutionSpace;

  /// Elements and their places.
  struct Elements {
    Buffer values, places;
    kernels::detail::Placed<T> data() const {
      return {static_cast<T*>(values.data()), static_cast<Int*>(places.data())};
    }
  };

 public:
  SharedTopK(LocalRun<T, Space> const& run, char const* name, Int k) : Base(run, name, k), k_(k) {
    core::Layout const largest = planning::packed_layout(spec_, along_.sizing);
    search_ = {core::cross_section(largest, along_.dim),
               ranks(),
               along_.extent(),
               k,
               largest.extent[along_.dim],
               sizeof(T)};
  }

  /// Writes the results' blocks.
  void run(T* values, Int* places) {
    if (k_ == 0 || along_.extent() == 0) return;
    Elements mine = candidates(own());
    Int const all = rows() * ranks();
    Buffer const tables = this->template take<Int>(2 * all);
    auto* const starts = static_cast<Int*>(tables.data());
    Int* const length = starts + all;
    Int each = 0;  // elements of each row
    if (ranks() > 1 && search_.searches()) {
      find_lengths(mine, length);
      each = k_;
    } else {
      for (Int g = 0; g < ranks(); ++g) {
        for (Int r = 0; r < rows(); ++r) length[r * ranks() + g] = own(g);
        each += own(g);
      }
    }
    Elements of_all = ranks() == 1 ? std::move(mine) : gathered(std::move(mine), length);
    Int at = 0;
    for (Int g = 0; g < ranks(); ++g)
      for (Int r = 0; r < rows(); ++r) {
        starts[r * ranks() + g] = at;
        at += length[r * ranks() + g];
      }
    kernels::RunTables const runs{starts, length, ranks(), rows(), each};
    for (Int left = ranks(); left > 1;) {
      Elements to = take_elements(rows() * each);
      left = kernels::merge_runs(runtime::instance<HostExec>(), of_all.data(), to.data(), runs,
                                 left, true);
      of_all = std::move(to);
    }
    write(std::move(of_all.values), each, values);
    write(std::move(of_all.places), each, places);
    runtime::fence(run_.exec());
  }

 private:
  /// Candidates of each row of rank `g`.
  Int own(Int g) const { return std::min(k_, block(g)); }
  Int own() const { return own(me_); }

  Elements take_elements(Int n) const {
    return {this->template take<T>(n), this->template take<Int>(n)};
  }
  /// The first `n` elements of each of the own rows, the largest first.
  Elements candidates(Int n) const {
    if (rows() * n == 0) return take_elements(0);
    BlockSorter<T, Space> sorter(run_.mesh, run_.data, run_.in, along_.dim, n,
                                 op::Order::descending);
    Buffer places;
    Buffer values = sorter.rows(begin(), &places);
    return {this->template near<T>(std::move(values), rows() * n),
            this->template near<Int>(std::move(places), rows() * n)};
  }

  /// How many of the largest elements of each row each rank has: [row, rank]. Collective.
  void find_lengths(Elements const& mine, Int* length) const {
    Int const n = rows();
    Int const p = ranks();
    T const* const values = mine.data().values;
    Buffer const of_prefix = this->template take<std::uint64_t>(n);
    Buffer const of_below = this->template take<Int>(n);
    Buffer const of_own = this->template take<Int>(2 * n);
    Buffer const of_ranks = this->template take<Int>(2 * n * p);
    auto* const prefix = static_cast<std::uint64_t*>(of_prefix.data());
    auto* const below = static_cast<Int*>(of_below.data());
    auto* const at_key = static_cast<Int*>(of_own.data());
    auto* const counted = static_cast<Int*>(of_ranks.data());
    planning::CutSearch const last = search_.last();
    KeySearch<T, Space>(along_, caller_, last, true)
        .run(values, own(), n, [&](Int) { return k_; }, prefix, below);
    kernels::launch(runtime::instance<HostExec>(), "shardtype::count_at_key", n,
                    kernels::detail::CountAtKey<T>{values, prefix, at_key, own(), 1, true});
    core::Extents extents = along_.sizing.extents;
    agree(planning::last_step(spec_, along_.dim, extents, p));
    detail::List<Int>& counts = run_.mesh.scratch().counts;
    counts.assign(static_cast<std::size_t>(p), 2 * n);
    group().template all_gather<Int>(at_key, counted, counts);
    // of the elements equal to the last one those of the first ranks come first
    for (Int r = 0; r < n; ++r) {
      Int left = k_ - below[r];
      for (Int g = 0; g < p; ++g) {
        Int const* const of = counted + 2 * (g * n + r);
        Int const taken = std::min(left, of[1]);
        left -= taken;
        length[r * p + g] = of[0] + taken;
      }
    }
  }

  /// Of each row the first elements of all ranks, as many as `length` says, rank by rank.
  Elements gathered(Elements mine, Int const* length) const {
    Int const p = ranks();
    detail::List<Int>& counts = run_.mesh.scratch().counts;
    counts.assign(static_cast<std::size_t>(p), 0);
    Int all = 0;
    for (Int g = 0; g < p; ++g) {
      auto const k = static_cast<std::size_t>(g);
      for (Int r = 0; r < rows(); ++r) counts[k] += length[r * p + g];
      all += counts[k];
    }
    // next to each other; no row moves behind its place
    Int at = 0;
    for (Int r = 0; r < rows(); ++r) {
      auto const n = static_cast<std::size_t>(length[r * p + me_]);
      if (n > 0 && at != r * own()) {
        auto const from = mine.data() + r * own();
        auto const to = mine.data() + at;
        std::memmove(static_cast<void*>(to.values), from.values, n * sizeof(T));
        std::memmove(to.places, from.places, n * sizeof(Int));
      }
      at += static_cast<Int>(n);
    }
    Elements out = take_elements(all);
    auto const gather = [&]<class U>(U const* from, U* to, planning::Slot slot) {
      core::Extents extents = along_.sizing.extents;
      agree(planning::candidates_step(spec_, along_.dim, extents, search_.gathered(), slot));
      group().template all_gather<U>(from, to, counts);
    };
    gather(static_cast<T const*>(mine.data().values), out.data().values, planning::elements_slot);
    gather(static_cast<Int const*>(mine.data().places), out.data().places, planning::places_slot);
    return out;
  }

  /// The first `k` elements of packed rows of `each` to a block [outer, k, inner].
  template <class U>
  void write(Buffer from, Int each, U* to) const {
    from = host_.template back<U>(std::move(from), rows() * each);
    kernels::copy_packed(
        run_.exec(), static_cast<U const*>(from.data()),
        LocalRun<U, Space>::strided({in_.outer, k_, in_.inner}, {in_.inner * each, Int{1}, each}),
        to);
    runtime::fence(run_.exec());
  }

  Int k_;
  planning::TopKSearch search_{};
};

}  // namespace shardtype::execute
