#pragma once
/// Refusals of calls of checkpoint that none of its functions takes, and of names of others. As in
/// check/misused.hpp, any other function of the name is the better match.

#include <shardtype/check/misused.hpp>
#include <shardtype/checkpoint/namespace.hpp>

namespace shardtype::checkpoint {

// Refused, A18: `save(model, "run", 1)`, `load("run", model)` into what is const.
#define SHARDTYPE_CALL_OF_CHECKPOINT(name) \
  SHARDTYPE_REFUSED_CALLS(name, A18_no_such_call_of_checkpoint, checking::Poisoned)
SHARDTYPE_CALL_OF_CHECKPOINT(save)
SHARDTYPE_CALL_OF_CHECKPOINT(load)
SHARDTYPE_CALL_OF_CHECKPOINT(latest)
SHARDTYPE_CALL_OF_CHECKPOINT(save_safetensors)
SHARDTYPE_CALL_OF_CHECKPOINT(load_safetensors)
SHARDTYPE_CALL_OF_CHECKPOINT(save_npz)
SHARDTYPE_CALL_OF_CHECKPOINT(load_npz)
// names of orbax, PyTorch and Keras
SHARDTYPE_CALL_OF_CHECKPOINT(restore)
SHARDTYPE_CALL_OF_CHECKPOINT(save_checkpoint)
SHARDTYPE_CALL_OF_CHECKPOINT(load_checkpoint)
SHARDTYPE_CALL_OF_CHECKPOINT(restore_checkpoint)
SHARDTYPE_CALL_OF_CHECKPOINT(save_state_dict)
SHARDTYPE_CALL_OF_CHECKPOINT(load_state_dict)
SHARDTYPE_CALL_OF_CHECKPOINT(save_file)
SHARDTYPE_CALL_OF_CHECKPOINT(load_file)
SHARDTYPE_CALL_OF_CHECKPOINT(save_weights)
SHARDTYPE_CALL_OF_CHECKPOINT(load_weights)
SHARDTYPE_CALL_OF_CHECKPOINT(savez)
SHARDTYPE_CALL_OF_CHECKPOINT(save_model)
SHARDTYPE_CALL_OF_CHECKPOINT(load_model)
#undef SHARDTYPE_CALL_OF_CHECKPOINT

}  // namespace shardtype::checkpoint
