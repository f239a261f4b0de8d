#pragma once
/// Layouts as the search behind the reshard planner sees them: numbers, their costs, a table of them.

#include <cstddef>
#include <cstdint>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/plan.hpp>

namespace shardtype::planning::detail {

/// Replicated and reduced are the same bytes; the search does not tell them apart.
constexpr Spec without_reduced(Spec s) {
  s.reduced = {};
  return s;
}

/// A layout as one number: 6 bits for each axis; 0 replicated, 1 unreduced, else its place.
using Key = std::uint32_t;
/// Places from here on are cyclic.
inline constexpr int first_turn = 2 + max_dims * max_axes;

constexpr Key place_key(int axis, int dim, int place) {
  return static_cast<Key>(2 + dim * max_axes + place) << (6 * axis);
}
constexpr Key owed_key(int axis) { return Key{1} << (6 * axis); }
constexpr Key mask_key(int axis) { return Key{63} << (6 * axis); }

/// A dim that `axis` deals out in turns: as at the goal, or else as at the start.
constexpr Key turn_key(int axis, int dim, bool as_goal) {
  return static_cast<Key>(first_turn + 2 * dim + (as_goal ? 0 : 1)) << (6 * axis);
}

constexpr Key key_of(AxisList const& axes, int dim, AxisList const& goal) {
  Key key = 0;
  for (int k = 0; k < axes.size; ++k)
    key |= axes.cyclic == 0 ? place_key(axes[k], dim, k)
                            : turn_key(axes[k], dim, axes.cyclic == goal.cyclic);
  return key;
}
constexpr Key key_of(Spec const& s, Spec const& goal) {
  Key key = 0;
  for (int d = 0; d < s.rank; ++d) key |= key_of(s.dims[d].axes, d, goal.dims[d].axes);
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
  if (now.cyclic != then.cyclic) return 0;
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
    if (then.cyclic != 0) {
      if (!(from.dims[d].axes == then))
        resize(Collective::none, d, largest_block(z.extents[from.dims[d].label], then, z.sizes), 1);
      continue;
    }
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

}  // namespace shardtype::planning::detail
