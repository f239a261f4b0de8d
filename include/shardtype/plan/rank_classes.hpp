#pragma once
/// Which ranks differ in what they hold: most of a large mesh are alike.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/step.hpp>

namespace shardtype::planning {

/// The first coordinates, axis by axis, of runs in which all ranks hold blocks of the same sizes, whatever
/// their other coordinates are. A block that an axis cuts has full pieces, one that is shorter, and empty ones;
/// so few runs take the place of many ranks, and the busiest of their first ones is the busiest of all.
class RankClasses {
 public:
  constexpr RankClasses(int axes, Sizes const& sizes)
      : axes_(axes), sizes_(sizes), firsts_(static_cast<std::size_t>(axes), Numbers{0}) {}
  /// Tells apart what matters to the bytes of a step.
  constexpr void note(Step const& s, Sizing const& z) {
    for (Spec const* spec : {&s.before, &s.after})
      for (int d = 0; d < spec->rank; ++d) note(z.extents[spec->dims[d].label], spec->dims[d].axes);
    // which rows are in both orders' blocks depends on where they lie
    if (s.collective == Collective::permute)
      for (int k = 0; k < s.axes.size; ++k) tell_all_apart(s.axes[k]);
  }
  /// The most that `of(coordinates)` is on any rank.
  template <class Of>
  constexpr std::int64_t most(Of of) const {
    Coords at{};
    return most_from(0, at, of);
  }
  /// How many ranks are looked at.
  constexpr std::int64_t size() const {
    std::int64_t n = 1;
    for (int x = 0; x < axes_; ++x) n *= static_cast<std::int64_t>(firsts(x).size());
    return n;
  }

 private:
  using Numbers = shardtype::detail::List<std::int64_t>;

  constexpr Numbers& firsts(int axis) { return firsts_[static_cast<std::size_t>(axis)]; }
  constexpr Numbers const& firsts(int axis) const {
    return firsts_[static_cast<std::size_t>(axis)];
  }
  static constexpr void add(Numbers& to, std::int64_t n) {
    if (std::find(to.begin(), to.end(), n) == to.end()) to.push_back(n);
  }
  constexpr void cut(int axis, std::int64_t at) {
    if (at < sizes_[axis]) add(firsts(axis), at);
  }
  constexpr void tell_all_apart(int axis) {
    firsts(axis).clear();
    for (std::int64_t k = 0; k < sizes_[axis]; ++k) firsts(axis).push_back(k);
  }
  constexpr void note(std::int64_t extent, AxisList const& list) {
    Numbers blocks{extent};  // sizes that the next axis may find
    for (int k = 0; k < list.size; ++k) {
      std::int64_t const p = sizes_[list[k]];
      if (list.cyclic != 0) tell_all_apart(list[k]);
      Numbers pieces;
      for (std::int64_t const n : blocks) {
        std::int64_t const full = ceil_div(n, p);
        std::int64_t const count = full == 0 ? 0 : n / full;
        std::int64_t const rest = n - count * full;
        cut(list[k], count);
        if (rest > 0) cut(list[k], count + 1);
        if (count > 0) add(pieces, full);
        if (rest > 0) add(pieces, rest);
        if (count + (rest > 0 ? 1 : 0) < p) add(pieces, 0);
      }
      blocks = pieces;
    }
  }
  template <class Of>
  constexpr std::int64_t most_from(int axis, Coords& at, Of& of) const {
    // the second: g++ -O3 unrolls the recursion beyond `max_axes` else, where it never goes
    if (axis == axes_ || axis == max_axes) return of(static_cast<Coords const&>(at));
    std::int64_t most = 0;
    for (std::int64_t const k : firsts(axis)) {
      at.at[axis] = k;
      most = std::max(most, most_from(axis + 1, at, of));
    }
    return most;
  }

  int axes_;
  Sizes sizes_;
  // no array: as it evaluates constants, nvcc destroys but the first of its Lists
  shardtype::detail::List<Numbers> firsts_;
};

}  // namespace shardtype::planning
