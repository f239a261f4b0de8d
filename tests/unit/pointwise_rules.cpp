// The accepted cases of the rules of elementwise operations and reductions are sound: random
// shardings, random partial values and extents on simulated ranks, compared with the dense meaning.
// Each rank may use only its local blocks.
// OPTIMIZE: 1
#include <algorithm>
#include <cstdint>
#include <vector>

#include <shardtype/core/block.hpp>
#include <shardtype/rules/elementwise.hpp>
#include <shardtype/rules/reduction.hpp>

#include "harness/catch.hpp"
#include "harness/draw.hpp"
#include "harness/partial_values.hpp"
#include "harness/simulate.hpp"

using namespace shardtype;
using namespace shardtype::planning;

namespace {

// Some of the labels 0..2 in any order; each axis splits a dim, is unreduced, reduced or unused.
Spec random_spec(Draw& draw, Spec const* like) {
  Spec s;
  if (like != nullptr && !draw.one_in(3)) {
    s = *like;  // similar to another one, so that many pairs are legal
    if (draw.one_in(4) && s.rank > 0) s.dims[draw.below(s.rank)].axes = {};
    if (draw.one_in(6)) s.unreduced = {};
    if (draw.one_in(6)) s.reduced = {};
    if (draw.one_in(8)) s.kind = static_cast<ReduceKind>(draw.below(3));
    if (draw.one_in(4) && s.rank > 1) --s.rank;
    return s;
  }
  int labels[] = {0, 1, 2};
  std::swap(labels[0], labels[draw.below(3)]);
  std::swap(labels[1], labels[1 + draw.below(2)]);
  int const rank = draw.below(4);
  for (int d = 0; d < rank; ++d) s.add(labels[d]);
  int axes[] = {0, 1, 2};
  std::swap(axes[0], axes[draw.below(3)]);
  std::swap(axes[1], axes[1 + draw.below(2)]);
  for (int x : axes) {
    int const where = draw.below(rank + 3);
    if (where < rank) {
      s.dims[where].axes.push(x);
    } else if (where == rank) {
      s.unreduced.insert(x);
    } else if (where == rank + 1 && draw.one_in(2)) {
      s.reduced.insert(x);
    }
  }
  s.kind = static_cast<ReduceKind>(draw.below(3));
  return s;
}

std::int64_t call(Linearity how, bool subtract, std::vector<std::int64_t> const& v) {
  switch (how) {
    case Linearity::none:
      return v[0] * v[0] + 3 * v[v.size() - 1] + v[0] * v[v.size() - 1];
    case Linearity::linear:
      return -v[0];
    case Linearity::additive:
      return subtract ? v[0] - v[1] : v[0] + v[1];
    case Linearity::scaling:
      return v[0] * v[1];
    case Linearity::dividing:
      return 0;
    case Linearity::maximum:
      return std::max(v[0], v[1]);
    case Linearity::minimum:
      return std::min(v[0], v[1]);
    case Linearity::choosing:
      return v[0] > 0 ? v[1] : v[2];
  }
  return 0;
}

struct Case {
  Linearity how;
  int operands;
  bool subtract;
};

Sizing random_sizing(Draw& draw) {
  Sizing z;
  for (int l = 0; l < 3; ++l) z.extents.at[l] = draw.one_in(9) ? 0 : 1 + draw.below(5);
  for (int x = 0; x < 3; ++x) z.sizes.at[x] = 1 + draw.below(3);
  return z;
}

// Whether the parts of all ranks of a result of sharding `s` reduce to `dense(at)`, and copies are
// equal.
template <class Local, class Dense>
bool arrives(Spec const& s, Sizing const& z, Local local, Dense dense) {
  std::int64_t const ranks = simulate::rank_count(z.sizes);
  for (std::int64_t k = 0; k < simulate::volume(s, z.extents); ++k) {
    Extents const at = simulate::indices(s, z.extents, k);
    for (std::int64_t r = 0; r < ranks; ++r) {
      Coords const c = simulate::coords_of(z.sizes, r);
      if (!simulate::holds(s, z, c, at)) continue;
      std::int64_t value = 0;
      bool first = true;
      for (Coords const& member : simulate::group(s.unreduced, z.sizes, c)) {
        std::int64_t const part = local(member, at);
        value = first ? part : simulate::joined(s.kind, value, part);
        first = false;
      }
      if (value != dense(at)) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("what the elementwise rules accept computes the dense function") {
  Case const cases[] = {{Linearity::none, 1, false},     {Linearity::none, 2, false},
                        {Linearity::linear, 1, false},   {Linearity::additive, 2, false},
                        {Linearity::additive, 2, true},  {Linearity::scaling, 2, false},
                        {Linearity::maximum, 2, false},  {Linearity::minimum, 2, false},
                        {Linearity::choosing, 3, false}, {Linearity::choosing, 3, true}};
  Draw draw(20261121);
  int accepted[10] = {};
  int unreduced[10] = {};
  int total = 0;
  while (total < 100000) {
    int const which = draw.below(10);
    Case const& t = cases[which];
    Operands in;
    Spec const first = random_spec(draw, nullptr);
    in.push(first);
    for (int k = 1; k < t.operands; ++k) in.push(random_spec(draw, &first));
    if (t.how == Linearity::choosing && t.subtract) {  // the last operand is a zero
      in.at[2] = Spec{};
      in.zero[2] = true;
    }
    if (t.how == Linearity::choosing && draw.one_in(2)) in.at[0].unreduced = {};
    Verdict const v = rules::elementwise(in, t.how);
    if (!v) continue;
    ++total;
    ++accepted[which];
    unreduced[which] += v.result.unreduced.empty() ? 0 : 1;
    REQUIRE(rules::axes_on(v.result, 0).size <= 3);
    Sizing const z = random_sizing(draw);
    bool local_only = true;
    auto const local = [&](Coords const& c, Extents const& at) {
      std::vector<std::int64_t> args;
      for (int k = 0; k < in.size; ++k) {
        local_only = local_only && simulate::holds(in.at[k], z, c, at);
        args.push_back(in.zero[k] ? 0 : simulate::partial_value(in.at[k], k, c, at));
      }
      return call(t.how, t.subtract, args);
    };
    auto const dense = [&](Extents const& at) {
      std::vector<std::int64_t> args;
      for (int k = 0; k < in.size; ++k)
        args.push_back(in.zero[k] ? 0 : simulate::whole_value(in.at[k], k, z.sizes, at));
      return call(t.how, t.subtract, args);
    };
    CAPTURE(which, total);
    REQUIRE(arrives(v.result, z, local, dense));
    REQUIRE(local_only);
  }
  // every case was accepted often, and with unreduced results where the rule allows them
  for (int k = 0; k < 10; ++k) {
    CAPTURE(k);
    CHECK(accepted[k] > 1000);
    CHECK((unreduced[k] > 50) == (k > 1));
  }
}

TEST_CASE("what the reduction rules accept computes the dense reduction") {
  Draw draw(7);
  int unreduced = 0;
  for (int total = 0; total < 30000;) {
    Spec const s = random_spec(draw, nullptr);
    Labels kept;
    for (int d = 0; d < s.rank; ++d)
      if (draw.one_in(2)) kept.push(s.dims[d].label);
    auto const how = static_cast<ReductionKind>(draw.below(6));
    Verdict const v = rules::reduction(s, kept, how);
    if (!v) continue;
    ++total;
    unreduced += v.result.unreduced.empty() ? 0 : 1;
    Sizing z = random_sizing(draw);
    for (int l = 0; l < 3; ++l) z.extents.at[l] = std::max<std::int64_t>(1, z.extents[l]);
    // "whole" represents any function of all terms: here the sum of squares, which no unreduced
    // kind represents
    auto const reduce = [&](Coords const* c, Extents const& at) {
      ReduceKind const kind = unreduced_kind(how);
      bool const sizes = how == ReductionKind::sum_of_sizes || how == ReductionKind::max_of_sizes;
      std::int64_t value = kind == ReduceKind::max ? -1000 : kind == ReduceKind::min ? 1000 : 0;
      for (std::int64_t k = 0; k < simulate::volume(s, z.extents); ++k) {
        Extents const from = simulate::indices(s, z.extents, k);
        bool mine = c == nullptr || simulate::holds(s, z, *c, from);
        for (int l = 0; l < kept.size; ++l) mine = mine && from[kept.at[l]] == at[kept.at[l]];
        if (!mine) continue;
        std::int64_t x = c != nullptr ? simulate::partial_value(s, 0, *c, from)
                                      : simulate::whole_value(s, 0, z.sizes, from);
        if (how == ReductionKind::whole) x *= x;
        if (sizes && x < 0) x = -x;
        value = kind == ReduceKind::max   ? std::max(value, x)
                : kind == ReduceKind::min ? std::min(value, x)
                                          : value + x;
      }
      return value;
    };
    CAPTURE(total, static_cast<int>(how));
    REQUIRE(arrives(
        v.result, z, [&](Coords const& c, Extents const& at) { return reduce(&c, at); },
        [&](Extents const& at) { return reduce(nullptr, at); }));
  }
  CHECK(unreduced > 1000);
}
