#pragma once
/// Refusals of differentiation.

#include <shardtype/check/refused.hpp>

namespace shardtype::checking {

template <bool legal, class... YourTypes>
struct refused<Code::X01_gradient_unreduced, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype X01] the gradient of an operand is a sum over a mesh axis along which "
                "the operand is replicated, so the backward pass would hide an all_reduce. Say it: "
                "used_as<Dims..., Reduced<X>>(w), or reduced<X>(w), of a block varying<X>(w), is "
                "free forward and one all_reduce backward; or declare w Reduced<X> (its gradient "
                "stays unreduced). Of statistics over a split dim: name them, sum<Dims..., "
                "Reduced<X>>(a).");
};
template <bool legal, class... YourTypes>
struct refused<Code::X02_gradient_in_blocks, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype X02] an operand is replicated along a mesh axis and was sliced for "
                "free, so its gradient comes in blocks and the backward pass would hide an "
                "all_gather. Slice it by name: reshard<Dim<I, X>>(b), free forward and one "
                "all_gather backward; or use reduced<X>(b): one all_reduce backward.");
};
template <bool legal, class... YourTypes>
struct refused<Code::X03_not_differentiable, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype X03] this operation has no gradient. Use stop_gradient(a) on its "
                "operand if none shall flow; of a pending maximum name the result, max<Dim<I>>(a); "
                "of a function of yours specialise autodiff::Derivative.");
};
template <bool legal, class... YourTypes>
struct refused<Code::X04_loss, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype X04] a loss is one real floating number that depends on an argument "
                "whose gradient is wanted. Sum or average over its dims first; all_reduce a "
                "pending maximum.");
};

}  // namespace shardtype::checking
