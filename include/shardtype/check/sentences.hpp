#pragma once
/// Every refusal the compiler can give, as a literal sentence.
///
/// One specialisation per code, named by the front door itself: the operands, then the index and
/// the axis at fault, are its arguments, so compilers print them in the user's own types. The
/// condition is a bool parameter because a comparison would be printed too.

#include <shardtype/check/poisoned.hpp>
#include <shardtype/rules/verdict.hpp>

namespace shardtype {

/// A refused operation on `YourTypes`; see docs/errors.md for each code.
template <Code, bool legal, class... YourTypes>
struct refused {};

template <bool legal, class... YourTypes>
struct refused<Code::T01_axis_twice, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T01] a mesh axis stands twice in one tensor type; an axis splits one "
                "dim, or is unreduced, or is reduced, and that once. Drop it from all but one "
                "place.");
};
template <bool legal, class... YourTypes>
struct refused<Code::T02_index_twice, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T02] two dims have the same index. Give one of them an index of its "
                "own.");
};
template <bool legal, class... YourTypes>
struct refused<Code::T03_not_canonical, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T03] this tensor type is not in canonical form. Write the dims, then "
                "Unreduced, then Reduced, then Memory, each at most once and none without axes, "
                "their axes sorted by name; tensor_t<...> spells it for you.");
};
template <bool legal, class... YourTypes>
struct refused<Code::T04_unknown_part, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T04] a tensor type has a part that is no Dim and no attribute. Write "
                "Tensor<float, Dim<I, X>, Dim<J>, Unreduced<Y>>.");
};
template <bool legal, class... YourTypes>
struct refused<Code::T05_not_an_axis, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T05] a Dim, attribute or collective names the wrong kind of thing: "
                "first in a Dim stands an index (struct I : Index<\"I\"> {};), all else are mesh "
                "axes (struct X : Axis<\"X\", 2> {};).");
};
template <bool legal, class... YourTypes>
struct refused<Code::T06_same_name, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T06] two different types of one operation have the same name, so "
                "plans and messages could not tell them apart. Rename one, or use one type in "
                "both.");
};
template <bool legal, class... YourTypes>
struct refused<Code::T07_too_many, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T07] one operation has more than 8 indices or 4 mesh axes. Split it "
                "into two operations.");
};
template <bool legal, class... YourTypes>
struct refused<Code::T08_element_type, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype T08] a tensor cannot hold this element type. Use float, double, "
      "bool, std::int32_t, std::int64_t or Kokkos::complex of float or double, without const.");
};
template <bool legal, class... YourTypes>
struct refused<Code::T09_not_a_tensor, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T09] an operand is no Tensor. Make one first: full, from_host, "
                "from_function, load_npy.");
};

template <bool legal, class... YourTypes>
struct refused<Code::C01_nothing_shared, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype C01] the operands share no index to multiply over. Make one dim of b "
                "have the index of one of a, or name the outer product: einsum<I, J>(a, b), free.");
};
template <bool legal, class... YourTypes>
struct refused<Code::C02_one_side_only, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype C02] the contracted index is split over a mesh axis in one operand "
                "only. Split it in the other one too (reshard, free: a slice; the product then "
                "owes an all_reduce over the axis), or all_gather this one (each rank receives "
                "the other blocks), or name the result: matmul<Out>(a, b) takes the cheaper.");
};
template <bool legal, class... YourTypes>
struct refused<Code::C03_several_shared, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype C03] the operands share several indices. Say which ones stay: "
                "einsum<B, I, K>(a, b) keeps those it names and sums over the others.");
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
                "[shardtype C08] an operand still owes a maximum or minimum, through which no "
                "product goes. all_reduce it first, or reduce_scatter it (half the bytes).");
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
                "of one type.");
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
struct refused<Code::N04_nothing_to_owe, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype N04] the named result is unreduced over a mesh axis, but nothing is "
                "summed here. Drop Unreduced from the result.");
};
template <bool legal, class... YourTypes>
struct refused<Code::N05_element_type, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype N05] the named result has another element type or memory than the "
                "operands. Name just its dims and attributes; these come from the operands.");
};

