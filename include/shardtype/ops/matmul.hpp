#pragma once
/// Products of two tensors over a shared index.

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
/// `matmul(a, b)` is strict: it never communicates. `A[I@X, J@Y] · B[J@Y, K]` gives `C[I@X,
/// K]{U:Y}`. Refused: C01 to C10, B06, T10 (docs/errors.md), with the fixes.
///
/// `matmul<Out...>(a, b)` names the result, by dims and attributes or by a Tensor type, and runs
/// the plan that `plan(op::Matmul<Out...>{}, a, b)` prints: operands are not moved if the strict
/// product is legal, else the cheaper repair is applied; then the result is resharded. Refused:
/// C01, C03, C08, C10, N01 to N06, T10. Errors: E20 a result of more than 2^58 elements, E23 two
/// meshes, E24 extents that differ.
///
/// `matmul<Out...>(a, b, Overlap::ring)` runs the same plan and sends the same bytes, but
/// communicates while it computes if an all_gather precedes the product, or a reduce_scatter or
/// all_reduce of a sum follows it. No rank then stores the gathered operand, or the product before
/// it is scattered: at most two blocks of it. The ranks' sums are added in another order. Steps
/// that cannot overlap (dims in an order that gemm does not accept, elements without a BLAS gemm,
/// memory that MPI cannot access) run one after the other. `Overlap::shared`: the ranks of one node
/// gather an operand into one shared window and read it from there, or write their products into a
/// window and sum from there.
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
