#pragma once
/// Refusals of calls of train that none of its functions takes, and of names of others. As in
/// check/misused.hpp, any other function of the name is the better match.

#include <shardtype/check/misused.hpp>
#include <shardtype/train/initialize.hpp>
#include <shardtype/train/optimizers.hpp>

namespace shardtype::train {

// Refused, T15: `initialize<Model>(mesh, key, init)` of the template, or an init that is no
// function of two arguments.
SHARDTYPE_REFUSED_CALLS(initialize, T15_not_initialized, checking::Poisoned)
template <template <template <class> class> class Model>
constexpr auto initialize(checking::Anything const&, checking::Anything const& = {},
                          checking::Anything const& = {}, checking::Anything const& = {}) {
  checking::refused<rules::Code::T15_not_initialized, false, Model<value_t>>{};
  return checking::Poisoned{};
}

/// The result of a refused optimizer name: an optimizer, so that its use gives no further error.
struct OtherOptimizer : AdamW {
  constexpr OtherOptimizer() : AdamW(Options{}) {}
};
// Refused, T17: names of optax, Keras and torch.optim.
#define SHARDTYPE_OPTIMIZER_NAME(name) \
  SHARDTYPE_REFUSED_CALLS(name, T17_another_name_in_training, OtherOptimizer)
SHARDTYPE_OPTIMIZER_NAME(adam)
SHARDTYPE_OPTIMIZER_NAME(adamw)
SHARDTYPE_OPTIMIZER_NAME(sgd)
SHARDTYPE_OPTIMIZER_NAME(lion)
SHARDTYPE_OPTIMIZER_NAME(adafactor)
SHARDTYPE_OPTIMIZER_NAME(rmsprop)
SHARDTYPE_OPTIMIZER_NAME(adagrad)
SHARDTYPE_OPTIMIZER_NAME(lamb)
SHARDTYPE_OPTIMIZER_NAME(chain)
#undef SHARDTYPE_OPTIMIZER_NAME
#define SHARDTYPE_NAME_IN_TRAINING(name) \
  SHARDTYPE_REFUSED_CALLS(name, T17_another_name_in_training, checking::Poisoned)
SHARDTYPE_NAME_IN_TRAINING(clip_grad_norm)
// NOLINTBEGIN(readability-identifier-naming): as PyTorch writes them
SHARDTYPE_NAME_IN_TRAINING(clip_grad_norm_)
SHARDTYPE_NAME_IN_TRAINING(clip_grad_value_)
// NOLINTEND(readability-identifier-naming)
SHARDTYPE_NAME_IN_TRAINING(clip)
SHARDTYPE_NAME_IN_TRAINING(apply_updates)
SHARDTYPE_NAME_IN_TRAINING(apply_gradients)
SHARDTYPE_NAME_IN_TRAINING(add_decayed_weights)
SHARDTYPE_NAME_IN_TRAINING(cosine_decay_schedule)
SHARDTYPE_NAME_IN_TRAINING(warmup_cosine_decay_schedule)
SHARDTYPE_NAME_IN_TRAINING(linear_schedule)
SHARDTYPE_NAME_IN_TRAINING(exponential_decay)
SHARDTYPE_NAME_IN_TRAINING(constant_schedule)
SHARDTYPE_NAME_IN_TRAINING(tree_map)
SHARDTYPE_NAME_IN_TRAINING(tree_leaves)
SHARDTYPE_NAME_IN_TRAINING(fit)
SHARDTYPE_NAME_IN_TRAINING(zero_grad)
SHARDTYPE_NAME_IN_TRAINING(init_params)
SHARDTYPE_NAME_IN_TRAINING(xavier_uniform)
SHARDTYPE_NAME_IN_TRAINING(glorot_uniform)
SHARDTYPE_NAME_IN_TRAINING(he_normal)
SHARDTYPE_NAME_IN_TRAINING(kaiming_normal)
#undef SHARDTYPE_NAME_IN_TRAINING
// Classes of torch.optim; of options in braces the default of O is taken.
#define SHARDTYPE_OPTIMIZER_CLASS(name)                                         \
  struct name : OtherOptimizer {                                                \
    template <class O = Options>                                                \
    constexpr explicit name(O const&, checking::Anything const& = {},           \
                            checking::Anything const& = {}) {                   \
      checking::refused<rules::Code::T17_another_name_in_training, false, O>{}; \
    }                                                                           \
  };
SHARDTYPE_OPTIMIZER_CLASS(Adam)
SHARDTYPE_OPTIMIZER_CLASS(SGD)
SHARDTYPE_OPTIMIZER_CLASS(RMSprop)
SHARDTYPE_OPTIMIZER_CLASS(Adagrad)
#undef SHARDTYPE_OPTIMIZER_CLASS

}  // namespace shardtype::train