template <bool legal, class... YourTypes>
struct refused<Code::N06_contracted_kept, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype N06] the named result keeps the index that matmul multiplies over. Drop "
      "it from the result, or keep it as a batch index: einsum<Dim<...>...>(a, b).");
};

template <bool legal, class... YourTypes>
struct refused<Code::P01_no_operand_has_all, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype P01] no operand has all indices of the others, so the result would "
                "be an outer product, which a mistyped index makes too easily. Give one operand "
                "all of them (broadcast, free), or name the result: map<Out>(f, a, b), free.");
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
struct refused<Code::P05_owed_and_whole, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype P05] one operand is unreduced over the axis and the other is whole: "
                "each rank would add the whole value, and the sum would count it once per rank. "
                "Add to_partial<X>(b), free (one rank keeps the value), or all_reduce the "
                "unreduced operand first.");
};
template <bool legal, class... YourTypes>
struct refused<Code::P06_owed_and_split, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype P06] one operand is unreduced over an axis that splits another "
                "operand, so summands and blocks do not belong together. reduce_scatter the "
                "first onto that dim, or all_gather the second over the axis.");
};
template <bool legal, class... YourTypes>
struct refused<Code::P07_two_owed, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype P07] both factors are unreduced over the axis: a product of sums is "
                "not the sum of products. all_reduce one of them first (2 n (p - 1) / p bytes "
                "per rank).");
};
template <bool legal, class... YourTypes>
struct refused<Code::P08_kinds_differ, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype P08] the operands owe another kind of reduction than the function "
                "keeps: sums go through linear functions, maxima through max, minima through "
                "min. all_reduce the operand over the axis first.");
};
template <bool legal, class... YourTypes>
struct refused<Code::P09_element_types_differ, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype P09] the operands have different element types or memories. "
                "cast<T>(a) one of them, free of communication.");
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
  static_assert(
      legal,
      "[shardtype P11] a condition is no tensor of bool: in where, any or all. Compare first: "
      "where(a > 0, b, c).");
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
struct refused<Code::S01_no_such_index, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype S01] the tensor has no dim with an index that the reduction names. "
                "Name those of its type.");
};
template <bool legal, class... YourTypes>
struct refused<Code::S02_other_kind_owed, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype S02] the tensor is unreduced and this reduction is not the one it "
                "owes: sums commute with sums, maxima with max, minima with min. all_reduce it "
                "over the axis first.");
};
template <bool legal, class... YourTypes>
struct refused<Code::S03_split, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype S03] the reduction runs over a split dim, and no reduction of what "
                "the ranks hold would finish it. all_gather the dim first (each rank receives "
                "the other blocks), or name the result, which exchanges partial results only: "
                "norm<Out>(a).");
};
template <bool legal, class... YourTypes>
struct refused<Code::S04_no_order, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype S04] complex numbers have no order, so this reduction has no meaning "
                "for them. Reduce their size or a part of them: max(abs(a)), max(real(a)).");
};

template <bool legal, class... YourTypes>
struct refused<Code::R01_indices_differ, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype R01] a reshard keeps the indices; source and destination have "
                "different ones. Check the indices of the destination.");
};
template <bool legal, class... YourTypes>
struct refused<Code::R02_replicated_to_unreduced, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype R02] a reshard never makes a replicated value unreduced: that would "
                "count it once per rank. Drop Unreduced from the destination, which is free.");
};
template <bool legal, class... YourTypes>
struct refused<Code::R03_split_to_unreduced, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype R03] a reshard never makes a split value unreduced: each rank holds a "
                "part of it, no summand. Keep the split (free), or all_gather it (each rank "
                "receives the other blocks).");
};
template <bool legal, class... YourTypes>
struct refused<Code::R04_kind_differs, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype R04] source and destination are unreduced with different kinds (sum, "
                "Max, Min). Name the kind of the source (free), or reduce it fully with "
                "all_reduce.");
};

