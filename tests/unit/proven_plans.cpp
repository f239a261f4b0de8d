// Programs of automatic mode whose plans are proven the best: models, their gradients, operations
// on split rows (bench/plan_models.hpp). The bytes are those of docs/automatic.md.
// OPTIMIZE: 1
#include <cstdint>
#include <map>
#include <string>

#include "../../bench/plan_models.hpp"
#include "harness/catch.hpp"

using namespace shardtype;

TEST_CASE("models with values of several readers are proven the best") {
  int programs = 0;
  std::map<std::string, std::int64_t> bytes;
  std::map<std::string, double> seconds;
  plan_models::for_all([&](char const* name, PlannedProgram const& p) {
    INFO(name);
    REQUIRE(p.plan.possible);
    REQUIRE(p.plan.gap());
    CHECK(*p.plan.gap() <= 1e-9);
    CHECK(p.seconds() * (1 - *p.plan.gap()) <= *p.plan.bound() * (1 + 1e-12));
    ++programs;
    bytes[name] = p.plan.bytes_per_rank();
    seconds[name] = p.seconds();
  });
  CHECK(programs == 27);
  // a leaf and a value are one, with `share` and without
  CHECK(bytes["gated_mlp"] == 75'497'472);
  CHECK(bytes["gated_mlp_shared"] == bytes["gated_mlp"]);
  CHECK(bytes["lstm_step"] == 29'360'128);
  CHECK(bytes["lstm_step_shared"] == bytes["lstm_step"]);
  // operations on split rows send totals of rows, or what the strict call sends
  CHECK(bytes["softmax_op"] == 49'152);
  CHECK(bytes["logsumexp_op"] == 49'152);
  CHECK(bytes["argmax_op"] == 73'728);
  CHECK(bytes["layer_norm_op"] == 98'304);
  // where JAX sends less, its layouts take longer
  plan_models::in_layouts_of_jax([&](char const* name, PlannedProgram const& p) {
    INFO(name);
    CHECK(p.plan.bytes_per_rank() < bytes[name]);
    CHECK(p.seconds() >= 1.05 * seconds[name]);
  });
}
