#pragma once
/// Refusals of training, checkpoints and names of random numbers.

#include <shardtype/check/refused.hpp>

namespace shardtype::checking {
template <bool legal, class... YourTypes>
struct refused<Code::X13_no_such_update, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype X13] a step of an optimizer takes the model, its gradient and the "
                "state, in this order: adam.update(model, gradient, state). The gradient is "
                "grad<0>(f)(model, x), or the member grad of what value_and_grad<0>(f)(model, "
                "x) gives; the state is that of adam.init(model); model and state are "
                "variables, not const.");
};
template <bool legal, class... YourTypes>
struct refused<Code::X14_gradient_of_other_form, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype X14] the gradient of a parameter (the second type) is unreduced or "
                "has another sharding than the parameter (the first type): each rank needs the "
                "gradient of its own block. all_reduce it, or reduce_scatter it (half the "
                "bytes) and store the parameter split; or let the loss take "
                "used_as<Reduced<X>>(w) of a w that is stored whole.");
};
template <bool legal, class... YourTypes>
struct refused<Code::T15_not_initialized, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T15] initialize<Model<value_t>>(mesh, RandomKey{1}, init) makes a "
                "model, whose struct is a template <template <class> class As>. init takes the "
                "path of a tensor and its type, and gives its first values: [](std::string_view "
                "path, auto type) { return train::Initial::normal(0.02); }, or zeros(), ones(), "
                "constant(x), uniform(bound); no number, and no tensor.");
};
template <bool legal, class... YourTypes>
struct refused<Code::T16_optimizer_options, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T16] an optimizer is made of its options, which have names: "
                "train::AdamW const adam{{.rate = 1e-3, .decay = 0.1}}; what is its own stands "
                "behind them, train::Sgd{{.rate = 0.1}, 0.9} with momentum. Of the options: "
                "rate, decay, decays, clip, skip_not_finite.");
};
template <bool legal, class... YourTypes>
struct refused<Code::T17_another_name_in_training, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T17] train has this by another name, or not: Adam is AdamW (its "
                "decay is 0 unless given), SGD is Sgd, adamw(1e-3) and sgd(0.1) are "
                "AdamW{{.rate = 1e-3}} and Sgd{{.rate = 0.1}}; clip_grad_norm_ is "
                "clip_by_global_norm, cosine_decay_schedule Rate::cosine, apply_updates a part "
                "of update, tree_map for_each_tensor. docs/training.md has the rest.");
};
template <bool legal, class... YourTypes>
struct refused<Code::A18_no_such_call_of_checkpoint, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype A18] no function of checkpoint is called like this. The run or file "
                "comes first: save(\"run\", step, model, state, {{\"epoch\", 3}}), load(\"run\", "
                "model, state), save_safetensors(\"m.safetensors\", model). load fills the "
                "tensors of a model that is there and not const. An extra value is a number or "
                "a text, read by extra.get<double>(\"loss\").");
};
template <bool legal, class... YourTypes>
struct refused<Code::A19_another_name_of_numbers, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype A19] this function has another name here: randn and standard_normal "
                "are normal<float, Dim<I>>(mesh, {n}, key), rand and random uniform, randint "
                "integers, randperm permutation, each with its element type and dims; "
                "PRNGKey(7), key(7), seed(7) and default_rng(7) are RandomKey{7}, split and "
                "fold_in its members; fft2 is fftn<I, J>(a), so rfft2, ifft2 and irfft2; "
                "checkpoint::restore is load.");
};

}  // namespace shardtype::checking
