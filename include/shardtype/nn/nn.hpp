#pragma once
/// Functions of neural networks, each with plan and gradient. Not part of shardtype.hpp.

#include <shardtype/nn/attention.hpp>
#include <shardtype/nn/cross_entropy.hpp>
#include <shardtype/nn/dropout.hpp>
#include <shardtype/nn/layers.hpp>
#include <shardtype/nn/moe.hpp>
#include <shardtype/nn/norm.hpp>
#include <shardtype/nn/positions.hpp>
#include <shardtype/nn/ragged_dot.hpp>
#include <shardtype/nn/router.hpp>
#include <shardtype/nn/transformer.hpp>
