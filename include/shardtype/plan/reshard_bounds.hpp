#pragma once
/// What is certain of a reshard without a search: the least and the most that a path takes.

#include <cstdint>

#include <shardtype/plan/reshard_layout.hpp>

namespace shardtype::planning {

/// What is certain before any search: a path takes at least `least` and at most `most` picoseconds.
struct Bounds {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

/// Latency of the cheapest collective: over two ranks, or one where an axis has no more.
constexpr std::int64_t least_latency(unsigned axes, Sizes const& sizes, Machine const& m) {
  std::int64_t ranks = 2;
  for (int x = 0; x < max_axes; ++x)
    if (((axes >> x) & 1U) != 0 && sizes.at[x] < 2) ranks = 1;
  return picoseconds(static_cast<double>(ranks), 1.0 / m.latency);
}

/// The bounds: a collective takes axes off one dim at most, and none of those reduces; to reduce,
/// gather what does not stay and slice what is wanted is always a path.
constexpr Bounds bounds(Spec const& from, Spec const& to, Sizing const& z, Machine const& m) {
  Bounds out;
  int collectives = 0;
  std::int64_t bytes = z.element_bytes;
  std::int64_t length[max_dims]{};
  for (int d = 0; d < from.rank; ++d) {
    length[d] = largest_block(z.extents[from.dims[d].label], from.dims[d].axes, z.sizes);
    bytes *= length[d];
  }
  auto resize = [&](Collective c, int d, std::int64_t after, std::int64_t p) {
    std::int64_t const now = bytes == 0 ? 0 : bytes / length[d] * after;
    out.most = in_time(out.most + step_cost(c, bytes, now, p, m).picoseconds);
    bytes = now;
    length[d] = after;
  };
  unsigned const owed = static_cast<unsigned>(from.unreduced.bits & ~to.unreduced.bits);
  if (owed != 0) {
    ++collectives;
    std::int64_t p = 1;
    for (int x = 0; x < max_axes; ++x) p *= ((owed >> x) & 1U) != 0 ? z.sizes.at[x] : 1;
    out.most = in_time(step_cost(Collective::all_reduce, bytes, bytes, p, m).picoseconds);
  }
  for (int d = 0; d < from.rank; ++d) {
    AxisList const& now = from.dims[d].axes;
    int const stay = settled(now, to.dims[d].axes);
    if (stay == now.size) continue;
    ++collectives;
    std::int64_t p = 1;
    for (int k = stay; k < now.size; ++k) p *= z.sizes.at[now.at[k]];
    resize(Collective::all_gather, d,
           largest_block(z.extents[from.dims[d].label], now.prefix(stay), z.sizes), p);
  }
  for (int d = 0; d < from.rank; ++d) {
    AxisList const& then = to.dims[d].axes;
    if (then.cyclic != 0) {
      if (!(from.dims[d].axes == then))
        resize(Collective::none, d, largest_block(z.extents[from.dims[d].label], then, z.sizes), 1);
      continue;
    }
    for (int k = settled(from.dims[d].axes, then); k < then.size; ++k)
      resize(Collective::none, d, ceil_div(length[d], z.sizes.at[then.at[k]]), 1);
  }
  if (collectives > 0)
    out.least = in_time(collectives *
                        least_latency(from.mentioned().bits | to.mentioned().bits, z.sizes, m));
  return out;
}

/// What the ranks must still be sent: a bound on the time of any path to a goal.
///
/// The rank that has least of its block of the goal must receive the rest of it, and no step brings a rank
/// more than its payload says. Where blocks are uneven it holds for blocks of fractional length: prices are
/// those of the largest blocks, which are no smaller. Not known where an end has cyclic dims or an axis one
/// rank.
class Missing {
 public:
  constexpr Missing() = default;
  constexpr Missing(Spec const& goal, Sizing const& z, Machine const& m, unsigned axes,
                    bool cyclic) {
    known_ = !cyclic && m.hops >= 1 && m.reducing >= 1;
    for (int x = 0; x < max_axes; ++x)
      if (((axes >> x) & 1U) != 0 && z.sizes.at[x] < 2) known_ = false;
    double bytes = static_cast<double>(z.element_bytes);
    for (int d = 0; d < goal.rank; ++d) {
      settled_[d] = goal.dims[d].axes.size;
      ranks_[d] = z.sizes.product(goal.dims[d].axes);
      bytes *= static_cast<double>(z.extents[goal.dims[d].label]);
      bytes /= static_cast<double>(ranks_[d]);
    }
    block_ = picoseconds(bytes, m.bytes_per_second);
  }

  constexpr bool known() const { return known_; }
  /// Into how many parts `size` axes with so many ranks split the goal's block along dim `d`, when the first
  /// `stay` of them stand where the goal has them: a rank has one. 0 where another axis stands: the first
  /// block of the one and the last of the other share nothing.
  constexpr std::int64_t parts(int d, int stay, int size, std::int64_t ranks) const {
    if (stay == settled_[d]) return ranks / ranks_[d];
    return stay == size ? 1 : 0;
  }
  /// Picoseconds at least to send a rank its block of the goal but for one of so many parts, or all of it.
  constexpr std::int64_t time(std::int64_t parts) const {
    constexpr std::int64_t rounding = 16;  // more than the steps of a path lose to whole numbers
    return (parts == 0 ? block_ : block_ - block_ / parts) - rounding;
  }

 private:
  bool known_ = false;
  int settled_[max_dims]{};
  std::int64_t ranks_[max_dims]{};
  std::int64_t block_ = 0;  ///< picoseconds to send the goal's whole block
};

}  // namespace shardtype::planning
