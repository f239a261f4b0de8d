#pragma once
/// Sends elements to other places along a dim that may be split.

#include <cstddef>
#include <cstdint>

#include <shardtype/execute/on_host.hpp>
#include <shardtype/execute/window.hpp>
#include <shardtype/kernels/distributed_sort.hpp>
#include <shardtype/plan/distributed_sort.hpp>

namespace shardtype::execute {

/// One call on the calling rank: sends elements to other places along a dim that may be split, each
/// with its offset in the block of its rank.
template <class T, class Space>
class PlacedRows {
  using Int = std::int64_t;

 public:
  explicit PlacedRows(LocalRun<T, Space> const& run) : along_(run) {}

  /// The result's block; `places`: of the elements.
  Buffer run(Int const* places) {
    Spec const& a = run_.call.a();
    AxisList const& axes = a.dims[along_.dim].axes;
    Int const p = along_.map.sizes.product(axes);
    execute::member_blocks(a, along_.dim, along_.sizing, along_.map, axes, blocks_);
    detail::List<Int> ends;
    Int end = 0;
    for (Range const& block : blocks_) ends.push_back(end += block.size());
    Int const n = run_.in.elements();
    Buffer const of_places = host_.template near<Int>(places, n);
    Buffer const of_data = host_.template near<T>(run_.data, n);
    auto const at = [&]<class U>(U const* there, Buffer const& copy) {
      return runtime::host_reads<Space> ? there : static_cast<U const*>(copy.data());
    };
    kernels::PlacesOfRanks const to{in_, at(places, of_places), ends.data(), p};
    StepScratch& s = run_.mesh.scratch();
    s.counts.assign(static_cast<std::size_t>(p), 0);
    to.count(s.counts.data());
    detail::List<Int> all(static_cast<std::size_t>(p * p));
    Int const me = core::rank_in_group(axes, along_.map.sizes, along_.map.coords);
    if (p == 1) {
      all[0] = s.counts[0];
    } else {
      core::Extents extents = along_.sizing.extents;
      agree(planning::numbers_step(a, along_.dim, extents, p, p));
      s.numbers.assign(static_cast<std::size_t>(p), p);
      group(axes).template all_gather<Int>(s.counts.data(), all.data(), s.numbers);
    }
    s.recv_counts.clear();
    for (Int g = 0; g < p; ++g) s.recv_counts.push_back(all[static_cast<std::size_t>(g * p + me)]);
    execute::offsets(s.counts, s.offsets);
    execute::offsets(s.recv_counts, s.recv_offsets);
    Buffer const values = host_.template take<T>(n);
    Buffer const offsets = host_.template take<Int>(n);
    detail::List<Int> next = s.offsets;
    to.separate(at(run_.data, of_data), static_cast<T*>(values.data()),
                static_cast<Int*>(offsets.data()), next.data());
    Buffer const there =
        send<T>(axes, planning::elements_step(a, along_.dim, planning::elements_slot), values, n);
    Buffer const placed =
        send<Int>(axes, planning::elements_step(a, along_.dim, planning::places_slot), offsets, n);
    Buffer const out = host_.template take<T>(n);
    kernels::put_at(static_cast<T const*>(there.data()), static_cast<Int const*>(placed.data()), n,
                    static_cast<T*>(out.data()));
    return host_.template back<T>(out, n);
  }

 private:
  template <class U>
  Buffer send(AxisList const& axes, planning::Step const& step, Buffer const& from, Int n) const {
    if (along_.map.sizes.product(axes) == 1) return from;
    agree(step);
    StepScratch const& s = run_.mesh.scratch();
    Buffer to = host_.template take<U>(n);
    group(axes).template all_to_all<U>(static_cast<U const*>(from.data()), s.counts, s.offsets,
                                       static_cast<U*>(to.data()), s.recv_counts, s.recv_offsets,
                                       Segments::sparse);
    return to;
  }
  void agree(planning::Step const& s) const {
    if (run_.mesh.agreement().begin_step())
      execute::agree_on_collective(run_.mesh, along_.map, along_.sizing, s,
                                   Caller{run_.where, "put_rows"});
  }
  Comm& group(AxisList const& axes) const { return execute::group_of(run_.mesh, along_.map, axes); }

  AlongDim<T, Space> along_;
  LocalRun<T, Space> const& run_ = along_.run;
  OnHost<Space> host_{run_.mesh};
  Around in_{run_.in, along_.dim};
  /// Blocks of the ranks along the dim's axes, in order; owned by the mesh, so that steps do not
  /// allocate.
  detail::List<Range>& blocks_ = run_.mesh.scratch().blocks;
};

}  // namespace shardtype::execute
