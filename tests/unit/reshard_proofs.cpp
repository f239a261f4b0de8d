// The reshard planner on three axes: every pair of shardings of tensors with up to three dims, all
// four states, axes of one dim in any order. Every plan consists of legal steps and ends in the
// destination, none costs more than the cheapest sequence of steps or than a plain gather, and no
// detour over a third sharding is cheaper.
// TIMEOUT: 300
// OPTIMIZE: 2
#include <cstdint>
#include <limits>
#include <vector>

#include <shardtype/types.hpp>

#include "harness/catch.hpp"
#include "harness/settings.hpp"
#include "harness/simulate.hpp"
#include "harness/step_law.hpp"

using namespace shardtype;
using namespace shardtype::planning;
using namespace settings;
using namespace simulate;

namespace {

constexpr int axes = 3;

std::vector<Setting> chosen() {
  Machine const cluster{};
  return {
      {"uneven and small: messages count", sizing(2, 3, 4, 5, 7, 6), cluster},
      {"large and even: bytes count", sizing(4, 2, 2, 4096, 1024, 512), cluster},
      {"uneven on a slow network", sizing(2, 3, 2, 130, 7, 31), slow_network()},
      {"an axis of one rank, a dim shorter than an axis", sizing(1, 8, 2, 64, 3, 1000), cluster}};
}

// The sharding as a number: 5 bits for each axis.
std::uint32_t code_of(Spec const& s) {
  std::uint32_t code = 0;
  for (int x = 0; x < axes; ++x) {
    int const d = s.dim_of(x);
    int const place = s.unreduced.contains(x) ? 1
                      : d < 0                 ? 0
                                              : 2 + d * max_axes + s.dims[d].axes.position(x);
    code |= static_cast<std::uint32_t>(place) << (5 * x);
  }
  return code;
}

// All shardings of one rank, and the sharding of each code.
struct Shardings {
  std::vector<Spec> all;
  std::vector<int> by_code = std::vector<int>(1U << (5 * axes), -1);

  explicit Shardings(int rank) : all(all_specs(rank, axes, true)) {
    for (std::size_t k = 0; k < all.size(); ++k) by_code[code_of(all[k])] = static_cast<int>(k);
  }
  std::size_t size() const { return all.size(); }
  int find(Spec const& s) const { return by_code[code_of(s)]; }
};

std::uint8_t in_use(Spec const& s) {
  std::uint8_t bits = s.unreduced.bits;
  for (int x = 0; x < axes; ++x)
    if (s.dim_of(x) >= 0) bits = static_cast<std::uint8_t>(bits | (1U << x));
  return bits;
}

// A single step from a sharding.
struct Edge {
  int to = 0;
  std::uint8_t uses = 0;
  Cost cost{};
};

std::int64_t element(Extents const& at) { return (at[0] * 7 + at[1] * 13 + at[2] * 5) % 23 - 11; }

Cost const never{std::numeric_limits<std::int64_t>::max() / 4, 0, 0, 0, 0};

// The cheapest costs from one sharding to all others, over all sequences of steps on the axes
// `usable`.
std::vector<Cost> best_from(std::size_t from, std::vector<std::vector<Edge>> const& edges,
                            std::uint8_t usable) {
  std::vector<Cost> best(edges.size(), never);
  best[from] = {};
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t k = 0; k < edges.size(); ++k) {
      if (best[k] == never) continue;
      for (Edge const& e : edges[k]) {
        if ((e.uses & ~usable) != 0) continue;
        Cost const cost = best[k] + e.cost;
        if (cost < best[static_cast<std::size_t>(e.to)]) {
          best[static_cast<std::size_t>(e.to)] = cost;
          changed = true;
        }
      }
    }
  }
  return best;
}

std::vector<std::vector<Edge>> all_edges(Shardings const& s, Sizing const& z, Machine const& m) {
  std::vector<std::vector<Edge>> edges(s.size());
  for (std::size_t k = 0; k < s.size(); ++k)
    for (Step const& step : steps_from(s.all[k], axes)) {
      int const to = s.find(step.after);
      REQUIRE(to >= 0);
      Edge e;
      e.to = to;
      for (int x = 0; x < step.axes.size; ++x)
        e.uses = static_cast<std::uint8_t>(e.uses | (1U << step.axes[x]));
      e.cost = step_cost(step, z, m);
      edges[k].push_back(e);
    }
  return edges;
}

