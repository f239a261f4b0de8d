#pragma once
/// Layouts in the search of the reshard planner: their encoding as numbers, their costs, a table of
/// them.

#include <cstddef>
#include <cstdint>

#include <shardtype/plan/plan.hpp>

namespace shardtype::planning {

/// Replicated and reduced are the same bytes, so the search does not distinguish them.
constexpr Spec without_reduced(Spec s) {
  s.reduced = {};
  return s;
}

/// A layout of at most `searched_axes` axes, encoded as one number with 6 bits per axis: 0
/// replicated, 1 unreduced, else its position.
using Key = std::uint32_t;
/// Positions from here on are block-cyclic.
inline constexpr int first_cyclic = 2 + max_dims * searched_axes;

constexpr Key place_key(int axis, int dim, int place) {
  return static_cast<Key>(2 + dim * searched_axes + place) << (6 * axis);
}
constexpr Key unreduced_key(int axis) { return Key{1} << (6 * axis); }
constexpr Key mask_key(int axis) { return Key{63} << (6 * axis); }

/// The key of a dim that `axis` splits block-cyclically: with the block size of the goal, or of the
/// start.
constexpr Key cyclic_key(int axis, int dim, bool as_goal) {
  return static_cast<Key>(first_cyclic + 2 * dim + (as_goal ? 0 : 1)) << (6 * axis);
}

constexpr Key key_of(AxisList const& axes, int dim, AxisList const& goal) {
  Key key = 0;
  for (int k = 0; k < axes.size; ++k)
    key |= axes.cyclic == 0 ? place_key(axes[k], dim, k)
                            : cyclic_key(axes[k], dim, axes.cyclic == goal.cyclic);
  return key;
}
constexpr Key key_of(Spec const& s, Spec const& goal) {
  Key key = 0;
  for (int d = 0; d < s.rank; ++d) key |= key_of(s.dims[d].axes, d, goal.dims[d].axes);
  for (int x = 0; x < searched_axes; ++x)
    if (s.unreduced.contains(x)) key |= unreduced_key(x);
  return key;
}

/// Number of leading axes of `now` that agree with the goal's.
constexpr int axes_in_place(AxisList const& now, AxisList const& then) {
  if (now.cyclic != then.cyclic) return 0;
  int n = 0;
  while (n < now.size && n < then.size && now.at[n] == then.at[n]) ++n;
  return n;
}

/// Adds `axis` to a dim at the position that `number` (2 or more) encodes. Unsigned, because
/// otherwise g++ warns of negative positions.
constexpr void put_at(AxisList& list, int number, int axis) {
  list.at[static_cast<unsigned>(number - 2) % searched_axes] = static_cast<std::int8_t>(axis);
  ++list.size;
}

/// Dim `d` split by `axis` with the block size that it has in `like`.
constexpr AxisList cyclic_axes(int d, int axis, Spec const& like) {
  AxisList out;
  out.push(axis);
  out.cyclic = like.dims[d].axes.cyclic;
  return out;
}

/// The sharding that `key` encodes in a search from `from` to `goal`.
constexpr Spec spec_of(Key key, Spec const& from, Spec const& goal) {
  Spec s = from;
  s.unreduced = {};
  for (int d = 0; d < from.rank; ++d) s.dims[d].axes = {};
  for (int x = 0; x < searched_axes; ++x, key >>= 6) {
    int const place = static_cast<int>(key & 63U);
    if (place == 1) s.unreduced.insert(x);
    if (place < 2) continue;
    if (place >= first_cyclic) {
      int const d = (place - first_cyclic) / 2;
      s.dims[d].axes = cyclic_axes(d, x, (place - first_cyclic) % 2 == 0 ? goal : from);
      continue;
    }
    put_at(s.dims[(place - 2) / searched_axes].axes, place, x);
  }
  if (s.unreduced.empty()) s.kind = ReduceKind::sum;
  return s;
}

/// The group of a step, derived from its change: the axes in the order in which they split the dim
/// that they leave, or else the dim that they join.
constexpr AxisList group_of(Step const& s) {
  AxisList out;
  switch (s.move) {
    case Move::reduce:
      for (int x = 0; x < max_axes; ++x)
        if (s.before.unreduced.contains(x) && !s.after.unreduced.contains(x)) out.push(x);
      return out;
    case Move::slice:
    case Move::scatter:
    case Move::scatter_cyclic:
      return s.after.dims[s.to].axes.suffix(s.before.dims[s.to].axes.size);
    case Move::resplit:
      return s.before.dims[s.from].axes.suffix(0);
    default: {
      AxisList const& now = s.before.dims[s.from].axes;
      AxisList const& then = s.after.dims[s.from].axes;
      int same = 0;
      while (same < then.size && now.at[same] == then.at[same]) ++same;
      return now.suffix(same);
    }
  }
}

/// A layout that the search has reached, with its path. Its members have no initializers, because a
/// compiler would write them for each unused node.
struct Node {
  Key key;
  int parent;
  bool done;
  Move move;  ///< of the step that leads to it, with dims as in Step
  std::int8_t from;
  std::int8_t to;
  std::int64_t total;  ///< picoseconds of the path so far plus the lower bound on the rest
  std::int64_t picoseconds;
  std::int64_t bytes;
  std::int64_t messages;
  std::int64_t peak_bytes;
};

/// A growing list of nodes with a hash index and a list of open nodes; usable at compile time.
/// Elements are accessed by plain pointers, because compilers count each call of an operator as
/// several statements.
class Nodes {
 public:
  constexpr Nodes() { resize(32); }
  Nodes(Nodes const&) = delete;
  Nodes& operator=(Nodes const&) = delete;
  constexpr ~Nodes() {
    delete[] nodes_;
    delete[] index_;
    delete[] open_;
  }

