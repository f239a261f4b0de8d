// Reshards over up to six mesh axes: random pairs of shardings, on up to 64 simulated ranks. The
// plan consists of legal steps, ends with the right value, and costs no more than gathering and
// slicing. Axes that stay are not moved, which costs nothing. The numbers of shardings are unique.
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include <shardtype/plan/reshard_code.hpp>
#include <shardtype/plan/reshard_plan.hpp>
#include <shardtype/rules/reshard.hpp>

#include "harness/catch.hpp"
#include "harness/simulate.hpp"
#include "harness/step_law.hpp"

using namespace simulate;

namespace {

std::int64_t element(Extents const& at) { return at[0] * 101 + at[1] * 13 + at[2] * 7 + 1; }

// A random sharding of `rank` dims over `axes` axes; labels in any order.
Spec drawn(std::mt19937& draw, int rank, int axes, bool sums) {
  std::vector<int> order;
  for (int x = 0; x < axes; ++x) order.push_back(x);
  for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[draw() % k]);
  Spec s;
  for (int d = 0; d < rank; ++d) s.add(d);
  for (int const x : order) {
    auto const where = static_cast<int>(draw() % static_cast<unsigned>(rank + 2));
    if (where < rank) s.dims[where].axes.push(x);
    if (where == rank && sums) s.unreduced.insert(x);
  }
  return s;
}
Sizing sizes_of(std::mt19937& draw, int axes) {
  Sizing z;
  std::int64_t ranks = 1;
  for (int x = 0; x < axes; ++x) {
    z.sizes.at[x] = 1 + static_cast<std::int64_t>(draw() % 3);
    if (ranks * z.sizes.at[x] > 64) z.sizes.at[x] = 1;
    ranks *= z.sizes.at[x];
  }
  for (int l = 0; l < 3; ++l) z.extents.at[l] = static_cast<std::int64_t>(draw() % 9) + 1;
  z.element_bytes = 4;
  return z;
}
Plan planned(Spec const& from, Spec const& to, Sizing const& z) {
  return reshard_plan(from, to, z, Machine{});
}
std::int64_t picoseconds_of(Plan const& p, Sizing const& z) {
  std::int64_t all = 0;
  for (int k = 0; k < p.size; ++k) {
    Step const& s = p.steps[k];
    if (!s.is_collective()) continue;
    auto const bytes = [&](Spec const& spec) {
      return largest_elements(spec, z.extents, z.sizes) * z.element_bytes;
    };
    all += step_cost(s.collective(), bytes(s.before), bytes(s.after), z.sizes.product(s.axes),
                     Machine{})
               .picoseconds;
  }
  return all;
}

}  // namespace

TEST_CASE("reshards over five and six axes arrive by legal steps that bring the value") {
  std::mt19937 draw(11);
  int most_steps = 0;
  int in_parts = 0;
  for (int round = 0; round < 400;) {
    int const axes = 5 + static_cast<int>(draw() % 2);
    int const rank = 1 + static_cast<int>(draw() % 3);
    Spec const from = drawn(draw, rank, axes, true);
    Spec to = drawn(draw, rank, axes, false);
    if (draw() % 3 == 0) to.unreduced.bits = from.unreduced.bits;
    for (int d = 0; d < rank; ++d)
      for (int x = 0; x < axes; ++x)
        if (to.unreduced.contains(x)) to.dims[d].axes = to.dims[d].axes.without(x);
    if (!rules::reshard(from, to)) continue;
    ++round;
    Sizing const z = sizes_of(draw, axes);
    Plan const plan = planned(from, to, z);
    INFO("round " << round);
    Distributed v = distribute(from, z, element);
    for (int k = 0; k < plan.size; ++k) {
      INFO("step " << k);
      REQUIRE(obeys_law(plan.steps[k]));
      REQUIRE(apply(plan.steps[k], z, v));
    }
    CHECK(v.spec == to);
    CHECK(equals(v, z, element));
    most_steps = std::max(most_steps, plan.size);
    AxisGroups const groups(from, to, z, true);
    if (groups.size > searched_axes) ++in_parts;
    CHECK(picoseconds_of(plan, z) <= bounds(from, to, z, Machine{}).most);
  }
  CHECK(in_parts > 50);
  CHECK(most_steps <= 8);
}

