#pragma once
/// Refusals of products and named results.

#include <shardtype/check/refused.hpp>

namespace shardtype::checking {

template <bool legal, class... YourTypes>
struct refused<Code::C01_nothing_shared, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype C01] the operands share no index to multiply over. Make one dim of b "
                "have the index of one of a, or name the outer product: einsum<I, J>(a, b), free.");
};
template <bool legal, class... YourTypes>
struct refused<Code::C02_one_side_only, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype C02] the contracted index is split over a mesh axis in one "
                "operand only. Slice the other operand to match: reshard (free; the product "
                "is then unreduced over the axis). Or all_gather this one (each rank receives "
                "the other blocks). Or name the result, matmul<Out>(a, b): the cheaper of the "
                "two is chosen.");
};
template <bool legal, class... YourTypes>
struct refused<Code::C03_several_shared, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype C03] the operands share several indices. Say which ones stay: "
                "einsum<B, I, K>(a, b) keeps those it names and sums over the others. Of a matrix "
                "with itself give one operand another index, matmul(a, relabel<I, K>(a)): dims are "
                "matched by name, so none is transposed. All of it is free.");
};
template <bool legal, class... YourTypes>
struct refused<Code::C04_axis_splits_two, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype C04] a mesh axis would split two dims of the product. all_gather one "
                "operand over it first (each rank receives the other blocks), or name the result: "
                "matmul<Out>(a, b) gathers the one that the result does not keep.");
};
template <bool legal, class... YourTypes>
struct refused<Code::C05_different_indices, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype C05] a mesh axis splits one index in one operand and another index in "
                "the other. Move it with all_to_all so that both split one index (each rank sends "
                "its block once), or all_gather it off a contracted index (each rank receives the "
                "other blocks), or name the result: matmul<Out>(a, b) takes the cheaper.");
};
template <bool legal, class... YourTypes>
struct refused<Code::C06_order_differs, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype C06] the contracted index is split over the same mesh axes in another "
                "order, so the ranks hold different blocks. Reshard one operand to the order of "
                "the other (a permute: each rank sends its block once), or name the result: "
                "matmul<Out>(a, b) takes the cheaper.");
};
template <bool legal, class... YourTypes>
struct refused<Code::C07_not_linear, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype C07] an operand is unreduced over a mesh axis along which the other "
                "is unreduced or split too: a product of sums is not the sum of products. "
                "all_reduce it first, or reduce_scatter it (half the bytes), or name the result: "
                "matmul<Out>(a, b) does the cheaper.");
};
template <bool legal, class... YourTypes>
struct refused<Code::C08_extremum_operand, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype C08] an operand is an unreduced maximum or minimum, which cannot "
                "be multiplied. all_reduce it first, or reduce_scatter it (half the bytes).");
};
template <bool legal, class... YourTypes>
struct refused<Code::C09_batch_lists_differ, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype C09] a batch index is split differently in both operands, and neither "
                "list of mesh axes begins with the other. Reshard one to the list of the other, "
                "or name the result: einsum<Dim<...>...>(a, b) takes the cheaper.");
};
template <bool legal, class... YourTypes>
struct refused<Code::C10_element_types_differ, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype C10] the operands have different element types or memories. Make both "
                "of one type: cast<T>(a), or to_memory<Space>(a), a copy of its block; neither "
                "communicates.");
};
template <bool legal, class... YourTypes>
struct refused<Code::C11_not_numbers, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype C11] the operands hold bool, which cannot be multiplied and summed. "
                "cast<std::int64_t>(a) them first, free of communication.");
};
template <bool legal, class... YourTypes>
struct refused<Code::N01_unknown_index, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype N01] the result names an index that no operand has. Check the indices "
                "of the result.");
};
template <bool legal, class... YourTypes>
struct refused<Code::N02_missing_index, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype N02] the named result lacks an index that only one operand has. Add "
                "it, or sum over it with einsum<Dim<...>...>(a, b).");
};
template <bool legal, class... YourTypes>
struct refused<Code::N03_wrong_kind, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype N03] a product is a sum; its result cannot be named Unreduced<Max, "
                "...> or Unreduced<Min, ...>. Write Unreduced<X>.");
};
template <bool legal, class... YourTypes>
struct refused<Code::N04_nothing_unreduced, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype N04] the named result is unreduced over a mesh axis, but nothing is "
                "summed here. Drop Unreduced from the result.");
};
template <bool legal, class... YourTypes>
struct refused<Code::N05_element_type, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype N05] the named result has another element type or memory than the "
                "operands. Name just its dims and attributes; these come from the operands. "
                "cast<T>(a) or to_memory<Space>(a), a copy of the block, changes them.");
};
template <bool legal, class... YourTypes>
struct refused<Code::N06_contracted_kept, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype N06] the named result keeps the index that matmul multiplies "
                "over. Remove it from the result, or keep it as a batch index: "
                "einsum<Dim<...>...>(a, b).");
};

template <bool legal, class... YourTypes>
struct refused<Code::N07_no_named_form, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype N07] op::Named takes an operation that computes one block from blocks: this one "
      "communicates, has two results, or names its result itself, as matmul<Dim<...>...>(a, b). "
      "Reshard its result: reshard<Dim<...>...>(b) (its plan says the cost).");
};

}  // namespace shardtype::checking
