#pragma once
/// Classes of ranks whose blocks have the same sizes; most ranks of a large mesh are alike.

#include <algorithm>
#include <cstdint>

#include <shardtype/plan/step.hpp>

namespace shardtype::planning {

/// Divides the coordinates along each axis into runs in which all ranks hold blocks of the same
/// sizes, for all values of their other coordinates. An axis cuts a block into full pieces, at most
/// one shorter piece, and empty ones; so a few runs represent many ranks, and the busiest first
/// rank of a run is the busiest of all ranks.
class RankClasses {
 public:
  constexpr RankClasses(int axes, Sizes const& sizes) : axes_(axes), sizes_(sizes) {
    for (int x = 0; x < axes; ++x) counts_[x] = 1;
  }
  /// Adds the distinctions that matter for the bytes of a step.
  constexpr void note(Step const& s, Sizing const& z) {
    for (Spec const* spec : {&s.before, &s.after})
      for (int d = 0; d < spec->rank; ++d) note(z.extents[spec->dims[d].label], spec->dims[d].axes);
    if (kind_of(s).is(move_rows::placed)) tell_all_apart(s.axes);
    for (int k = 0; k < s.wide.size; ++k) tell_all_apart(s.before.dims[s.wide.dim[k]].axes);
    if (s.move == Move::resplit)
      for (Spec const* spec : {&s.before, &s.after}) tell_all_apart(spec->dims[s.from].axes);
  }
  /// Makes every coordinate along these axes a class of its own.
  constexpr void tell_all_apart(AxisList const& axes) {
    for (int k = 0; k < axes.size; ++k) counts_[axes[k]] = sizes_[axes[k]];
  }
  /// Makes the rank with this number in the group of `axes` a class of its own, with others on its
  /// axes.
  constexpr void tell_apart(AxisList const& axes, std::int64_t number) {
    Coords const it = member(axes, sizes_, {}, number);
    for (int k = 0; k < axes.size; ++k) {
      cut(axes[k], it[axes[k]]);
      cut(axes[k], it[axes[k]] + 1);
    }
  }
  /// The number of the representative that has the coordinates of `k` along the axes `on`, and the
  /// first ones along the others; at most `k`.
  constexpr std::int64_t along(std::int64_t k, AxisSet on) const {
    std::int64_t out = 0;
    std::int64_t step = 1;
    for (int x = axes_ - 1; x >= 0; --x) {
      if (on.contains(x)) out += k % counts_[x] * step;
      k /= counts_[x];
      step *= counts_[x];
    }
    return out;
  }
  /// Number of representative ranks, and their coordinates.
  constexpr std::int64_t size() const {
    std::int64_t n = 1;
    for (int x = 0; x < axes_; ++x) n *= counts_[x];
    return n;
  }
  constexpr Coords at(std::int64_t k) const {
    Coords out;
    for (int x = axes_ - 1; x >= 0; --x) {
      out.at[x] = first(x, k % counts_[x]);
      k /= counts_[x];
    }
    return out;
  }
  /// The maximum of `of(coordinates)` over all ranks.
  template <class Of>
  constexpr std::int64_t most(Of of) const {
    std::int64_t most = 0;
    for (std::int64_t k = 0; k < size(); ++k) most = std::max(most, of(at(k)));
    return most;
  }

 private:
  /// Distinct numbers, in order of insertion.
  struct Numbers {
    static constexpr int most = 32;
    std::int64_t at[most]{};
    int size = 0;
    /// Inserts a number; false if there is no room.
    constexpr bool add(std::int64_t n) {
      for (int k = 0; k < size; ++k)
        if (at[k] == n) return true;
      if (size == most) return false;
      at[size++] = n;
      return true;
    }
  };

  /// A run begins at coordinate `at`. If there are too many runs, every coordinate becomes one.
  constexpr void cut(int axis, std::int64_t at) {
    if (at == 0 || at >= sizes_[axis] || counts_[axis] == sizes_[axis]) return;
    counts_[axis] = cuts_[axis].add(at) ? 1 + cuts_[axis].size : sizes_[axis];
  }
  /// The first coordinate of run `k` along an axis.
  constexpr std::int64_t first(int axis, std::int64_t k) const {
    return k == 0 || counts_[axis] == sizes_[axis] ? k : cuts_[axis].at[k - 1];
  }
  constexpr void note(std::int64_t extent, AxisList const& list) {
    if (list.cyclic != 0) return tell_all_apart(list);
    Numbers blocks;  // block sizes before the next axis
    blocks.add(extent);
    for (int k = 0; k < list.size; ++k) {
      std::int64_t const p = sizes_[list[k]];
      Numbers pieces;
      bool fits = true;
      for (int b = 0; b < blocks.size; ++b) {
        std::int64_t const n = blocks.at[b];
        std::int64_t const full = ceil_div(n, p);
        std::int64_t const count = full == 0 ? 0 : n / full;
        std::int64_t const rest = n - count * full;
        cut(list[k], count);
        if (rest > 0) cut(list[k], count + 1);
        if (count > 0) fits = fits && pieces.add(full);
        if (rest > 0) fits = fits && pieces.add(rest);
        if (count + (rest > 0 ? 1 : 0) < p) fits = fits && pieces.add(0);
      }
      if (!fits) return tell_all_apart(list);
      blocks = pieces;
    }
  }

  int axes_;
  Sizes sizes_;
  std::int64_t counts_[max_axes]{};  // number of runs along each axis
  Numbers cuts_[max_axes]{};         // begins of the runs except 0
};

}  // namespace shardtype::planning
