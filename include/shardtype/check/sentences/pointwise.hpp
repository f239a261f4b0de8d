#pragma once
/// Refusals of elementwise operations and reductions.

#include <shardtype/check/refused.hpp>

namespace shardtype::checking {

template <bool legal, class... YourTypes>
struct refused<Code::P01_no_operand_has_all, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype P01] no operand has all indices of the others, so this would be "
                "an outer product. For a product of matrices use matmul(a, b). If you mean "
                "the outer product, name it: map<Dim<I>, Dim<J>>(f, a, b), free. Or give one "
                "operand all indices (broadcast, free).");
};
template <bool legal, class... YourTypes>
struct refused<Code::P02_lists_differ, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype P02] an index is split differently in two operands, and neither "
                "list of axes begins with the other. reshard one as the other (an all_to_all or "
                "a permute; an all_gather where it must come off), or name the result: "
                "map<Out>(f, a, b) reshards what does not fit.");
};
template <bool legal, class... YourTypes>
struct refused<Code::P03_axis_splits_two, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype P03] a mesh axis would split two dims of the result: it splits one "
                "index in one operand and another index in another. all_gather one operand over "
                "it first (each rank receives the other blocks), or name the result: "
                "map<Out>(f, a, b).");
};
template <bool legal, class... YourTypes>
struct refused<Code::P04_not_linear, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype P04] an operand is unreduced and the function is not linear in it: "
                "f of a sum is not the sum of f. all_reduce the operand over the axis first, or "
                "reduce_scatter it onto a dim (half of that).");
};
template <bool legal, class... YourTypes>
struct refused<Code::P05_unreduced_and_whole, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype P05] one operand is unreduced over the axis and the other is whole: "
                "each rank would add the whole value, and the sum would count it once per rank. "
                "Add to_partial<X>(b), free (one rank keeps the value), or all_reduce the "
                "unreduced operand first.");
};
template <bool legal, class... YourTypes>
struct refused<Code::P06_unreduced_and_split, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype P06] one operand is unreduced over an axis that splits another "
      "operand, so summands and blocks do not belong together. all_reduce<X> the unreduced "
      "one first (as all_reduce<X>(max<J>(a)), one number per row), or, if it has that "
      "dim, reduce_scatter it onto it (half the bytes).");
};
template <bool legal, class... YourTypes>
struct refused<Code::P07_two_unreduced, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype P07] both factors are unreduced over the axis: a product of sums is "
                "not the sum of products. all_reduce one of them first (2 n (p - 1) / p bytes "
                "per rank).");
};
template <bool legal, class... YourTypes>
struct refused<Code::P08_kinds_differ, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype P08] an operand is unreduced by a kind that the function does not "
                "keep: linear functions keep sums, max keeps maxima, min keeps minima. "
                "all_reduce it over the axis first.");
};
template <bool legal, class... YourTypes>
struct refused<Code::P09_element_types_differ, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype P09] the operands have different element types or memories. "
                "cast<T>(a) one of them, free of communication; to_memory<Space>(a) copies its "
                "block.");
};
template <bool legal, class... YourTypes>
struct refused<Code::P10_number_does_not_fit, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype P10] a number does not fit the tensor's element type: a floating "
                "one on an integer tensor, or a complex one on a real tensor. cast<T>(a) the "
                "tensor first, or give a number of its own kind.");
};
template <bool legal, class... YourTypes>
struct refused<Code::P11_condition, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype P11] where, any and all need a condition of bool. Compare first: "
                "where(a > 0, b, c); where takes a C++ bool as well.");
};
template <bool legal, class... YourTypes>
struct refused<Code::P12_not_floating, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype P12] this function is one of floating and complex numbers, the "
                "tensor holds integers. cast<float>(a) it first.");
};
template <bool legal, class... YourTypes>
struct refused<Code::P13_in_place, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype P13] the result of an in-place operation would have another "
                "sharding or element type than the tensor it is written to. Write c = a + b to "
                "a new tensor, or reshard the other operand first.");
};
template <bool legal, class... YourTypes>
struct refused<Code::P14_not_integers, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype P14] &, |, ^ and ~ are functions of integers and bools, << and >> of "
                "integers. cast<std::int32_t>(a) the tensor first; && and || take numbers of "
                "every type.");
};
template <bool legal, class... YourTypes>
struct refused<Code::S01_no_such_index, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype S01] the tensor has no dim with an index that the reduction names. "
                "Name those of its type.");
};
template <bool legal, class... YourTypes>
struct refused<Code::S02_other_kind, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype S02] the tensor is already unreduced by another kind: a sum "
                "cannot be taken of pending maxima, nor a maximum of pending sums. all_reduce "
                "it over the axis first.");
};
template <bool legal, class... YourTypes>
struct refused<Code::S03_split, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype S03] the reduction runs over a split dim and cannot stay "
                "unreduced. Name the result, norm<Dim<I, X>>(a), of softmax behind the index, "
                "softmax<J, Dim<I, X>, Dim<J, Y>>(a): only partial results are exchanged. Or "
                "all_gather the dim first (each rank receives the other "
                "blocks).");
};
template <bool legal, class... YourTypes>
struct refused<Code::S04_no_order, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype S04] complex numbers have no order, so this function or reduction has no "
      "meaning for them. Take their size or a part of them: max(abs(a)), max(real(a)).");
};

template <bool legal, class... YourTypes>
struct refused<Code::S05_axis_named, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype S05] a mesh axis is named where an index belongs: reductions and "
                "products run over indices, whatever axes split them. Name the index, "
                "sum<I>(a) (free; over a split dim the result is unreduced), or its dims, "
                "sum<Dim<J>>(a). To finish a sum that is unreduced over an axis, use "
                "all_reduce<X>(a).");
};
template <bool legal, class... YourTypes>
struct refused<Code::S06_which_dims, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype S06] softmax and log_softmax of several dims name those that they run "
      "over. Over the last one, as JAX without an axis: softmax<J>(a), with its index, "
      "which is the last type here; over all of them: softmax<I, J>(a), with all indices.");
};

}  // namespace shardtype::checking