// A plain reshard: reduces the axes that `to` has reduced, gathers those that leave their dim,
// slices for the new ones.
Cost plain_cost(Spec s, Spec const& to, Sizing const& z, Machine const& m) {
  Cost sum;
  auto pay = [&](Collective c, AxisList const& group, Spec const& after) {
    Step step;
    step.move = move_of(c);
    step.axes = group;
    step.before = s;
    step.after = after;
    sum = sum + step_cost(step, z, m);
    s = after;
  };
  AxisList unreduced;
  for (int x = 0; x < axes; ++x)
    if (s.unreduced.contains(x) && !to.unreduced.contains(x)) unreduced.push(x);
  if (unreduced.size > 0) {
    Spec after = s;
    for (int k = 0; k < unreduced.size; ++k) after.unreduced.erase(unreduced[k]);
    pay(Collective::all_reduce, unreduced, after);
  }
  for (int d = 0; d < s.rank; ++d) {
    AxisList const now = s.dims[d].axes;
    int stay = 0;
    while (stay < now.size && stay < to.dims[d].axes.size && now[stay] == to.dims[d].axes[stay])
      ++stay;
    if (stay == now.size) continue;
    Spec after = s;
    after.dims[d].axes = now.prefix(stay);
    pay(Collective::all_gather, now.suffix(stay), after);
  }
  for (int d = 0; d < s.rank; ++d)
    for (int k = s.dims[d].axes.size; k < to.dims[d].axes.size; ++k) {
      AxisList one;
      one.push(to.dims[d].axes[k]);
      Spec after = s;
      after.dims[d].axes.push(one[0]);
      pay(Collective::none, one, after);
    }
  return sum;
}

struct Tally {
  std::int64_t legal = 0, steps = 0, unlawful = 0, astray = 0, dearer = 0, above_plain = 0;
  std::int64_t triples = 0, own_triples = 0;
  std::int64_t detours = 0;           // plans may use all axes
  std::int64_t detours_that_pay = 0;  // by plans on the axes of their ends
  std::int64_t halved = 0;            // a detour over other axes costs less than half
  // pairs of all_reduce over one axis, and those whose cheapest plan is another
  std::int64_t all_reduces = 0, other_all_reduces = 0;
};

// Whether two plans have the same steps and sizes.
bool alike(Plan const& a, Plan const& b) {
  if (a.size != b.size || !(a.result == b.result) || !(a.sizing == b.sizing)) return false;
  for (int k = 0; k < a.size; ++k)
    if (!(a.steps[k] == b.steps[k])) return false;
  return true;
}

// Whether `to` is `from` after an all_reduce over one axis.
bool reduces_one(Spec from, Spec const& to) {
  for (int x = 0; x < axes; ++x) {
    if (!from.unreduced.contains(x) || to.unreduced.contains(x)) continue;
    from.unreduced.erase(x);
    return from == to;
  }
  return false;
}

// The cost of a plan, step by step. Counts the errors of the plan.
Cost follow(Plan const& plan, Spec const& from, Spec const& to, Setting const& setting, Tally& t) {
  Spec at = from;
  Cost sum;
  for (Step const& step : plan) {
    ++t.steps;
    if (!(step.before == at) || !obeys_law(step)) ++t.unlawful;
    at = step.after;
    sum = sum + step_cost(step, setting.z, setting.m);
  }
  if (!(at == to)) ++t.astray;
  return sum;
}

