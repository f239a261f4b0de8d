#pragma once
/// Refusals of linear algebra.

#include <shardtype/check/refused.hpp>

namespace shardtype::checking {

template <bool legal, class... YourTypes>
struct refused<Code::Q01_matrix_split, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype Q01] a mesh axis splits the rows or columns of a matrix, and this form "
                "of linear algebra is local: each rank needs whole matrices. Move the axis to "
                "another dim, all_to_all<X, I, B>(a) (each rank sends its block once), or hold one "
                "large matrix block-cyclic, reshard<Dim<I>, Dim<J, Cyclic<X, 64>>>(a) (as many "
                "bytes), or all_gather<X>(a) first (each rank receives the other blocks).");
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
struct refused<Code::Q03_both_cyclic, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype Q03] rows and columns of this matrix are both block-cyclic. Calls on a "
                "matrix over a grid of ranks take it in blocks of one size, "
                "reshard<Dim<I, Cyclic<Y, 64>>, Dim<J, Cyclic<X, 64>>>(a) (each rank sends its "
                "block once); cholesky with linalg::upper takes whole columns, "
                "reshard<Dim<I, Cyclic<X, 64>>, Dim<J>>(a) (each rank receives the rest of its "
                "rows).");
};
template <bool legal, class... YourTypes>
struct refused<Code::Q04_rows_cyclic, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype Q04] the rows of this matrix are block-cyclic, and they are exchanged for "
      "pivots. "
      "Factorize the transposed matrix, whose columns they are: lu_factor<J, I>(a), by which "
      "lu_solve<I, J>(lu, b) solves with a; cholesky<J, I>(a) of a symmetric one. No bytes more. "
      "Or reshard<Dim<I>, Dim<J, Cyclic<X, 64>>>(a): each rank sends its block once.");
};
template <bool legal, class... YourTypes>
struct refused<Code::Q05_one_matrix, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype Q05] a matrix whose columns are block-cyclic is one matrix, without "
                "batch dims: a[I, J@X%n] takes b[I] or b[I, K], transposed b[J@X%n]; a[I@Y%n, "
                "J@X%n] takes b[I@Y%n] or b[I@Y%n, K]; K is whole along these axes, and pivots are "
                "as lu_factor gives them. reshard b first (all_gather<X>(b): each rank receives "
                "the other blocks), or slice the batch.");
};
template <bool legal, class... YourTypes>
struct refused<Code::Q06_shapes, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype Q06] rows, columns and right-hand sides do not fit. In solve<I, J>(a, "
                "b), a has dims I and J; b has I, not J, and each further dim of a, split alike; "
                "dims that only b has are right-hand sides. relabel<K, I>(b) renames a dim, "
                "broadcast<Dim<B, X>>(b) repeats b for each matrix.");
};
template <bool legal, class... YourTypes>
struct refused<Code::Q07_not_tall, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype Q07] the rows of this matrix are split, so it is one tall matrix over "
                "many ranks: qr and lstsq take a[I@X, J] with J whole, no batch dims, and at least "
                "as many rows as columns. all_gather the columns (each rank receives the other "
                "blocks), or move the axis to a batch dim, all_to_all<X, I, B>(a) (each rank sends "
                "its block once); all_gather<X>(a) a wide matrix.");
};
template <bool legal, class... YourTypes>
struct refused<Code::Q08_not_scalapack, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype Q08] ScaLAPACK has no such matrix: rows I and columns J are all its "
                "dims, the rows the last one, each whole or block-cyclic, and it is no unreduced "
                "sum. reshard<Dim<J, Cyclic<Y, 64>>, Dim<I, Cyclic<X, 64>>>(a) (each rank sends "
                "its block once), or exchange the labels and describe the transposed matrix.");
};
template <bool legal, class... YourTypes>
struct refused<Code::Q09_wide_matrix, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype Q09] lstsq<I, J>(a, b) takes matrices with at least as many rows I as columns "
      "J; this one has fewer, and many solutions. Of stacks of whole matrices, "
      "lstsq<I, J>(a, b, {.rcond = 1e-10}) gives the one of least norm; lstsq<J, I>(a, "
      "b) takes the transposed matrix.");
};
template <bool legal, class... YourTypes>
struct refused<Code::Q12_no_such_call_of_linalg, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype Q12] no function of linalg is called like this. Rows and columns "
                "are template arguments, and so is the new dim of factors: solve<I, J>(a, b), "
                "lu_solve<I, J>(lu, b), inv<I, J>(a), qr<I, J, K>(a), svd<I, J, K>(a), eigh<I, "
                "J, K>(a). Options are values and no words: cholesky<I, J>(a, linalg::upper), "
                "triangular_solve<I, J>(l, b, {.upper = true}), norm<I, J, "
                "linalg::Norm::one>(a).");
};
template <bool legal, class... YourTypes>
struct refused<Code::Q13_another_name_in_linalg, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype Q13] linalg has this function by another name, or not at all: eig "
                "and eigvals are eigh<I, J, K>(a) and eigvalsh<I, J, K>(a) of symmetric "
                "matrices, and there are none of others; solve_triangular is "
                "triangular_solve<I, J>(l, b), cho_solve cholesky_solve, lu lu_factor, "
                "vector_norm and matrix_norm norm. Products, einsum, transpose, diagonal and "
                "tril are of shardtype itself. docs/from_numpy.md has more.");
};
template <bool legal, class... YourTypes>
struct refused<Code::Q14_device_memory, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype Q14] linear algebra runs on the host, which cannot access the memory of "
      "these tensors. Copy them there and the result back, each rank its blocks: "
      "to_memory<>(solve<I, J>(to_memory<Kokkos::HostSpace>(a), "
      "to_memory<Kokkos::HostSpace>(b))).");
};

}  // namespace shardtype::checking
