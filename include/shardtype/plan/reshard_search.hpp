#pragma once
/// The search of the reshard planner: a shortest path over layouts.
///
/// A layout says for each mesh axis whether it splits a dim (and its position there), is unreduced,
/// or neither. Edges are single steps: slice, all_gather of the minor-most axes of a dim,
/// all_to_all of the minor-most axes to another dim, permute (another order on one dim), all_reduce
/// and reduce_scatter of several axes at once. If an end has block-cyclic dims, there are also
/// slice, all_to_all and reduce_scatter to such a dim, and all_to_all within a dim between two
/// splits, one of them block-cyclic. All axes of source and destination are searched together:
/// planning axis by axis gives measurably worse plans.
///
/// The search also runs at compile time, where each statement counts: a layout is one number, and
/// shardings are computed only for layouts that are visited and for the path.

#include <cstdint>
#include <limits>

#include <shardtype/plan/reshard_bounds.hpp>
#include <shardtype/plan/reshard_layout.hpp>

namespace shardtype::planning {

/// The cheapest path: its number of steps, or -1 if there is none, and its cost.
struct Path {
  int size = -1;
  Cost cost{};
};

/// One A* search. On a dim with even blocks, leading axes that agree with the goal's are never
/// moved: moving them away and back does not pay (tests/unit compare with all steps). It may pay
/// for uneven blocks, whose largest contain padding, and for block-cyclic dims.
class Search {
 public:
  /// `spare`: axes that a path may use in addition to those of the two shardings.
  constexpr Search(Spec const& from, Spec const& to, Sizing const& z, Machine const& m,
                   AxisSet spare = {})
      : from_(without_reduced(from)), goal_(without_reduced(to)), z_(z), m_(m), rank_(from.rank) {
    axes_ = static_cast<unsigned>(from_.mentioned().bits | goal_.mentioned().bits | spare.bits);
    for (int x = 0; x < searched_axes; ++x)
      if (((axes_ >> x) & 1U) != 0) last_axis_ = x;
    for (int d = 0; d < rank_; ++d)
      turns_ = turns_ || from_.dims[d].axes.cyclic != 0 || goal_.dims[d].axes.cyclic != 0;
    for (int d = 0; d < rank_; ++d)
      useful_[d] = rank_ <= 3 || from_.dims[d].axes.size > 0 || goal_.dims[d].axes.size > 0;
    std::int64_t ranks = 1;
    for (int x = 0; x <= last_axis_; ++x)
      if (((axes_ >> x) & 1U) != 0) ranks *= z.sizes.at[x];
    for (int d = 0; d < rank_; ++d)
      loose_[d] = turns_ || z.extents[from_.dims[d].label] % ranks != 0;
    least_ = least_latency(axes_, z.sizes, m);
    missing_ = {goal_, z, m, axes_, turns_};
  }

  /// The cheapest path, or none if every path takes longer than `limit` picoseconds.
  constexpr Path run(std::int64_t limit) {
    visits_ = 0;
    Path path;
    bound(limit);
    goal_key_ = key_of(goal_, goal_);
    Key const start = key_of(from_, goal_);
    if (start == goal_key_) {
      path.size = 0;
      return path;
    }
    nodes_.add(nodes_.bucket(start), {start, -1, false, Move::slice, -1, -1, 0, 0, 0, 0, 0});
    for (;;) {
      int const best = nodes_.close_best();
      if (best < 0) return path;
      if (best == aim_) {
        Node const& end = nodes_[best];
        path.cost = {end.picoseconds, end.bytes, 0, end.messages, end.peak_bytes};
        path.size = 0;
        for (int k = best; nodes_[k].parent >= 0; k = nodes_[k].parent) ++path.size;
        return path;
      }
      look_at(best);
      for (int d = 0; d < rank_; ++d) {
        if (!useful_[d]) continue;
        if (turns_) {
          to_cyclic(d);
          if (here_[d].cyclic != 0) continue;
        }
        slices(d);
        int const fixed = loose_[d] ? 0 : stay_[d];
        if (here_[d].size > fixed) movers(d, fixed);
        if (here_[d].size > fixed + 1) {
          unsigned used = 0;
          for (int k = 0; k < fixed; ++k) used |= 1U << (chosen_[k] = here_[d].at[k]);
          orders(d, fixed, used);
        }
        if (unreduced_ != 0) scatters(d, here_[d].size, stay_[d], unreduced_, key_, 1, length(d));
      }
      reductions();
    }
  }

