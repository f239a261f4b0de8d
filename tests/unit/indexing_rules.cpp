// The accepted cases of the rules of lookups, scatters and sorting are sound, and so are the local
// results before a named result: random shardings, random partial values, ids inside and outside of
// the table, on simulated ranks, compared with the dense meaning. Each rank may use only its local
// blocks.
// OPTIMIZE: 1
#include <algorithm>
#include <cstdint>
#include <vector>

#include <shardtype/core/block.hpp>
#include <shardtype/plan/indexing_plan.hpp>
#include <shardtype/rules/laws.hpp>

#include "harness/catch.hpp"
#include "harness/draw.hpp"
#include "harness/partial_values.hpp"
#include "harness/simulate.hpp"

using namespace shardtype;
using namespace shardtype::planning;

namespace {

// Between `least` and `most` of these labels, in any order; each axis splits a dim, is unreduced,
// reduced or unused.
Spec random_spec(Draw& draw, std::vector<int> labels, int least, int most) {
  for (std::size_t k = labels.size(); k > 1; --k)
    std::swap(labels[k - 1], labels[static_cast<std::size_t>(draw.below(static_cast<int>(k)))]);
  Spec s;
  int const rank = least + draw.below(most - least + 1);
  for (int d = 0; d < rank; ++d) s.add(labels[static_cast<std::size_t>(d)]);
  int axes[] = {0, 1, 2};
  std::swap(axes[0], axes[draw.below(3)]);
  std::swap(axes[1], axes[1 + draw.below(2)]);
  for (int x : axes) {
    int const where = draw.below(rank + 4);
    if (where < rank) {
      s.dims[where].axes.push(x);
    } else if (where == rank && draw.one_in(2)) {
      s.unreduced.insert(x);
    } else if (where == rank + 1 && draw.one_in(2)) {
      s.reduced.insert(x);
    }
  }
  s.kind = static_cast<ReduceKind>(draw.below(3));
  return s;
}

// An id from -1 to n, so that some ids are outside of the table.
std::int64_t id_at(Spec const& ids, std::int64_t n, Extents const& at) {
  return (simulate::partial_value(ids, 1, {}, at) + 7) * 5 % (n + 2) - 1;
}

Sizing random_sizing(Draw& draw) {
  Sizing z;
  for (int l = 0; l < 6; ++l) z.extents.at[l] = draw.one_in(12) ? 0 : 1 + draw.below(4);
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

// The labels: 0, 1, 2 of tables and updates, V = 5; 3 and 4 of ids.
constexpr int V = 5;

Extents with(Extents at, int label, std::int64_t place) {
  at.at[label] = place;
  return at;
}

// Whether a take of operands with these shardings gives a tensor of sharding `out`. If `unreduced`
// is max, the table is of bool and the values are 0 and 1.
bool take_is_sound(Spec const& table, Spec const& ids, Spec const& out, ReduceKind unreduced,
                   Sizing const& z) {
  std::int64_t const n = z.extents[V];
  bool const booleans = unreduced == ReduceKind::max;
  auto const bit = [&](std::int64_t v) { return booleans ? (v > 0 ? 1 : 0) : v; };
  bool local_only = true;
  auto const local = [&](Coords const& c, Extents const& at) -> std::int64_t {
    local_only = local_only && simulate::holds(ids, z, c, at);
    std::int64_t const id = id_at(ids, n, at);
    Range const mine = block_of(table, table.find(V), z, c);
    if (id < mine.begin || id >= mine.end) return 0;
    Extents const from = with(at, V, id);
    local_only = local_only && simulate::holds(table, z, c, from);
    return bit(simulate::partial_value(table, 0, c, from));
  };
  auto const dense = [&](Extents const& at) -> std::int64_t {
    std::int64_t const id = id_at(ids, n, at);
    if (id < 0 || id >= n) return 0;
    std::int64_t value = 0;
    bool first = true;
    for (Coords const& c : simulate::group(table.unreduced, z.sizes, {})) {
      std::int64_t const part = bit(simulate::partial_value(table, 0, c, with(at, V, id)));
      value = first ? part : simulate::joined(table.kind, value, part);
      first = false;
    }
    return value;
  };
  return arrives(out, z, local, dense) && local_only;
}

// The same for a scatter_add: each rank adds the pairs of an update and an id that are both local
// to its rows of `out`.
bool scatter_is_sound(Spec const& updates, Spec const& ids, Spec const& out, Sizing const& z) {
  std::int64_t const n = z.extents[V];
  bool local_only = true;
  auto const sum = [&](Coords const* c, Extents const& at) {
    std::int64_t total = 0;
    for (std::int64_t k = 0; k < simulate::volume(ids, z.extents); ++k) {
      Extents const place = simulate::indices(ids, z.extents, k);
      Extents from = at;
      for (int e = 0; e < ids.rank; ++e) {
        int const l = ids.dims[e].label;
        from.at[l] = place[l];
      }
      if (id_at(ids, n, place) != at[V]) continue;
      if (c == nullptr) {
        total += simulate::whole_value(updates, 0, z.sizes, from);
        continue;
      }
      bool both = simulate::holds(ids, z, *c, place);
      for (int e = 0; e < ids.rank; ++e) {
        int const d = updates.find(ids.dims[e].label);
        Range const r = block_of(updates, d, z, *c);
        std::int64_t const i = from[ids.dims[e].label];
        both = both && i >= r.begin && i < r.end;
      }
      if (!both) continue;
      local_only = local_only && simulate::holds(updates, z, *c, from);
      total += simulate::partial_value(updates, 0, *c, from);
    }
    return total;
  };
  return arrives(
             out, z, [&](Coords const& c, Extents const& at) { return sum(&c, at); },
             [&](Extents const& at) { return sum(nullptr, at); }) &&
         local_only;
}

// A random named sharding of the labels of `like`, unreduced over some of the unreduced axes of
// `like`.
Spec random_wanted(Draw& draw, Spec const& like) {
  std::vector<int> labels;
  for (int d = 0; d < like.rank; ++d) labels.push_back(like.dims[d].label);
  Spec s = random_spec(draw, labels, like.rank, like.rank);
  s.unreduced.bits &= like.unreduced.bits;
  s.kind = like.kind;
  return s;
}

Spec random_table(Draw& draw) {
  Spec s = random_spec(draw, {0, 1, V}, 1, 3);
  if (s.find(V) < 0) s.dims[draw.below(s.rank)].label = V;
  return s;
}

Spec random_ids(Draw& draw) {
  Spec s = random_spec(draw, {3, 4}, 0, 2);
  s.unreduced = {};
  return s;
}

}  // namespace

TEST_CASE("what the rule of take accepts computes the dense lookup") {
  Draw draw(20261122);
  int unreduced = 0;
  int split = 0;
  int refused = 0;
  for (int total = 0; total < 30000;) {
    Spec const table = random_table(draw);
    Spec const ids = random_ids(draw);
    ReduceKind const joins = draw.one_in(3) ? ReduceKind::max : ReduceKind::sum;
    Verdict const v = rules::take(table, ids, V, joins);
    refused += v ? 0 : 1;
    if (!v) continue;
    ++total;
    unreduced += v.result.unreduced.empty() ? 0 : 1;
    split += table.dims[table.find(V)].axes.size > 0 ? 1 : 0;
    CAPTURE(total);
    REQUIRE(take_is_sound(table, ids, v.result, joins, random_sizing(draw)));
    // exact: no axis in two states, and no axis of the operands is lost
    REQUIRE((v.result.unreduced.bits & v.result.reduced.bits) == 0);
    for (int x = 0; x < 3; ++x) {
      bool const lost = v.result.state(x) == AxisState::replicated;
      REQUIRE(lost == (table.state(x) == AxisState::replicated && ids.dim_of(x) < 0));
    }
  }
  CHECK(unreduced > 3000);
  CHECK(split > 3000);
  CHECK(refused > 3000);
}

TEST_CASE("what the rule of scatter_add accepts computes the dense sums") {
  Draw draw(3);
  int unreduced = 0;
  int sliced = 0;
  int refused = 0;
  for (int total = 0; total < 30000;) {
    Spec const updates = random_spec(draw, {0, 1, 3, 4}, 0, 4);
    Spec ids = random_spec(draw, {3, 4}, 0, 2);
    if (!draw.one_in(8)) ids.unreduced = {};
    if (draw.one_in(2))  // similar to the updates, so that many are legal
      for (int e = 0; e < ids.rank; ++e)
        if (int const d = updates.find(ids.dims[e].label); d >= 0)
          ids.dims[e].axes = draw.one_in(3) ? AxisList{} : updates.dims[d].axes;
    Verdict const v = rules::scatter_add(updates, ids, V);
    refused += v ? 0 : 1;
    if (!v) continue;
    ++total;
    unreduced += v.result.unreduced.empty() ? 0 : 1;
    for (int e = 0; e < ids.rank; ++e)
      if (!(ids.dims[e].axes == updates.dims[updates.find(ids.dims[e].label)].axes)) {
        ++sliced;
        break;
      }
    CAPTURE(total);
    REQUIRE(scatter_is_sound(updates, ids, v.result, random_sizing(draw)));
    REQUIRE((v.result.unreduced.bits & v.result.reduced.bits) == 0);
  }
  CHECK(unreduced > 3000);
  CHECK(sliced > 2000);
  CHECK(refused > 3000);
}

TEST_CASE("what the rules of one_hot and take_along accept computes the dense result") {
  Draw draw(4);
  int moved = 0;
  for (int total = 0; total < 30000;) {
    Sizing const z = random_sizing(draw);
    Spec const a = random_table(draw);
    Spec ids = a;
    int const at = a.find(V);
    int const into = draw.one_in(2) ? V : 2;
    ids.dims[at].label = static_cast<std::int8_t>(into);
    ids.reduced = {};
    if (!draw.one_in(9)) ids.unreduced = {};
    if (draw.one_in(2)) ids.dims[at].axes.push(draw.below(3));
    if (rules::repeated_axis(ids) >= 0) continue;
    if (draw.one_in(9)) ids.dims[draw.below(ids.rank)].axes = {};
    Verdict const v = rules::take_along(a, ids, V, into);
    if (!v) continue;
    ++total;
    moved += ids.dims[at].axes.size > 0 ? 1 : 0;
    // the ids' dim may have another extent than V
    Extents out_extents = z.extents;
    if (into == V) out_extents.at[V] = z.extents[2];
    std::int64_t const n = z.extents[V];
    bool local_only = true;
    Sizing out = z;
    out.extents = out_extents;
    auto const local = [&](Coords const& c, Extents const& where) -> std::int64_t {
      local_only = local_only && simulate::holds(ids, out, c, where);
      std::int64_t const id = id_at(ids, n, where);
      if (id < 0 || id >= n) return 0;
      Extents const from = with(where, V, id);
      local_only = local_only && simulate::holds(a, z, c, from);
      return simulate::partial_value(a, 0, c, from);
    };
    auto const dense = [&](Extents const& where) -> std::int64_t {
      std::int64_t const id = id_at(ids, n, where);
      return id < 0 || id >= n ? 0 : simulate::whole_value(a, 0, z.sizes, with(where, V, id));
    };
    CAPTURE(total);
    REQUIRE(arrives(v.result, out, local, dense));
    REQUIRE(local_only);
    Spec const labels = random_ids(draw);
    Verdict const hot = rules::one_hot(labels, V);
    REQUIRE(hot);
    auto const one = [&](Coords const&, Extents const& where) -> std::int64_t {
      return id_at(labels, n, where) == where[V] ? 1 : 0;
    };
    REQUIRE(arrives(hot.result, z, one, [&](Extents const& where) { return one({}, where); }));
  }
  CHECK(moved > 1000);
}

TEST_CASE("what the rule of sort accepts computes the dense order") {
  Draw draw(5);
  for (int total = 0; total < 30000;) {
    Spec const a = random_table(draw);
    rules::Question q{&a, 1, {}, {}, {}, {}};
    q.from.add(V);
    Verdict const v = rules::sorted(q, false);
    if (!v) continue;
    ++total;
    Sizing const z = random_sizing(draw);
    bool local_only = true;
    auto const place = [&](Coords const* c, Extents const& at) {
      std::vector<std::int64_t> row;
      for (std::int64_t k = 0; k < z.extents[V]; ++k) {
        Extents const from = with(at, V, k);
        if (c != nullptr) local_only = local_only && simulate::holds(a, z, *c, from);
        row.push_back(c != nullptr ? simulate::partial_value(a, 0, *c, from)
                                   : simulate::whole_value(a, 0, z.sizes, from));
      }
      std::sort(row.begin(), row.end());
      return row[static_cast<std::size_t>(at[V])];
    };
    CAPTURE(total);
    REQUIRE(arrives(
        v.result, z, [&](Coords const& c, Extents const& at) { return place(&c, at); },
        [&](Extents const& at) { return place(nullptr, at); }));
    REQUIRE(local_only);
  }
}

TEST_CASE(
    "the ways to named results: what ranks compute there is right, and reshards to the result") {
  Draw draw(6);
  int repaired = 0;
  int own_rows = 0;
  int gathered = 0;
  for (int total = 0; total < 30000;) {
    Sizing const z = random_sizing(draw);
    Spec const table = random_table(draw);
    Spec const ids = random_ids(draw);
    Verdict const strict = rules::take(table, ids, V, ReduceKind::sum);
    Spec like = strict.result;
    if (!strict) {
      like = {};
      for (int d = 0; d < table.rank; ++d)
        if (table.dims[d].label != V) like.add(table.dims[d].label);
      for (int e = 0; e < ids.rank; ++e) like.add(ids.dims[e].label);
    }
    Spec const wanted = random_wanted(draw, like);
    planning::LocalPlan const way = planning::take_plan(table, ids, wanted, V, ReduceKind::sum);
    CAPTURE(total);
    if (strict) REQUIRE(way.verdict);
    if (way.verdict) {
      ++total;
      repaired += strict ? 0 : 1;
      REQUIRE(rules::reshard(table, way.operands[0]));
      REQUIRE(rules::reshard(ids, way.operands[1]));
      REQUIRE(rules::repeated_axis(way.operands[0]) < 0);
      REQUIRE(rules::repeated_axis(way.operands[1]) < 0);
      REQUIRE(rules::repeated_axis(way.result) < 0);
      REQUIRE(take_is_sound(way.operands[0], way.operands[1], way.result, ReduceKind::sum, z));
    }

    Spec const updates = random_spec(draw, {0, 1, 3, 4}, 2, 4);
    Verdict const sums = rules::scatter_add(updates, ids, V);
    like = {};
    like.add(V);
    for (int d = 0; d < updates.rank; ++d)
      if (ids.find(updates.dims[d].label) < 0) like.add(updates.dims[d].label);
    if (sums && draw.one_in(2)) like.unreduced = sums.result.unreduced;
    Spec const into = random_wanted(draw, like);
    for (bool gathers : {false, true}) {
      planning::LocalPlan const by = planning::scatter_plan(updates, ids, into, V, gathers);
      if (sums && !gathers) REQUIRE(by.verdict);
      if (!by.verdict) continue;
      ++total;
      repaired += sums ? 0 : 1;
      own_rows += by.result.dims[by.result.find(V)].axes.size > 0 ? 1 : 0;
      gathered += gathers && !(by.operands[0] == updates) ? 1 : 0;
      REQUIRE(rules::reshard(updates, by.operands[0]));
      REQUIRE(rules::reshard(ids, by.operands[1]));
      REQUIRE(rules::repeated_axis(by.operands[0]) < 0);
      REQUIRE(rules::repeated_axis(by.operands[1]) < 0);
      REQUIRE(rules::repeated_axis(by.result) < 0);
      REQUIRE(scatter_is_sound(by.operands[0], by.operands[1], by.result, z));
    }
  }
  CHECK(repaired > 1000);
  CHECK(own_rows > 1000);
  CHECK(gathered > 1000);
}
