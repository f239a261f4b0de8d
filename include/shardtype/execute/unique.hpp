#pragma once
/// The different elements of a sorted tensor of one dim that ranks may share (plan/unique.hpp).

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <shardtype/execute/shared_rows.hpp>
#include <shardtype/kernels/sort_key.hpp>
#include <shardtype/kernels/unique.hpp>
#include <shardtype/plan/unique.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::execute {

/// A block of results where the host writes it; `finish` copies it to the block.
template <class T, class Space>
class WrittenNear {
 public:
  WrittenNear(OnHost<Space> const& host, T* block, std::int64_t n) : block_(block), n_(n) {
    if constexpr (!runtime::host_reads<Space>) near_ = host.template take<T>(n);
  }
  T* data() const { return runtime::host_reads<Space> ? block_ : static_cast<T*>(near_.data()); }
  void finish() const {
    if constexpr (!runtime::host_reads<Space>)
      runtime::copy_bytes<Space, Kokkos::HostSpace>(block_, near_.data(),
                                                    static_cast<std::size_t>(n_) * sizeof(T));
  }

 private:
  T* block_;
  std::int64_t n_;
  Buffer near_;
};

/// The blocks of the results of a call, where the host writes them.
template <class T, class Space>
struct UniqueBlocks {
  WrittenNear<T, Space> values;
  WrittenNear<std::int64_t, Space> counts, distinct;
  std::int64_t size;

  UniqueBlocks(OnHost<Space> const& host, T* v, std::int64_t* c, std::int64_t* d, std::int64_t n)
      : values(host, v, n), counts(host, c, n), distinct(host, d, 1), size(n) {}

  /// Fills what is behind the first `written` elements.
  void finish(std::int64_t written, T fill, std::int64_t all) const {
    std::fill(values.data() + written, values.data() + size, fill);
    std::fill(counts.data() + written, counts.data() + size, std::int64_t{0});
    *distinct.data() = all;
    values.finish();
    counts.finish();
    distinct.finish();
  }
};

/// The results of a rank's own `n` elements.
template <class T, class Space>
void write_unique(OnHost<Space> const& host, T const* sorted, std::int64_t n,
                  UniqueBlocks<T, Space> const& out, T fill) {
  Buffer const copy = host.near(sorted, n);
  T const* const data = runtime::host_reads<Space> ? sorted : static_cast<T const*>(copy.data());
  std::int64_t const all = kernels::count_unique(data, n);
  kernels::take_unique(data, n, out.size, out.values.data(), out.counts.data());
  out.finish(std::min(all, out.size), fill, all);
}

/// One call on the calling rank, of ranks that share the elements. What is sent passes through the
/// host.
template <class T, class Space>
class SharedUnique : SharedRows<T, Space> {
  using Base = SharedRows<T, Space>;
  using Base::agree, Base::block, Base::group, Base::ranks;
  using Base::along_, Base::axes_, Base::host_, Base::me_, Base::run_, Base::spec_;
  using typename Base::Int;

 public:
  /// `n`: of the result.
  SharedUnique(LocalRun<T, Space> const& run, char const* name, Int n) : Base(run, name, n), n_(n) {
    Sizing sizing = along_.sizing;
    sizing.extents.at[spec_.dims[along_.dim].label] = n;
    execute::member_blocks(spec_, along_.dim, sizing, along_.map, axes_, of_result_);
  }

  void run(UniqueBlocks<T, Space> const& out, T fill) {
    Int const n = block(me_);
    Buffer const copy = host_.near(run_.data, n);
    T const* const sorted =
        runtime::host_reads<Space> ? run_.data : static_cast<T const*>(copy.data());
    Buffer const of_ranks = this->template take<Int>(ranks() * numbers);
    auto* const told = static_cast<Int*>(of_ranks.data());
    tell(sorted, n, told);
    Places const mine = places(told);
    Int const skipped = mine.continues ? told[me_ * numbers + of_first] : 0;
    Int const kept = std::clamp(n_ - mine.first, Int{0}, mine.count);
    Buffer const of_values = this->template take<T>(kept);
    Buffer const of_counts = this->template take<Int>(kept);
    auto* const values = static_cast<T*>(of_values.data());
    auto* const counts = static_cast<Int*>(of_counts.data());
    kernels::take_unique(sorted + skipped, n - skipped, kept, values, counts);
    if (kept > 0 && kept == mine.count) counts[kept - 1] += behind(told);
    exchange(mine.first, kept);
    send(values, out.values.data(), planning::elements_slot);
    send(counts, out.counts.data(), planning::places_slot);
    Range const own = result(me_);
    out.finish(std::clamp(all_ - own.begin, Int{0}, own.size()), fill, all_);
  }

