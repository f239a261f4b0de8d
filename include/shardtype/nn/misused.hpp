#pragma once
/// Refusals of calls of nn that none of its functions takes, and of names of others. As in
/// check/misused.hpp, any other function of the name is the better match.

#include <shardtype/check/misused.hpp>
#include <shardtype/nn/router.hpp>
#include <shardtype/nn/types_attention.hpp>

namespace shardtype::nn::api {

// Refused, N08: `layer_norm(x, gain, bias)` without its dim, `dropout(x, 0.1, key)`.
#define SHARDTYPE_CALL_OF_NN(name) \
  SHARDTYPE_REFUSED_CALLS(name, N08_no_such_call_of_nn, checking::Poisoned)
SHARDTYPE_CALL_OF_NN(attention)
SHARDTYPE_CALL_OF_NN(conv)
SHARDTYPE_CALL_OF_NN(conv_transposed)
SHARDTYPE_CALL_OF_NN(max_pool)
SHARDTYPE_CALL_OF_NN(avg_pool)
SHARDTYPE_CALL_OF_NN(cross_entropy)
SHARDTYPE_CALL_OF_NN(mean_cross_entropy)
SHARDTYPE_CALL_OF_NN(dropout)
SHARDTYPE_CALL_OF_NN(linear)
SHARDTYPE_CALL_OF_NN(embedding)
SHARDTYPE_CALL_OF_NN(swiglu)
SHARDTYPE_CALL_OF_NN(geglu)
SHARDTYPE_CALL_OF_NN(layer_norm)
SHARDTYPE_CALL_OF_NN(rms_norm)
SHARDTYPE_CALL_OF_NN(group_norm)
SHARDTYPE_CALL_OF_NN(mlp)
SHARDTYPE_CALL_OF_NN(gated_mlp)
SHARDTYPE_CALL_OF_NN(self_attention)
SHARDTYPE_CALL_OF_NN(queries_keys_values)
SHARDTYPE_CALL_OF_NN(moe)
SHARDTYPE_CALL_OF_NN(rotary)
SHARDTYPE_CALL_OF_NN(causal_mask)
SHARDTYPE_CALL_OF_NN(ragged_dot)
SHARDTYPE_CALL_OF_NN(expert_load)
SHARDTYPE_CALL_OF_NN(dropped_rows)
SHARDTYPE_CALL_OF_NN(load_balance_loss)
SHARDTYPE_CALL_OF_NN(z_loss)
SHARDTYPE_CALL_OF_NN(transformer_block)
SHARDTYPE_REFUSED_CALLS(router, N08_no_such_call_of_nn,
                        Routes<checking::Poisoned, checking::Poisoned>)
#undef SHARDTYPE_CALL_OF_NN
// Refused, N08: options before the values.
template <class... Labels>
constexpr auto attention(checking::Anything const&, checking::Anything const&,
                         AttentionOptions const&) {
  checking::refused<rules::Code::N08_no_such_call_of_nn, false, Labels...>{};
  return checking::Poisoned{};
}

// Refused, N09: names of jax.nn, optax.losses and torch.nn.functional.
#define SHARDTYPE_NAME_IN_NN(name) \
  SHARDTYPE_REFUSED_CALLS(name, N09_another_name_in_nn, checking::Poisoned)
SHARDTYPE_NAME_IN_NN(softmax)
SHARDTYPE_NAME_IN_NN(log_softmax)
SHARDTYPE_NAME_IN_NN(logsumexp)
SHARDTYPE_NAME_IN_NN(relu)
SHARDTYPE_NAME_IN_NN(relu6)
SHARDTYPE_NAME_IN_NN(leaky_relu)
SHARDTYPE_NAME_IN_NN(elu)
SHARDTYPE_NAME_IN_NN(selu)
SHARDTYPE_NAME_IN_NN(celu)
SHARDTYPE_NAME_IN_NN(gelu)
SHARDTYPE_NAME_IN_NN(silu)
SHARDTYPE_NAME_IN_NN(swish)
SHARDTYPE_NAME_IN_NN(sigmoid)
SHARDTYPE_NAME_IN_NN(log_sigmoid)
SHARDTYPE_NAME_IN_NN(hard_tanh)
SHARDTYPE_NAME_IN_NN(hard_sigmoid)
SHARDTYPE_NAME_IN_NN(tanh)
SHARDTYPE_NAME_IN_NN(softplus)
SHARDTYPE_NAME_IN_NN(glu)
SHARDTYPE_NAME_IN_NN(one_hot)
SHARDTYPE_NAME_IN_NN(standardize)
SHARDTYPE_NAME_IN_NN(normalize)
SHARDTYPE_NAME_IN_NN(batch_norm)
SHARDTYPE_NAME_IN_NN(instance_norm)
SHARDTYPE_NAME_IN_NN(norm)
SHARDTYPE_NAME_IN_NN(dense)
SHARDTYPE_NAME_IN_NN(bias_add)
SHARDTYPE_NAME_IN_NN(einsum)
SHARDTYPE_NAME_IN_NN(matmul)
SHARDTYPE_NAME_IN_NN(pad)
SHARDTYPE_NAME_IN_NN(conv1d)
SHARDTYPE_NAME_IN_NN(conv2d)
SHARDTYPE_NAME_IN_NN(conv3d)
SHARDTYPE_NAME_IN_NN(conv_transpose)
SHARDTYPE_NAME_IN_NN(conv_transpose2d)
SHARDTYPE_NAME_IN_NN(max_pool2d)
SHARDTYPE_NAME_IN_NN(avg_pool2d)
SHARDTYPE_NAME_IN_NN(scaled_dot_product_attention)
SHARDTYPE_NAME_IN_NN(dot_product_attention)
SHARDTYPE_NAME_IN_NN(multi_head_attention)
SHARDTYPE_NAME_IN_NN(multi_head_attention_forward)
SHARDTYPE_NAME_IN_NN(flash_attention)
SHARDTYPE_NAME_IN_NN(softmax_cross_entropy)
SHARDTYPE_NAME_IN_NN(softmax_cross_entropy_with_integer_labels)
SHARDTYPE_NAME_IN_NN(nll_loss)
SHARDTYPE_NAME_IN_NN(mse_loss)
SHARDTYPE_NAME_IN_NN(l1_loss)
SHARDTYPE_NAME_IN_NN(l2_loss)
SHARDTYPE_NAME_IN_NN(huber_loss)
SHARDTYPE_NAME_IN_NN(smooth_l1_loss)
SHARDTYPE_NAME_IN_NN(kl_div)
SHARDTYPE_NAME_IN_NN(binary_cross_entropy)
SHARDTYPE_NAME_IN_NN(binary_cross_entropy_with_logits)
SHARDTYPE_NAME_IN_NN(sigmoid_binary_cross_entropy)
SHARDTYPE_NAME_IN_NN(cosine_similarity)
SHARDTYPE_NAME_IN_NN(top_k)
#undef SHARDTYPE_NAME_IN_NN

}  // namespace shardtype::nn::api
