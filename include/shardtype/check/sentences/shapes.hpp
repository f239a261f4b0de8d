#pragma once
/// Refusals of dims, shapes and block-cyclic dims.

#include <shardtype/check/refused.hpp>

namespace shardtype::checking {

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
                "that dim. Name the result behind the indices, where the function has that form: "
                "slice<I, Head, Dim<Head>, Dim<J, X>>(a, 0, 10), at<I, Dim<J>>(a, 3), "
                "nn::attention<Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>(q, k, v). Or all_gather "
                "the axis first (each rank receives the other blocks), or move it to another dim "
                "with all_to_all (each rank sends its block once), or, for rows beyond each block, "
                "use halo_exchange<I>(a, before, after), which sends only those.");
};
template <bool legal, class... YourTypes>
struct refused<Code::D04_roll_along_split, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D04] roll is local, and a mesh axis splits the dim. shift<I>(a, n, "
                "op::Edge::wrap) does it: each rank sends the rows that change ranks, at most its "
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
                "relabel keeps the extent, squeeze and expand have extent 1, split_dim and "
                "merge_dims have a product, concat and stack a sum. Use an index whose extent "
                "fits, or one without static extent.");
};
template <bool legal, class... YourTypes>
struct refused<Code::D07_names_incomplete, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D07] the indices named here are not as many as the operation needs: "
                "transpose names every index of the tensor once, relabel names pairs of an old "
                "and a new one, kron one for each dim of an operand, the others at most one for "
                "the result. Add or drop one.");
};
template <bool legal, class... YourTypes>
struct refused<Code::D08_not_neighbours, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D08] merge_dims joins two neighbouring dims, the first of them the "
                "outer one; these do not stand like that. transpose the tensor first (a local "
                "copy).");
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
                "one kind. all_reduce the operand that is unreduced over more axes, or "
                "reduce_scatter it (half the bytes).");
};
template <bool legal, class... YourTypes>
struct refused<Code::D14_scan_unreduced, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D14] the tensor is unreduced, and a running value of it would be "
                "wrong: cumsum takes unreduced sums, cummax unreduced maxima, cummin "
                "unreduced minima. all_reduce it first, or reduce_scatter it (half the "
                "bytes).");
};
template <bool legal, class... YourTypes>
struct refused<Code::D15_element_type, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D15] elements of this type cannot be scanned like this: complex "
                "numbers have no order, and sums of bool are no bool. cumsum takes "
                "complex numbers; cast<std::int64_t>(a) booleans first, free of communication.");
};
template <bool legal, class... YourTypes>
struct refused<Code::D16_dims_of_range, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype D16] arange and linspace make a tensor of one dim, eye one of two. Name "
      "so many: arange<float, Dim<I, X>>(mesh, n), and broadcast that to further dims.");
};
template <bool legal, class... YourTypes>
struct refused<Code::D18_rows_and_groups, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D18] rows, matrices and the sizes of groups do not fit together. They "
                "are a[S@X, D], w[E@X, D, F] and sizes[E@X], split over the same mesh axes, or "
                "w[E, D, F] and sizes[P@X, E] where each rank has all groups. transpose or reshard "
                "the one that differs (its plan says the cost).");
};
template <bool legal, class... YourTypes>
struct refused<Code::D19_argument_of_moe, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D19] a mixture of experts does not understand this argument. It takes "
                "tokens, routes (nn::router, nn::Routes), weights, and then, if they are not the "
                "defaults, a form (nn::Ragged{}, nn::Gathered{}, nn::Capacity{rows}) and a "
                "function (nn::Silu{}, nn::Gelu{}): nn::moe(x, routes, w, v, nn::Ragged{}, "
                "nn::Gelu{}).");
};
template <bool legal, class... YourTypes>
struct refused<Code::B01_cyclic_beside_others, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype B01] a block-cyclic dim has exactly one mesh axis, and here a "
                "Cyclic stands beside others. Use one axis, Dim<I, Cyclic<X, 64>>, or blocks, "
                "Dim<I, X, Y>.");
};
template <bool legal, class... YourTypes>
struct refused<Code::B02_block_size, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype B02] the block size of a Cyclic is from 1 to 2147483647, as in "
                "Dim<I, Cyclic<X, 64>>.");
};
template <bool legal, class... YourTypes>
struct refused<Code::B03_through_cyclic, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype B03] this operation does not support block-cyclic dims. reshard "
                "it to blocks first, Dim<I, X> (one all_to_all: each rank sends its block "
                "once), or to Dim<I> where no axis may split it (an all_gather: each rank "
                "receives the other blocks); and back afterwards, if need be.");
};
template <bool legal, class... YourTypes>
struct refused<Code::B04_behind_cyclic, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype B04] this collective would put a mesh axis behind one that splits the "
                "dim block-cyclically, which is the dim's only one. Name another dim, or "
                "reshard the dim to blocks first, Dim<I, X> (one all_to_all: each rank sends its "
                "block once).");
};
template <bool legal, class... YourTypes>
struct refused<Code::B05_no_range, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype B05] the indices that a rank has of a block-cyclic dim are no range. "
                "a.rows() says which they are, a.global_index<I>(local) one of them, "
                "a.local_extent<I>() how many; all free.");
};
template <bool legal, class... YourTypes>
struct refused<Code::B06_block_sizes_differ, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype B06] the contracted index is block-cyclic in one operand and "
                "split differently (in blocks, or with another block size) in the other, so "
                "the ranks hold different parts. reshard one operand as the other (one "
                "all_to_all: each rank sends its block once), or name the result: "
                "matmul<Out>(a, b) takes the cheaper.");
};
template <bool legal, class... YourTypes>
struct refused<Code::D17_which_dim, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D17] along which dim? Dims have names, which are types, and no "
                "numbers: name an index as template argument, as in sum<I>(a), at<I>(a, 3), "
                "sort<J>(a), concat<J, K>(a, b), transpose<J, I>(a). type_name(a) has those of a.");
};
template <bool legal, class... YourTypes>
struct refused<Code::D23_two_parts, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D23] split_dim and reshape make two dims or more, and merge_dims makes "
                "one of two or more: split_dim<I, J, K>(a, {8, 3}), reshape<J, K>(a, {8, 3}), "
                "merge_dims<J, K, I>(a). relabel<I, J>(a) gives one dim another index, free.");
};
template <bool legal, class... YourTypes>
struct refused<Code::D24_window_labels, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D24] a window moves an index of the kernel along an index of the other "
                "operand: in conv<nn::Window<H, KH>>(x, w) x has H and not KH, w has KH and not H. "
                "There are one to three windows, and nn::Grouped<G> names an index of both.");
};
template <bool legal, class... YourTypes>
struct refused<Code::D25_window_options, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D25] the stride, the dilation and the extent of a window are at least "
                "1, and its padding is not negative: nn::WindowOptions{.stride = 2, .before = 1, "
                ".after = 1}. With same = true the padding follows, and none is given.");
};
template <bool legal, class... YourTypes>
struct refused<Code::D27_window_too_long, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype D27] the window is longer than the rows and their padding. Give it "
                "padding, nn::Window<H, KH, nn::same>, or less dilation, or fewer elements.");
};

}  // namespace shardtype::checking
