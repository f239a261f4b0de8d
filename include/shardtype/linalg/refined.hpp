#pragma once
/// Solves of one matrix over many ranks in mixed precision.

#include <type_traits>

#include <shardtype/linalg/cyclic.hpp>
#include <shardtype/linalg/run_cyclic_refined.hpp>

namespace shardtype::linalg {

/// Asks solve for factors in half the precision: `solve<I, J>(a, b, linalg::refined)`.
struct Refined {};
inline constexpr Refined refined{};

namespace api {

/// The solution of a x = b for one matrix over many ranks by LU in float, whose solution is
/// corrected by residuals in double, with the accuracy of solve: `a[I, J@X%n]`, `b[I]` or `b[I, K]`
/// -> `[J@X%n]`, `[J@X%n, K]`, over a grid `a[I@X%n, J@Y%n]`, `b[I@X%n, K]` -> `[J@Y%n, K]`, of
/// double and complex<double>; of float it is solve. At most 30 corrections, until each residual is
/// at most |x| |a| sqrt(n) 2^-53 in the largest elements and the infinity norm of a; where it does
/// not get there, or a has no factors in float, a is factorized in double, as by solve. All ranks
/// decide alike. Faster where the condition is well below 1e7; else the time of float is lost. The
/// matrix is read, not overwritten; float factors need half of its memory more.
///
/// Sends half of solve's panels, and for each solution two rings of sums in float (over a grid what
/// lu_solve sends) and an all_reduce of the residual; the plan has 31 solutions and the steps of
/// solve. Refused: as solve; Q04 with the rows block-cyclic. Errors: as solve. No gradient, X03:
/// solve has one. Source: Langou and others, "Exploiting the performance of 32 bit floating point
/// arithmetic in obtaining 64 bit accuracy", 2006.
template <class I, class J, class A, class B>
  requires detail::OneMatrix<I, J, A>
constexpr auto solve(core::Argument<A> const& a, B const& b, Refined,
                     checking::CallSite where = {}) {
  using T = checking::element_t<detail::tensor_behind<A>>;
  if constexpr (sizeof(kernels::real_t<T>) < sizeof(double)) {
    return api::solve<I, J>(a.self(), b, where);
  } else {
    return shardtype::call(op::CyclicRefinedSolve<I, J>{}, where, a.self(), b);
  }
}

}  // namespace api

}  // namespace shardtype::linalg
