#pragma once
/// The search behind the reshard planner: a shortest path over layouts.
///
/// A layout says for each mesh axis whether it splits a dim (and at which place), is unreduced, or
/// neither. Edges are the single steps: slice, all_gather of the minor-most axes of a dim,
/// all_to_all of the minor-most axes to another dim, permute (another order on one dim), all_reduce
/// and reduce_scatter of several axes at once; and where
/// an end has cyclic dims, slice, all_to_all and reduce_scatter to those, and all_to_all within a dim
/// between two ways to split it, one of them cyclic. All axes that source or destination mention move
/// together: planning axis by axis is measurably wrong.
///
/// The compiler runs it, which counts every statement: a layout is one number, and shardings are
/// spelled out for the layouts that are looked at and for the path alone.

#include <cstddef>
#include <cstdint>

#include <shardtype/plan/reshard_layout.hpp>

namespace shardtype::planning {

/// A path of steps and its cost; `size` is -1 when there is none.
struct Path {
  int size = -1;
  Step steps[max_steps / 2]{};
  Cost cost{};
};

namespace detail {

/// One A* search. Axes that stand where the goal has them, and all before them on that dim too, stay:
/// to move them away and back never pays (tests/unit compare with all steps).
class Search {
 public:
  constexpr Search(Spec const& from, Spec const& to, Sizing const& z, Machine const& m)
      : from_(without_reduced(from)), goal_(without_reduced(to)), z_(z), m_(m), rank_(from.rank) {
    axes_ = static_cast<unsigned>(from_.mentioned().bits | goal_.mentioned().bits);
    for (int x = 0; x < max_axes; ++x)
      if (((axes_ >> x) & 1U) != 0) last_axis_ = x;
    for (int d = 0; d < rank_; ++d)
      turns_ = turns_ || from_.dims[d].axes.cyclic != 0 || goal_.dims[d].axes.cyclic != 0;
    for (int d = 0; d < rank_; ++d)
      useful_[d] = rank_ <= 3 || from_.dims[d].axes.size > 0 || goal_.dims[d].axes.size > 0;
    least_ = least_latency(axes_, z.sizes, m);
  }

  /// The cheapest path, or none when every path takes longer than `limit` picoseconds.
  constexpr Path run(std::int64_t limit) {
    visits_ = 0;
    Path path;
    limit_ = limit;
    goal_key_ = key_of(goal_, goal_);
    Key const start = key_of(from_, goal_);
    if (start == goal_key_) {
      path.size = 0;
      return path;
    }
    nodes_.add(nodes_.bucket(start), {start, {}, 0, -1, false, {}});
    open_.push_back(0);
    for (;;) {
      if (open_.empty()) return path;
      int const best = take_best();
      nodes_[best].done = true;
      if (nodes_[best].key == goal_key_) return spell(best);
      look_at(best);
      for (int d = 0; d < rank_; ++d) {
        if (!useful_[d]) continue;
        if (turns_) {
          turns(d);
          if (here_[d].cyclic != 0) continue;
        }
        slices(d);
        if (here_[d].size > stay_[d]) movers(d);
        if (here_[d].size > stay_[d] + 1) orders(d, here_[d].prefix(stay_[d]));
        if (owed_ != 0) scatters(d, AxisList{});
      }
      reductions();
    }
  }

  /// How many steps the last search looked at.
  constexpr int visits() const { return visits_; }

 private:
  constexpr int take_best() {
    std::size_t best = 0;
    for (std::size_t k = 1; k < open_.size(); ++k)
      if (before(nodes_[open_[k]], nodes_[open_[best]])) best = k;
    int const node = open_[best];
    open_[best] = open_.back();
    open_.pop_back();
    return node;
  }
  static constexpr bool before(Node const& a, Node const& b) {
    std::int64_t const ta = a.cost.picoseconds + a.ahead;
    std::int64_t const tb = b.cost.picoseconds + b.ahead;
    return ta != tb ? ta < tb : rest_before(a.cost, b.cost);
  }
  /// The order of costs whose times are equal.
  static constexpr bool rest_before(Cost a, Cost b) {
    a.picoseconds = b.picoseconds = 0;
    return a < b;
  }