// Every pair of shardings of one rank, then every triple of them; symmetries are not exploited.
Tally check_all(int rank, Setting const& setting) {
  Sizing const& z = setting.z;
  Shardings const s(rank);
  std::vector<std::vector<Edge>> const edges = all_edges(s, z, setting.m);
  std::size_t const n = s.size();
  constexpr std::uint8_t every = (1U << axes) - 1;
  std::vector<Cost> own(n * n, never);  // by plans on the axes that either end uses
  std::vector<Cost> any(n * n, never);  // by plans on all axes of the mesh
  Tally t;
  for (std::size_t a = 0; a < n; ++a) {
    std::vector<std::vector<Cost>> best(1U << axes);  // by the usable axes
    best[every] = best_from(a, edges, every);
    for (std::size_t b = 0; b < n; ++b) {
      std::uint8_t const usable = static_cast<std::uint8_t>(in_use(s.all[a]) | in_use(s.all[b]));
      if (best[usable].empty()) best[usable] = best_from(a, edges, usable);
      bool const legal = bool(rules::reshard(s.all[a], s.all[b]));
      if (legal == (best[usable][b] == never))
        ++t.astray;  // the steps reach exactly the shardings
                     // that the rule allows
      if (!legal) continue;
      ++t.legal;
      Cost const cost = follow(planning::reshard_plan(s.all[a], s.all[b], z, setting.m), s.all[a],
                               s.all[b], setting, t);
      if (!(cost == best[usable][b])) ++t.dearer;
      if (reduces_one(s.all[a], s.all[b])) {
        ++t.all_reduces;
        if (!alike(planning::all_reduce_plan(s.all[a], s.all[b], z),
                   planning::reshard_plan(s.all[a], s.all[b], z, setting.m)))
          ++t.other_all_reduces;
      }
      if (plain_cost(s.all[a], s.all[b], z, setting.m) < cost) ++t.above_plain;
      own[a * n + b] = any[a * n + b] = cost;
      if (usable == every) continue;
      any[a * n + b] = follow(planning::reshard_plan(s.all[a], s.all[b], z, setting.m, {every}),
                              s.all[a], s.all[b], setting, t);
      if (!(any[a * n + b] == best[every][b])) ++t.dearer;
    }
  }
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t c = 0; c < n; ++c) {
      if (own[a * n + c] == never) continue;
      int const usable = in_use(s.all[a]) | in_use(s.all[c]);
      for (std::size_t b = 0; b < n; ++b) {
        if (own[a * n + b] == never || own[b * n + c] == never) continue;
        ++t.triples;
        if (any[a * n + b] + any[b * n + c] < any[a * n + c]) ++t.detours;
        Cost const detour = own[a * n + b] + own[b * n + c];
        if ((in_use(s.all[b]) & ~usable) == 0) {
          ++t.own_triples;
          if (detour < own[a * n + c]) ++t.detours_that_pay;
        } else if (2 * detour.picoseconds < own[a * n + c].picoseconds) {
          // plans by types alone use no axis that neither end uses: a detour over such axes may be
          // cheaper
          ++t.halved;
        }
      }
    }
  return t;
}

// `s` with each replicated axis of `which` reduced instead.
Spec with_reduced(Spec s, unsigned which) {
  for (int x = 0; x < axes; ++x)
    if (((which >> x) & 1U) != 0 && s.state(x) == AxisState::replicated) s.reduced.insert(x);
  return s;
}

void expect_none_wrong(Tally const& t) {
  CHECK(t.unlawful == 0);
  CHECK(t.astray == 0);
  CHECK(t.dearer == 0);
  CHECK(t.above_plain == 0);
  CHECK(t.all_reduces > 0);
  CHECK(t.detours == 0);
  CHECK(t.detours_that_pay == 0);
}

}  // namespace

TEST_CASE("on three axes every reshard arrives by legal steps at the least cost") {
  for (Setting const& setting : chosen())
    for (int rank = 0; rank <= 3; ++rank) {
      INFO(setting.name << ", rank " << rank);
      Tally const t = check_all(rank, setting);
      std::int64_t const pairs[] = {27, 777, 5139, 20313};
      std::int64_t const triples[] = {64, 13420, 259288, 2186092};
      std::int64_t const own_triples[] = {64, 11518, 235048, 2041078};
      CHECK(t.legal == pairs[rank]);
      CHECK(t.triples == triples[rank]);
      CHECK(t.own_triples == own_triples[rank]);
      expect_none_wrong(t);
      CHECK(t.halved == 0);
      // not on the drawn sizes: where a dim has fewer rows than ranks, other plans may cost less
      CHECK(t.other_all_reduces == 0);
    }
}

