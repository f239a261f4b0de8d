#pragma once
/// What a pipeline moves and stores, before it runs.

#include <cstdint>
#include <string>

#include <shardtype/check/resolve.hpp>
#include <shardtype/core/block.hpp>
#include <shardtype/core/bridge.hpp>
#include <shardtype/pipeline/types_schedule.hpp>
#include <shardtype/plan/explain.hpp>

namespace shardtype::pipeline {

/// The moves between the stages of a schedule whose blocks have `block_bytes` bytes, and what its
/// ranks store.
struct Plan {
  Schedule schedule;
  std::int64_t block_bytes = 0;

  /// The blocks that each microbatch moves between ranks, forward and backward together if there
  /// are backward passes.
  constexpr std::int64_t blocks_per_microbatch() const {
    std::int64_t const stages = std::int64_t{schedule.ranks} * schedule.chunks;
    return schedule.ranks == 1 ? 0 : ways() * (stages - 1);
  }
  constexpr std::int64_t bytes_per_microbatch() const {
    return blocks_per_microbatch() * block_bytes;
  }
  /// The blocks that rank `rank` sends to other stages.
  constexpr std::int64_t blocks_sent(int rank) const {
    if (schedule.ranks == 1) return 0;
    bool const last = rank + 1 == schedule.ranks;
    bool const end = last || (rank == 0 && !schedule.forward_only);
    return schedule.microbatches * (ways() * schedule.chunks - (end ? 1 : 0));
  }
  /// The bytes that rank `rank` sends to other stages.
  constexpr std::int64_t bytes_sent(int rank) const { return blocks_sent(rank) * block_bytes; }
  /// The bytes of all ranks.
  constexpr std::int64_t bytes() const { return schedule.microbatches * bytes_per_microbatch(); }

 private:
  constexpr std::int64_t ways() const { return schedule.forward_only ? 1 : 2; }
};

/// The plan of blocks of `block_bytes` bytes.
constexpr Plan plan(Schedule const& schedule, std::int64_t block_bytes) {
  return {detail::checked(schedule), block_bytes};
}
/// The plan of the largest blocks of a tensor type whose sizes the type has: `f32[B@X, D]` is the
/// type of a microbatch.
template <class A>
constexpr Plan plan(Schedule const& schedule, Type<A>) {
  using S = core::Scope<A>;
  return pipeline::plan(
      schedule, core::mul_sat(core::largest_elements(S::template spec<0>, S::names.extents(),
                                                     S::names.sizes()),
                              static_cast<std::int64_t>(sizeof(checking::element_t<A>))));
}

/// The plan as text: the table, the idle part, the bytes of a microbatch, and what each rank sends
/// and stores.
inline std::string explain(Plan const& plan) {
  Schedule const& s = plan.schedule;
  Fraction const idle = pipeline::bubble(s);
  auto const bytes = [](std::int64_t n) { return shardtype::detail::bytes_text(n); };
  std::string out = pipeline::draw(s) + "idle: " + std::to_string(idle.numerator) + "/" +
                    std::to_string(idle.denominator) + " of " + std::to_string(pipeline::slots(s)) +
                    " slots\neach microbatch moves " +
                    std::to_string(plan.blocks_per_microbatch()) + " blocks of " +
                    bytes(plan.block_bytes) + ", " + bytes(plan.bytes_per_microbatch()) + "\n";
  for (int r = 0; r < s.ranks; ++r)
    out += "rank " + std::to_string(r) + " sends " + bytes(plan.bytes_sent(r)) + ", stores " +
           std::to_string(pipeline::peak_stored(s, r)) +
           (pipeline::peak_stored(s, r) == 1 ? " microbatch\n" : " microbatches\n");
  return out;
}

}  // namespace shardtype::pipeline
