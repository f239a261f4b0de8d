#pragma once
/// Lower and upper bounds on the time of a reshard, without a search.

#include <cstdint>

#include <shardtype/plan/reshard_layout.hpp>

namespace shardtype::planning {

/// Every path takes at least `least` picoseconds, and some path at most `most`.
struct Bounds {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

/// Latency of the cheapest collective: over two ranks, or over one if an axis has only one.
constexpr std::int64_t least_latency(unsigned axes, Sizes const& sizes, Machine const& m) {
  std::int64_t ranks = 2;
  for (int x = 0; x < max_axes; ++x)
    if (((axes >> x) & 1U) != 0 && sizes.at[x] < 2) ranks = 1;
  return picoseconds(static_cast<double>(ranks), 1.0 / m.latency);
}

/// The bounds. Lower: a collective removes axes from at most one dim, and such a collective does
/// not reduce. Upper: reducing, gathering the axes that do not stay and slicing to the goal is
/// always a path.
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
  unsigned const unreduced = static_cast<unsigned>(from.unreduced.bits & ~to.unreduced.bits);
  if (unreduced != 0) {
    ++collectives;
    std::int64_t p = 1;
    for (int x = 0; x < max_axes; ++x) p *= ((unreduced >> x) & 1U) != 0 ? z.sizes.at[x] : 1;
    out.most = in_time(step_cost(Collective::all_reduce, bytes, bytes, p, m).picoseconds);
  }
  for (int d = 0; d < from.rank; ++d) {
    AxisList const& now = from.dims[d].axes;
    int const stay = axes_in_place(now, to.dims[d].axes);
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
    for (int k = axes_in_place(from.dims[d].axes, then); k < then.size; ++k)
      resize(Collective::none, d, ceil_div(length[d], z.sizes.at[then.at[k]]), 1);
  }
  if (collectives > 0)
    out.least = in_time(collectives *
                        least_latency(from.mentioned().bits | to.mentioned().bits, z.sizes, m));
  return out;
}

/// The receive bound: a lower bound on the time of any path to a goal, from the data that ranks
/// must still receive (the heuristic of the A* search).
///
/// The rank that holds least of its block of the goal must receive the rest of it, and no step
/// brings a rank more bytes than its payload. For uneven blocks the bound uses fractional lengths,
/// while prices are those of the largest blocks, which are no smaller. Not available if an end has
/// block-cyclic dims or an axis has one rank.
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
      in_place_[d] = goal.dims[d].axes.size;
      ranks_[d] = z.sizes.product(goal.dims[d].axes);
      bytes *= static_cast<double>(z.extents[goal.dims[d].label]);
      bytes /= static_cast<double>(ranks_[d]);
    }
    block_ = picoseconds(bytes, m.bytes_per_second);
  }

  constexpr bool known() const { return known_; }
  /// Number of parts into which `size` axes with `ranks` ranks split the goal's block along dim
  /// `d`, if the first `stay` of them agree with the goal's: a rank holds one part. 0 if another
  /// axis is in their way: then the first block of one and the last block of the other have nothing
  /// in common.
  constexpr std::int64_t parts(int d, int stay, int size, std::int64_t ranks) const {
    if (stay == in_place_[d]) return ranks / ranks_[d];
    return stay == size ? 1 : 0;
  }
  /// Lower bound in picoseconds for sending a rank its block of the goal, except one of `parts`
  /// parts; the whole block if `parts` is 0.
  constexpr std::int64_t time(std::int64_t parts) const {
    constexpr std::int64_t rounding = 16;  // more than the rounding errors of all steps of a path
    return (parts == 0 ? block_ : block_ - block_ / parts) - rounding;
  }

 private:
  bool known_ = false;
  int in_place_[max_dims]{};
  std::int64_t ranks_[max_dims]{};
  std::int64_t block_ = 0;  ///< picoseconds to send the goal's whole block
};

}  // namespace shardtype::planning
