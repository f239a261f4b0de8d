#pragma once
/// Plans of named Fourier transforms: the dims of a value are transformed while they are whole, and
/// between two such stages mesh axes move from one dim to another. Nothing is gathered, unless the
/// named result is split less than the operand.

#include <cstdint>
#include <string_view>

#include <shardtype/fft/types_rules.hpp>
#include <shardtype/plan/named_plan.hpp>

namespace shardtype::planning {

/// A named transform, as values. The wanted sharding has the operand's labels: `renamed` is the one
/// that replaces the last label of `over` in the result, or -1.
struct FourierCall {
  FourierKind kind{};
  Spec given{};
  Labels over{};  ///< the transformed dims, the halved one last
  int renamed = -1;
  Spec wanted{};

  constexpr int last() const { return over.at[over.size - 1]; }
  /// `s` with the label of the result.
  constexpr Spec of_result(Spec s) const {
    if (int const d = s.find(last()); renamed >= 0 && d >= 0)
      s.dims[d].label = static_cast<std::int8_t>(renamed);
    return s;
  }
  /// `s`, a sharding of the result, with the operand's label.
  constexpr Spec of_operand(Spec s) const {
    if (int const d = renamed < 0 ? -1 : s.find(renamed); d >= 0)
      s.dims[d].label = static_cast<std::int8_t>(last());
    return s;
  }
};

/// The dims that are still to be transformed, as a set of positions in FourierCall::over.
struct FourierRest {
  std::uint32_t bits = 0;

  constexpr bool contains(int k) const { return ((bits >> k) & 1U) != 0; }
  constexpr bool empty() const { return bits == 0; }
  friend constexpr bool operator==(FourierRest, FourierRest) = default;
};
constexpr FourierRest all_of(FourierCall const& c) { return {(1U << c.over.size) - 1U}; }

/// The dims of `rest` that can be transformed now, in sharding `s`: those that no axis splits. The
/// halved dim of a real transform is in the first stage forward, and in the last one inverse.
constexpr FourierRest transformable(FourierCall const& c, FourierRest rest, Spec const& s) {
  auto const whole = [&](int k) {
    int d = s.find(c.over.at[k]);
    if (d < 0) d = s.find(c.renamed);
    return s.dims[d].axes.size == 0;
  };
  int const last = c.over.size - 1;
  FourierRest now;
  for (int k = 0; k <= last; ++k)
    if (rest.contains(k) && whole(k)) now.bits |= 1U << k;
  if (c.kind == FourierKind::real_to_complex && rest.contains(last) && !now.contains(last))
    return {};
  if (c.kind == FourierKind::complex_to_real && rest.bits != 1U << last) now.bits &= ~(1U << last);
  return now;
}

/// The mesh axis of a transformed dim that no other dim can take, -1 if there is none. A cyclic dim
/// takes no further axis.
constexpr int axis_without_place(FourierCall const& c) {
  for (int k = 0; k < c.over.size; ++k) {
    int const d = c.given.find(c.over.at[k]);
    if (c.given.dims[d].axes.size == 0) continue;
    bool place = false;
    for (int to = 0; to < c.given.rank; ++to)
      place = place || (to != d && c.given.dims[to].axes.cyclic == 0);
    if (!place) return c.given.dims[d].axes[0];
  }
  return -1;
}

/// The shardings through which the operand goes, in the operand's labels; the transforms run
/// whenever dims are `transformable`. The named result follows.
struct FourierStages {
  int size = 0;
  Spec at[max_dims + 1]{};
};

/// Finds the stages that move and compute the fewest elements on the busiest rank. A stage brings
/// one dim together by moving its axes to one other dim, or takes the sharding of the result.
class FourierSearch {
 public:
  constexpr FourierSearch(FourierCall const& c, Sizing const& z) : call_(c), sizing_(z) {
    FourierStages way;
    enter(way, start(), all_of(c), 0);
  }
  constexpr FourierStages const& best() const { return best_; }

