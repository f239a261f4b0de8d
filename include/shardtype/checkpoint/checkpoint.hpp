#pragma once
/// Checkpoints of models and of the states of their optimizers. Not part of shardtype.hpp; needs nlohmann-json.

#include <shardtype/checkpoint/extra.hpp>
#include <shardtype/checkpoint/load.hpp>
#include <shardtype/checkpoint/npz.hpp>
#include <shardtype/checkpoint/safetensors.hpp>
#include <shardtype/checkpoint/save.hpp>
#include <shardtype/checkpoint/saver.hpp>
