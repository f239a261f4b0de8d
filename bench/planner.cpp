// How long plans take at run time: two blocks of a transformer on three axes, and losses with their
// gradients of GPTs of 12 layers on two axes in four layouts. Built in the tree of another commit,
// which has no cost network, it has the first alone (scripts/bench.d/planner). Prints `took NAME
// SECONDS`, the median of the runs.
// RANKS: 1
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "plan_blocks.hpp"
#if __has_include(<shardtype/plan/cost_network.hpp>)
#include "plan_losses.hpp"
#endif

namespace {

template <class F>
void time(std::string const& name, int runs, F const& plan) {
  std::vector<double> all;
  for (int k = 0; k < runs; ++k) {
    auto const begin = std::chrono::steady_clock::now();
    plan();
    all.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(all.begin(), all.end());
  std::printf("took %s %.6f\n", name.c_str(), all[all.size() / 2]);
}

}  // namespace

int main(int argc, char** argv) {
  int const runs = argc > 1 ? std::atoi(argv[1]) : 1;
  auto const drop = [](auto const&...) {};
  using Three = shardtype::automatic_mode::Axes<plan_models::X, plan_models::Y, plan_models::Third>;
  time("block2_3axes", runs, [&] { plan_models::blocks<Three, 2>(drop, "block2_3axes"); });
#if __has_include(<shardtype/plan/cost_network.hpp>)
  time("gpt12_dp", runs, [&] { plan_losses::gpt<plan_losses::DataParallel, 12>(drop, ""); });
  time("gpt12_megatron", runs, [&] { plan_losses::gpt<plan_losses::Megatron, 12>(drop, ""); });
  time("gpt12_fsdp", runs, [&] { plan_losses::gpt<plan_losses::FullySharded, 12>(drop, ""); });
  time("gpt12_fsdp_tensor", runs,
       [&] { plan_losses::gpt<plan_losses::ShardedTensor, 12>(drop, ""); });
#endif
}