  /// Spells out the layout of a node: the axes on each dim, lengths of the largest blocks.
  constexpr void look_at(int node) {
    node_ = node;
    Key const key = nodes_[node].key;
    key_ = key;
    so_far_ = nodes_[node].cost;
    for (int d = 0; d < rank_; ++d) here_[d].size = 0;
    for (int d = 0; turns_ && d < rank_; ++d) here_[d].cyclic = 0;
    idle_ = 0;
    owed_ = 0;
    for (int x = 0; x <= last_axis_; ++x) {
      if (((axes_ >> x) & 1U) == 0) continue;
      int const place = static_cast<int>((key >> (6 * x)) & 63U);
      if (place == 0) {
        idle_ |= 1U << x;
      } else if (place == 1) {
        if (!goal_.unreduced.contains(x)) owed_ |= 1U << x;
      } else if (place >= first_turn) {
        int const d = (place - first_turn) / 2;
        here_[d] = turn(d, x, (place - first_turn) % 2 == 0 ? goal_ : from_);
      } else {
        AxisList& list = here_[(place - 2) / max_axes];
        list.at[(place - 2) % max_axes] = static_cast<std::int8_t>(x);
        ++list.size;
      }
    }
    bytes_ = z_.element_bytes;
    left_ = owed_ != 0 ? 1 : 0;
    for (int d = 0; d < rank_; ++d) {
      AxisList const& now = here_[d];
      stay_[d] = settled(now, goal_.dims[d].axes);
      if (stay_[d] < now.size) ++left_;
      std::int64_t length = z_.extents[from_.dims[d].label];
      for (int k = 0; k < now.size; ++k) {
        length_[d][k] = length;
        length = now.cyclic != 0 ? largest_block(length, now, z_.sizes)
                                 : ceil_div(length, z_.sizes.at[now.at[k]]);
      }
      length_[d][now.size] = length;
      bytes_ *= length;
    }
  }
  constexpr bool moves(int d) const { return stay_[d] < here_[d].size; }
  constexpr std::int64_t length(int d) const { return length_[d][here_[d].size]; }
  /// The length of dim `d` with the axes of `group` behind its own.
  constexpr std::int64_t shorter(int d, AxisList const& group) const {
    std::int64_t n = length(d);
    for (int k = 0; k < group.size && k < max_axes; ++k) n = ceil_div(n, z_.sizes.at[group.at[k]]);
    return n;
  }
  /// `bytes` of a block whose length along one dim changes.
  static constexpr std::int64_t rescaled(std::int64_t bytes, std::int64_t before,
                                         std::int64_t after) {
    return bytes == 0 ? 0 : bytes / before * after;
  }
  /// Whether axes behind those of dim `d` would have to leave it again, when its own need not.
  constexpr int unsettles(int d, AxisList const& group) const {
    if (moves(d)) return 0;
    AxisList const& then = goal_.dims[d].axes;
    if (then.cyclic != 0) return 1;
    int const n = here_[d].size;
    for (int k = 0; k < group.size && k < max_axes; ++k)
      if (n + k >= then.size || then.at[n + k] != group.at[k]) return 1;
    return 0;
  }
  static constexpr Key without(Key key, AxisList const& group) {
    for (int k = 0; k < group.size && k < max_axes; ++k) key &= ~mask_key(group.at[k]);
    return key;
  }
  constexpr Key behind(Key key, int d, AxisList const& group) const {
    for (int k = 0; k < group.size && k < max_axes; ++k)
      key |= place_key(group.at[k], d, here_[d].size + k);
    return key;
  }

  /// One step from here to layout `key`, whose largest blocks have `after` bytes and from which
  /// `left` collectives at least remain: one takes axes off one dim at most, and none of those
  /// reduces. Its price is reckoned from `before` bytes.
  constexpr void consider(Move const& move, Key key, std::int64_t before, std::int64_t after,
                          int left) {
    ++visits_;
    std::int64_t p = 1;
    for (int k = 0; k < move.group.size; ++k) p *= z_.sizes.at[move.group.at[k]];
    Cost const cost = so_far_ + step_cost(move.collective, before, after, p, m_);
    std::int64_t const ahead = least_ * left;
    std::int64_t const time = cost.picoseconds + ahead;
    if (time > limit_) return;
    if (aim_ >= 0) {
      Cost const& best = nodes_[aim_].cost;
      if (time > best.picoseconds) return;
      if (time == best.picoseconds && !rest_before(cost, best)) return;
    }
    unsigned const bucket = nodes_.bucket(key);
    int const known = nodes_.at(bucket);
    if (known < 0) {
      if (key == goal_key_) aim_ = nodes_.size();
      open_.push_back(nodes_.size());
      nodes_.add(bucket, {key, cost, ahead, node_, false, move});
    } else if (!nodes_[known].done && cost < nodes_[known].cost) {
      nodes_[known] = {key, cost, ahead, node_, false, move};
    }
  }

