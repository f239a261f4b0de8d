#pragma once
/// Pipelines over an axis of the mesh: schedules as values, their plans, and what runs them. Not
/// part of shardtype.hpp.

// A user's global may have the name of a local variable of ours.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

// The sentences first: then compilers print no path of includes before them.
// clang-format off
#include <shardtype/check/sentences/access.hpp>
#include <shardtype/check/sentences/automatic.hpp>
#include <shardtype/check/sentences/gradients.hpp>
#include <shardtype/check/sentences/indexing.hpp>
#include <shardtype/check/sentences/linear_algebra.hpp>
#include <shardtype/check/sentences/manual.hpp>
#include <shardtype/check/sentences/moves.hpp>
#include <shardtype/check/sentences/networks.hpp>
#include <shardtype/check/sentences/pointwise.hpp>
#include <shardtype/check/sentences/products.hpp>
#include <shardtype/check/sentences/shapes.hpp>
#include <shardtype/check/sentences/training.hpp>
#include <shardtype/check/sentences/types.hpp>
// clang-format on
#include <shardtype/pipeline/evaluate.hpp>
#include <shardtype/pipeline/plan_evaluate.hpp>
#include <shardtype/pipeline/plan_step.hpp>
#include <shardtype/pipeline/types_plan.hpp>
#include <shardtype/pipeline/types_schedule.hpp>
#include <shardtype/pipeline/types_time.hpp>
#include <shardtype/pipeline/value_and_grad.hpp>

#pragma GCC diagnostic pop
