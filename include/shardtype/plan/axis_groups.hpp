#pragma once
/// Reshards of tensors over more axes than one search supports: axes that stay, and axes that move
/// together, are replaced by fewer axes for the search.

#include <cstdint>

#include <shardtype/plan/reshard_layout.hpp>

namespace shardtype::planning {

/// Whether a search supports these shardings directly: it numbers `searched_axes` axes.
constexpr bool searchable(Spec const& from, Spec const& to) {
  return ((from.mentioned().bits | to.mentioned().bits) >> searched_axes) == 0;
}

/// A reshard with renumbered axes. The leading axes of a dim that both shardings have stay, and so
/// do axes that are unreduced in both. The others form groups, and each group is one axis in the
/// search. If `merged`, axes that are side by side in both shardings form one group; otherwise each
/// axis is its own.
class AxisGroups {
 public:
  int size = 0;
  Spec from{};
  Spec to{};
  Sizing sizing{};

  constexpr AxisGroups(Spec const& first, Spec const& last, Sizing const& z, bool merged)
      : like_(first),
        stays_unreduced_{static_cast<std::uint8_t>(first.unreduced.bits & last.unreduced.bits)} {
    unsigned moving = static_cast<unsigned>(first.mentioned().bits | last.mentioned().bits) &
                      ~static_cast<unsigned>(stays_unreduced_.bits);
    sizing = z;
    for (int d = 0; d < first.rank; ++d) {
      AxisList const& now = first.dims[d].axes;
      int const stay = now.cyclic != 0 ? 0 : axes_in_place(now, last.dims[d].axes);
      stays_[d] = now.prefix(stay);
      for (int k = 0; k < stay; ++k) moving &= ~(1U << now[k]);
      int const label = first.dims[d].label;
      sizing.extents.at[label] = largest_block(z.extents[label], stays_[d], z.sizes);
    }
    int next[max_axes]{};
    unsigned follows = 0;
    for (int x = 0; x < max_axes; ++x) {
      next[x] = -1;
      for (int y = 0; y < max_axes && merged && ((moving >> x) & 1U) != 0; ++y) {
        if (y == x || ((moving >> y) & 1U) == 0 || ((follows >> y) & 1U) != 0) continue;
        if (next[x] >= 0 || !go_together(first, last, x, y)) continue;
        next[x] = y;
        follows |= 1U << y;
      }
    }
    for (int x = 0; x < max_axes; ++x) {
      if (((moving & ~follows) >> x & 1U) == 0) continue;
      std::int64_t ranks = 1;
      for (int y = x; y >= 0; y = next[y]) {
        group_of_[y] = size;
        groups_[size].push(y);
        ranks *= z.sizes[y];
      }
      group_sizes_.at[size++] = ranks;
    }
    sizing.sizes = group_sizes_;
    from = reduced_to_groups(first);
    to = reduced_to_groups(last);
  }

  /// The sharding in the operation's axes of a sharding `s` in groups.
  constexpr Spec expand(Spec const& s) const {
    Spec out = like_;
    out.unreduced = stays_unreduced_;
    for (int g = 0; g < size; ++g)
      for (int k = 0; k < groups_[g].size && s.unreduced.contains(g); ++k)
        out.unreduced.insert(groups_[g][k]);
    if (out.unreduced.empty()) out.kind = ReduceKind::sum;
    for (int d = 0; d < s.rank; ++d) {
      AxisList const& list = s.dims[d].axes;
      AxisList axes = stays_[d];
      for (int k = 0; k < list.size; ++k) axes = axes.plus(groups_[list[k]]);
      if (list.size > 0) axes.cyclic = list.cyclic;
      out.dims[d].axes = axes;
    }
    return out;
  }

 private:
  /// Whether axis `y` directly follows `x` on a dim, or both are on no dim and in the same state.
  static constexpr bool side_by_side(Spec const& s, int x, int y) {
    int const d = s.dim_of(x);
    if (d < 0) return s.dim_of(y) < 0 && s.unreduced.contains(x) == s.unreduced.contains(y);
    return s.dims[d].axes.position(y) == s.dims[d].axes.position(x) + 1;
  }
  static constexpr bool go_together(Spec const& first, Spec const& last, int x, int y) {
    // axes that are on no dim in either sharding have no order: they are reduced together, by
    // number
    if (first.dim_of(x) < 0 && last.dim_of(x) < 0 && y < x) return false;
    return side_by_side(first, x, y) && side_by_side(last, x, y);
  }
  constexpr Spec reduced_to_groups(Spec const& s) const {
    Spec out = s;
    out.unreduced = {};
    for (int g = 0; g < size; ++g)
      if (s.unreduced.contains(groups_[g][0])) out.unreduced.insert(g);
    for (int d = 0; d < s.rank; ++d) {
      AxisList const& list = s.dims[d].axes;
      AxisList axes;
      for (int k = stays_[d].size; k < list.size; ++k)
        if (groups_[group_of_[list[k]]][0] == list[k]) axes.push(group_of_[list[k]]);
      axes.cyclic = list.cyclic;
      out.dims[d].axes = axes;
    }
    return out;
  }

  Spec like_;
  AxisSet stays_unreduced_;
  AxisList stays_[max_dims]{};
  AxisList groups_[max_axes]{};
  int group_of_[max_axes]{};
  Sizes group_sizes_{};
};

/// The intermediate sharding, in groups, of a reshard that is divided because it has more groups
/// than a search supports.
class HalfWay {
 public:
  int moved = 0;  ///< number of groups that the first part moves
  int left = 0;   ///< number of groups that the second part moves
  Spec middle{};

  /// Moves the groups of `set`: they leave their dims, minor ones first, and are appended to their
  /// destination as far as that is the next position of a dim. `moved` is 0 if a group that stays
  /// would follow one that leaves.
  constexpr HalfWay(AxisGroups const& g, unsigned set) {
    middle = g.from;
    for (int d = 0; d < g.from.rank; ++d) {
      AxisList const& now = g.from.dims[d].axes;
      int keep = 0;
      while (keep < now.size && ((set >> now[keep]) & 1U) == 0) ++keep;
      for (int k = keep; k < now.size; ++k)
        if (((set >> now[k]) & 1U) == 0) return;
      middle.dims[d].axes = now.prefix(keep);
    }
    middle.unreduced.bits = static_cast<std::uint8_t>(g.from.unreduced.bits & ~set);
    if (middle.unreduced.empty()) middle.kind = ReduceKind::sum;
    left = g.size;
    for (int d = 0; d < g.from.rank; ++d) {
      AxisList& now = middle.dims[d].axes;
      AxisList const& then = g.to.dims[d].axes;
      while (axes_in_place(now, then) == now.size && now.size < then.size &&
             ((set >> then[now.size]) & 1U) != 0) {
        now.push(then[now.size]);
        now.cyclic = then.cyclic;
      }
      left -= axes_in_place(now, then);
    }
    for (int x = 0; x < g.size; ++x) {
      moved += ((set >> x) & 1U) != 0 ? 1 : 0;
      bool const nowhere = middle.dim_of(x) < 0 && !middle.unreduced.contains(x);
      if (nowhere && g.to.dim_of(x) < 0) --left;
    }
  }
};

}  // namespace shardtype::planning