template <bool legal, class... YourTypes>
struct refused<Code::K01_not_split, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype K01] this collective takes a mesh axis off a dim, but the axis does "
                "not split it. Check the tensor's type; to reach a sharding by any way, use "
                "reshard<Dim<...>...>(a), which communicates only what it must.");
};
template <bool legal, class... YourTypes>
struct refused<Code::K02_not_minor_most, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype K02] only the last (minor-most) mesh axis of a dim can leave it in "
                "one collective. Start with that one, or use reshard<Dim<...>...>(a), which plans "
                "the cheapest order.");
};
template <bool legal, class... YourTypes>
struct refused<Code::K03_not_unreduced, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype K03] this collective reduces over a mesh axis, but the tensor is not "
                "unreduced over it: its ranks hold copies or parts, no summands. Drop the call "
                "(free); if the axis splits a dim, all_gather undoes that.");
};
template <bool legal, class... YourTypes>
struct refused<Code::K04_no_such_index, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype K04] this collective names an index that the tensor does not have. "
                "Check the indices of the tensor.");
};

template <bool legal, class... YourTypes>
struct refused<Code::K05_already_owed, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype K05] the tensor is unreduced already: over this axis, or over others "
                "by max or min. Use it as it is, or all_reduce it first.");
};
template <bool legal, class... YourTypes>
struct refused<Code::K06_split, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype K06] the axis splits a dim of the tensor; only what is replicated over "
                "it can be cast to reduced. all_gather it first, or reshard to Reduced (each rank "
                "receives the other blocks).");
};
template <bool legal, class... YourTypes>
struct refused<Code::D01_no_such_index, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D01] this operation names an index that the tensor does not have. "
                "Check the indices of the tensor.");
};
template <bool legal, class... YourTypes>
struct refused<Code::D02_index_taken, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D02] the tensor already has an index of the name that this "
                "operation gives to a new dim. Give the new dim another index, or relabel<Old, "
                "New>(a) the old one first (free).");
};
template <bool legal, class... YourTypes>
struct refused<Code::D03_along_split, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D03] this operation works along one dim, and a mesh axis splits "
                "that dim. all_gather the axis first (each rank receives the other blocks), or "
                "move it to another dim with all_to_all (each rank sends its block once), or, "
                "for rows beyond each block, use halo_exchange<I>(a, before, after), which "
                "sends only those.");
};
template <bool legal, class... YourTypes>
struct refused<Code::D04_roll_along_split, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D04] roll is local, and a mesh axis splits the dim. shift<I>(a, n, "
                "Edge::wrap) does it: each rank sends the rows that change ranks, at most its "
                "block. Or all_gather the axis first (each rank receives the other blocks).");
};
template <bool legal, class... YourTypes>
struct refused<Code::D05_extent_changes, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D05] this operation changes the extent of an index whose type "
                "settles it. Name another index for the result, as in slice<I, Head>(a, 0, 10), "
                "or relabel<I, Other>(a) to one without static extent first; both are free.");
};
template <bool legal, class... YourTypes>
struct refused<Code::D06_extents_contradict, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D06] the static extents of the indices contradict this operation: "
                "relabel keeps the extent, squeeze and expand have extent 1, split and merge "
                "have a product, concat and stack a sum. Use an index whose extent fits, or one "
                "without static extent.");
};
template <bool legal, class... YourTypes>
struct refused<Code::D07_names_incomplete, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D07] the indices named here are not as many as the operation needs: "
                "transpose names every index of the tensor once, relabel names pairs of an old "
                "and a new one, the others at most one for the result. Add or drop one.");
};
template <bool legal, class... YourTypes>
struct refused<Code::D08_not_neighbours, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D08] merge joins two neighbouring dims, the first of them the outer "
                "one; these do not stand like that. transpose the tensor first (a local copy).");
};
template <bool legal, class... YourTypes>
struct refused<Code::D09_blocks_differ, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D09] the blocks of the split dims do not line up with those of the "
                "merged one: a mesh axis cuts inside a row. Take the axis off with all_gather "
                "first (each rank receives the other blocks), or move it to another dim with "
                "all_to_all (each rank sends its block once).");
};
template <bool legal, class... YourTypes>
struct refused<Code::D10_other_axes, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D10] the parts of a split must have the mesh axes of the dim, those "
                "of the outer part first, in their order. Write them so, or reshard first (its "
                "plan says the cost).");
};
template <bool legal, class... YourTypes>
struct refused<Code::D11_pad_unreduced, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D11] the tensor is still unreduced, so a pad value would be counted "
                "once per rank. Pad with zeros (leave the value out, free), or all_reduce "
                "first, or reduce_scatter (half the bytes).");
};
template <bool legal, class... YourTypes>
struct refused<Code::D12_dims_differ, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D12] the operands must have the same indices in the same order, "
                "split over the same mesh axes. transpose (a local copy), relabel (free) or "
                "reshard one of them (its plan says the cost).");
};
template <bool legal, class... YourTypes>
struct refused<Code::D13_unreduced_differs, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D13] the operands must be unreduced over the same mesh axes with "
                "one kind. all_reduce the one that owes more, or reduce_scatter it (half the "
                "bytes).");
};
template <bool legal, class... YourTypes>
struct refused<Code::D14_scan_unreduced, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D14] the tensor still owes a reduction that this scan does not "
                "commute with: sums go through sums, maxima through maxima. all_reduce first, "
                "or reduce_scatter (half the bytes).");
};
template <bool legal, class... YourTypes>
struct refused<Code::D15_element_type, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D15] elements of this type cannot be scanned like this: complex "
                "numbers have no order, and sums of bool are no bool. Scan complex numbers by "
                "sum; cast<std::int64_t>(a) booleans first, free of communication.");
};
template <bool legal, class... YourTypes>
struct refused<Code::I01_not_integers, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype I01] places are given by a tensor of std::int32_t or std::int64_t; "
                "this one holds something else. cast<std::int64_t>(ids) it first, free of "
                "communication.");
};
template <bool legal, class... YourTypes>
struct refused<Code::I02_ids_unreduced, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype I02] the tensor of ids is still unreduced: its ranks hold summands, "
                "which are no ids. all_reduce it first.");
};
template <bool legal, class... YourTypes>
struct refused<Code::I03_shared_index, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype I03] the ids and the table share an index, so the result would have "
                "it twice. relabel<Old, New>(ids) gives that dim of the ids another index, free; "
                "to look up along one dim with all others in common, use take_along<J>(a, ids).");
};
template <bool legal, class... YourTypes>
struct refused<Code::I04_looked_up_and_ids, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype I04] a mesh axis splits the index that is looked up and the ids too: "
                "each rank would look for its own ids in its own part of the table alone. "
                "all_gather the ids over the axis first (each rank receives the other ids; the "
                "result then owes an all_reduce), or all_gather the table (each rank receives the "
                "other blocks), or name the result: gather<V, Dim<...>...>(table, ids) gathers "
                "the ids.");
};
template <bool legal, class... YourTypes>
struct refused<Code::I05_axis_on_two, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype I05] a mesh axis splits one index in the ids and another one in the "
                "other operand. all_gather one of them over the axis first (of the ids each rank "
                "receives least), or name the result, Dim<...>... behind the index: gather and "
                "scatter_add then reshard the ids.");
};
template <bool legal, class... YourTypes>
struct refused<Code::I06_owed_and_split, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype I06] an operand is unreduced over a mesh axis that splits the other, "
                "so each rank would use its own places on its own summand alone. all_gather the "
                "split one over the axis (each rank receives the other blocks), or all_reduce the "
                "unreduced one first.");
};
template <bool legal, class... YourTypes>
struct refused<Code::I07_other_kind_owed, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype I07] the operand owes a maximum or minimum, and this operation joins "
                "what ranks hold by a sum (of bool: by a maximum). all_reduce it over the axis "
                "first.");
};
template <bool legal, class... YourTypes>
struct refused<Code::I08_index_missing, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype I08] the updates lack an index of the ids: there is one update for "
                "each id. relabel<Old, New>(ids) if it is called otherwise in the updates (free), "
                "or broadcast<Dim<K>>(updates, {n}) to it (a local copy).");
};
template <bool legal, class... YourTypes>
struct refused<Code::I09_lists_differ, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype I09] an index is split differently in the ids and in the updates, and "
                "neither list of axes begins with the other. reshard the ids as the updates (each "
                "rank receives its ids), or name the result: scatter_add<V, Dim<...>...>(updates, "
                "ids, n) does it.");
};
template <bool legal, class... YourTypes>
struct refused<Code::I10_sort_unreduced, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype I10] the tensor is still unreduced: the order of summands is not that "
                "of their sums. all_reduce it first, or reduce_scatter it onto a dim that is not "
                "sorted (half the bytes).");
};
template <bool legal, class... YourTypes>
struct refused<Code::I11_no_order, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype I11] complex numbers have no order. Sort abs(a) or real(a), free of "
                "communication; take_along<I>(a, argsort<I>(abs(a))) orders the numbers "
                "themselves.");
};

