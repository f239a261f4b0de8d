#pragma once
/// Plans of functions and of their gradients as text.

#include <string>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/dim.hpp>
#include <shardtype/plan/function_plan.hpp>
#include <shardtype/plan/gradient_plan.hpp>

namespace shardtype {

namespace api {

/// The plan of a function as text: a line for the total, and a line per step with its operation,
/// what becomes of its value, and the bytes it moves or the flops it computes, on the busiest rank.
/// A slice and a transpose are free.
///
///     2 collectives, 0.52 MB/rank, 0.21 GFLOP/rank, peak 3.1 MB
///       1  matmul       local            [I@X, K]{U:Y}                          0.21 GFLOP
///       2  matmul       ReduceScatter Y  [I@X, K]{U:Y} -> [I@X, K@Y]            0.52 MB
std::string explain(core::Taken<FunctionPlan> plan);

/// Both passes, and what the forward pass saves for the backward pass.
std::string explain(core::Taken<GradientPlan> plan);

/// If sizes are given at run time: an upper bound on the number of collectives of each kind.
std::string explain(core::Taken<planning::OpenFunctionPlan> plan);
std::string explain(core::Taken<planning::OpenGradientPlan> plan);

}  // namespace api

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/plan/explain_function.ipp>
#endif
