#pragma once
/// Checkpoints of models and of the states of their optimizers. Not part of shardtype.hpp; needs
/// nlohmann-json.

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
// Optimizers next, of which compilers list the constructors.
#include <shardtype/train/optimizers.hpp>
// clang-format on
#include <shardtype/checkpoint/extra.hpp>
#include <shardtype/checkpoint/load.hpp>
#include <shardtype/checkpoint/misused.hpp>
#include <shardtype/checkpoint/npz.hpp>
#include <shardtype/checkpoint/safetensors.hpp>
#include <shardtype/checkpoint/save.hpp>
#include <shardtype/checkpoint/saver.hpp>