  /// Writes the `size` steps of the path that was found, starting at index `first`.
  constexpr void spell(Rooms<Step, max_steps>& to, int first, int size, Slot slot) const {
    int k = aim_;
    for (Spec after = spec_of(goal_key_, from_, goal_); size > 0; k = nodes_[k].parent) {
      Node const& node = nodes_[k];
      Spec const before = spec_of(nodes_[node.parent].key, from_, goal_);
      Step s = shared_step(node.move, slot, {}, before, after, node.from, node.to);
      after = before;
      s.axes = group_of(s);
      to.put(first + --size, s);
    }
  }

  /// Number of steps that the last search examined.
  constexpr int visits() const { return visits_; }

 private:
  /// Expands the layout of a node: the axes on each dim, and lengths of the largest blocks.
  constexpr void look_at(int node) {
    node_ = node;
    Key const key = nodes_[node].key;
    key_ = key;
    time_ = nodes_[node].picoseconds;
    for (int d = 0; d < rank_; ++d) here_[d].size = 0;
    for (int d = 0; turns_ && d < rank_; ++d) here_[d].cyclic = 0;
    idle_ = 0;
    unreduced_ = 0;
    for (int x = 0; x <= last_axis_; ++x) {
      if (((axes_ >> x) & 1U) == 0) continue;
      int const place = static_cast<int>((key >> (6 * x)) & 63U);
      if (place == 0) {
        idle_ |= 1U << x;
      } else if (place == 1) {
        if (!goal_.unreduced.contains(x)) unreduced_ |= 1U << x;
      } else if (place >= first_cyclic) {
        int const d = (place - first_cyclic) / 2;
        here_[d] = cyclic_axes(d, x, (place - first_cyclic) % 2 == 0 ? goal_ : from_);
      } else {
        put_at(here_[(place - 2) / searched_axes], place, x);
      }
    }
    bytes_ = z_.element_bytes;
    left_ = unreduced_ != 0 ? 1 : 0;
    for (int d = 0; d < rank_; ++d) {
      AxisList const& now = here_[d];
      stay_[d] = axes_in_place(now, goal_.dims[d].axes);
      if (stay_[d] < now.size) ++left_;
      std::int64_t length = z_.extents[from_.dims[d].label];
      ranks_[d] = 1;
      for (int k = 0; k < now.size; ++k) {
        ranks_[d] *= z_.sizes.at[now.at[k]];
        length_[d][k] = length;
        length = now.cyclic != 0 ? largest_block(length, now, z_.sizes)
                                 : ceil_div(length, z_.sizes.at[now.at[k]]);
      }
      length_[d][now.size] = length;
      bytes_ *= length;
      parts_[d] = missing_.parts(d, stay_[d], now.size, ranks_[d]);
    }
  }
  /// Product of Missing::parts over all dims, with `of_d` for dim `d` and `of_e` for dim `e`.
  constexpr std::int64_t parts(int d, std::int64_t of_d, int e = -1, std::int64_t of_e = 1) const {
    std::int64_t all = of_d * of_e;
    for (int o = 0; o < rank_; ++o)
      if (o != d && o != e) all *= parts_[o];
    return all;
  }
  /// Limits the search to paths that take at most `time`; no limit if the time is not
  /// distinguishable.
  constexpr void bound(std::int64_t time) {
    limit_ = time < longest_time ? time : std::numeric_limits<std::int64_t>::max();
  }
  constexpr bool moves(int d) const { return stay_[d] < here_[d].size; }
  constexpr std::int64_t length(int d) const { return length_[d][here_[d].size]; }
  /// `bytes` of a block after its length along one dim changes.
  static constexpr std::int64_t rescaled(std::int64_t bytes, std::int64_t before,
                                         std::int64_t after) {
    return bytes == 0 ? 0 : bytes / before * after;
  }
  /// Whether the goal has `axis` at this position of dim `d`.
  constexpr bool belongs(int d, int place, int axis) const {
    AxisList const& then = goal_.dims[d].axes;
    return then.cyclic == 0 && place < then.size && then.at[place] == axis;
  }

