#pragma once
/// The indices of an extent that a rank holds: nested blocks (see `Dim`) or block-cyclic (see
/// `Cyclic`).

#include <algorithm>
#include <cstdint>

#include <shardtype/core/saturating.hpp>
#include <shardtype/core/spec.hpp>

namespace shardtype::core {

/// Half-open range of global indices, [begin, end).
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  constexpr std::int64_t size() const { return end - begin; }
  friend constexpr bool operator==(Range const&, Range const&) = default;
};

/// The common part of two ranges; empty ranges have size 0.
constexpr Range intersect(Range a, Range b) {
  std::int64_t const begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

/// ceil(n / p) without overflow.
constexpr std::int64_t ceil_div(std::int64_t n, std::int64_t p) { return n / p + (n % p != 0); }

/// The `k`-th of `p` pieces of `whole`: ceil(size / p) long, the last ones short or empty.
constexpr Range piece(Range whole, std::int64_t k, std::int64_t p) {
  std::int64_t const length = ceil_div(whole.size(), p);
  std::int64_t const begin = std::min(whole.end, whole.begin + k * length);
  return {begin, std::min(whole.end, begin + length)};
}

/// The indices of one dim that a rank holds, in increasing order: runs of `run` consecutive indices
/// whose begins are `stride` apart; with stride 0, all consecutive.
struct Rows {
  std::int64_t begin = 0;
  std::int64_t count = 0;
  std::int64_t run = 0;
  std::int64_t stride = 0;

  constexpr std::int64_t size() const { return count; }
  constexpr bool contiguous() const { return stride == 0; }
  /// The global index of local index `local`.
  constexpr std::int64_t operator[](std::int64_t local) const {
    return stride == 0 ? begin + local : begin + local / run * stride + local % run;
  }
  /// Number of consecutive global indices from local index `local` on.
  constexpr std::int64_t in_a_row(std::int64_t local) const {
    return stride == 0 ? count - local : std::min(count - local, run - local % run);
  }
  /// Number of held indices below `index`.
  constexpr std::int64_t below(std::int64_t index) const {
    if (index <= begin) return 0;
    std::int64_t const n = index - begin;
    return std::min(count, stride == 0 ? n : n / stride * run + std::min(n % stride, run));
  }
  /// One past the last index.
  constexpr std::int64_t end() const { return count == 0 ? begin : (*this)[count - 1] + 1; }
  /// The indices as a range, if they are consecutive.
  constexpr Range range() const { return {begin, begin + count}; }
  friend constexpr bool operator==(Rows const&, Rows const&) = default;
};

/// Number of indices in both `a` and `b`, the rows of two ranks for one extent.
constexpr std::int64_t common(Rows const& a, Rows const& b) {
  if (a.begin == b.begin && a.run == b.run && a.stride == b.stride)
    return std::min(a.count, b.count);
  if (a.stride < b.stride) return common(b, a);  // loop over the one with fewer runs
  if (a.stride == 0) return intersect(a.range(), b.range()).size();
  auto in_runs = [&](std::int64_t from, std::int64_t to) {
    std::int64_t n = 0;
    for (std::int64_t r = from; r < to; ++r)
      n += b.below(a.begin + r * a.stride + std::min(a.run, a.count - r * a.run)) -
           b.below(a.begin + r * a.stride);
    return n;
  };
  if (b.stride == 0) return a.below(b.begin + b.count) - a.below(b.begin);
  // both are periodic: count one period, and the rest after the last full period
  std::int64_t divisor = a.stride;
  for (std::int64_t rest = b.stride; rest != 0;) {
    std::int64_t const next = divisor % rest;
    divisor = rest;
    rest = next;
  }
  std::int64_t const each = b.stride / divisor;  // runs of a in a period
  std::int64_t const times = std::max(a.end(), b.end()) / a.stride / each;
  std::int64_t const repeated = times < 2 ? 0 : times * in_runs(0, each);
  return repeated + in_runs(times < 2 ? 0 : times * each, ceil_div(a.count, a.run));
}

/// The indices of `extent` that the rank at `coords` holds when the one axis of `axes` splits it
/// block-cyclically.
constexpr Rows block_cyclic_rows(std::int64_t extent, AxisList const& axes, Sizes const& sizes,
                                 Coords const& coords) {
  std::int64_t const run = axes.cyclic;
  std::int64_t const p = sizes[axes[0]];
  std::int64_t const k = coords[axes[0]];
  std::int64_t const blocks = ceil_div(extent, run);
  std::int64_t const mine = blocks > k ? (blocks - k - 1) / p + 1 : 0;
  bool const last = mine > 0 && (blocks - 1) % p == k;
  std::int64_t const count = mine * run - (last ? blocks * run - extent : 0);
  std::int64_t const begin = std::min(extent, k * run);
  if (p == 1 || mine <= 1) return {begin, count, 0, 0};
  return {begin, count, run, run * p};
}

/// The piece of the range `whole` that the rank at `coords` holds if `axes` split it into nested
/// blocks, major to minor; not for block-cyclic axes.
constexpr Range block(Range whole, AxisList const& axes, Sizes const& sizes, Coords const& coords) {
  for (int k = 0; k < axes.size; ++k) whole = piece(whole, coords[axes[k]], sizes[axes[k]]);
  return whole;
}

/// The indices of `extent` that the rank at `coords` holds when `axes` split it, nested or
/// block-cyclic.
constexpr Rows rows_of(std::int64_t extent, AxisList const& axes, Sizes const& sizes,
                       Coords const& coords) {
  if (axes.cyclic != 0) return block_cyclic_rows(extent, axes, sizes, coords);
  Range const r = block({0, extent}, axes, sizes, coords);
  return {r.begin, r.size(), 0, 0};
}

/// Number of these indices.
constexpr std::int64_t held(std::int64_t extent, AxisList const& axes, Sizes const& sizes,
                            Coords const& coords) {
  if (axes.size == 0) return extent;
  return axes.cyclic != 0 ? block_cyclic_rows(extent, axes, sizes, coords).count
                          : block({0, extent}, axes, sizes, coords).size();
}

/// The largest number of indices that any rank holds (the rank at coordinates 0).
constexpr std::int64_t largest_block(std::int64_t extent, AxisList const& axes,
                                     Sizes const& sizes) {
  if (axes.cyclic != 0) return block_cyclic_rows(extent, axes, sizes, {}).count;
  for (int k = 0; k < axes.size; ++k) extent = ceil_div(extent, sizes[axes[k]]);
  return extent;
}

/// Coordinates along `axes` of the `index`-th member of their group, first axis major; the other
/// coordinates are those of `self`.
constexpr Coords member(AxisList const& axes, Sizes const& sizes, Coords self, std::int64_t index) {
  for (int k = axes.size - 1; k >= 0; --k) {
    self.at[axes[k]] = index % sizes[axes[k]];
    index /= sizes[axes[k]];
  }
  return self;
}

/// The rank at `self` in the group of `axes`, the first axis major.
constexpr std::int64_t rank_in_group(AxisList const& axes, Sizes const& sizes, Coords const& self) {
  std::int64_t rank = 0;
  for (int k = 0; k < axes.size; ++k) rank = rank * sizes[axes[k]] + self[axes[k]];
  return rank;
}

/// Elements of the local block at `coords`.
constexpr std::int64_t local_elements(Spec const& s, Extents const& extents, Sizes const& sizes,
                                      Coords const& coords) {
  std::int64_t n = 1;
  for (int d = 0; d < s.rank; ++d)
    n = mul_sat(n, held(extents[s.dims[d].label], s.dims[d].axes, sizes, coords));
  return n;
}

/// Elements of the largest local block.
constexpr std::int64_t largest_elements(Spec const& s, Extents const& extents, Sizes const& sizes) {
  std::int64_t n = 1;
  for (int d = 0; d < s.rank; ++d)
    n = mul_sat(n, largest_block(extents[s.dims[d].label], s.dims[d].axes, sizes));
  return n;
}

/// Whether a tensor of this sharding can have these extents.
constexpr bool countable(Spec const& s, Extents const& extents) {
  std::int64_t own[max_dims]{};
  for (int d = 0; d < s.rank; ++d) own[d] = extents[s.dims[d].label];
  return countable(own, s.rank);
}

}  // namespace shardtype::core
