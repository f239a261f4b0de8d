#pragma once
/// The search behind the reshard planner: a shortest path over layouts.
///
/// A layout says for each mesh axis whether it splits a dim (and at which place), is unreduced, or
/// neither. Edges are the single steps: slice, all_gather of the minor-most axes of a dim,
/// all_to_all of the minor-most axes to another dim, permute (another order on one dim), all_reduce
/// and reduce_scatter of several axes at once. All axes that source or destination mention move
/// together: planning axis by axis is measurably wrong.
///
/// The compiler runs it, which counts every statement: a layout is one number, and shardings are
/// spelled out for the layouts that are looked at and for the path alone.

#include <cstddef>
#include <cstdint>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/plan.hpp>

namespace shardtype::planning {

/// A path of steps and its cost; `size` is -1 when there is none.
struct Path {
  int size = -1;
  Step steps[max_steps / 2]{};
  Cost cost{};
};

namespace detail {

/// Replicated and reduced are the same bytes; the search does not tell them apart.
constexpr Spec without_reduced(Spec s) {
  s.reduced = {};
  return s;
}

/// A layout as one number: 6 bits for each axis; 0 replicated, 1 unreduced, else its place.
using Key = std::uint32_t;

constexpr Key place_key(int axis, int dim, int place) {
  return static_cast<Key>(2 + dim * max_axes + place) << (6 * axis);
}
constexpr Key owed_key(int axis) { return Key{1} << (6 * axis); }
constexpr Key mask_key(int axis) { return Key{63} << (6 * axis); }

constexpr Key key_of(Spec const& s) {
  Key key = 0;
  for (int d = 0; d < s.rank; ++d)
    for (int k = 0; k < s.dims[d].axes.size; ++k) key |= place_key(s.dims[d].axes[k], d, k);
  for (int x = 0; x < max_axes; ++x)
    if (s.unreduced.contains(x)) key |= owed_key(x);
  return key;
}

/// What is certain before any search: a path takes at least `least` and at most `most` picoseconds.
struct Bounds {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

/// How many major axes of `now` stand where the goal has them.
constexpr int settled(AxisList const& now, AxisList const& then) {
  int n = 0;
  while (n < now.size && n < then.size && now.at[n] == then.at[n]) ++n;
  return n;
}

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
    out.most += step_cost(c, bytes, now, p, m).picoseconds;
    bytes = now;
    length[d] = after;
  };
  unsigned const owed = static_cast<unsigned>(from.unreduced.bits & ~to.unreduced.bits);
  if (owed != 0) {
    ++collectives;
    std::int64_t p = 1;
    for (int x = 0; x < max_axes; ++x) p *= ((owed >> x) & 1U) != 0 ? z.sizes.at[x] : 1;
    out.most += step_cost(Collective::all_reduce, bytes, bytes, p, m).picoseconds;
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
    for (int k = settled(from.dims[d].axes, then); k < then.size; ++k)
      resize(Collective::none, d, ceil_div(length[d], z.sizes.at[then.at[k]]), 1);
  }
  if (collectives > 0)
    out.least =
        collectives * least_latency(from.mentioned().bits | to.mentioned().bits, z.sizes, m);
  return out;
}

/// What one step does; the shardings before and after it follow from the path.
struct Move {
  Collective collective = Collective::none;
  AxisList group{};
  int from = -1;
  int to = -1;
};

/// A layout that was reached, and how.
struct Node {
  Key key = 0;
  Cost cost{};
  std::int64_t ahead = 0;  ///< picoseconds that are still to come at least
  int parent = -1;
  bool done = false;
  Move move{};
};

/// A growing list of nodes with a hash index, usable in the compiler. Elements are reached by plain
/// pointers: a compiler runs each call of a vector's operator as several statements.
class Nodes {
 public:
  constexpr Nodes() { resize(32); }
  Nodes(Nodes const&) = delete;
  Nodes& operator=(Nodes const&) = delete;

  constexpr int size() const { return size_; }
  constexpr Node& operator[](int k) { return nodes_[k]; }

  /// Where in the index this layout is or would be.
  constexpr unsigned bucket(Key key) const {
    unsigned b = (key * 2654435761U >> 9) & mask_;
    while (index_[b] >= 0 && nodes_[index_[b]].key != key) b = (b + 1) & mask_;
    return b;
  }
  constexpr int at(unsigned bucket) const { return index_[bucket]; }
  /// Adds a node whose layout is new and belongs in this bucket.
  constexpr void add(unsigned bucket, Node const& n) {
    index_[bucket] = size_;
    nodes_[size_++] = n;
    if (size_ == room_) resize(4 * room_);
  }

 private:
  constexpr void resize(int room) {
    room_ = room;
    memory_.resize(static_cast<std::size_t>(room));
    index_memory_.assign(2 * static_cast<std::size_t>(room), -1);
    nodes_ = memory_.data();
    index_ = index_memory_.data();
    mask_ = 2 * static_cast<unsigned>(room) - 1;
    for (int k = 0; k < size_; ++k) index_[bucket(nodes_[k].key)] = k;
  }

  shardtype::detail::List<Node> memory_;
  shardtype::detail::List<int> index_memory_;
  Node* nodes_ = nullptr;
  int* index_ = nullptr;
  unsigned mask_ = 0;
  int room_ = 0;
  int size_ = 0;
};

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
      useful_[d] = rank_ <= 3 || from_.dims[d].axes.size > 0 || goal_.dims[d].axes.size > 0;
    least_ = least_latency(axes_, z.sizes, m);
  }

  /// The cheapest path, or none when every path takes longer than `limit` picoseconds.
  constexpr Path run(std::int64_t limit) {
    visits_ = 0;
    Path path;
    limit_ = limit;
    goal_key_ = key_of(goal_);
    Key const start = key_of(from_);
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
    idle_ = 0;
    owed_ = 0;
    for (int x = 0; x <= last_axis_; ++x) {
      if (((axes_ >> x) & 1U) == 0) continue;
      int const place = static_cast<int>((key >> (6 * x)) & 63U);
      if (place == 0) {
        idle_ |= 1U << x;
      } else if (place == 1) {
        if (!goal_.unreduced.contains(x)) owed_ |= 1U << x;
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
        length = ceil_div(length, z_.sizes.at[now.at[k]]);
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
  /// reduces.
  constexpr void consider(Move const& move, Key key, std::int64_t after, int left) {
    ++visits_;
    std::int64_t p = 1;
    for (int k = 0; k < move.group.size; ++k) p *= z_.sizes.at[move.group.at[k]];
    Cost const cost = so_far_ + step_cost(move.collective, bytes_, after, p, m_);
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
      consider(move, key_ | place_key(x, d, here_[d].size),
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
      consider(move, key, bytes, left);
      move.collective = Collective::all_to_all;
      for (int e = 0; e < rank_; ++e) {
        if (e == d || !useful_[e]) continue;
        move.to = e;
        consider(move, behind(key, e, move.group),
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
      consider(move, key, rescaled(bytes_, this->length(d), length), there ? left_ - 1 : left_);
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
      consider(move, behind(without(key_, chosen), d, chosen),
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
      consider(move, without(key_, move.group), bytes_, some == owed_ ? left_ - 1 : left_);
    }
  }

  constexpr Spec spec_of(Key key) const {
    Spec s = from_;
    s.unreduced = {};
    for (int d = 0; d < rank_; ++d) s.dims[d].axes = {};
    for (int x = 0; x <= last_axis_; ++x) {
      int const place = static_cast<int>((key >> (6 * x)) & 63U);
      if (place == 1) s.unreduced.insert(x);
      if (place < 2) continue;
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