  /// Considers one step to layout `key` over `p` ranks. The largest blocks then have `after` bytes,
  /// and at least `left` collectives remain: a collective removes axes from at most one dim, and
  /// such a collective does not reduce. The step is priced for `before` bytes. `parts`: see
  /// Missing.
  constexpr void consider(Move move, int from, int to, std::int64_t p, Key key, std::int64_t before,
                          std::int64_t after, int left, std::int64_t parts) {
    ++visits_;
    Collective const collective = kind_of(move).collective;
    // skips the pricing of steps that are too slow
    std::int64_t ahead = least_ * left;
    if (missing_.known()) {
      // an unreduced rank holds nothing of the goal yet
      bool const reduces = collective == Collective::reduce_scatter || move == Move::reduce;
      ahead += missing_.time(unreduced_ != 0 && !reduces ? 0 : parts);
    }
    if (time_ + ahead + (collective == Collective::none ? 0 : least_) > limit_) return;
    unsigned const bucket = nodes_.bucket(key);
    int const known = nodes_.at(bucket);
    if (known >= 0 && nodes_[known].picoseconds < time_) return;
    Cost const cost = step_cost(collective, before, after, p, m_);
    std::int64_t time = time_ + cost.picoseconds;
    if (time + ahead > limit_) return;
    if (time > longest_time) time = longest_time;
    Node n;
    Node const& here = nodes_[node_];
    n.bytes = add_sat(here.bytes, cost.bytes);
    n.messages = here.messages + cost.messages;
    n.peak_bytes = cost.peak_bytes > here.peak_bytes ? cost.peak_bytes : here.peak_bytes;
    if (aim_ >= 0 && time + ahead == limit_ && !Nodes::rest_before(n, nodes_[aim_])) return;
    if (known >= 0) {
      Node const& other = nodes_[known];
      if (time > other.picoseconds) return;
      if (time == other.picoseconds && !Nodes::rest_before(n, other)) return;
    }
    n.picoseconds = time;
    n.total = time + ahead < longest_time ? time + ahead : longest_time;
    n.key = key;
    n.parent = node_;
    n.done = false;
    n.move = move;
    n.from = static_cast<std::int8_t>(from);
    n.to = static_cast<std::int8_t>(to);
    if (key == goal_key_) {
      aim_ = known >= 0 ? known : nodes_.size();
      bound(time);  // slower paths are of no use any more
    }
    if (known >= 0) {
      if (nodes_[known].done) nodes_.open(known);
      nodes_[known] = n;
    } else {
      nodes_.add(bucket, n);
    }
  }

  constexpr void slices(int d) {
    int const place = here_[d].size;
    std::int64_t const before = length(d);
    for (int x = 0; x <= last_axis_; ++x)
      if (((idle_ >> x) & 1U) != 0) {
        std::int64_t const after = ceil_div(before, z_.sizes.at[x]);
        bool const fits = !moves(d) && belongs(d, place, x);
        consider(Move::slice, -1, d, 1, key_ | place_key(x, d, place), bytes_,
                 rescaled(bytes_, before, after), left_ + (moves(d) || fits ? 0 : 1),
                 parts(d, missing_.parts(d, stay_[d] + (fits ? 1 : 0), place + 1,
                                         ranks_[d] * z_.sizes.at[x])));
      }
  }

  // all_gather and all_to_all of the k minor-most axes of dim d
  constexpr void movers(int d, int fixed) {
    AxisList const& now = here_[d];
    bool const cyclic = now.cyclic != 0;
    Key without = key_;
    std::int64_t p = 1;
    for (int k = now.size - 1; k >= fixed; --k) {
      without &= ~mask_key(now.at[k]);
      p *= z_.sizes.at[now.at[k]];
      std::int64_t const bytes = rescaled(bytes_, length(d), length_[d][k]);
      int const left = k <= stay_[d] && moves(d) ? left_ - 1 : left_;
      std::int64_t const parts_d = missing_.parts(d, k < stay_[d] ? k : stay_[d], k, ranks_[d] / p);
      consider(cyclic ? Move::gather_cyclic : Move::gather, d, -1, p, without, bytes_, bytes, left,
               parts(d, parts_d));
      for (int e = 0; e < rank_; ++e) {
        if (e == d || !useful_[e] || here_[e].cyclic != 0) continue;
        if (turns_ && k + 1 == now.size)
          into_cyclic(Move::exchange_cyclic, d, e, now.at[k], without, bytes, left);
        Key key = without;
        std::int64_t after = length(e);
        int place = here_[e].size;
        int stay = stay_[e];
        for (int j = k; j < now.size; ++j, ++place) {
          int const x = now.at[j];
          key |= place_key(x, e, place);
          after = ceil_div(after, z_.sizes.at[x]);
          if (stay == place && belongs(e, place, x)) ++stay;
        }
        consider(cyclic ? Move::exchange_cyclic : Move::exchange, d, e, p, key, bytes_,
                 rescaled(bytes, length(e), after), left + (moves(e) || stay == place ? 0 : 1),
                 parts(d, parts_d, e, missing_.parts(e, stay, place, ranks_[e] * p)));
      }
    }
  }

