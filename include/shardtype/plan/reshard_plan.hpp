#pragma once
/// The exact planner for a change of sharding: a shortest path over layouts.
///
/// A layout says for each mesh axis whether it splits a dim (and at which place), is unreduced, or
/// neither. Edges are the single steps: slice, all_gather of the minor-most axes of a dim,
/// all_to_all of the minor-most axes to another dim, permute (another order on one dim), all_reduce
/// and reduce_scatter of several axes at once. All axes that source or destination mention move
/// together: planning axis by axis is measurably wrong. The same function runs in the compiler and,
/// for run-time sizes, at the first call of each shape.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <shardtype/plan/plan.hpp>

namespace shardtype::planning {

/// A layout as one number: 6 bits for each axis.
using Key = std::uint32_t;

constexpr Key key_of(Spec const& s, AxisSet axes) {
  Key key = 0;
  for (int d = 0; d < s.rank; ++d)
    for (int k = 0; k < s.dims[d].axes.size; ++k)
      key |= static_cast<Key>(2 + d * max_axes + k) << (6 * s.dims[d].axes[k]);
  for (int x = 0; x < max_axes; ++x)
    if (axes.contains(x) && s.unreduced.contains(x)) key |= Key{1} << (6 * x);
  return key;
}

/// How many major axes of dim `d` of `s` stand where the goal has them.
constexpr int settled(Spec const& s, Spec const& goal, int d) {
  AxisList const& now = s.dims[d].axes;
  AxisList const& then = goal.dims[d].axes;
  int n = 0;
  while (n < now.size && n < then.size && now[n] == then[n]) ++n;
  return n;
}

/// The least number of collectives from `s` to `goal`: one takes axes off one dim at most, and none of
/// those reduces.
constexpr int collectives_left(Spec const& s, Spec const& goal) {
  int n = (s.unreduced.bits & ~goal.unreduced.bits) != 0 ? 1 : 0;
  for (int d = 0; d < s.rank; ++d)
    if (s.dims[d].axes.size > 0 && settled(s, goal, d) < s.dims[d].axes.size) ++n;
  return n;
}

/// Calls `visit(Step)` for every single step from layout `s` on the way to `goal` that uses only
/// `axes` and splits only `dims`. Axes that stand where the goal has them, and all before them on
/// that dim too, stay: to move them away and back never pays (tests/unit/planner.cpp compares with
/// all steps).
template <class Visit>
class Neighbours {
 public:
  constexpr Neighbours(Spec const& s, Spec const& goal, AxisSet axes, std::uint32_t dims,
                       Visit& visit)
      : s_(s), goal_(goal), axes_(axes), dims_(dims), visit_(visit) {}

  constexpr void run() {
    for (int d = 0; d < s_.rank; ++d) {
      if (((dims_ >> d) & 1U) == 0) continue;
      slices(d);
      movers(d);
      orders(d, s_.dims[d].axes.prefix(settled(d)));
      scatters(d, AxisList{});
    }
    reductions();
  }

 private:
  constexpr Step step(Collective c, AxisList const& group, int from, int to) const {
    Step out;
    out.action = c == Collective::none ? Action::slice : Action::communicate;
    out.collective = c;
    out.axes = group;
    out.from = static_cast<std::int8_t>(from);
    out.to = static_cast<std::int8_t>(to);
    out.before = s_;
    out.after = s_;
    return out;
  }

  constexpr int settled(int d) const { return planning::settled(s_, goal_, d); }

  constexpr void slices(int d) {
    for (int x = 0; x < max_axes; ++x) {
      if (!axes_.contains(x) || s_.unreduced.contains(x) || s_.dim_of(x) >= 0) continue;
      AxisList group;
      group.push(x);
      Step out = step(Collective::none, group, -1, d);
      out.after.dims[d].axes.push(x);
      visit_(out);
    }
  }

