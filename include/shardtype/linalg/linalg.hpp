#pragma once
/// Linear algebra, each function with plan and gradient. Not part of shardtype.hpp.

#include <shardtype/linalg/determinant.hpp>
#include <shardtype/linalg/factors.hpp>
#include <shardtype/linalg/solve.hpp>
#include <shardtype/linalg/triangular.hpp>
