#pragma once
/// Refusals of linear algebra.

#include <shardtype/check/refused.hpp>

namespace shardtype::checking {

template <bool legal, class... YourTypes>
struct refused<Code::Q01_matrix_split, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype Q01] a mesh axis splits the rows or columns of a matrix, and this form "
                "of linear algebra is local: each rank needs whole matrices. Move the axis to "
                "another dim, all_to_all<X, I, B>(a) (each rank sends its block once), or "
                "all_gather<X>(a) first (each rank receives the other blocks).");
};
template <bool legal, class... YourTypes>
struct refused<Code::Q02_not_linear, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype Q02] a matrix is unreduced over the axis, and the result is not linear "
                "in it. all_reduce<X>(a) first (each rank sends its block twice), or "
                "reduce_scatter it onto a batch dim (half of that). Right-hand sides may stay "
                "unreduced sums.");
};
template <bool legal, class... YourTypes>
struct refused<Code::Q06_shapes, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype Q06] rows, columns and right-hand sides do not fit. In solve<I, J>(a, "
                "b), a has dims I and J; b has I, not J, and each further dim of a, split alike; "
                "dims that only b has are right-hand sides. relabel<K, I>(b) renames a dim, "
                "broadcast<Dim<B, X>>(b) repeats b for each matrix.");
};

}  // namespace shardtype::checking