 private:
  /// The operand, sliced like the result where that is free and no transformed dim is cut.
  constexpr Spec start() const {
    Spec batch;
    for (int d = 0; d < call_.wanted.rank; ++d)
      if (DimSpec const& dim = call_.wanted.dims[d]; !call_.over.contains(dim.label))
        batch.add(dim.label, dim.axes.cyclic == 0 ? dim.axes : AxisList{});
    return sliced_as(call_.given, batch);
  }
  constexpr std::int64_t elements(Spec const& s) const {
    return largest_elements(s, sizing_.extents, sizing_.sizes);
  }
  /// Elements held, and one for the latency, in each exchange between two dims; and those sent.
  constexpr std::int64_t moving(Spec const& from, Spec const& to) const {
    std::int64_t const held = elements(from);
    std::int64_t exchanges = 0;
    std::int64_t sent = 0;
    bool seen[max_axes]{};
    for (int x = 0; x < max_axes; ++x) {
      if (seen[x] || goes_to(x, from, to) == from.dim_of(x)) continue;
      // the axes that go the same way
      std::int64_t ranks = 1;
      for (int y = x; y < max_axes; ++y) {
        if (from.dim_of(y) != from.dim_of(x) || goes_to(y, from, to) != goes_to(x, from, to))
          continue;
        seen[y] = true;
        ranks = mul_sat(ranks, sizing_.sizes[y]);
      }
      ++exchanges;
      sent = add_sat(sent, held - held / ranks);
    }
    // an axis that goes must be the innermost one
    for (int d = 0; d < from.rank; ++d) {
      bool goes = false;
      bool permutes = false;
      for (int k = 0; k < from.dims[d].axes.size; ++k) {
        bool const stays = goes_to(from.dims[d].axes[k], from, to) == d;
        permutes = permutes || (goes && stays);
        goes = goes || !stays;
      }
      if (!permutes) continue;
      ++exchanges;
      sent = add_sat(sent, held);
    }
    if (exchanges == 0) exchanges = 1;
    return add_sat(sent, mul_sat(exchanges, add_sat(1, add_sat(held, elements(to)))));
  }
  /// The dim of `from` that axis `x` splits in `to`, -1: none.
  static constexpr int goes_to(int x, Spec const& from, Spec const& to) {
    int const d = to.dim_of(x);
    return d < 0 ? -1 : from.find(to.dims[d].label);
  }
  static constexpr bool same_splits(Spec const& s, Spec const& like) {
    for (int d = 0; d < s.rank; ++d)
      if (int const k = like.find(s.dims[d].label); k < 0 || !(like.dims[k].axes == s.dims[d].axes))
        return false;
    return true;
  }

