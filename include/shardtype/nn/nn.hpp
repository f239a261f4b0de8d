#pragma once
/// Functions of neural networks, each with plan and gradient. Not part of shardtype.hpp.

// The sentences first: then compilers print no path of includes before them.
// clang-format off
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
// clang-format on
#include <shardtype/nn/attention.hpp>
#include <shardtype/nn/conv.hpp>
#include <shardtype/nn/cross_entropy.hpp>
#include <shardtype/nn/dropout.hpp>
#include <shardtype/nn/group_norm.hpp>
#include <shardtype/nn/layers.hpp>
#include <shardtype/nn/moe.hpp>
#include <shardtype/nn/norm.hpp>
#include <shardtype/nn/pool.hpp>
#include <shardtype/nn/positions.hpp>
#include <shardtype/nn/ragged_dot.hpp>
#include <shardtype/nn/router.hpp>
#include <shardtype/nn/transformer.hpp>

// Last: it declares names of shardtype in nn, which the headers above call.
#include <shardtype/nn/misused.hpp>
