// The plans of losses and their gradients that bench/plans prints: what they send, and the proof
// that no other layouts are predicted faster.
// OPTIMIZE: 1
#include <map>
#include <string>

#include <shardtype/shardtype.hpp>

#include "../../bench/plan_losses.hpp"
#include "harness/catch.hpp"

using namespace shardtype;

namespace {

// Megabytes that a rank sends, rounded up to a tenth.
std::map<std::string, double> const most = {
    {"loss_dp", 159.4},        {"loss_megatron", 33.6},      {"loss_fsdp", 88.1},
    {"loss_2d", 58.8},         {"loss_fsdp_tensor", 33.6},   {"gpt_dp", 88.2},
    {"gpt_megatron", 88.2},    {"gpt_fsdp", 88.2},           {"gpt_fsdp_tensor", 100.7},
    {"gpt4_dp", 352.5},        {"gpt4_megatron", 352.5},     {"gpt4_fsdp", 352.5},
    {"gpt4_fsdp_tensor", 365}, {"gpt12_dp", 1057.3},         {"gpt12_megatron", 1057.3},
    {"gpt12_fsdp", 1057.3},    {"gpt12_fsdp_tensor", 1069.8}};

void check(char const* name, PlannedProgram const& p) {
  INFO(name);
  REQUIRE(most.count(name) == 1);
  CHECK(static_cast<double>(p.plan.bytes_per_rank()) <= 1e6 * most.at(name));
  REQUIRE(p.plan.gap().has_value());
  CHECK(*p.plan.gap() <= 1e-9);
}

}  // namespace

TEST_CASE("networks of two layers with their gradients") { plan_losses::mlps(check); }
TEST_CASE("GPTs of one, four and twelve layers with their gradients") {
  plan_losses::gpts<1>(check, "gpt_");
  plan_losses::gpts<4>(check, "gpt4_");
  plan_losses::gpts<12>(check, "gpt12_");
}

TEST_CASE("unreduced sums of several passes are reduced once") {
  struct Z : Axis<"z", 4> {};
  struct S : Index<"S", 4096> {};
  struct D : Index<"D", 512> {};
  struct E : Index<"E", 16384> {};
  struct G : Index<"G", 16384> {};
  // the cotangents of x are sums over E and over G, which ranks split
  auto const loss = [](auto const& x, auto const& v, auto const& w) {
    return sum(tanh(matmul(x * 2.0F, v))) + sum(tanh(matmul(x * 3.0F, w)));
  };
  PlannedProgram const p = dry_run<Tensor<float, Dim<S>, Dim<D>>, Tensor<float, Dim<D>, Dim<E, Z>>,
                                   Tensor<float, Dim<D>, Dim<G, Z>>>(value_and_grad<0>(loss))
                               .on(machines::h100_node)
                               .planned();
  INFO(explain(p));
  // one AllReduce of the gradient, or its two halves, and one of the loss
  CHECK(p.plan.bytes_per_rank() <= 2 * 4096 * 512 * 4 * 3 / 4 + 16);
}