TEST_CASE("on drawn sizes and machines every reshard costs least") {
  // dims shorter than the ranks that split them among these: there a plan may gain by leaving such
  // a dim temporarily
  for (int rank = 1; rank <= 3; ++rank)
    for (Setting const& setting : drawn(static_cast<unsigned>(rank), rank < 3 ? 20 : 2)) {
      INFO(setting.name << ", rank " << rank);
      Tally const t = check_all(rank, setting);
      expect_none_wrong(t);
    }
}

TEST_CASE("each of the steps brings the value where the sharding says") {
  // a step from a correct value gives a correct value, so a plan of such steps does
  for (auto const& z : {sizing(2, 3, 2, 5, 7, 3), sizing(2, 2, 2, 4, 2, 1)})
    for (int rank = 1; rank <= 3; ++rank) {
      Shardings const s(rank);
      std::int64_t steps = 0;
      std::int64_t wrong = 0;
      for (Spec const& from : s.all)
        for (Step const& step : steps_from(from, axes)) {
          ++steps;
          Distributed v = distribute(from, z, element);
          if (!obeys_law(step) || !apply(step, z, v) || !equals(v, z, element)) ++wrong;
        }
      std::int64_t const expected[] = {0, 234, 792, 1974};
      CHECK(steps == expected[rank]);
      CHECK(wrong == 0);
    }
}

TEST_CASE("reduced is planned as replicated") {
  Setting const setting = chosen()[0];
  for (int rank = 0; rank <= 3; ++rank) {
    std::vector<Spec> specs;
    for (Spec const& s : all_specs(rank, axes, true))
      for (unsigned which = 0; which < (1U << axes); ++which) {
        Spec const r = with_reduced(s, which);
        if (which == r.reduced.bits) specs.push_back(r);
      }
    std::size_t const counts[] = {27, 78, 159, 276};
    CHECK(specs.size() == counts[rank]);
    std::int64_t differ = 0;
    for (Spec const& a : specs)
      for (Spec const& b : specs) {
        Spec const plain_a = planning::without_reduced(a);
        Spec const plain_b = planning::without_reduced(b);
        bool const legal = bool(rules::reshard(a, b));
        if (legal != bool(rules::reshard(plain_a, plain_b))) ++differ;
        if (!legal || (a == plain_a && b == plain_b)) continue;
        Plan const plan = planning::reshard_plan(a, b, setting.z, setting.m);
        Plan const other = planning::reshard_plan(plain_a, plain_b, setting.z, setting.m);
        bool same = plan.size == other.size && plan.result == b;
        for (int k = 0; same && k < plan.size; ++k) same = plan.steps[k] == other.steps[k];
        if (!same) ++differ;
      }
    CHECK(differ == 0);
  }
}

TEST_CASE("dims in another order cost one transpose") {
  Setting const setting = chosen()[0];
  Shardings const s(3);
  int const orders[5][3] = {{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  std::int64_t wrong = 0;
  std::uint32_t draw = 1;
  for (int k = 0; k < 5000;) {
    auto next = [&] { return (draw = draw * 1664525U + 1013904223U) >> 8; };
    Spec const a = s.all[next() % s.size()];
    Spec const b = s.all[next() % s.size()];
    auto const& order = orders[next() % 5];
    if (!rules::reshard(a, b)) continue;
    ++k;
    Spec to = b;
    for (int d = 0; d < 3; ++d) to.dims[d] = b.dims[order[d]];
    Plan const plan = planning::reshard_plan(a, to, setting.z, setting.m);
    Spec at = a;
    int transposes = 0;
    for (Step const& step : plan) {
      bool const turns = step.move == Move::transpose;
      transposes += turns ? 1 : 0;
      if (!(step.before == at) || (!turns && !obeys_law(step))) ++wrong;
      at = step.after;
    }
    if (!(at == to) || transposes != 1) ++wrong;
  }
  CHECK(wrong == 0);
}
