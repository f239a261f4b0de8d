#pragma once
/// Buckets: small gradients whose reductions over the same ranks are one collective. Which
/// gradients they take, when they are full, and their plan.

#include <cstdint>

#include <shardtype/core/block.hpp>
#include <shardtype/core/saturating.hpp>
#include <shardtype/core/scope.hpp>
#include <shardtype/core/spec.hpp>
#include <shardtype/plan/machine.hpp>
#include <shardtype/plan/plan.hpp>

namespace shardtype::planning {

/// The last movement of a gradient that a bucket may take: an AllReduce, or a ReduceScatter of one
/// dim.
struct BucketMove {
  AxisList axes{};  ///< of the reduction; none: the movement is another one
  int dim = -1;     ///< the dim that becomes split; -1: AllReduce

  constexpr bool exists() const { return axes.size > 0; }
  constexpr bool scatters() const { return dim >= 0; }
  /// Members of the group that get parts of their own: 1 for an AllReduce.
  constexpr std::int64_t parts(Sizes const& sizes) const {
    return scatters() ? sizes.product(axes) : 1;
  }
};

/// The movement from a cotangent `got` to a gradient `want`, if it is one of these.
constexpr BucketMove bucket_move(Spec const& got, Spec const& want) {
  if (got.rank != want.rank || got.kind != ReduceKind::sum || got.local || want.local ||
      !(got.reduced == want.reduced) || !got.varying.empty() || !want.varying.empty() ||
      !want.unreduced.empty())
    return {};
  BucketMove out;
  for (int d = 0; d < got.rank; ++d) {
    DimSpec const& from = got.dims[d];
    DimSpec const& to = want.dims[d];
    if (from == to) continue;
    if (out.scatters() || from.label != to.label || from.axes.cyclic != 0 || to.axes.cyclic != 0 ||
        !to.axes.starts_with(from.axes))
      return {};
    out.dim = d;
    out.axes = to.axes.suffix(from.axes.size);
  }
  if (!out.scatters()) {
    for (int x = 0; x < max_axes; ++x)
      if (got.unreduced.contains(x)) out.axes.push(x);
  }
  return out.axes.set() == got.unreduced ? out : BucketMove{};
}

/// Whether two movements, whose axes have numbers of different names, reduce over the same groups.
/// The order of axes matters where it says which part a member gets.
constexpr bool same_groups(BucketMove const& a, Names const& of_a, BucketMove const& b,
                           Names const& of_b) {
  if (a.axes.size != b.axes.size || a.scatters() != b.scatters()) return false;
  for (int k = 0; k < a.axes.size; ++k) {
    Identity const axis = of_a.axis_id[a.axes[k]];
    bool same = axis == of_b.axis_id[b.axes[k]];
    for (int m = 0; m < b.axes.size && !a.scatters(); ++m)
      same = same || axis == of_b.axis_id[b.axes[m]];
    if (!same) return false;
  }
  return true;
}

/// Time of the messages that a reduction of its own sends one after the other, at least.
constexpr double message_time(Machine const& m) { return 2 * m.latency; }
/// Whether a gradient goes into a bucket: its copies there and back, which read and write `bytes`
/// each, take less time than the messages of a reduction of its own.
constexpr bool joins_bucket(std::int64_t bytes, Machine const& m = {}) {
  return bytes > 0 && 2 * static_cast<double>(bytes) <= message_time(m) * m.memory_bytes_per_second;
}
/// Whether a bucket of `bytes` is full: beside its transfer, its messages hardly take time, so that
/// it need not wait for more.
constexpr bool bucket_is_full(std::int64_t bytes, Machine const& m = {}) {
  return static_cast<double>(bytes) >= 8 * message_time(m) * m.bytes_per_second;
}

/// The elements that a gradient takes of a member's part of a bucket; 0 if it goes into none. All
/// ranks decide alike, because they ask for the largest block. An axis whose size is not known is
/// taken for one of size 1, for which blocks are largest.
constexpr std::int64_t room_in_bucket(BucketMove const& move, Spec const& got, Spec const& want,
                                      Extents const& extents, Sizes sizes, std::int64_t width) {
  bool alone = true;
  for (int k = 0; k < move.axes.size; ++k) alone = alone && sizes[move.axes[k]] == 1;
  if (alone) return 0;
  for (int d = 0; d < got.rank; ++d)
    if (extents[got.dims[d].label] == dynamic) return 0;
  for (std::int64_t& n : sizes.at)
    if (n == dynamic) n = 1;
  std::int64_t const own = largest_elements(want, extents, sizes);
  std::int64_t const both = add_sat(own, largest_elements(got, extents, sizes));
  return joins_bucket(mul_sat(both, width)) ? own : 0;
}

/// Elements that a started collective holds beside its operand and its result until the wait: of a
/// sum the other ranks' segments, of a gather the segments that are joined along a later dim.
constexpr std::int64_t arriving_elements(Step const& s, Sizing const& z) {
  std::int64_t const others = z.sizes.product(s.axes) - 1;
  if (s.collective() == Collective::all_reduce)
    return largest_elements(s.before, z.extents, z.sizes) / (others + 1) * others;
  if (s.collective() == Collective::reduce_scatter)
    return largest_elements(s.after, z.extents, z.sizes) * others;
  if (s.collective() == Collective::all_gather) {
    Spec before;
    for (int d = 0; d < s.from; ++d) before.add(s.after.dims[d].label, s.after.dims[d].axes);
    if (largest_elements(before, z.extents, z.sizes) > 1)
      return largest_elements(s.after, z.extents, z.sizes);
  }
  return 0;
}

/// The sharding of a bucket's summands, one dim with the members' parts one after the other.
constexpr Spec bucket_summands(BucketMove const& move) {
  Spec out;
  out.add(0);
  out.unreduced = move.axes.set();
  return out;
}
/// Its collective.
constexpr Step bucket_step(BucketMove const& move) {
  Spec sum;
  sum.add(0, move.scatters() ? move.axes : AxisList{});
  return planning::shared_step(move.scatters() ? Move::scatter : Move::reduce, Slot::a, move.axes,
                               bucket_summands(move), sum, -1, move.scatters() ? 0 : -1);
}
/// Its sizes, if each member's part has `room` elements of `width` bytes.
constexpr Sizing bucket_sizing(BucketMove const& move, std::int64_t room, std::int64_t width,
                               Sizes const& sizes) {
  Sizing z;
  z.extents.at[0] = mul_sat(room, move.parts(sizes));
  z.sizes = sizes;
  z.element_bytes = width;
  return z;
}
constexpr Plan bucket_plan(BucketMove const& move, Sizing const& z) {
  Plan out;
  out.name = "joined gradients";
  out.sizing = z;
  Step const s = bucket_step(move);
  out.push_operand(s.before);
  out.result = s.after;
  out.push(s);
  return out;
}

}  // namespace shardtype::planning
