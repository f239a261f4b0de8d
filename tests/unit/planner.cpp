// The planners: every plan consists of legal steps and ends in the named sharding, and no plan
// costs more than the cheapest sequence of steps.
// OPTIMIZE: 1
#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include <shardtype/types.hpp>

#include "harness/catch.hpp"
#include "harness/simulate.hpp"

using namespace shardtype;
using namespace shardtype::planning;
using namespace simulate;

namespace {

// The cheapest cost from `from` to each sharding, over all sequences of steps on the axes `usable`,
// by relaxation until nothing improves.
std::vector<Cost> brute_force(std::vector<Spec> const& specs, std::size_t from, int axes,
                              AxisSet usable, Sizing const& z) {
  Cost const never{std::numeric_limits<std::int64_t>::max() / 4, 0, 0, 0, 0};
  std::vector<Cost> best(specs.size(), never);
  best[from] = {};
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t k = 0; k < specs.size(); ++k) {
      if (best[k] == never) continue;
      for (Step const& s : steps_from(specs[k], axes)) {
        bool allowed = true;
        for (int x = 0; x < s.axes.size; ++x) allowed = allowed && usable.contains(s.axes[x]);
        if (!allowed) continue;
        auto const to = static_cast<std::size_t>(std::find(specs.begin(), specs.end(), s.after) -
                                                 specs.begin());
        REQUIRE(to < specs.size());
        Cost const cost = best[k] + step_cost(s, z, {});
        if (cost < best[to]) {
          best[to] = cost;
          changed = true;
        }
      }
    }
  }
  return best;
}

std::int64_t element(Extents const& at) {
  return (at[0] * 7 + at[1] * 13 + at[2] * 5 + at[3] * 3) % 23 - 11;
}

void check_all_pairs(int rank, int axes, Sizing const& z) {
  std::vector<Spec> const specs = all_specs(rank, axes, true);
  for (std::size_t a = 0; a < specs.size(); ++a) {
    std::map<int, std::vector<Cost>> best_on;  // by the usable axes
    for (std::size_t b = 0; b < specs.size(); ++b) {
      INFO("from " << a << " to " << b);
      // the planner uses the axes that either side mentions
      AxisSet const usable{
          static_cast<std::uint8_t>(specs[a].mentioned().bits | specs[b].mentioned().bits)};
      if (best_on.count(usable.bits) == 0)
        best_on[usable.bits] = brute_force(specs, a, axes, usable, z);
      Cost const best = best_on[usable.bits][b];
      bool const legal = bool(rules::reshard(specs[a], specs[b]));
      // the brute force reaches exactly the shardings that the rule allows
      CHECK(legal == (best.picoseconds < std::numeric_limits<std::int64_t>::max() / 4));
      if (!legal) continue;
      Plan const plan = planning::reshard_plan(specs[a], specs[b], z);
      Cost cost;
      Distributed v = distribute(specs[a], z, element);
      bool arrives = true;
      for (Step const& s : plan) {
        cost = cost + step_cost(s, z, {});
        arrives = arrives && apply(s, z, v);
      }
      CHECK(arrives);
      CHECK(v.spec == specs[b]);
      CHECK(equals(v, z, element));
      CHECK(cost == best);
    }
  }
}

}  // namespace

TEST_CASE("reshards of a matrix on two axes are the cheapest sequence of steps") {
  auto const sizes =
      GENERATE(values<std::array<std::int64_t, 2>>({{2, 2}, {2, 4}, {3, 2}, {4, 3}}));
  auto const shape =
      GENERATE(values<std::array<std::int64_t, 2>>({{24, 24}, {5, 7}, {13, 2}, {1, 9}}));
  Sizing z;
  z.sizes.at[0] = sizes[0];
  z.sizes.at[1] = sizes[1];
  z.extents.at[0] = shape[0];
  z.extents.at[1] = shape[1];
  z.element_bytes = 4;
  check_all_pairs(2, 2, z);
}

TEST_CASE("reshards of a vector and of a rank-3 tensor on two axes, and of large extents") {
  Sizing z;
  z.sizes = {{2, 3, 1, 1}};
  z.extents = {{6, 5, 4}};
  z.element_bytes = 8;
  check_all_pairs(1, 2, z);
  check_all_pairs(3, 2, z);
}

TEST_CASE("named products arrive at the named sharding with the dense value") {
  // labels: I = 0, J = 1, K = 2
  auto relabelled = [](std::vector<Spec> specs, int first, int second) {
    for (Spec& s : specs) {
      s.dims[0].label = static_cast<std::int8_t>(first);
      s.dims[1].label = static_cast<std::int8_t>(second);
    }
    return specs;
  };
  // blocks, with unreduced sums; and block-cyclic dims beside blocks
  bool const turns = GENERATE(false, true);
  std::vector<Spec> const specs = turns ? all_specs(2, 2, false, {2}) : all_specs(2, 2, true);
  std::vector<Spec> const as = relabelled(specs, 0, 1);
  std::vector<Spec> const bs = relabelled(specs, 1, 2);
  std::vector<Spec> const cs = relabelled(specs, 0, 2);
  Sizing z;
  z.sizes = {{2, 3, 1, 1}};
  z.extents = {{5, 4, 3}};
  z.element_bytes = 4;
  auto left = [](Extents const& at) { return (at[0] * 3 + at[1] * 5) % 7 - 3; };
  auto right = [](Extents const& at) { return (at[1] * 2 + at[2] * 3) % 5 - 2; };
  auto dense = [&](Extents const& at) {
    std::int64_t sum = 0;
    for (std::int64_t j = 0; j < z.extents[1]; ++j) {
      Extents x = at;
      x.at[1] = j;
      sum += left(x) * right(x);
    }
    return sum;
  };
  int bad = 0;
  int checked = 0;
  for (Spec const& a : as)
    for (Spec const& b : bs)
      for (Spec const& c : cs) {
        if (!rules::named_contraction(a, b, c, false)) {
          ++bad;
          continue;
        }
        Plan const plan = planning::contraction_plan(a, b, c, z);
        Distributed slots[3] = {distribute(a, z, left), distribute(b, z, right), {}};
        bool fine = plan.size > 0;
        for (Step const& s : plan) {
          auto const slot = static_cast<std::size_t>(s.slot);
          if (s.move == Move::compute) {
            slots[2] = product(slots[0], slots[1], s.after, z);
            fine = fine && bool(rules::contraction(slots[0].spec, slots[1].spec, labels_of(c)));
          } else {
            fine = fine && apply(s, z, slots[slot]);
          }
        }
        fine = fine && slots[2].spec == c && equals(slots[2], z, dense);
        bad += fine ? 0 : 1;
        ++checked;
      }
  CHECK(checked == (turns ? 21 * 21 * 21 : 18 * 18 * 18));
  CHECK(bad == 0);
}

TEST_CASE("steps that would lie are caught by the simulation") {
  // a gather over the wrong axis adds no elements
  Spec split;
  split.add(0);
  split.dims[0].axes.push(0);
  Spec whole;
  whole.add(0);
  Sizing z;
  z.sizes = {{2, 2, 1, 1}};
  z.extents = {{4}};
  Step s;
  s.move = Move::gather;
  s.axes.push(1);
  s.from = 0;
  s.before = split;
  s.after = whole;
  Distributed v = distribute(split, z, element);
  CHECK_FALSE(apply(s, z, v));
}
