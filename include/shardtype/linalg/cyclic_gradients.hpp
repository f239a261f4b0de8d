#pragma once
/// Gradients of solves with one matrix over many ranks, or over a grid of them. x = a^-1 b has b' =
/// a^-T x' and a' = - b' x^T: only the transposed solve sends anything. The product is local,
/// because each rank has b' in its rows of a and x in its columns, all right-hand sides of both.
/// Once differentiable: the factors carry no gradient (X03).

#include <source_location>
#include <type_traits>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/linalg/cyclic.hpp>
#include <shardtype/linalg/solve.hpp>
#include <shardtype/linalg/triangular.hpp>

namespace shardtype::autodiff {

/// Gradients with respect to a and to b of x = a^-1 b, which `Solve` computes; `Back` solves with
/// the transposed matrix. The factors are made once, in the forward pass.
template <class I, class J, class Op, class Solve, class Back>
struct OfSolveWithOne {
  static constexpr bool exists = true;
  static constexpr bool communicates = true;
  template <class A, class B>
  static constexpr auto forward(Op const&, std::source_location const& where, A const& a,
                                B const& b) {
    auto const lu = linalg::lu_factor<I, J>(a, where);
    auto const x = api::call(Solve{}, where, lu.factors, lu.pivots, b);
    auto const saved = autodiff::keep(lu.factors, lu.pivots, x);
    return Forward<std::remove_cvref_t<decltype(x)>, std::remove_cvref_t<decltype(saved)>>{x,
                                                                                           saved};
  }
  template <class V, class A, class B, class S, class C>
  static constexpr auto prepare(Op const&, S const& saved, C const& ct) {
    return autodiff::keep(api::call(Back{}, std::source_location::current(),
                                    autodiff::kept<0>(saved), autodiff::kept<1>(saved), ct));
  }
  template <int K, class V, class A, class B, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& prepared) {
    if constexpr (K == 0) {
      return linalg::detail::minus_outer<A>(autodiff::kept<0>(prepared), autodiff::kept<2>(saved));
    } else {
      return autodiff::kept<0>(prepared);
    }
  }
};

/// The gradient with respect to b. One through the factors is refused (X03): take that of solve.
template <class Op, class Back>
struct OfLuSolveWithOne {
  static constexpr bool exists = true;
  static constexpr bool communicates = true;
  template <class V, class F, class P, class B>
  static constexpr auto save(Op const&, V const&, F const& factors, P const& pivots, B const&) {
    return autodiff::keep(factors, pivots);
  }
  template <int K, class V, class F, class P, class B, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    static_assert(K == 2, "the factors of lu_factor carry no gradient");
    return api::call(Back{}, std::source_location::current(), autodiff::kept<0>(saved),
                     autodiff::kept<1>(saved), ct);
  }
};

/// Gradients with respect to b and to the triangle, the latter with zeros outside of the triangle.
template <class I, class J, class Op, class Back>
struct OfTriangleOfOne {
  static constexpr bool exists = true;
  static constexpr bool communicates = true;
  template <class V, class A, class B>
  static constexpr auto save(Op const&, V const& x, A const& a, B const&) {
    return autodiff::keep(a, x);
  }
  template <class V, class A, class B, class S, class C>
  static constexpr auto prepare(Op const& op, S const& saved, C const& ct) {
    return autodiff::keep(api::call(Back(op.lower, op.unit), std::source_location::current(),
                                    autodiff::kept<0>(saved), ct));
  }
  template <int K, class V, class A, class B, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& prepared) {
    if constexpr (K == 0) {
      return linalg::detail::triangle_of<I, J>(
          linalg::detail::minus_outer<A>(autodiff::kept<0>(prepared), autodiff::kept<1>(saved)),
          {.upper = !op.lower, .unit = op.unit});
    } else {
      return autodiff::kept<0>(prepared);
    }
  }
};

template <class I, class J, bool Transposed>
struct Vjp<op::CyclicSolve<I, J, Transposed>>
    : OfSolveWithOne<I, J, op::CyclicSolve<I, J, Transposed>, op::CyclicLuSolve<I, J, Transposed>,
                     op::CyclicLuSolve<I, J, !Transposed>> {};

template <class I, class J, bool Transposed>
struct Vjp<op::CyclicLuSolve<I, J, Transposed>>
    : OfLuSolveWithOne<op::CyclicLuSolve<I, J, Transposed>, op::CyclicLuSolve<I, J, !Transposed>> {
};

template <class I, class J, bool Transposed>
struct Vjp<op::CyclicTriangle<I, J, Transposed>>
    : OfTriangleOfOne<I, J, op::CyclicTriangle<I, J, Transposed>,
                      op::CyclicTriangle<I, J, !Transposed>> {};

}  // namespace shardtype::autodiff
