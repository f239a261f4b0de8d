#pragma once
/// Products of two tensors over the index they share.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/contraction.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace execute {
template <class... Out>
struct Run<op::Matmul<Out...>> : ByPlan {};
}  // namespace execute

/// The product of `a` and `b` over the one index they share; the result's dims are a's, then b's.
///
/// `matmul(a, b)` is strict: it never communicates. `A[I@X, J@Y] · B[J@Y, K]` gives
/// `C[I@X, K]{U:Y}`. Refused: C01 to C10, B06, T10 (docs/errors.md), with the fixes.
///
/// `matmul<Out...>(a, b)` names the result, by dims and attributes or by a Tensor type, and runs the
/// plan that `plan(op::Matmul<Out...>{}, a, b)` prints: operands stay put where the strict product is
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
constexpr auto matmul(A const& a, B const& b,
                      checking::CallSite where = std::source_location::current()) {
  return call(op::Matmul<Out...>{}, where, a, b);
}
template <class... Out, class A, class B>
constexpr auto matmul(A const& a, B const& b, Overlap overlap,
                      checking::CallSite where = std::source_location::current()) {
  return call(op::Matmul<Out...>{overlap}, where, a, b);
}

}  // namespace shardtype
