#pragma once
/// Gradients of solves with one matrix over many ranks. x = a^-1 b has b' = a^-T x' and a' = - b' x^T: the transposed solve
/// sends each block of b' to all ranks, and the product is local. Once differentiable: the factors carry no gradient (X03).

#include <source_location>
#include <type_traits>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/linalg/cyclic.hpp>
#include <shardtype/linalg/solve.hpp>
#include <shardtype/linalg/triangular.hpp>

namespace shardtype::autodiff {

/// The factors are made once, in the forward pass.
template <class I, class J, bool Transposed>
struct Vjp<op::CyclicSolve<I, J, Transposed>> {
  using Op = op::CyclicSolve<I, J, Transposed>;
  static constexpr bool exists = true;
  static constexpr bool communicates = true;
  template <class A, class B>
  static constexpr auto forward(Op const&, std::source_location const& where, A const& a,
                                B const& b) {
    auto const lu = linalg::lu_factor<I, J>(a, where);
    auto const x = call(op::CyclicLuSolve<I, J, Transposed>{}, where, lu.factors, lu.pivots, b);
    auto const saved = keep(lu.factors, lu.pivots, x);
    return Forward<std::remove_cvref_t<decltype(x)>, std::remove_cvref_t<decltype(saved)>>{x,
                                                                                           saved};
  }
  template <class V, class A, class B, class S, class C>
  static constexpr auto prepare(Op const&, S const& saved, C const& ct) {
    return keep(call(op::CyclicLuSolve<I, J, !Transposed>{}, std::source_location::current(),
                     kept<0>(saved), kept<1>(saved), ct));
  }
  template <int K, class V, class A, class B, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& prepared) {
    if constexpr (K == 0) {
      return linalg::detail::minus_outer<A>(kept<0>(prepared), kept<2>(saved));
    } else {
      return kept<0>(prepared);
    }
  }
};

/// Of b; what flows through the factors is refused (X03): solve has that gradient.
template <class I, class J, bool Transposed>
struct Vjp<op::CyclicLuSolve<I, J, Transposed>> {
  using Op = op::CyclicLuSolve<I, J, Transposed>;
  static constexpr bool exists = true;
  static constexpr bool communicates = true;
  template <class V, class F, class P, class B>
  static constexpr auto save(Op const&, V const&, F const& factors, P const& pivots, B const&) {
    return keep(factors, pivots);
  }
  template <int K, class V, class F, class P, class B, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    static_assert(K == 2, "the factors of lu_factor carry no gradient");
    return call(op::CyclicLuSolve<I, J, !Transposed>{}, std::source_location::current(),
                kept<0>(saved), kept<1>(saved), ct);
  }
};

/// Of b and of the triangle, zeros elsewhere.
template <class I, class J, bool Transposed>
struct Vjp<op::CyclicTriangle<I, J, Transposed>> {
  using Op = op::CyclicTriangle<I, J, Transposed>;
  static constexpr bool exists = true;
  static constexpr bool communicates = true;
  template <class V, class A, class B>
  static constexpr auto save(Op const&, V const& x, A const& a, B const&) {
    return keep(a, x);
  }
  template <class V, class A, class B, class S, class C>
  static constexpr auto prepare(Op const& op, S const& saved, C const& ct) {
    return keep(call(op::CyclicTriangle<I, J, !Transposed>(op.lower, op.unit),
                     std::source_location::current(), kept<0>(saved), ct));
  }
  template <int K, class V, class A, class B, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& prepared) {
    if constexpr (K == 0) {
      return linalg::detail::triangle_of<I, J>(
          linalg::detail::minus_outer<A>(kept<0>(prepared), kept<1>(saved)),
          {.upper = !op.lower, .unit = op.unit});
    } else {
      return kept<0>(prepared);
    }
  }
};

}  // namespace shardtype::autodiff
