// Chains of products with sizes up to and beyond the largest tensor: there is a plan exactly if
// some order avoids values that are too large; the plan has no such values, and its cost is finite.
#include <cstdint>
#include <vector>

#include <shardtype/plan/program_builder.hpp>
#include <shardtype/plan/program_planner.hpp>

#include "harness/catch.hpp"
#include "harness/draw.hpp"
#include "harness/simulate.hpp"

using namespace shardtype;
using namespace shardtype::planning;
using planning::ProgramBuilder;
using planning::ProgramLabels;

namespace {

constexpr std::int64_t power(int n) { return std::int64_t{1} << n; }

ProgramLabels two(int a, int b) {
  ProgramLabels out;
  out.push(a);
  out.push(b);
  return out;
}

// A chain of matrices with random sizes and shardings; its result is countable or not.
RecordedProgram draw_chain(Draw& draw, std::vector<Spec> const& specs) {
  std::int64_t const extents[] = {0,         1,        7, power(20), power(29), power(31) + 1,
                                  power(40), power(58)};
  int const length = 2 + draw.below(3);
  ProgramBuilder b;
  b.program.axes = 2;
  b.program.sizes.at[0] = 8;
  b.program.sizes.at[1] = 4;
  for (int l = 0; l <= length; ++l) b.label(extents[draw.below(8)]);
  int operands[5]{};
  for (int k = 0; k < length; ++k)
    operands[k] =
        b.given(two(k, k + 1),
                specs[static_cast<std::size_t>(draw.below(static_cast<int>(specs.size())))], 8, 2);
  int const root = b.product(operands, length, two(0, length));
  b.finish(root, two(0, length),
           specs[static_cast<std::size_t>(draw.below(static_cast<int>(specs.size())))]);
  return b.program;
}

}  // namespace

TEST_CASE("chains of sizes beyond what a tensor can have") {
  std::vector<Spec> const specs = simulate::all_specs(2, 2, false);
  Draw draw(5);
  Identity const none[max_axes]{};
  int impossible = 0;
  int avoiding = 0;
  for (int k = 0; k < 600; ++k) {
    RecordedProgram const p = draw_chain(draw, specs);
    ProgramPlan const plan = planning::plan_program(p, {Machine{}, p.sizes, none, p.axes, -1});
    INFO("program " << k);
    REQUIRE(plan.possible == p.countable());
    impossible += plan.possible ? 0 : 1;
    if (!plan.possible) continue;
    bool all = true;  // the values that some order computes
    for (int n = 0; n < p.size; ++n) all = all && p.countable(n);
    avoiding += all ? 0 : 1;
    bool made = true;
    for (ProgramStep const& s : plan) made = made && p.countable(s.node);
    CHECK(made);
    std::int64_t const time =
        plan.picoseconds(planning::Rates{Machine{}, p.sizes, none, p.axes, -1});
    bool const finite = time >= 0 && time <= longest_time && plan.bytes_per_rank() >= 0 &&
                        plan.bytes_per_rank() <= saturated && plan.temporary_bytes() >= 0 &&
                        plan.peak_bytes() >= plan.given_bytes() && plan.flops() >= 0 &&
                        plan.flops() <= saturated;
    CHECK(finite);
  }
  CHECK(impossible > 100);
  CHECK(avoiding > 20);
}
