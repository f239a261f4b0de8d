// The joint choice of the homes of shared values: on drawn programs its cost is that of the best
// homes of a brute force, and its bound, recomputed here from the messages, is never above it.
// OPTIMIZE: 1
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

#include <shardtype/plan/program_builder.hpp>
#include <shardtype/plan/program_planner.hpp>

#ifndef SHARDTYPE_PROGRAMS  // joint_plans_all.cpp draws more
#define SHARDTYPE_PROGRAMS 60
#endif

#include "harness/catch.hpp"
#include "harness/draw.hpp"
#include "harness/simulate.hpp"

using namespace shardtype;
using namespace shardtype::planning;
using namespace simulate;

namespace {

using Wide = std::int64_t;
constexpr Wide none = std::numeric_limits<Wide>::max() / 4;

Wide add(Wide a, Wide b) { return a >= none || b >= none ? none : a + b; }
Wide known(Wide c) { return c >= (Wide{1} << 58) ? none : c; }

// The bound that messages prove: each variable pays its least cost, each edge its least rest, after
// each variable has given equal parts of its costs to the edges before it.
Wide bound_of(CostNetwork const& g, MessagePassing const& m) {
  struct Of {
    Wide low = none;
    std::vector<std::vector<Wide>> party;
  };
  std::vector<Of> of;
  for (auto const& v : g.variables) {
    Of mine;
    std::size_t const parties = v.is_home ? 1 : static_cast<std::size_t>(v.strategies.parties);
    mine.party.assign(parties, std::vector<Wide>(4096, none));
    std::size_t const states = v.is_home ? v.unary.size() : v.strategies.time.size();
    for (std::size_t s = 0; s < states; ++s) {
      auto at = [&](std::size_t party) {
        return v.is_home ? s : static_cast<std::size_t>(v.strategies.layouts[s * parties + party]);
      };
      Wide c = known(v.is_home ? v.unary[s] : v.strategies.time[s]);
      for (int const e : v.in) {
        auto const k = static_cast<std::size_t>(e);
        c = add(
            c,
            known(m.to_second[k][at(v.is_home ? 0 : static_cast<std::size_t>(g.edges[k].party))]));
      }
      for (int const e : v.out) c = add(c, known(m.to_first[static_cast<std::size_t>(e)][at(0)]));
      mine.low = std::min(mine.low, c);
      for (std::size_t p = 0; p < parties; ++p)
        mine.party[p][at(p)] = std::min(mine.party[p][at(p)], c);
    }
    of.push_back(mine);
  }
  Wide sum = 0;
  for (Of const& o : of) sum = add(sum, o.low);
  for (std::size_t k = 0; k < g.edges.size(); ++k) {
    auto const& e = g.edges[k];
    auto const& v = g.variables[static_cast<std::size_t>(e.to)];
    Of const& later = of[static_cast<std::size_t>(e.to)];
    auto const n = static_cast<Wide>(std::max<std::size_t>(1, std::max(v.in.size(), v.out.size())));
    Wide least = none;
    for (int a = 0; a < e.layouts; ++a)
      for (int b = 0; b < e.layouts; ++b) {
        Wide const there = later.party[v.is_home ? 0 : static_cast<std::size_t>(e.party)]
                                      [static_cast<std::size_t>(b)];
        Wide const away = known(m.to_first[k][static_cast<std::size_t>(a)]);
        Wide const move = known(g.moves[static_cast<std::size_t>(e.moves)]
                                       [static_cast<std::size_t>(a * e.layouts + b)]);
        if (there >= none || away >= none || move >= none) continue;
        least = std::min(least, move - away - m.to_second[k][static_cast<std::size_t>(b)] +
                                    (there - later.low) / n);
      }
    sum = add(sum, least);
  }
  return sum >= none ? 0 : sum;
}

// Two shared values, the second computed from the first.
struct Drawn {
  ProgramBuilder b;
  Machine machine{};
  std::vector<int> shared;
  bool chains = false;  // of more than two factors
};
Drawn drawn(unsigned seed) {
  Draw draw(seed);
  Drawn d;
  ProgramBuilder& b = d.b;
  b.program.axes = 2;
  b.program.sizes = draw.one_in(2) ? Sizes{{2, 4, 1, 1}} : Sizes{{2, 2, 1, 1}};
  if (draw.one_in(2)) d.machine.bytes_per_second = 1e9;
  if (draw.one_in(2)) d.machine.latency = 1e-9;
  auto label = [&] {
    std::int64_t const some[] = {3, 24, 100, 1000, 5000};
    return b.label(some[draw.below(5)]);
  };
  auto of = [](int i, int j) {
    ProgramLabels l;
    l.push(i);
    l.push(j);
    return l;
  };
  auto const specs = all_specs(2, 2, false);
  auto given = [&](int i, int j) {
    return b.given(of(i, j),
                   specs[static_cast<std::size_t>(draw.below(static_cast<int>(specs.size())))], 4,
                   1);
  };
  auto product = [&](int x, int y, ProgramLabels const& l) {
    int const both[] = {x, y};
    return b.product(both, 2, l);
  };
  UnreducedSets each[2];
  each[0].add(1);
  each[1].add(2);
  auto map = [&](int x, int y, ProgramLabels const& l) {
    int const both[] = {x, y};
    return b.map(both, 2, l,
                 unreduced_sets(draw.one_in(2) ? Linearity::additive : Linearity::scaling, each, 2),
                 4, 1);
  };
  int const i = label();
  int const j = label();
  int const k = label();
  int const l = label();
  int const h = product(given(i, j), given(j, k), of(i, k));
  b.share(h);
  b.share(h);
  int const u = map(product(h, given(k, l), of(i, l)), given(i, l), of(i, l));
  b.share(u);
  b.share(u);
  // chains of three and of four factors, one of which is computed
  int const m = label();
  auto chain = [&](std::vector<int> const& factors, ProgramLabels const& to) {
    d.chains = true;
    return b.product(factors.data(), static_cast<int>(factors.size()), to);
  };
  int const again =
      draw.one_in(2)  // sum over l
          ? product(given(k, l), u, of(k, i))
          : chain({given(k, m), map(given(m, l), given(m, l), of(m, l)), u}, of(k, i));
  int const mixed = draw.one_in(2) ? map(again, h, of(i, k)) : product(again, h, of(k, i));
  int const root =
      draw.one_in(2)
          ? product(u, given(k, l), of(i, k))
          : chain({u, given(l, m), product(given(m, j), given(j, i), of(m, i)), given(i, k)},
                  of(i, k));
  int const last = map(root, mixed, of(i, k));
  d.shared = {h, u};
  b.finish(last, of(i, k),
           specs[static_cast<std::size_t>(draw.below(static_cast<int>(specs.size())))]);
  return d;
}

}  // namespace

