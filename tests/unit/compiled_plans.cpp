// The plan of a program whose types determine all sizes is the one that is found at run time, step
// by step, with its proof; all programs in compiled_plans_all.cpp.
#include "../../bench/plan_models.hpp"
#include "harness/catch.hpp"
#include "harness/same_plans.hpp"

TEST_CASE("gated layers and gradients are planned at compile time as at run time") {
  same_plans::Compare const compare;
  plan_models::gated(compare);
  plan_models::all_gradients(compare);
  INFO(compare.left());
  CHECK(compare.constants() == 7);
}