template <bool legal, class... YourTypes>
struct refused<Code::B01_cyclic_beside_others, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype B01] a Cyclic stands beside other mesh axes of its dim: an axis that "
                "deals indices out in turns is the dim's only one. Deal them out over one axis, "
                "Dim<I, Cyclic<X, 64>>, or cut them into blocks, Dim<I, X, Y>.");
};
template <bool legal, class... YourTypes>
struct refused<Code::B02_turn, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype B02] a Cyclic says how many indices a rank is dealt at a time: from 1 "
                "to 2147483647, as in Dim<I, Cyclic<X, 64>>.");
};
template <bool legal, class... YourTypes>
struct refused<Code::B03_through_cyclic, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype B03] this operation needs ranks that hold one block each, and here a "
                "mesh axis deals the indices out in turns (Cyclic). reshard it to blocks first, "
                "Dim<I, X> (one all_to_all: each rank sends its block once), or to Dim<I> where no "
                "axis may split it (an all_gather: each rank receives the other blocks); and back "
                "afterwards, if need be.");
};
template <bool legal, class... YourTypes>
struct refused<Code::B04_behind_cyclic, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype B04] this collective would put a mesh axis behind one that deals the "
                "dim out in turns (Cyclic), which is the dim's only one. Name another dim, or "
                "reshard the dim to blocks first, Dim<I, X> (one all_to_all: each rank sends its "
                "block once).");
};
template <bool legal, class... YourTypes>
struct refused<Code::B05_no_range, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype B05] the indices that a rank is dealt in turns (Cyclic) are no range. "
                "a.rows() says which they are, a.global_index<I>(local) one of them, "
                "a.local_extent<I>() how many; all free.");
};

