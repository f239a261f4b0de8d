#pragma once
/// Refusals of the functions of nn.

#include <shardtype/check/refused.hpp>

namespace shardtype::checking {
template <bool legal, class... YourTypes>
struct refused<Code::N08_no_such_call_of_nn, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype N08] no function of nn is called like this. The dim that it works "
                "along is a template argument: cross_entropy<V>(logits, ids), layer_norm<D>(x, "
                "gain, bias), rms_norm<D>(x, gain), router<E>(logits, k), rotary<S, F>(x), "
                "embedding<V>(table, ids). Operands go by their place: dropout(x, RandomKey{1}, "
                "0.1), moe(x, routes, w_in, w_out) with the routes of router, attention(q, k, "
                "v, {.causal = true}).");
};
template <bool legal, class... YourTypes>
struct refused<Code::N09_another_name_in_nn, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype N09] nn has this function by another name, or shardtype itself has "
                "it: softmax<I>(a), relu(a), gelu(a), sigmoid(a), one_hot<V>(ids) are written "
                "without nn::, scaled_dot_product_attention is attention(q, k, v), dense "
                "linear(x, w, b), conv2d conv<nn::Window<H, KH>, nn::Window<W, KW>>(x, w), a mean "
                "of squares mean(square(a - b)). docs/nn.md lists what nn has.");
};
template <bool legal, class... YourTypes>
struct refused<Code::D21_heads, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D21] attention takes queries q[B, S, H, F], keys and values k, v[B, "
                "K, G, F]: four dims, the third are heads, split in keys and values as in "
                "queries, or whole. transpose<B, S, H, F>(expand<H>(q)) adds one head, "
                "split_dim<D, H, F>(q, {heads, features}) splits features into heads (both "
                "free), reshard<Dim<B>, Dim<S>, Dim<H, Y>, Dim<F>>(q) splits heads (free, a "
                "slice).");
};
template <bool legal, class... YourTypes>
struct refused<Code::D22_one_hot_targets, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D22] targets have the dim of the classes here: cross_entropy takes "
                "the number of each row's class, i64[B], and no one_hot or probabilities. Give "
                "the numbers, argmax<V>(targets); of probabilities p the losses are -sum<V>(p * "
                "log_softmax<V>(x)). Both are free of communication.");
};

}  // namespace shardtype::checking
