#pragma once
/// Pipelines over an axis of the mesh: schedules as values, and what runs them.

#include <shardtype/pipeline/types_schedule.hpp>
#include <shardtype/pipeline/value_and_grad.hpp>