  // all_gather and all_to_all of the k minor-most axes of dim d
  constexpr void movers(int d) {
    AxisList const& axes = s_.dims[d].axes;
    int const stay = settled(d);
    for (int k = axes.size - 1; k >= stay; --k) {
      AxisList const group = axes.suffix(k);
      Step gather = step(Collective::all_gather, group, d, -1);
      gather.after.dims[d].axes = axes.prefix(k);
      visit_(gather);
      for (int e = 0; e < s_.rank; ++e) {
        if (e == d || ((dims_ >> e) & 1U) == 0) continue;
        Step move = gather;
        move.collective = Collective::all_to_all;
        move.to = static_cast<std::int8_t>(e);
        move.after.dims[e].axes = s_.dims[e].axes.plus(group);
        visit_(move);
      }
    }
  }

  // every other order of the axes on dim d
  constexpr void orders(int d, AxisList const& chosen) {
    AxisList const& axes = s_.dims[d].axes;
    if (axes.size < 2) return;
    if (chosen.size == axes.size) {
      int same = 0;
      while (same < axes.size && chosen[same] == axes[same]) ++same;
      if (same == axes.size) return;
      Step out = step(Collective::permute, axes.suffix(same), d, d);
      out.after.dims[d].axes = chosen;
      visit_(out);
      return;
    }
    for (int k = 0; k < axes.size; ++k) {
      if (chosen.contains(axes[k])) continue;
      AxisList longer = chosen;
      longer.push(axes[k]);
      orders(d, longer);
    }
  }

  constexpr bool reducible(int x) const {
    return axes_.contains(x) && s_.unreduced.contains(x) && !goal_.unreduced.contains(x);
  }

  // reduce_scatter of every ordered list of unreduced axes onto dim d
  constexpr void scatters(int d, AxisList const& chosen) {
    if (chosen.size > 0) {
      Step out = step(Collective::reduce_scatter, chosen, -1, d);
      out.after.dims[d].axes = s_.dims[d].axes.plus(chosen);
      for (int k = 0; k < chosen.size; ++k) out.after.unreduced.erase(chosen[k]);
      if (out.after.unreduced.empty()) out.after.kind = ReduceKind::sum;
      visit_(out);
    }
    for (int x = 0; x < max_axes; ++x) {
      if (!reducible(x) || chosen.contains(x)) continue;
      AxisList longer = chosen;
      longer.push(x);
      scatters(d, longer);
    }
  }

  constexpr void reductions() {
    if (s_.unreduced.empty()) return;
    for (unsigned subset = 1; subset < (1U << max_axes); ++subset) {
      AxisList group;
      bool fits = true;
      for (int x = 0; x < max_axes; ++x) {
        if (((subset >> x) & 1U) == 0) continue;
        fits = fits && reducible(x);
        group.push(x);
      }
      if (!fits) continue;
      Step out = step(Collective::all_reduce, group, -1, -1);
      for (int k = 0; k < group.size; ++k) out.after.unreduced.erase(group[k]);
      if (out.after.unreduced.empty()) out.after.kind = ReduceKind::sum;
      visit_(out);
    }
  }

  Spec const& s_;
  Spec const& goal_;
  AxisSet axes_;
  std::uint32_t dims_;
  Visit& visit_;
};

/// Dims worth splitting on the way: those that either end splits; all of a small tensor.
constexpr std::uint32_t useful_dims(Spec const& from, Spec const& to) {
  std::uint32_t dims = 0;
  for (int d = 0; d < from.rank; ++d)
    if (from.rank <= 3 || from.dims[d].axes.size > 0 || to.dims[d].axes.size > 0) dims |= 1U << d;
  return dims;
}

/// A path of steps and its cost; `size` is -1 when there is none.
struct Path {
  int size = -1;
  Step steps[max_steps / 2]{};
  Cost cost{};
};

namespace detail {

struct Node {
  Key key = 0;
  Cost cost{};
  Cost estimate{};  ///< with the least that is still to come
  int parent = -1;
  bool done = false;
  Step step{};
};

/// A growing list of nodes with a hash index, usable in the compiler.
class Nodes {
 public:
  constexpr Nodes() : nodes_(16), index_(64, -1) {}