  // every other order of the movable axes on dim d; `chosen_` has the first `n`
  constexpr void orders(int d, int n, unsigned used) {
    AxisList const& now = here_[d];
    if (n == now.size) {
      int same = 0;
      while (same < n && chosen_[same] == now.at[same]) ++same;
      if (same == n) return;
      int stay = 0;
      Key key = key_;
      std::int64_t p = 1;
      std::int64_t after = length_[d][same];
      for (int k = same; k < n; ++k) key &= ~mask_key(now.at[k]);
      for (int k = 0; k < n; ++k) {
        int const x = chosen_[k];
        if (stay == k && belongs(d, k, x)) ++stay;
        if (k < same) continue;
        key |= place_key(x, d, k);
        p *= z_.sizes.at[x];
        after = ceil_div(after, z_.sizes.at[x]);
      }
      consider(Move::reorder, d, d, p, key, bytes_, rescaled(bytes_, length(d), after),
               left_ - (moves(d) ? 1 : 0) + (stay == n ? 0 : 1),
               parts(d, missing_.parts(d, stay, n, ranks_[d])));
      return;
    }
    for (int k = 0; k < now.size; ++k) {
      int const x = now.at[k];
      if (((used >> x) & 1U) != 0) continue;
      chosen_[n] = x;
      orders(d, n + 1, used | 1U << x);
    }
  }

  // reduce_scatter of every ordered list of unreduced axes onto dim d. `so_far`: the key after the
  // axes scattered so far, `stay`: number of axes on d that need not move again, `rest`: the
  // remaining axes
  constexpr void scatters(int d, int place, int stay, unsigned rest, Key so_far, std::int64_t ranks,
                          std::int64_t shortened) {
    for (int x = 0; rest != 0 && x <= last_axis_; ++x) {
      if (((rest >> x) & 1U) == 0) continue;
      unsigned const unreduced = rest & ~(1U << x);
      Key const key = (so_far & ~mask_key(x)) | place_key(x, d, place);
      std::int64_t const p = ranks * z_.sizes.at[x];
      std::int64_t const after = ceil_div(shortened, z_.sizes.at[x]);
      int const stays = stay + (stay == place && belongs(d, place, x) ? 1 : 0);
      int const left = left_ - (unreduced == 0 ? 1 : 0) + (moves(d) || stays > place ? 0 : 1);
      consider(Move::scatter, -1, d, p, key, bytes_, rescaled(bytes_, length(d), after), left,
               unreduced != 0 ? 0 : parts(d, missing_.parts(d, stays, place + 1, ranks_[d] * p)));
      scatters(d, place + 1, stays, unreduced, key, p, after);
    }
  }

  constexpr void reductions() {
    for (unsigned some = unreduced_; some != 0; some = (some - 1) & unreduced_) {
      Key key = key_;
      std::int64_t p = 1;
      for (int x = 0; x <= last_axis_; ++x) {
        if (((some >> x) & 1U) == 0) continue;
        key &= ~mask_key(x);
        p *= z_.sizes.at[x];
      }
      bool const all = some == unreduced_;
      consider(Move::reduce, -1, -1, p, key, bytes_, bytes_, all ? left_ - 1 : left_,
               all ? parts(-1, 1) : 0);
    }
  }

