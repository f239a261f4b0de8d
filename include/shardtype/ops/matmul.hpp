#pragma once
/// Products of two tensors.

#include <source_location>

#include <shardtype/check/contraction.hpp>
#include <shardtype/ops/run.hpp>
#include <shardtype/tensor/operand.hpp>

namespace shardtype {

namespace detail {

/// The one front door of products.
template <class Op, class A, class B>
auto product(A const& a, B const& b, Overlap overlap, std::source_location const& where) {
  if constexpr (any_poisoned<A, B>) {
    return Poisoned{};
  } else if constexpr (is_lazy<A> || is_lazy<B>) {
    return record(RecordProduct<Op>{}, a, b);
  } else {
    using R = Resolve<Op, operand_t<A>, operand_t<B>>;
    if constexpr (!R::verdict) {
      return Poisoned(refusal<R, operand_t<A>, operand_t<B>>{});
    } else if constexpr (!countable(R::verdict.result, R::S::names.extents())) {
      return Poisoned(refused<Code::T10_too_many_elements, false, operand_t<A>, operand_t<B>>{});
    } else {
      return ops::run<R>(where, overlap, operand(a), operand(b));
    }
  }
}

}  // namespace detail

/// The product of `a` and `b` over the one index they share; the result's dims are a's, then b's.
///
/// `matmul(a, b)` is strict: it never communicates. `A[I@X, J@Y] · B[J@Y, K]` gives
/// `C[I@X, K]{U:Y}`. Refused: C01 to C10, B06, T10 (docs/errors.md), with the fixes.
///
/// `matmul<Out...>(a, b)` names the result, by dims and attributes or by a Tensor type, and runs the
/// plan that `plan(matmul_to<Out...>, a, b)` prints: operands stay put where the strict product is
/// legal, else the cheaper repair; then the result is resharded. Refused: C01, C03, C08, C10, N01 to
/// N06, T10. Errors: E20 a result of more than 2^58 elements, E23 two meshes, E24 extents that differ.
///
/// `matmul<Out...>(a, b, Overlap::ring)` runs the same plan, sends the same bytes, and communicates while it
/// computes, where an all_gather precedes the product or a reduce_scatter or all_reduce of a sum follows it.
/// Nobody then holds the gathered operand, or the product before it is scattered: two blocks of it at
/// most. Sums of ranks are added in another order. Where steps cannot overlap (dims that gemm does not take
/// as they lie, elements without a gemm of BLAS, memory that MPI cannot reach) they are run one by one.
/// `Overlap::shared`: the ranks of one node put a gathered operand together in one window and multiply out
/// of it, or multiply into a window and add up from there.
template <class... Out, class A, class B>
auto matmul(A const& a, B const& b, std::source_location where = std::source_location::current()) {
  return detail::product<MatmulTo<Out...>>(a, b, Overlap::none, where);
}
template <class... Out, class A, class B>
auto matmul(A const& a, B const& b, Overlap overlap,
            std::source_location where = std::source_location::current()) {
  return detail::product<MatmulTo<Out...>>(a, b, overlap, where);
}

/// The product of `a` and `b` with the indices it names, as in einsum: those of both operands that
/// stay are batch dims, those that do not are summed over, as are indices of one operand alone.
///
/// `einsum<B, I, K>(a, b)` (labels) is strict and never communicates; `einsum<Dim<B, X>, Dim<I>,
/// Dim<K>>(a, b)` names the result and runs its plan. Refusals and errors as matmul.
template <class... Out, class A, class B>
auto einsum(A const& a, B const& b, std::source_location where = std::source_location::current()) {
  return detail::product<EinsumTo<Out...>>(a, b, Overlap::none, where);
}
template <class... Out, class A, class B>
auto einsum(A const& a, B const& b, Overlap overlap,
            std::source_location where = std::source_location::current()) {
  return detail::product<EinsumTo<Out...>>(a, b, overlap, where);
}

}  // namespace shardtype
