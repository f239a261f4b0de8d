// The plan of a program whose types determine all sizes is the one that is found at run time, step
// by step, with its proof (bench/plan_models.hpp).
// WHEN: all
#include <type_traits>

#include "../../bench/plan_models.hpp"
#include "harness/catch.hpp"
#include "harness/same_plans.hpp"

TEST_CASE("models are planned at compile time as at run time") {
  same_plans::Compare const compare;
  plan_models::for_all(compare);
  INFO(compare.left());
  CHECK(compare.constants() >= 24);
}