  constexpr void slices(int d) {
    for (int x = 0; x <= last_axis_; ++x) {
      if (((idle_ >> x) & 1U) == 0) continue;
      Move move;
      move.group.push(x);
      move.to = d;
      consider(move, key_ | place_key(x, d, here_[d].size), bytes_,
               rescaled(bytes_, length(d), ceil_div(length(d), z_.sizes.at[x])),
               left_ + unsettles(d, move.group));
    }
  }

  // all_gather and all_to_all of the k minor-most axes of dim d
  constexpr void movers(int d) {
    for (int k = here_[d].size - 1; k >= stay_[d]; --k) {
      Move move;
      move.collective = Collective::all_gather;
      move.group = here_[d].suffix(k);
      move.from = d;
      Key const key = without(key_, move.group);
      std::int64_t const bytes = rescaled(bytes_, length(d), length_[d][k]);
      int const left = k > stay_[d] ? left_ : left_ - 1;
      consider(move, key, bytes_, bytes, left);
      move.collective = Collective::all_to_all;
      for (int e = 0; e < rank_; ++e) {
        if (e == d || !useful_[e] || here_[e].cyclic != 0) continue;
        move.to = e;
        if (turns_ && move.group.size == 1) into_turns(e, move, key, bytes, left);
        consider(move, behind(key, e, move.group), bytes_,
                 rescaled(bytes, length(e), shorter(e, move.group)),
                 left + unsettles(e, move.group));
      }
    }
  }

  // every other order of the axes on dim d that may move
  constexpr void orders(int d, AxisList const& chosen) {
    AxisList const& now = here_[d];
    if (chosen.size == now.size) {
      int same = 0;
      while (same < now.size && chosen.at[same] == now.at[same]) ++same;
      if (same == now.size) return;
      Move move;
      move.collective = Collective::permute;
      move.group = now.suffix(same);
      move.from = d;
      move.to = d;
      Key key = without(key_, move.group);
      std::int64_t length = length_[d][same];
      for (int k = same; k < chosen.size; ++k) {
        key |= place_key(chosen.at[k], d, k);
        length = ceil_div(length, z_.sizes.at[chosen.at[k]]);
      }
      bool const there = goal_.dims[d].axes.starts_with(chosen);
      consider(move, key, bytes_, rescaled(bytes_, this->length(d), length),
               there ? left_ - 1 : left_);
      return;
    }
    for (int k = 0; k < now.size; ++k) {
      if (chosen.contains(now.at[k])) continue;
      AxisList longer = chosen;
      longer.push(now.at[k]);
      orders(d, longer);
    }
  }

  // reduce_scatter of every ordered list of unreduced axes onto dim d
  constexpr void scatters(int d, AxisList const& chosen) {
    unsigned rest = owed_;
    for (int k = 0; k < chosen.size; ++k) rest &= ~(1U << chosen.at[k]);
    if (chosen.size > 0) {
      Move move;
      move.collective = Collective::reduce_scatter;
      move.group = chosen;
      move.to = d;
      consider(move, behind(without(key_, chosen), d, chosen), bytes_,
               rescaled(bytes_, length(d), shorter(d, chosen)),
               left_ - (rest == 0 ? 1 : 0) + unsettles(d, chosen));
    }
    for (int x = 0; rest != 0 && x <= last_axis_; ++x) {
      if (((rest >> x) & 1U) == 0) continue;
      AxisList longer = chosen;
      longer.push(x);
      scatters(d, longer);
    }
  }

  constexpr void reductions() {
    for (unsigned some = owed_; some != 0; some = (some - 1) & owed_) {
      Move move;
      move.collective = Collective::all_reduce;
      for (int x = 0; x <= last_axis_; ++x)
        if (((some >> x) & 1U) != 0) move.group.push(x);
      consider(move, without(key_, move.group), bytes_, bytes_, some == owed_ ? left_ - 1 : left_);
    }
  }

  /// Dim `d` dealt out by `axis` as in `like`.
  static constexpr AxisList turn(int d, int axis, Spec const& like) {
    AxisList out;
    out.push(axis);
    out.cyclic = like.dims[d].axes.cyclic;
    return out;
  }

  /// The one axis of `move` begins to deal out dim `d`, where the goal wants it dealt out: after it a
  /// rank has `bytes` less what that takes.
  constexpr void into_turns(int d, Move const& move, Key key, std::int64_t bytes, int left) {
    if (here_[d].size > 0 || goal_.dims[d].axes.cyclic == 0) return;
    AxisList const then = turn(d, move.group[0], goal_);
    consider(move, key | key_of(then, d, goal_.dims[d].axes), bytes_,
             rescaled(bytes, length(d), largest_block(length(d), then, z_.sizes)),
             left + (then == goal_.dims[d].axes ? 0 : 1));
  }