 private:
  static constexpr Int numbers = planning::numbers_of_unique;
  // of these numbers
  static constexpr Int of_all = 0, of_first = 1, first_key = 2, last_key = 3;

  /// Which of all different elements are those that begin on a rank.
  struct Places {
    Int first = 0;
    Int count = 0;
    bool continues = false;  ///< whether its first element is the last of a rank before it
  };

  Range result(Int g) const { return of_result_[static_cast<std::size_t>(g)]; }

  /// Collective: what each rank tells.
  void tell(T const* sorted, Int n, Int* told) const {
    Int mine[numbers] = {};
    if (n > 0) {
      mine[of_all] = kernels::count_unique(sorted, n);
      mine[of_first] = kernels::run_length(sorted, n, 0);
      mine[first_key] = static_cast<Int>(kernels::detail::sort_key(sorted[0], false));
      mine[last_key] = static_cast<Int>(kernels::detail::sort_key(sorted[n - 1], false));
    }
    core::Extents extents = along_.sizing.extents;
    agree(planning::numbers_step(spec_, along_.dim, extents, ranks(), numbers));
    detail::List<Int>& lengths = run_.mesh.scratch().counts;
    lengths.assign(static_cast<std::size_t>(ranks()), numbers);
    group().template all_gather<Int>(mine, told, lengths);
  }
  /// The elements of this rank; `cuts` gets where those of each rank begin, then the number of all.
  Places places(Int const* told) {
    Places mine;
    detail::List<Int>& first = run_.mesh.scratch().cuts;
    first.clear();
    all_ = 0;
    Int before = -1;  // the last rank that has elements
    for (Int g = 0; g < ranks(); ++g) {
      Int const* const of = told + g * numbers;
      first.push_back(all_);
      if (of[of_all] == 0) continue;
      bool const continues = before >= 0 && told[before * numbers + last_key] == of[first_key];
      Int const count = of[of_all] - (continues ? 1 : 0);
      if (g == me_) mine = {all_, count, continues};
      all_ += count;
      before = g;
    }
    first.push_back(all_);
    return mine;
  }
  /// How often the last element of this rank is on the ranks behind it.
  Int behind(Int const* told) const {
    Int n = 0;
    for (Int g = me_ + 1; g < ranks(); ++g) {
      Int const* const of = told + g * numbers;
      if (of[of_all] == 0) continue;
      if (of[first_key] != told[me_ * numbers + last_key]) break;
      n += of[of_first];
      if (of[of_all] > 1) break;
    }
    return n;
  }
  /// The lists of what this rank sends, its `kept` elements from `first` on, and receives.
  void exchange(Int first, Int kept) const {
    StepScratch& s = run_.mesh.scratch();
    for (detail::List<Int>* list : {&s.counts, &s.offsets, &s.recv_counts, &s.recv_offsets})
      list->clear();
    for (Int g = 0; g < ranks(); ++g) {
      auto const k = static_cast<std::size_t>(g);
      Range const to_it = core::intersect({first, first + kept}, result(g));
      Range const from_it = core::intersect({s.cuts[k], s.cuts[k + 1]}, result(me_));
      s.counts.push_back(to_it.size());
      s.offsets.push_back(to_it.size() > 0 ? to_it.begin - first : 0);
      s.recv_counts.push_back(from_it.size());
      s.recv_offsets.push_back(from_it.size() > 0 ? from_it.begin - result(me_).begin : 0);
    }
  }
  template <class U>
  void send(U const* from, U* to, planning::Slot slot) const {
    StepScratch const& s = run_.mesh.scratch();
    agree(planning::elements_step(spec_, along_.dim, slot));
    group().template all_to_all<U>(from, s.counts, s.offsets, to, s.recv_counts, s.recv_offsets,
                                   Segments::sparse);
  }

  Int n_;
  Int all_ = 0;  ///< number of different elements of all ranks
  detail::List<Range>& of_result_ = run_.mesh.scratch().old_blocks;
};

}  // namespace shardtype::execute
