#pragma once
/// All compile-time refusals, each as one literal sentence.

#include <shardtype/check/sentences/access.hpp>
#include <shardtype/check/sentences/automatic.hpp>
#include <shardtype/check/sentences/fourier.hpp>
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
