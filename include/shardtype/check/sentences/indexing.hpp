#pragma once
/// Refusals of lookups and sorting.

#include <shardtype/check/refused.hpp>

namespace shardtype::checking {

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
                "result is then an unreduced sum), or all_gather the table (each rank receives the "
                "other blocks), or name the result: take<V, Dim<...>...>(table, ids) gathers "
                "the ids.");
};
template <bool legal, class... YourTypes>
struct refused<Code::I05_axis_on_two, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype I05] a mesh axis splits one index in the ids and another one in the "
                "other operand. all_gather one of them over the axis first (of the ids each rank "
                "receives least), or name the result, Dim<...>... behind the index: take and "
                "scatter_add then reshard the ids.");
};
template <bool legal, class... YourTypes>
struct refused<Code::I06_unreduced_and_split, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype I06] an operand is unreduced over a mesh axis that splits the other, "
                "so each rank would use its own places on its own summand alone. all_gather the "
                "split one over the axis (each rank receives the other blocks), or all_reduce the "
                "unreduced one first.");
};
template <bool legal, class... YourTypes>
struct refused<Code::I07_other_kind, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype I07] the operand is an unreduced maximum or minimum, but this "
                "operation adds the ranks' results (of bool: takes their maximum). all_reduce "
                "it over the axis first.");
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
struct refused<Code::I12_table_of_one_dim, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype I12] a sorted table has one dim, the one that is named; this tensor "
                "has another one too. Search one of its rows: searchsorted<V>(at<D>(table, 0), a), "
                "free of communication where D is not split.");
};
template <bool legal, class... YourTypes>
struct refused<Code::I13_unique_of_one_dim, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype I13] unique works on a tensor of one dim, the one that is named; this "
                "tensor has another one too. merge_dims<J, K, I>(a) makes one dim of two, or take "
                "a row: at<J>(a, 0), free of communication where J is not split.");
};

}  // namespace shardtype::checking
