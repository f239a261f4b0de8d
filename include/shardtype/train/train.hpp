#pragma once
/// Training: models as structures of tensors, optimizers, rules of shardings, clipping,
/// rates, batches of tokens. Not part of shardtype.hpp.

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
#include <shardtype/train/adafactor.hpp>
#include <shardtype/train/array_file.hpp>
#include <shardtype/train/clip.hpp>
#include <shardtype/train/initialize.hpp>
#include <shardtype/train/metrics.hpp>
#include <shardtype/train/misused.hpp>
#include <shardtype/train/muon.hpp>
#include <shardtype/train/optimizers.hpp>
#include <shardtype/train/schedules.hpp>
#include <shardtype/train/shardings.hpp>
#include <shardtype/train/step.hpp>
#include <shardtype/train/structures.hpp>
#include <shardtype/train/tokens.hpp>