  constexpr int size() const { return size_; }
  constexpr Node& operator[](int k) { return nodes_[k]; }
  constexpr Node const& operator[](int k) const { return nodes_[k]; }

  /// The bucket of this layout in the index, or the one where it would be.
  constexpr unsigned bucket(Key key) const {
    unsigned b = (key * 2654435761U >> 9) & mask_;
    while (index_[b] >= 0 && nodes_[index_[b]].key != key) b = (b + 1) & mask_;
    return b;
  }
  constexpr int at(unsigned bucket) const { return index_[bucket]; }
  /// Adds an open node whose layout is new and belongs in this bucket.
  constexpr void add(unsigned bucket, Node const& n) {
    index_[bucket] = size_;
    open_[open_size_++] = size_;
    nodes_[size_++] = n;
    if (size_ == room_) resize(4 * room_);
  }
  /// Closes the open node with the least cost and returns it; -1 if none is open. Of equal costs,
  /// the first node reached, which splits an outer dim and so needs no packing.
  constexpr int close_best() {
    if (open_size_ == 0) return -1;
    int best = 0;
    Node const* least = nodes_ + open_[0];
    for (int k = 1; k < open_size_; ++k) {
      Node const* const n = nodes_ + open_[k];
      if (n->total > least->total) continue;
      if (n->total == least->total && !rest_before(*n, *least) &&
          (rest_before(*least, *n) || open_[k] > open_[best]))
        continue;
      best = k;
      least = n;
    }
    int const node = open_[best];
    open_[best] = open_[--open_size_];
    nodes_[node].done = true;
    return node;
  }

  constexpr void open(int node) { open_[open_size_++] = node; }

  /// The order of costs with equal times.
  static constexpr bool rest_before(Node const& a, Node const& b) {
    if (a.bytes != b.bytes) return a.bytes < b.bytes;
    if (a.messages != b.messages) return a.messages < b.messages;
    return a.peak_bytes < b.peak_bytes;
  }

 private:
  constexpr void resize(int room) {
    room_ = room;
    Node* const nodes = new Node[static_cast<std::size_t>(room)];
    int* const open = new int[static_cast<std::size_t>(room)];
    for (int k = 0; k < size_; ++k) nodes[k] = nodes_[k];
    for (int k = 0; k < open_size_; ++k) open[k] = open_[k];
    delete[] nodes_;
    delete[] open_;
    delete[] index_;
    nodes_ = nodes;
    open_ = open;
    index_ = new int[2 * static_cast<std::size_t>(room)];
    for (int k = 0; k < 2 * room; ++k) index_[k] = -1;
    mask_ = 2 * static_cast<unsigned>(room) - 1;
    for (int k = 0; k < size_; ++k) index_[bucket(nodes_[k].key)] = k;
  }

  Node* nodes_ = nullptr;
  int* index_ = nullptr;
  int* open_ = nullptr;
  unsigned mask_ = 0;
  int room_ = 0;
  int size_ = 0;
  int open_size_ = 0;
};

}  // namespace shardtype::planning