  constexpr int size() const { return size_; }
  constexpr Node& operator[](int k) { return nodes_[static_cast<std::size_t>(k)]; }

  /// The node of this layout, or -1.
  constexpr int find(Key key) const {
    for (std::size_t b = bucket(key);; b = (b + 1) % index_.size()) {
      int const k = index_[b];
      if (k < 0 || nodes_[static_cast<std::size_t>(k)].key == key) return k;
    }
  }
  constexpr int add(Node const& n) {
    auto const room = static_cast<std::size_t>(size_);
    if (room == nodes_.size()) grow();
    nodes_[room] = n;
    place(size_);
    return size_++;
  }

 private:
  constexpr std::size_t bucket(Key key) const { return (key * 2654435761U >> 7) % index_.size(); }
  constexpr void place(int k) {
    std::size_t b = bucket(nodes_[static_cast<std::size_t>(k)].key);
    while (index_[b] >= 0) b = (b + 1) % index_.size();
    index_[b] = k;
  }
  constexpr void grow() {
    nodes_.resize(2 * nodes_.size());
    index_.assign(4 * nodes_.size(), -1);
    for (int k = 0; k < size_; ++k) place(k);
  }

  std::vector<Node> nodes_;
  std::vector<int> index_;
  int size_ = 0;
};

/// Lengths of a layout's largest blocks; a step changes two of them at most.
struct Lengths {
  int rank = 0;
  std::int64_t at[max_dims]{};

