#pragma once
/// Products of two tensors.

#include <source_location>

#include <shardtype/check/contraction.hpp>
#include <shardtype/ops/run.hpp>
#include <shardtype/tensor/operand.hpp>

namespace shardtype {

/// The product of `a` and `b` over the one index they share; the result's dims are a's, then b's.
///
/// `matmul(a, b)` is strict: it never communicates. `A[I@X, J@Y] · B[J@Y, K]` gives
/// `C[I@X, K]{U:Y}`. Refused: C01 to C10, B06 (docs/errors.md), with the fixes.
///
/// `matmul<Out...>(a, b)` names the result, by dims and attributes or by a Tensor type, and runs the
/// plan that `plan(matmul_to<Out...>, a, b)` prints: operands stay put where the strict product is
/// legal, else the cheaper repair; then the result is resharded. Refused: C01, C03, C08, C10, N01 to
/// N06. Errors: E23 two meshes, E24 extents that differ.
template <class... Out, class A, class B>
auto matmul(A const& a, B const& b, std::source_location where = std::source_location::current()) {
  if constexpr (any_poisoned<A, B>) {
    return Poisoned{};
  } else {
    using R = Resolve<MatmulTo<Out...>, operand_t<A>, operand_t<B>>;
    if constexpr (R::verdict) {
      return ops::run<R>(where, operand(a), operand(b));
    } else {
      return Poisoned(refusal<R, operand_t<A>, operand_t<B>>{});
    }
  }
}

/// The product of `a` and `b` with the indices it names, as in einsum: those of both operands that
/// stay are batch dims, those that do not are summed over, as are indices of one operand alone.
///
/// `einsum<B, I, K>(a, b)` (labels) is strict and never communicates; `einsum<Dim<B, X>, Dim<I>,
/// Dim<K>>(a, b)` names the result and runs its plan. Refusals and errors as matmul.
template <class... Out, class A, class B>
auto einsum(A const& a, B const& b, std::source_location where = std::source_location::current()) {
  if constexpr (any_poisoned<A, B>) {
    return Poisoned{};
  } else {
    using R = Resolve<EinsumTo<Out...>, operand_t<A>, operand_t<B>>;
    if constexpr (R::verdict) {
      return ops::run<R>(where, operand(a), operand(b));
    } else {
      return Poisoned(refusal<R, operand_t<A>, operand_t<B>>{});
    }
  }
}

}  // namespace shardtype