  /// Calls `use` with each block-cyclic split of dim `d` over `axis`: with the goal's block size,
  /// and the start's own split.
  template <class Use>
  constexpr void cyclic_splits(int d, int axis, Use const& use) {
    AxisList const& first = from_.dims[d].axes;
    AxisList const& wanted = goal_.dims[d].axes;
    if (wanted.cyclic != 0) use(cyclic_axes(d, axis, goal_));
    if (first.cyclic != 0 && first.cyclic != wanted.cyclic && first.at[0] == axis) use(first);
  }

  /// A step after which `axis` splits dim `d` block-cyclically; before that split a rank has
  /// `bytes`.
  constexpr void into_cyclic(Move move, int from, int d, int axis, Key key, std::int64_t bytes,
                             int left) {
    if (here_[d].size > 0) return;
    AxisList const& wanted = goal_.dims[d].axes;
    cyclic_splits(d, axis, [&](AxisList const& then) {
      consider(move, from, d, z_.sizes.at[axis], key | key_of(then, d, wanted), bytes_,
               rescaled(bytes, length(d), largest_block(length(d), then, z_.sizes)),
               left + (then == wanted ? 0 : 1), 0);
    });
  }

  // slice and reduce_scatter to a block-cyclic dim, and all steps from one
  constexpr void to_cyclic(int d) {
    for (int x = 0; x <= last_axis_; ++x) {
      if (((idle_ >> x) & 1U) != 0) into_cyclic(Move::slice, -1, d, x, key_, bytes_, left_);
      if (((unreduced_ >> x) & 1U) != 0)
        into_cyclic(Move::scatter_cyclic, -1, d, x, key_ & ~mask_key(x), bytes_,
                    left_ - (unreduced_ == 1U << x ? 1 : 0));
    }
    if (here_[d].size == 0) return;
    bool const from_cyclic = here_[d].cyclic != 0;
    if (from_cyclic) movers(d, 0);
    // all_to_all within dim d to one axis, of the dim or idle, from or to a block-cyclic split
    for (int x = 0; x <= last_axis_; ++x) {
      if (((idle_ >> x) & 1U) == 0 && !here_[d].contains(x)) continue;
      AxisList one;
      one.push(x);
      if (from_cyclic) split_as(d, one);
      cyclic_splits(d, x, [&](AxisList const& then) { split_as(d, then); });
    }
  }

  constexpr void split_as(int d, AxisList const& then) {
    AxisList const& now = here_[d];
    AxisList const& wanted = goal_.dims[d].axes;
    if (then == now) return;
    Key without = key_;
    for (int k = 0; k < now.size; ++k) without &= ~mask_key(now.at[k]);
    std::int64_t const after =
        rescaled(bytes_, length(d), largest_block(z_.extents[from_.dims[d].label], then, z_.sizes));
    consider(Move::resplit, d, d, z_.sizes.product(now), without | key_of(then, d, wanted), after,
             after, left_ - (moves(d) ? 1 : 0) + (axes_in_place(then, wanted) < then.size ? 1 : 0),
             0);
  }

  Spec from_;
  Spec goal_;
  Sizing const& z_;
  Machine const& m_;
  int rank_;
  unsigned axes_ = 0;
  int last_axis_ = -1;
  bool turns_ = false;       ///< whether an end has block-cyclic dims
  bool useful_[max_dims]{};  ///< dims that a path may split: those split at either end; all dims if
                             ///< at most 3
  bool loose_[max_dims]{};   ///< dims on which moving correct axes may pay
  std::int64_t least_ = 0;
  Missing missing_;
  std::int64_t limit_ = 0;
  int visits_ = 0;
  Key goal_key_ = 0;
  Nodes nodes_;
  int aim_ = -1;  ///< the goal's node

  // the layout under consideration
  int node_ = 0;
  Key key_ = 0;
  std::int64_t time_ = 0;
  AxisList here_[max_dims]{};
  std::int64_t parts_[max_dims]{};  ///< see Missing::parts
  std::int64_t ranks_[max_dims]{};
  int stay_[max_dims]{};  ///< number of leading axes that agree with the goal's
  std::int64_t length_[max_dims][searched_axes + 1]{};  ///< length of each dim split over its first
                                                        ///< k axes
  std::int64_t bytes_ = 0;
  unsigned idle_ = 0;
  unsigned unreduced_ = 0;
  int chosen_[searched_axes]{};  ///< an order of its axes
  int left_ = 0;                 ///< lower bound on the number of collectives to the goal
};

}  // namespace shardtype::planning