  // slice and reduce_scatter to a cyclic dim, and all steps from one
  constexpr void turns(int d) {
    for (int x = 0; x <= last_axis_; ++x) {
      Move move;
      move.group.push(x);
      move.to = d;
      if (((idle_ >> x) & 1U) != 0) into_turns(d, move, key_, bytes_, left_);
      if (((owed_ >> x) & 1U) == 0) continue;
      move.collective = Collective::reduce_scatter;
      into_turns(d, move, key_ & ~mask_key(x), bytes_, left_ - (owed_ == 1U << x ? 1 : 0));
    }
    if (here_[d].size == 0 || !moves(d)) return;
    bool const from_turns = here_[d].cyclic != 0;
    if (from_turns) movers(d);
    // all_to_all within dim d to one axis of it or an idle one, from turns or to them
    for (int x = 0; x <= last_axis_; ++x) {
      if (((idle_ >> x) & 1U) == 0 && !here_[d].contains(x)) continue;
      AxisList one;
      one.push(x);
      if (from_turns) split_as(d, one);
      if (goal_.dims[d].axes.cyclic != 0) split_as(d, turn(d, x, goal_));
    }
  }

  constexpr void split_as(int d, AxisList const& then) {
    if (then == here_[d]) return;
    Move move;
    move.collective = Collective::all_to_all;
    move.group = here_[d].suffix(0);
    move.from = d;
    move.to = d;
    std::int64_t const after =
        rescaled(bytes_, length(d), largest_block(z_.extents[from_.dims[d].label], then, z_.sizes));
    consider(move, without(key_, move.group) | key_of(then, d, goal_.dims[d].axes), after, after,
             left_ - 1 + (settled(then, goal_.dims[d].axes) < then.size ? 1 : 0));
  }

  constexpr Spec spec_of(Key key) const {
    Spec s = from_;
    s.unreduced = {};
    for (int d = 0; d < rank_; ++d) s.dims[d].axes = {};
    for (int x = 0; x <= last_axis_; ++x) {
      int const place = static_cast<int>((key >> (6 * x)) & 63U);
      if (place == 1) s.unreduced.insert(x);
      if (place < 2) continue;
      if (place >= first_turn) {
        int const d = (place - first_turn) / 2;
        s.dims[d].axes = turn(d, x, (place - first_turn) % 2 == 0 ? goal_ : from_);
        continue;
      }
      AxisList& list = s.dims[(place - 2) / max_axes].axes;
      list.at[(place - 2) % max_axes] = static_cast<std::int8_t>(x);
      ++list.size;
    }
    if (s.unreduced.empty()) s.kind = ReduceKind::sum;
    return s;
  }

  /// The path that ends at this node.
  constexpr Path spell(int end) {
    Path path;
    path.cost = nodes_[end].cost;
    path.size = 0;
    for (int k = end; nodes_[k].parent >= 0; k = nodes_[k].parent) ++path.size;
    Spec after = spec_of(nodes_[end].key);
    for (int k = end, place = path.size; nodes_[k].parent >= 0; k = nodes_[k].parent) {
      Move const& move = nodes_[k].move;
      Step& s = path.steps[--place];
      s.action = move.collective == Collective::none ? Action::slice : Action::communicate;
      s.collective = move.collective;
      s.axes = move.group;
      s.from = static_cast<std::int8_t>(move.from);
      s.to = static_cast<std::int8_t>(move.to);
      s.after = after;
      after = s.before = spec_of(nodes_[nodes_[k].parent].key);
    }
    return path;
  }

  Spec from_;
  Spec goal_;
  Sizing const& z_;
  Machine const& m_;
  int rank_;
  unsigned axes_ = 0;
  int last_axis_ = -1;
  bool turns_ = false;  ///< whether an end has cyclic dims
  bool useful_
      [max_dims]{};  ///< worth splitting on the way: split at either end; all of a small tensor
  std::int64_t least_ = 0;
  std::int64_t limit_ = 0;
  int visits_ = 0;
  Key goal_key_ = 0;
  Nodes nodes_;
  shardtype::detail::List<int> open_;
  int aim_ = -1;  ///< the goal's node

  // the layout that is looked at
  int node_ = 0;
  Key key_ = 0;
  Cost so_far_{};
  AxisList here_[max_dims]{};
  int stay_[max_dims]{};  ///< how many major axes stand where the goal has them
  std::int64_t length_[max_dims][max_axes + 1]{};  ///< of dims with their first k axes
  std::int64_t bytes_ = 0;
  unsigned idle_ = 0;
  unsigned owed_ = 0;
  int left_ = 0;  ///< the least number of collectives to the goal
};

}  // namespace detail

}  // namespace shardtype::planning
