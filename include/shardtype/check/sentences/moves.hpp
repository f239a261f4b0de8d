#pragma once
/// Refusals of reshards and collectives.

#include <shardtype/check/refused.hpp>

namespace shardtype::checking {

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
struct refused<Code::K05_already_unreduced, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype K05] the tensor is already unreduced over this axis, or by max or "
                "min over another. Use it as it is, or all_reduce it first.");
};
template <bool legal, class... YourTypes>
struct refused<Code::K06_split, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype K06] the axis splits a dim of the tensor; only what is replicated over "
                "it can be cast to reduced. used_as<Reduced<X>>(a) gathers it (each rank receives "
                "the other blocks) and is free for what is replicated.");
};

template <bool legal, class... YourTypes>
struct refused<Code::K07_no_axis, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype K07] this collective names no mesh axis, so no rank would have a "
                "partner. Name the axes in angle brackets: all_gather<X>(a), all_reduce<X>(a), "
                "reduce_scatter<X, I>(a); of a Local all_gather<X, I>(a).");
};
template <bool legal, class... YourTypes>
struct refused<Code::K08_major_axis, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype K08] other mesh axes split the dim behind this one, so the blocks "
                "along it alone are not in one piece. Name those too, to_partial<X, Y>(a) (free), "
                "or all_gather them first (each rank receives the other blocks).");
};

}  // namespace shardtype::checking
