// Longer programs whose plans are proven the best: gradients of two to six layers by hand, one and
// two blocks of a transformer on two and on three axes (bench/plan_blocks.hpp).
// OPTIMIZE: 1
// WHEN: all
#include "../../bench/plan_blocks.hpp"
#include "harness/catch.hpp"

using namespace shardtype;

TEST_CASE("networks and blocks are proven the best") {
  int programs = 0;
  plan_models::for_all_longer([&](char const* name, PlannedProgram const& p) {
    INFO(name);
    REQUIRE(p.plan.possible);
    REQUIRE(p.plan.gap());
    CHECK(*p.plan.gap() <= 1e-9);
    ++programs;
  });
  CHECK(programs == 9);
}