  constexpr void enter(FourierStages way, Spec const& s, FourierRest rest, std::int64_t cost) {
    way.at[way.size++] = s;
    FourierRest const now = transformable(call_, rest, s);
    if (!now.empty()) {
      cost = add_sat(cost, elements(s));
      rest.bits &= ~now.bits;
    }
    if (cost >= least_) return;
    // a dim of a complex-to-real transform may become transformable by the others' transforms
    if (!now.empty() && !transformable(call_, rest, s).empty()) {
      --way.size;
      return enter(way, s, rest, cost);
    }
    if (rest.empty()) return arrive(way, s, cost);
    if (way.size > max_dims) return;
    for (int k = 0; k < call_.over.size; ++k) {
      if (!rest.contains(k)) continue;
      if (is_real(call_.kind) && !may_be_next(rest, k)) continue;
      int const d = s.find(call_.over.at[k]);
      if (s.dims[d].axes.size == 0) continue;
      if (int const w = call_.wanted.find(call_.over.at[k]);
          w >= 0 && call_.wanted.dims[w].axes.size == 0 && !has_cyclic(call_.wanted))
        visit(way, s, like_wanted(s), rest, cost);
      for (int to = 0; to < s.rank; ++to) {
        if (to == d || s.dims[to].axes.cyclic != 0) continue;
        Spec next = s;
        next.dims[to].axes = next.dims[to].axes.plus(next.dims[d].axes);
        next.dims[d].axes = {};
        visit(way, s, next, rest, cost);
      }
    }
  }
  constexpr void visit(FourierStages const& way, Spec const& s, Spec const& next, FourierRest rest,
                       std::int64_t cost) {
    if (!same_splits(s, next)) enter(way, next, rest, add_sat(cost, moving(s, next)));
  }
  constexpr void arrive(FourierStages const& way, Spec const& s, std::int64_t cost) {
    if (!same_splits(s, call_.wanted)) cost = add_sat(cost, moving(s, call_.wanted));
    if (cost >= least_) return;
    least_ = cost;
    best_ = way;
  }
  static constexpr bool has_cyclic(Spec const& s) {
    for (int d = 0; d < s.rank; ++d)
      if (s.dims[d].axes.cyclic != 0) return true;
    return false;
  }
  constexpr bool may_be_next(FourierRest rest, int k) const {
    int const last = call_.over.size - 1;
    if (!rest.contains(last)) return true;
    if (call_.kind == FourierKind::real_to_complex) return k == last;
    return k != last || rest.bits == 1U << last;
  }
  /// `s` with the splits of the result, its dims in the order of `s`.
  constexpr Spec like_wanted(Spec s) const {
    for (int d = 0; d < s.rank; ++d)
      s.dims[d].axes = call_.wanted.dims[call_.wanted.find(s.dims[d].label)].axes;
    for (int d = 0; d < s.rank; ++d)
      for (int k = 0; k < s.dims[d].axes.size; ++k) s.reduced.erase(s.dims[d].axes[k]);
    s.unreduced = call_.wanted.unreduced;
    return s;
  }
  FourierCall const& call_;
  Sizing const& sizing_;
  FourierStages best_;
  std::int64_t least_ = saturated;
};

/// About 5 n log2 n flops per row of n complex numbers, half of it for real ones.
constexpr std::int64_t fourier_flops(std::int64_t elements, std::int64_t n, bool real) {
  std::int64_t levels = 0;
  for (std::int64_t m = 1; m < n; m *= 2) ++levels;
  return mul_sat(mul_sat(elements, levels), 5) / (real ? 2 : 1);
}

/// Appends a local transform of the value in `slot`, which stays in its memory or gets new memory.
constexpr void append_transform(Plan& p, Slot slot, Spec const& s) {
  p.push(local_step(Move::finish, slot, s, s));
}

/// The plan of a named transform. The operand's slot has the operand's elements: a
/// complex-to-real transform computes there until its last dim, the others compute the result's
/// elements at once.
constexpr Plan fourier_plan(std::string_view name, FourierCall const& c, Spec const& wanted,
                            Sizing const& z, std::int64_t const* element_bytes,
                            Machine const& machine) {
  // a gather of small blocks may save a message; a transform gathers nothing
  Machine m = machine;
  m.latency = 1e-15;
  m.hops = 1;
  LabelValues const values(z, &c.given, 1, wanted, element_bytes);
  Plan p = plan_of_call(name, values.call);
  FourierSearch const search(c, z);
  FourierStages const& stages = search.best();
  FourierRest rest = all_of(c);
  Slot slot = Slot::a;
  Spec at = c.given;
  std::int64_t flops = 0;
  for (int k = 0; k < stages.size; ++k) {
    Spec const next = slot == Slot::a ? stages.at[k] : c.of_result(stages.at[k]);
    append_moves(p, slot, at, next, m);
    at = next;
    for (FourierRest now = transformable(c, rest, at); !now.empty();
         now = transformable(c, rest, at)) {
      for (int l = 0; l < c.over.size; ++l)
        if (now.contains(l))
          flops = add_sat(flops, fourier_flops(largest_elements(stages.at[k], z.extents, z.sizes),
                                               z.extents[c.over.at[l]], is_real(c.kind)));
      rest.bits &= ~now.bits;
      bool const computes =
          slot == Slot::a && (c.kind != FourierKind::complex_to_real || rest.empty());
      if (computes) {
        slot = Slot::result;
        at = c.of_result(at);
        append_compute(p, {});
        p.steps[p.size - 1].before = p.steps[p.size - 1].after = at;
      } else {
        append_transform(p, slot, at);
      }
    }
  }
  p.local_flops = flops;
  append_moves(p, Slot::result, at, wanted, m);
  return p;
}

}  // namespace shardtype::planning
