// Executes plans on simulated ranks from the definition of each step, independently of the
// executor. Every rank has its block as a list of global elements, and a step may use only the
// elements of the members of its group.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <shardtype/plan/contraction_plan.hpp>

#include "harness/step_law.hpp"

namespace simulate {

using namespace shardtype;
using namespace shardtype::planning;

using Int = std::int64_t;

// All axes of a scope, and every rank's coordinates along them.
inline AxisList all_axes() {
  AxisList all;
  for (int x = 0; x < max_axes; ++x) all.push(x);
  return all;
}
inline Int rank_count(Sizes const& sizes) { return sizes.product(all_axes()); }
inline Coords coords_of(Sizes const& sizes, Int rank) {
  return member(all_axes(), sizes, {}, rank);
}
inline Int rank_of(Sizes const& sizes, Coords const& at) {
  Int r = 0;
  for (int x = 0; x < max_axes; ++x) r = r * sizes[x] + at[x];
  return r;
}

// A value distributed over simulated ranks: dense per rank, in the order of the spec's dims;
// elements outside of the rank's block are std::nullopt.
struct Distributed {
  Spec spec{};
  std::vector<std::vector<std::optional<Int>>> held;
};

inline Int volume(Spec const& s, Extents const& e) {
  Int n = 1;
  for (int d = 0; d < s.rank; ++d) n *= e[s.dims[d].label];
  return n;
}

// Global index along each label for the k-th element in the order of the spec's dims.
inline Extents indices(Spec const& s, Extents const& e, Int k) {
  Extents at;
  for (int d = s.rank - 1; d >= 0; --d) {
    int const l = s.dims[d].label;
    at.at[l] = k % e[l];
    k /= e[l];
  }
  return at;
}
inline Int place(Spec const& s, Extents const& e, Extents const& at) {
  Int k = 0;
  for (int d = 0; d < s.rank; ++d) k = k * e[s.dims[d].label] + at[s.dims[d].label];
  return k;
}

inline bool holds(Spec const& s, Sizing const& z, Coords const& c, Extents const& at) {
  for (int d = 0; d < s.rank; ++d) {
    Int const i = at[s.dims[d].label];
    AxisList const& axes = s.dims[d].axes;
    if (axes.cyclic != 0) {
      if (i / axes.cyclic % z.sizes[axes[0]] != c[axes[0]]) return false;
      continue;
    }
    Range const r = block_of(s, d, z, c);
    if (i < r.begin || i >= r.end) return false;
  }
  return true;
}

// Calls use(k, at) for each element that a rank holds: its number in the order of the spec's dims,
// and its indices.
template <class Use>
void for_held(Spec const& s, Sizing const& z, Coords const& c, Use use) {
  for (Int k = 0, n = volume(s, z.extents); k < n; ++k)
    if (Extents const at = indices(s, z.extents, k); holds(s, z, c, at))
      use(static_cast<std::size_t>(k), at);
}

// A tensor of which each rank has value(its coordinates, its number, indices).
template <class F>
Distributed made(Spec const& s, Sizing const& z, F value) {
  Distributed out{s, {}};
  auto const n = static_cast<std::size_t>(volume(s, z.extents));
  for (Int r = 0; r < rank_count(z.sizes); ++r) {
    Coords const c = coords_of(z.sizes, r);
    auto& mine = out.held.emplace_back(n);
    for_held(s, z, c, [&](std::size_t k, Extents const& at) {
      mine[k] = value(c, static_cast<std::size_t>(r), at);
    });
  }
  return out;
}

// The axes over which the tensor is pending.
inline AxisList unreduced_axes(Spec const& s) {
  AxisList out;
  for (int x = 0; x < max_axes; ++x)
    if (s.unreduced.contains(x)) out.push(x);
  return out;
}
// The summand on a rank: fixed and irregular, so that the sum over the pending axes is `value`.
inline Int summand(Spec const& s, Sizes const& sizes, Coords const& c, Int value) {
  AxisList const unreduced = unreduced_axes(s);
  bool first = true;  // of the group: it has the rest
  for (int k = 0; k < unreduced.size; ++k) first = first && c[unreduced[k]] == 0;
  return first ? value - 3 * (sizes.product(unreduced) - 1) : 3;
}
// A tensor whose elements are value(indices).
template <class F>
Distributed distribute(Spec const& s, Sizing const& z, F value) {
  return made(s, z, [&](Coords const& c, std::size_t, Extents const& at) {
    return summand(s, z.sizes, c, value(at));
  });
}

inline Int joined(ReduceKind kind, Int a, Int b) {
  return kind == ReduceKind::sum   ? a + b
         : kind == ReduceKind::max ? std::max(a, b)
                                   : std::min(a, b);
}

// Applies the step; returns false if its collective cannot do it.
inline bool apply(Step const& s, Sizing const& z, Distributed& v) {
  if (!(v.spec == s.before)) return false;
  bool const reduces =
      s.collective() == Collective::all_reduce || s.collective() == Collective::reduce_scatter;
  bool sound = true;
  Distributed out = made(s.after, z, [&](Coords const& c, std::size_t r, Extents const& at) {
    auto const from = static_cast<std::size_t>(place(s.before, z.extents, at));
    std::optional<Int> got;
    if (!s.is_collective()) got = v.held[r][from];
    for (Int g = 0; s.is_collective() && g < z.sizes.product(s.axes); ++g) {
      auto const other = static_cast<std::size_t>(rank_of(z.sizes, member(s.axes, z.sizes, c, g)));
      auto const theirs = v.held[other][from];
      sound = sound && (theirs || !reduces);
      if (theirs) got = reduces && got ? joined(s.before.kind, *got, *theirs) : *theirs;
    }
    sound = sound && got;
    return got;
  });
  if (sound) v = std::move(out);
  return sound;
}

// Whether the tensor has the elements value(indices), after pending reductions.
template <class F>
bool equals(Distributed const& v, Sizing const& z, F value) {
  AxisList const unreduced = unreduced_axes(v.spec);
  bool same = true;
  for (Int r = 0; r < rank_count(z.sizes); ++r) {
    Coords const c = coords_of(z.sizes, r);
    for_held(v.spec, z, c, [&](std::size_t k, Extents const& at) {
      std::optional<Int> all;
      for (Int g = 0; g < z.sizes.product(unreduced); ++g) {
        auto const other =
            static_cast<std::size_t>(rank_of(z.sizes, member(unreduced, z.sizes, c, g)));
        auto const theirs = v.held[other][k];
        same = same && theirs;
        if (theirs) all = all ? joined(v.spec.kind, *all, *theirs) : *theirs;
      }
      same = same && all == value(at);
    });
  }
  return same;
}

// The local product on every rank.
inline Distributed product(Distributed const& a, Distributed const& b, Spec const& c,
                           Sizing const& z) {
  Spec summed;
  for (Spec const* s : {&a.spec, &b.spec})
    for (int d = 0; d < s->rank; ++d)
      if (int const l = s->dims[d].label; c.find(l) < 0 && summed.find(l) < 0) summed.add(l);
  auto const of = [&](Distributed const& v, std::size_t r, Extents const& at) {
    return v.held[r][static_cast<std::size_t>(place(v.spec, z.extents, at))];
  };
  return made(c, z, [&](Coords const&, std::size_t r, Extents const& at) {
    Int sum = 0;
    for (Int k = 0; k < volume(summed, z.extents); ++k) {
      Extents term = indices(summed, z.extents, k);
      for (int d = 0; d < c.rank; ++d) term.at[c.dims[d].label] = at[c.dims[d].label];
      auto const x = of(a, r, term);
      auto const y = of(b, r, term);
      if (x && y) sum += *x * *y;
    }
    return sum;
  });
}

// Every sharding of a tensor with `rank` dims (labels 0, 1, ...) over `axes` axes, in a fixed
// order; with unreduced axes if `unreduced`.
inline void all_specs(int axis, int axes, bool unreduced, Spec const& so_far,
                      std::vector<Spec>& out) {
  if (axis == axes) {
    out.push_back(so_far);
    return;
  }
  all_specs(axis + 1, axes, unreduced, so_far, out);
  if (unreduced) {
    Spec s = so_far;
    s.unreduced.insert(axis);
    all_specs(axis + 1, axes, unreduced, s, out);
  }
  for (int d = 0; d < so_far.rank; ++d)
    for (int at = 0; at <= so_far.dims[d].axes.size; ++at) {
      Spec s = so_far;
      AxisList list = s.dims[d].axes.prefix(at);
      list.push(axis);
      s.dims[d].axes = list.plus(so_far.dims[d].axes.suffix(at));
      all_specs(axis + 1, axes, unreduced, s, out);
    }
}
inline std::vector<Spec> all_specs(int rank, int axes, bool unreduced) {
  Spec none;
  for (int l = 0; l < rank; ++l) none.add(l);
  std::vector<Spec> out;
  all_specs(0, axes, unreduced, none, out);
  return out;
}

// The same and, for each block size of `turns`, the shardings in which a dim with one axis is
// block-cyclic.
inline std::vector<Spec> all_specs(int rank, int axes, bool unreduced,
                                   std::vector<std::int32_t> const& turns) {
  std::vector<Spec> out = all_specs(rank, axes, unreduced);
  for (int d = 0; d < rank; ++d)
    for (std::size_t k = 0, n = out.size(); k < n; ++k)
      if (out[k].dims[d].axes.size == 1)
        for (std::int32_t turn : turns) {
          out.push_back(out[k]);
          out.back().dims[d].axes.cyclic = turn;
        }
  return out;
}

inline AxisList only(int axis) {
  AxisList one;
  one.push(axis);
  return one;
}

// All single steps from a sharding, written independently of the planner: any set of axes may leave
// the end of a dim, join another dim, be reordered or reduced, if the definition of the step allows
// it. An axis that joins a dim alone may also split it block-cyclically, with each block size of
// `turns`.
inline std::vector<Step> steps_from(Spec const& s, int axes,
                                    std::vector<std::int32_t> const& turns = {}) {
  std::vector<Step> out;
  auto add = [&](Collective c, AxisList const& group, int from, int to, Spec const& after) {
    Step step;
    step.axes = group;
    step.from = static_cast<std::int8_t>(from);
    step.to = static_cast<std::int8_t>(to);
    step.before = s;
    step.after = after;
    step.move = moved_by(c, step);
    out.push_back(step);
  };
  // `group` after the axes of dim `d` of `after`
  auto join = [&](Collective c, AxisList const& group, int from, int d, Spec after) {
    AxisList& list = after.dims[d].axes;
    if (list.cyclic != 0) return;
    bool const alone = list.size == 0 && group.size == 1;
    list = list.plus(group);
    add(c, group, from, d, after);
    for (std::int32_t turn : turns) {
      list.cyclic = turn;
      if (alone) add(c, group, from, d, after);
    }
  };
  // ordered lists of unreduced axes
  std::vector<AxisList> unreduced{{}};
  for (std::size_t k = 0; k < unreduced.size(); ++k)
    for (int x = 0; x < axes; ++x)
      if (s.unreduced.contains(x) && !unreduced[k].contains(x)) {
        unreduced.push_back(unreduced[k]);
        unreduced.back().push(x);
      }
  for (AxisList const& group : unreduced) {
    if (group.size == 0) continue;
    Spec after = s;
    for (int k = 0; k < group.size; ++k) after.unreduced.erase(group[k]);
    add(Collective::all_reduce, group, -1, -1, after);
    for (int d = 0; d < s.rank; ++d) {
      join(Collective::reduce_scatter, group, -1, d, after);
    }
  }
  for (int d = 0; d < s.rank; ++d) {
    AxisList const& list = s.dims[d].axes;
    for (int x = 0; x < axes; ++x)
      if (s.state(x) == AxisState::replicated) join(Collective::none, only(x), -1, d, s);
    for (int keep = 0; keep < list.size; ++keep) {
      Spec after = s;
      after.dims[d].axes = list.prefix(keep);
      add(Collective::all_gather, list.suffix(keep), d, -1, after);
      for (int e = 0; e < s.rank; ++e)
        if (e != d) {
          join(Collective::all_to_all, list.suffix(keep), d, e, after);
        }
    }
    // to one axis, where the dim is block-cyclic before or after the step
    for (int x = 0; x < axes && list.size > 0; ++x) {
      if (s.state(x) != AxisState::replicated && !list.contains(x)) continue;
      Spec after = s;
      after.dims[d].axes = only(x);
      if (list.cyclic != 0) add(Collective::all_to_all, list.suffix(0), d, d, after);
      for (std::int32_t turn : turns) {
        after.dims[d].axes.cyclic = turn;
        if (!(after == s)) add(Collective::all_to_all, list.suffix(0), d, d, after);
      }
    }
    if (list.cyclic != 0) continue;
    std::vector<int> order;
    for (int k = 0; k < list.size; ++k) order.push_back(list[k]);
    std::sort(order.begin(), order.end());
    do {
      Spec after = s;
      after.dims[d].axes = {};
      for (int x : order) after.dims[d].axes.push(x);
      if (after == s) continue;
      int same = 0;
      while (after.dims[d].axes[same] == list[same]) ++same;
      add(Collective::permute, list.suffix(same), d, d, after);
    } while (std::next_permutation(order.begin(), order.end()));
  }
  return out;
}

}  // namespace simulate