  constexpr Lengths(Spec const& s, Sizing const& z) : rank(s.rank) {
    for (int d = 0; d < rank; ++d)
      at[d] = largest_block(z.extents[s.dims[d].label], s.dims[d].axes, z.sizes);
  }
  constexpr std::int64_t bytes(Sizing const& z) const {
    std::int64_t n = z.element_bytes;
    for (int d = 0; d < rank; ++d) n *= at[d];
    return n;
  }
  constexpr std::int64_t bytes_after(Step const& s, Sizing const& z) const {
    std::int64_t n = z.element_bytes;
    for (int d = 0; d < rank; ++d)
      n *= d == s.from || d == s.to
               ? largest_block(z.extents[s.after.dims[d].label], s.after.dims[d].axes, z.sizes)
               : at[d];
    return n;
  }
};

/// Replicated and reduced are the same bytes; the search does not tell them apart.
constexpr Spec without_reduced(Spec s) {
  s.reduced = {};
  return s;
}

}  // namespace detail

/// The cheapest path from `from` to `to`, which have the same labels in the same order. Exact over
/// the axes that either splits or owes: no sequence of steps over these is cheaper, and so no detour
/// over a third sharding on them. The search is A*: collectives still to come count with their
/// latency.
constexpr Path shortest_path(Spec const& from_spec, Spec const& to_spec, Sizing const& z,
                             Machine const& m) {
  Spec const from = detail::without_reduced(from_spec);
  Spec const to = detail::without_reduced(to_spec);
  Path path;
  AxisSet axes{static_cast<std::uint8_t>(from.mentioned().bits | to.mentioned().bits)};
  Key const goal = key_of(to, axes);
  if (key_of(from, axes) == goal) {
    path.size = 0;
    return path;
  }
  std::uint32_t const dims = useful_dims(from, to);
  detail::Nodes nodes;
  // the latency of one collective at least: over two ranks, or one where an axis has no more
  std::int64_t least = 2;
  for (int x = 0; x < max_axes; ++x)
    if (axes.contains(x) && z.sizes[x] < 2) least = 1;
  least = picoseconds(static_cast<double>(least), 1.0 / m.latency);
  nodes.add({key_of(from, axes), {}, {}, -1, false, {}});
  nodes[0].step.after = from;
  int reached = -1;
  for (;;) {
    int best = -1;
    for (int k = 0; k < nodes.size(); ++k)
      if (!nodes[k].done && (best < 0 || nodes[k].estimate < nodes[best].estimate)) best = k;
    if (best < 0) return path;
    nodes[best].done = true;
    if (nodes[best].key == goal) {
      reached = best;
      break;
    }
    Cost const so_far = nodes[best].cost;
    Spec const here = nodes[best].step.after;
    detail::Lengths const lengths(here, z);
    std::int64_t const before = lengths.bytes(z);
    auto visit = [&](Step const& s) {
      Cost const cost = so_far + step_cost(s.collective, before, lengths.bytes_after(s, z),
                                           z.sizes.product(s.axes), m);
      Cost estimate = cost;
      estimate.picoseconds += least * collectives_left(s.after, to);
      int const aim = nodes.find(goal);
      if (aim >= 0 && !(estimate < nodes[aim].cost)) return;
      Key const key = key_of(s.after, axes);
      int const k = nodes.find(key);
      if (k < 0) {
        nodes.add({key, cost, estimate, best, false, s});
      } else if (!nodes[k].done && cost < nodes[k].cost) {
        nodes[k] = {key, cost, estimate, best, false, s};
      }
    };
    Neighbours<decltype(visit)>(here, to, axes, dims, visit).run();
  }
  path.cost = nodes[reached].cost;
  path.size = 0;
  for (int k = reached; nodes[k].parent >= 0; k = nodes[k].parent) ++path.size;
  for (int k = reached, place = path.size; nodes[k].parent >= 0; k = nodes[k].parent)
    path.steps[--place] = nodes[k].step;
  return path;
}

/// `s` with its dims in the order of `like`, which has the same labels.
constexpr Spec in_order_of(Spec const& s, Spec const& like) {
  Spec out = s;
  for (int d = 0; d < like.rank; ++d) out.dims[d] = s.dims[s.find(like.dims[d].label)];
  return out;
}

constexpr bool same_order(Spec const& a, Spec const& b) {
  for (int d = 0; d < a.rank; ++d)
    if (a.dims[d].label != b.dims[d].label) return false;
  return true;
}

/// Appends to `plan` the steps that take the value in `slot` from `from_spec` to `to_spec`; a
/// transpose of the local block, where the dims' order changes, runs where the block is smaller.
/// The steps call reduced axes replicated.
constexpr void append_reshard(Plan& plan, Slot slot, Spec const& from_spec, Spec const& to_spec,
                              Machine const& m = {}) {
  Spec from = detail::without_reduced(from_spec);
  Spec const to = detail::without_reduced(to_spec);
  Sizing const& z = plan.sizing;
  auto transpose = [&](Spec const& before, Spec const& like) {
    Step s;
    s.action = Action::transpose;
    s.slot = slot;
    s.before = before;
    s.after = in_order_of(before, like);
    plan.push(s);
    return s.after;
  };
  bool const reorder = !same_order(from, to);
  bool const first =
      largest_elements(from, z.extents, z.sizes) <= largest_elements(to, z.extents, z.sizes);
  if (reorder && first) from = transpose(from, to);
  Spec const target = in_order_of(to, from);
  Path const path = shortest_path(from, target, z, m);
  for (int k = 0; k < path.size; ++k) {
    Step s = path.steps[k];
    s.slot = slot;
    plan.push(s);
  }
  if (reorder && !first) transpose(target, to);
}

/// The plan of `reshard<to>(from)`.
constexpr Plan reshard_plan(Spec const& from, Spec const& to, Sizing const& z,
                            Machine const& m = {}) {
  Plan plan;
  plan.sizing = z;
  plan.operands[0] = from;
  plan.operand_count = 1;
  plan.result = to;
  append_reshard(plan, Slot::a, from, to, m);
  return plan;
}

}  // namespace shardtype::planning
