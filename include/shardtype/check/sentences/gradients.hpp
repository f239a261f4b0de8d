#pragma once
/// Refusals of differentiation.

#include <shardtype/check/refused.hpp>

namespace shardtype::checking {

template <bool legal, class... YourTypes>
struct refused<Code::X01_gradient_unreduced, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype X01] the gradient of an operand needs an all_reduce over a mesh "
                "axis along which the operand is replicated, and nothing in the source names "
                "it. Use used_as<Dims..., Reduced<X>>(w), or reduced<X>(w), of a block "
                "varying<X>(w): free forward, one all_reduce backward. Or declare w "
                "Reduced<X> (its gradient stays unreduced). Of statistics over a split dim: "
                "name them, sum<Dims..., Reduced<X>>(a).");
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
                "operand if no gradient should flow; of a pending maximum name the result, "
                "max<Dim<I>>(a); of a function of yours specialise autodiff::Derivative.");
};
template <bool legal, class... YourTypes>
struct refused<Code::X04_loss, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype X04] a loss is one real floating number: a tensor or block without "
                "dims. Sum or average over its dims first; all_reduce a pending maximum; a C++ "
                "number carries no gradient.");
};
template <bool legal, class... YourTypes>
struct refused<Code::X05_captured, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype X05] the function of remat or custom_vjp uses a value whose "
                "gradient is wanted, which is not among its arguments: no gradient would "
                "reach it. Pass it: remat([](auto x, auto w) { ... })(x, w); or capture "
                "stop_gradient(w) if no gradient should flow. (The type is that of the "
                "result.)");
};
template <bool legal, class... YourTypes>
struct refused<Code::X06_other_cotangent, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype X06] wrong type of a cotangent: the first type was given, the "
                "second is expected: the type of the value with Unreduced and Reduced swapped "
                "(cotangent_t; of structures gradient_t). Give the same dims in the same "
                "order and the same element type; reshard, transpose or cast it.");
};
template <bool legal, class... YourTypes>
struct refused<Code::X07_custom_vjp, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype X07] custom_vjp(f, forward, backward): forward(args...) gives a "
                "std::pair of f's result, of the same type, and of what backward reads; "
                "backward(saved, ct) gives the argument's cotangent, of several arguments a "
                "std::tuple with one for each (no_gradient where none flows).");
};
template <bool legal, class... YourTypes>
struct refused<Code::X08_not_double, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype X08] check_grads takes differences in double: of an argument of other "
                "floating elements, cast<double>(a), with an f that takes any element type.");
};
template <bool legal, class... YourTypes>
struct refused<Code::X09_read, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype X09] a C++ number is read of a value whose gradient is wanted, and what is "
      "computed from it would lack this part of the gradient. Compute with tensors; or say "
      "that none shall flow: item(stop_gradient(a)), to_host(stop_gradient(a)).");
};
template <bool legal, class... YourTypes>
struct refused<Code::X10_no_parameters, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype X10] an argument whose gradient is wanted is neither a tensor nor a vector, "
      "array, tuple or struct of tensors, and so no model of an optimizer or checkpoint. A struct "
      "says how it holds them: template <template <class> class As> struct Model { "
      "As<Tensor<float, Dim<I>>> w; }; and Model<value_t> is the argument.");
};
template <bool legal, class... YourTypes>
struct refused<Code::X11_assigned, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype X11] a tensor is assigned a value whose gradient is wanted, and would lose it. "
      "Let "
      "the variable begin with such a value: auto y = layer(x, m.layers[0]); before the loop over "
      "the others. Or say that none shall flow: y = stop_gradient(b).");
};
template <bool legal, class... YourTypes>
struct refused<Code::X12_no_function, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype X12] a gradient is one of a function, and is a function itself: "
                "grad<0>(f)(w, x), value_and_grad<0>(f)(w, x), where f(w, x) gives the loss. The "
                "number says for which argument.");
};

}  // namespace shardtype::checking
