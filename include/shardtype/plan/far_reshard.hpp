#pragma once
/// Paths of reshards over more axes than one search supports.

#include <cstdint>

#include <shardtype/plan/axis_groups.hpp>
#include <shardtype/plan/reshard_search.hpp>

namespace shardtype::planning {

/// The path from one sharding to another, over any number of axes. A search covers the axes whose
/// position or state differs. If these are more than `searched_axes`, axes that move together count
/// as one; if they are still more, the path is divided into parts, each the cheapest of its kind,
/// at the best of a few intermediate shardings.
class FarReshard {
 public:
  int size = 0;  ///< number of steps
  Cost cost{};
  int visits = 0;  ///< number of steps that the searches visited

  /// Appends the steps to `plan` unless it is null.
  constexpr FarReshard(Spec const& from, Spec const& to, Sizing const& z, Machine const& m,
                       Plan* plan = nullptr, Slot slot = Slot::a)
      : z_(z), m_(m), plan_(plan), slot_(slot) {
    go(without_reduced(from), without_reduced(to));
  }

 private:
  constexpr void go(Spec const& from, Spec const& to) {
    AxisGroups const apart(from, to, z_, false);
    if (apart.size <= searched_axes) return search(apart);
    AxisGroups const together(from, to, z_, true);
    if (together.size <= searched_axes) return search(together);
    if (reorders_one_dim(from, to)) return permute(from, to);
    Spec const middle = together.expand(half_way(together));
    go(from, middle);
    go(middle, to);
  }

  constexpr void search(AxisGroups const& g) {
    Search exact(g.from, g.to, g.sizing, m_);
    Path const path = exact.run(bounds(g.from, g.to, g.sizing, m_).most);
    visits += exact.visits();
    cost = cost + path.cost;
    size += path.size;
    if (plan_ == nullptr || path.size <= 0) return;
    plan_->need_room(path.size);
    exact.spell(plan_->steps, plan_->size, path.size, slot_);
    for (int k = plan_->size; k < plan_->size + path.size; ++k) {
      Step& s = plan_->steps[k];
      s.before = g.expand(s.before);
      s.after = g.expand(s.after);
      s.axes = group_of(s);
    }
    plan_->size += path.size;
  }

  /// Whether the only change is the order of the axes of one dim.
  static constexpr bool reorders_one_dim(Spec const& from, Spec const& to) {
    int changed = 0;
    for (int d = 0; d < from.rank; ++d) {
      AxisList const& now = from.dims[d].axes;
      AxisList const& then = to.dims[d].axes;
      if (now == then) continue;
      ++changed;
      if (now.size != then.size) return false;
      for (int k = 0; k < now.size; ++k)
        if (!then.contains(now[k])) return false;
    }
    return changed == 1 && from.unreduced == to.unreduced;
  }
  constexpr void permute(Spec const& from, Spec const& to) {
    Step s = shared_step(Move::reorder, slot_, {}, from, to);
    for (int d = 0; d < from.rank; ++d)
      if (!(from.dims[d].axes == to.dims[d].axes)) s.from = s.to = static_cast<std::int8_t>(d);
    s.axes = group_of(s);
    auto const bytes = [&](Spec const& spec) {
      return mul_sat(largest_elements(spec, z_.extents, z_.sizes), z_.element_bytes);
    };
    cost = cost + step_cost(s.collective(), bytes(from), bytes(to), z_.sizes.product(s.axes), m_);
    ++size;
    if (plan_ != nullptr) plan_->push(s);
  }

  /// The best intermediate sharding, in groups: the cheapest one from which a search supports the
  /// rest.
  constexpr Spec half_way(AxisGroups const& g) {
    constexpr int looked_at = 3;  // number of intermediate shardings that are priced exactly, after
                                  // all were priced by their bounds
    Spec best = g.from;
    std::int64_t least = -1;
    std::uint64_t done = 0;  // of all sets
    for (int tried = 0; tried < looked_at; ++tried) {
      unsigned next = 0;
      int next_left = 0;
      std::int64_t next_most = 0;
      for (unsigned set = 1; set < 1U << g.size; ++set) {
        if ((done >> set & 1U) != 0) continue;
        HalfWay const cut(g, set);
        if (cut.moved == 0 || cut.moved > searched_axes || cut.middle == g.from) continue;
        int const left = cut.left <= searched_axes ? 0 : cut.left;
        std::int64_t const most = in_time(bounds(g.from, cut.middle, g.sizing, m_).most +
                                          bounds(cut.middle, g.to, g.sizing, m_).most);
        if (next != 0 && (left > next_left || (left == next_left && most >= next_most))) continue;
        next = set;
        next_left = left;
        next_most = most;
      }
      if (next == 0) break;
      done |= std::uint64_t{1} << next;
      Spec const middle = HalfWay(g, next).middle;
      if (next_left > 0) return tried == 0 ? middle : best;
      FarReshard const first(g.from, middle, g.sizing, m_);
      FarReshard const second(middle, g.to, g.sizing, m_);
      visits += first.visits + second.visits;
      std::int64_t const time = in_time(first.cost.picoseconds + second.cost.picoseconds);
      if (least >= 0 && time >= least) continue;
      least = time;
      best = middle;
    }
    return best;
  }

  Sizing const& z_;
  Machine const& m_;
  Plan* plan_;
  Slot slot_;
};

}  // namespace shardtype::planning