TEST_CASE("shared values get their homes together") {
  constexpr unsigned programs = SHARDTYPE_PROGRAMS;
  int open = 0;
  int open_chains = 0;
  int missed = 0;
  int still_open = 0;
  int stopped = 0;
  for (unsigned seed = 0; seed < programs; ++seed) {
    INFO("seed " << seed);
    Drawn const d = drawn(seed);
    RecordedProgram const& p = d.b.program;
    Identity const no_axes[max_axes]{};
    Rates const rates(d.machine, p.sizes, no_axes, p.axes, -1);
    auto const graphs = [&](int rank) -> LayoutGraph const& {
      return Graphs::all().get(rank, p.axes);
    };
    CostNetwork const g = cost_network(p, NetworkParts(p, rates, graphs));
    REQUIRE(g.usable);
    MessagePassing m(g);
    m.run(60);
    ProgramPlanner planner(p, rates);
    std::vector<int> homes(static_cast<std::size_t>(p.size));
    int const layouts = Graphs::all().get(2, p.axes).layouts;
    Wide best = none;
    for (int a = 0; a < layouts; ++a)
      for (int b = 0; b < layouts; ++b) {
        homes[static_cast<std::size_t>(d.shared[0])] = a;
        homes[static_cast<std::size_t>(d.shared[1])] = b;
        if (Wide const t = planner.searched(homes.data()); t >= 0) best = std::min(best, t);
      }
    Wide const bound = bound_of(g, m);
    CHECK(m.certificate() == bound);
    CHECK(bound <= best * g.scale);
    CHECK(m.best >= best * g.scale);
    if (m.best - m.bound < g.scale)
      CHECK(m.best == best * g.scale);
    else
      ++(d.chains ? open_chains : open);
    if (m.best != best * g.scale) ++missed;
    // cases close what messages leave open, with the same homes as the brute force
    MessagePassing closed(m);
    if (!closed.closed()) CaseSearch(g, 50'000).run(closed);
    CHECK(closed.bound <= best * g.scale);
    CHECK(closed.best >= best * g.scale);
    if (closed.closed())
      CHECK(closed.best == best * g.scale);
    else
      ++still_open;
    for (int const k : d.shared)
      homes[static_cast<std::size_t>(k)] = closed.homes[static_cast<std::size_t>(g.home(k))];
    CHECK(planner.searched(homes.data()) * g.scale == closed.best);
    // the cost of the network is that of the search, but for operands that messages left in a home
    // that is not the best
    for (int const s : d.shared)
      homes[static_cast<std::size_t>(s)] = m.homes[static_cast<std::size_t>(g.home(s))];
    CHECK(planner.searched(homes.data()) * g.scale <= m.best);
    if (m.closed()) CHECK(planner.searched(homes.data()) * g.scale == m.best);
    // any damage keeps the bound sound
    Draw draw(seed + 999);
    for (int k = 0; k < 20; ++k) {
      auto const e = static_cast<std::size_t>(draw.below(static_cast<int>(g.edges.size())));
      auto& message = draw.one_in(2) ? m.to_first[e] : m.to_second[e];
      Wide& c = message[static_cast<std::size_t>(draw.below(static_cast<int>(message.size())))];
      if (c < none && known(c) < none) c += (draw.below(2001) - 1000) * (best / 100);
      CHECK(bound_of(g, m) <= best * g.scale);
      CHECK(m.certificate() <= best * g.scale);
    }
    ProgramPlan const plan = plan_program(p, rates);
    CHECK(plan.picoseconds(rates) <= ProgramPlanner(p, rates).guess().picoseconds(rates));
    // a plan says its bound and its gap, which the best homes of a brute force do not contradict
    REQUIRE(plan.gap());
    if (*plan.gap() > 1e-9) ++stopped;
    CHECK(plan.least <= best);
    CHECK(*plan.gap() >= 0);
    CHECK(static_cast<double>(plan.picoseconds(rates)) * (1 - *plan.gap()) <=
          static_cast<double>(plan.least) * (1 + 1e-12));
    // a limit that the best plan keeps to is none; with less room there is none, or one that does
    Rates limited = rates;
    limited.memory_limit = plan.temporary_bytes();
    ProgramPlan const same = plan_program(p, limited);
    CHECK(same.picoseconds(rates) == plan.picoseconds(rates));
    CHECK(same.least == plan.least);
    --limited.memory_limit;
    ProgramPlan const smaller = plan_program(p, limited);
    if (!smaller.possible) continue;
    CHECK(smaller.temporary_bytes() <= limited.memory_limit);
    CHECK(smaller.least == plan.least);
    CHECK(static_cast<double>(smaller.picoseconds(rates)) * (1 - *smaller.gap()) <=
          static_cast<double>(smaller.least) * (1 + 1e-12));
  }
  // chains leave gaps: in the bound, one half of a value may be computed in each of two ways
  std::printf(
      "homes together: %d and, with chains, %d of %u programs with a gap, %d not the best; cases "
      "close all but %d, planned with a gap %d\n",
      open, open_chains, programs, missed, still_open, stopped);
  CHECK(open == 0);
  CHECK(still_open == 0);
  CHECK(stopped <= static_cast<int>(programs) / 100);  // the planner gives up sooner
}
