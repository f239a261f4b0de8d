#pragma once
/// Training: models as structures of tensors, optimizers, rules of shardings, clipping,
/// rates, batches of tokens. Not part of shardtype.hpp.

#include <shardtype/train/adafactor.hpp>
#include <shardtype/train/clip.hpp>
#include <shardtype/train/initialize.hpp>
#include <shardtype/train/optimizers.hpp>
#include <shardtype/train/schedules.hpp>
#include <shardtype/train/shardings.hpp>
#include <shardtype/train/step.hpp>
#include <shardtype/train/structures.hpp>
#include <shardtype/train/tokens.hpp>