TEST_CASE("axes that stay are not moved") {
  std::mt19937 draw(5);
  for (int round = 0; round < 200; ++round) {
    // axes 2 to 5 stay as the leading axes of three dims
    Spec from = drawn(draw, 3, 2, true);
    Spec to = drawn(draw, 3, 2, false);
    if (!rules::reshard(from, to)) continue;
    for (Spec* s : {&from, &to})
      for (int x = 5; x >= 2; --x) {
        AxisList major;
        major.push(x);
        s->dims[x % 3].axes = major.plus(s->dims[x % 3].axes);
      }
    Plan const plan = planned(from, to, sizes_of(draw, 6));
    for (int k = 0; k < plan.size; ++k)
      for (int m = 0; m < plan.steps[k].axes.size; ++m) CHECK(plan.steps[k].axes[m] < 2);
  }
}

TEST_CASE("to leave axes where they stay costs nothing on even blocks") {
  std::mt19937 draw(17);
  for (int round = 0; round < 300;) {
    int const rank = 1 + static_cast<int>(draw() % 3);
    Spec const from = drawn(draw, rank, searched_axes, true);
    Spec const to = drawn(draw, rank, searched_axes, false);
    if (!rules::reshard(from, to)) continue;
    ++round;
    Sizing z = sizes_of(draw, searched_axes);
    for (int l = 0; l < 3; ++l) z.extents.at[l] *= 1296;
    Machine const m{};
    Search search(from, to, z, m);
    INFO("round " << round);
    CHECK(FarReshard(from, to, z, m).cost == search.run(bounds(from, to, z, m).most).cost);
  }
}

TEST_CASE("reductions and gathers over six axes are one collective where they go together") {
  Sizing z;
  for (int x = 0; x < 6; ++x) z.sizes.at[x] = 2;
  for (int l = 0; l < 2; ++l) z.extents.at[l] = 1 << 12;
  z.element_bytes = 4;
  Spec whole;
  whole.add(0);
  whole.add(1);
  Spec sums = whole;
  Spec split = whole;
  Spec turned = whole;
  for (int x = 0; x < 6; ++x) {
    sums.unreduced.insert(x);
    split.dims[0].axes.push(x);
    turned.dims[0].axes.push(5 - x);
  }
  Plan const reduce = planned(sums, whole, z);
  CHECK(reduce.size == 1);
  CHECK(reduce.count(Collective::all_reduce) == 1);
  Plan const gather = planned(split, whole, z);
  CHECK(gather.size == 1);
  CHECK(gather.count(Collective::all_gather) == 1);
  Plan const scatter = planned(sums, split, z);
  CHECK(scatter.size == 1);
  CHECK(scatter.count(Collective::reduce_scatter) == 1);
  Plan const permute = planned(split, turned, z);
  CHECK(permute.size == 1);
  CHECK(permute.count(Collective::permute) == 1);
}

TEST_CASE("every sharding over six axes has a number of its own") {
  std::mt19937 draw(3);
  std::set<std::uint64_t> numbers;
  std::vector<Spec> specs;
  for (int round = 0; round < 2000; ++round) {
    Spec s = drawn(draw, static_cast<int>(draw() % 9), 6, true);
    for (int d = 0; d < s.rank; ++d)
      s.dims[d].label = static_cast<std::int8_t>((d * 3 + round) % 8);
    if (!s.unreduced.empty()) s.kind = static_cast<core::ReduceKind>(draw() % 3);
    for (int x = 0; x < 6; ++x)
      if (s.state(x) == AxisState::replicated && draw() % 4 == 0) s.reduced.insert(x);
    std::uint64_t const number = number_of(s);
    CHECK(spec_from(number) == s);
    bool known = false;
    for (Spec const& other : specs) known = known || other == s;
    CHECK(numbers.insert(number).second == !known);
    specs.push_back(s);
  }
  CHECK(specs.size() == 2000);
}
