#pragma once
/// LU, Cholesky and solves of one matrix whose columns are block-cyclic over a mesh axis, `a[I, J@X%n]`, by the names that
/// linalg.hpp calls for them. docs/linalg.md has the algorithms and what they send.

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/linalg/run_cyclic.hpp>

namespace shardtype::linalg::detail {

/// Whether I or J of the matrix `A` is block-cyclic: then it is one matrix over many ranks.
template <class I, class J, class A>
constexpr bool cyclic_by_type() {
  if constexpr (is_tensor<A>) {
    using S = core::Scope<A, shardtype::detail::Bare<I, J>>;
    Spec const& labels = S::readings[1].spec;
    return rules::is_cyclic_matrix(S::readings[0].spec, labels.dims[0].label, labels.dims[1].label);
  } else {
    return false;
  }
}
template <class I, class J, class A>
inline constexpr bool is_cyclic = cyclic_by_type<I, J, shardtype::detail::operand_t<A>>();

/// P a = L U with partial pivoting: `a[I, J@X%n]` -> factors typed as a, and pivots `i32[J]`, whole on each rank: row k
/// was exchanged with row pivots[k], from 0 on. Sends each panel of n columns once to all ranks of X. Refused: Q01 to
/// Q05, D01, D06, P12. Errors, on all ranks: E41 not square, E80 no pivot, E82 a NaN.
template <class I, class J, class A>
auto cyclic_lu_factor(A const& a, std::source_location const& where) {
  return shardtype::call(op::CyclicLu<I, J>{}, where, a);
}
/// a x = b: `b[I]`, `b[I, K]` -> `[J@X%n]`, `[J@X%n, K]`; as cyclic_lu_factor, and the sums of a ring. Errors: also E24.
template <class I, class J, class A, class B>
auto cyclic_solve(A const& a, B const& b, std::source_location const& where) {
  return shardtype::call(op::CyclicSolve<I, J>{}, where, a, b);
}
/// a x = b by the results of cyclic_lu_factor: two rings of sums. `Transposed`: a^T x = b, `b[J@X%n]` -> `[I]`, in which
/// each block of x is sent to all.
template <class I, class J, bool Transposed = false, class A, class P, class B>
auto cyclic_lu_solve(A const& factors, P const& pivots, B const& b,
                     std::source_location const& where) {
  return shardtype::call(op::CyclicLuSolve<I, J, Transposed>{}, where, factors, pivots, b);
}
/// a = L L^H: `a[I, J@X%n]`, of which the lower triangle is read -> L typed as a, zeros above. Sends each panel once to
/// all ranks of X. Refused as cyclic_lu_factor. Errors: E41, E81 not positive definite, E82.
template <class I, class J, class A>
auto cyclic_cholesky(A const& a, std::source_location const& where) {
  return shardtype::call(op::CyclicCholesky<I, J>{}, where, a);
}
/// a x = b by L of cyclic_cholesky: `b[I, K]` -> `[J@X%n, K]`; a ring, and each block of x to all.
template <class I, class J, class A, class B>
auto cyclic_cholesky_solve(A const& l, B const& b, std::source_location const& where) {
  return shardtype::call(op::CyclicCholeskySolve<I, J>{}, where, l, b);
}
/// t x = b for a triangle of `t[I, J@X%n]`: `b[I, K]` -> `[J@X%n, K]` by a ring; `Transposed`: `b[J@X%n, K]` -> `[I, K]`,
/// each block of x to all. A 0 on the diagonal gives an infinity, as a division does.
template <class I, class J, bool Transposed = false, class A, class B>
auto cyclic_triangular_solve(A const& t, B const& b, bool lower, bool unit,
                             std::source_location const& where) {
  return shardtype::call(op::CyclicTriangle<I, J, Transposed>(lower, unit), where, t, b);
}

}  // namespace shardtype::linalg::detail