template <bool legal, class... YourTypes>
struct refused<Code::B06_turns_differ, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype B06] the contracted index is dealt out in turns (Cyclic) in one operand, "
      "and cut into blocks or dealt out in other turns in the other, so the ranks hold "
      "different parts. reshard one operand as the other (one all_to_all: each rank sends "
      "its block once), or name the result: matmul<Out>(a, b) takes the cheaper.");
};

template <bool legal, class... YourTypes>
struct refused<Code::M01_axis_not_in_mesh, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype M01] the tensor type names a mesh axis that this Mesh does not have. "
                "Add the axis to the Mesh, or drop it from the type.");
};
template <bool legal, class... YourTypes>
struct refused<Code::A01_item_has_dims, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype A01] item takes the one value of a tensor without dims; this one has "
                "dims. Sum over them first, as einsum<>(a, b) does, or take the whole array with "
                "to_host(a) (an all_gather).");
};
template <bool legal, class... YourTypes>
struct refused<Code::A02_still_unreduced, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype A02] this takes values, but the tensor is still unreduced: its ranks "
                "hold summands. all_reduce it first, or reduce_scatter it (half the bytes).");
};
template <bool legal, class... YourTypes>
struct refused<Code::A03_no_such_index, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype A03] the tensor has no dim with this index. Check the indices of the "
                "tensor.");
};
template <bool legal, class... YourTypes>
struct refused<Code::G01_no_such_distribution, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype G01] this distribution has no tensors of this type. uniform and "
                "truncated_normal need float or double, normal those or complex, integers int32 or "
                "int64, bernoulli any type but complex, permutation int32 or int64 and one dim.");
};

}  // namespace shardtype
