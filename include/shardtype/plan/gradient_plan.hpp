#pragma once
/// The plan of a function and its gradient: what both passes do.

#include <cstdint>

#include <shardtype/plan/function_plan.hpp>

namespace shardtype::planning {

/// Result of `plan(value_and_grad(f), type<A>, ...)`, of two plans of functions: FunctionPlans if
/// the types determine all sizes, else OpenFunctionPlans.
template <class Pass>
struct PassPlans {
  Pass forward{};
  Pass backward{};

  /// Number of collectives of this kind in both passes (open sizes: an upper bound).
  constexpr int count(Collective c) const {
    return planning::add_counts(forward.count(c), backward.count(c));
  }
  /// Number of all collectives in both passes.
  constexpr int collectives() const {
    return planning::add_counts(forward.collectives(), backward.collectives());
  }
};

/// All numbers are those of the busiest rank.
struct GradientPlan : PassPlans<FunctionPlan> {
  std::int64_t tape = 0;

  /// Bytes that the forward pass saves for the backward pass, besides the arguments and the loss.
  constexpr std::int64_t tape_bytes() const { return tape; }
  constexpr std::int64_t bytes_per_rank() const {
    return forward.bytes_per_rank() + backward.bytes_per_rank();
  }
  constexpr std::int64_t flops() const { return forward.flops() + backward.flops(); }
  /// Peak of the bytes that a rank holds, in both passes.
  constexpr std::int64_t peak_bytes() const { return backward.peak_bytes(); }
};
/// The plan of both passes if the sizes are given at run time.
using OpenGradientPlan = PassPlans<OpenFunctionPlan>;

}  // namespace shardtype::planning

namespace shardtype {
using planning::GradientPlan;
}
