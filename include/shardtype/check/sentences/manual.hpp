#pragma once
/// Refusals of manual mode.

#include <shardtype/check/refused.hpp>

namespace shardtype::checking {

template <bool legal, class... YourTypes>
struct refused<Code::V01_mixed, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype V01] a Tensor stands where a Local belongs, or a Local where a Tensor "
                "does: operations inside of shard_map take blocks, those outside Tensors. Pass "
                "tensors to shard_map as arguments, and return blocks from its function (free).");
};
template <bool legal, class... YourTypes>
struct refused<Code::V02_wrong_mode, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype V02] Varying stands in a Tensor, or mesh axes split a dim of a "
                "Local. Write Dim<I, X> in a Tensor, whose dims are split; Dim<I>, Varying<X> "
                "in a Local, whose dims are whole.");
};
template <bool legal, class... YourTypes>
struct refused<Code::V03_not_varying, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype V03] this needs a block that differs between the ranks of the "
                "mesh axis, and this one is the same on all of them. Drop the call (free); to "
                "count it once per rank, multiply by axis_size<X>(); to say that it varies, "
                "varying<X>(a) (free).");
};
template <bool legal, class... YourTypes>
struct refused<Code::V04_already, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype V04] along this mesh axis the block is already what the cast "
                "would make it. Drop the cast (free).");
};
template <bool legal, class... YourTypes>
struct refused<Code::V05_not_invariant, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype V05] this takes a block that is the same on all ranks of the mesh "
                "axis, but the block varies over it. Drop the call (free), or make the blocks "
                "equal first: all_gather<X, I>(a) or all_reduce<X>(a).");
};
template <bool legal, class... YourTypes>
struct refused<Code::V06_unreduced, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype V06] the block is unreduced over the mesh axis: this would take "
                "its summands for values. all_reduce<X>(a) (2 n (p - 1) / p bytes) or "
                "reduce_scatter<X, I>(a) (half of that) first.");
};
template <bool legal, class... YourTypes>
struct refused<Code::V07_output_varies, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype V07] the output names no dim split over the mesh axis, which "
                "promises equal blocks, but the block may vary over it. Name it on a dim, "
                "Dim<I, X> (free), or all_reduce<X>(a) or all_gather<X, I>(a) in the "
                "function; or assume_invariant<X>(a), which is not checked.");
};
template <bool legal, class... YourTypes>
struct refused<Code::V08_output_unreduced, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype V08] the block is unreduced (or reduced) over the mesh axis and "
                "the named output is not, or the reverse. Name the output as the block is, "
                "Unreduced<X> or Reduced<X> (free), or all_reduce<X>(a) in the function.");
};
template <bool legal, class... YourTypes>
struct refused<Code::V09_output_dims, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype V09] the output does not have the dims of the block that becomes "
                "part of it, in their order. Name the same indices, or transpose or relabel "
                "the block (free).");
};
template <bool legal, class... YourTypes>
struct refused<Code::V10_uneven, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype V10] shard_map needs equal blocks, but the ranks that split this "
                "index do not divide its extent. reshard it to be whole (Dim<I>: one all_gather); "
                "pad<I, K>(a, 0, n) can then give it an extent to split again (free). Or take "
                "another number of ranks.");
};
template <bool legal, class... YourTypes>
struct refused<Code::V11_carry_changes, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype V11] the loop's body returns another type than the carry it "
                "takes. Of blocks, cast what goes in, varying<X>(carry) (free), or bring back "
                "what comes out, all_reduce<X>(a); of Tensors reshard<Dim<...>...>(a) what comes "
                "out (its plan says the cost).");
};
template <bool legal, class... YourTypes>
struct refused<Code::V12_branches_differ, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype V12] the two branches return different types. Cast the one that "
                "varies less, varying<X>(a) (free).");
};
template <bool legal, class... YourTypes>
struct refused<Code::V13_condition_varies, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype V13] the value may differ between ranks along the mesh axis, and "
                "this reads it into C++: ranks could take different branches, and a "
                "collective would hang. all_reduce<Max, X>(a) it first, or choose by element: "
                "where(p, a, b) (free).");
};
template <bool legal, class... YourTypes>
struct refused<Code::V14_named_result, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype V14] operations on Locals name no result by dims: nothing is sent "
                "unless a collective says so. Use the form by indices, as einsum<I, K>(a, b) "
                "or sum<I>(a), then cast or call the collective (free).");
};
template <bool legal, class... YourTypes>
struct refused<Code::V15_no_local, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype V15] the function of shard_map must return a Local, or a "
                "std::tuple of one for each of Outs<...>. Return the block and not its view, "
                "a number or a Tensor.");
};
template <bool legal, class... YourTypes>
struct refused<Code::V16_kind, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype V16] the block is unreduced with another kind (sum, Max, Min) "
                "than this names. Name the block's kind, as all_reduce<Max, X>(a).");
};

template <bool legal, class... YourTypes>
struct refused<Code::V17_not_manual, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype V17] a collective of blocks, or an output of shard_map, names a mesh "
                "axis that is not manual here: the tensor does not vary over it. Use the strict "
                "collective, all_gather<X>(a) or reshard<Dim<I>>(a) (its plan says the cost), or "
                "make the axis manual: shard_map<...>(manual_axes<X>, f, a) (free).");
};
template <bool legal, class... YourTypes>
struct refused<Code::V18_strict_inside, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype V18] this index is split over an axis that stays strict, so what a rank "
      "holds of it is not one piece along the manual axis. Let the manual axis come "
      "first, Dim<I, X, Y>, or work along another index, or reshard the index to be "
      "whole (one all_gather).");
};
template <bool legal, class... YourTypes>
struct refused<Code::V19_stage_changes, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype V19] a stage of a pipeline returns another type than it takes: the "
                "next stage takes its result. End it with the element type, dims and axes that "
                "it begins with.");
};

}  // namespace shardtype::checking
