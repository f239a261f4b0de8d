#pragma once
/// LU factors kept for several solutions.

#include <cstdint>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include <shardtype/linalg/solve.hpp>

namespace shardtype {

namespace op {

/// The factors P A = L U of each matrix [B, I, J], typed as a: L below the diagonal and U; and the
/// pivots i32[B, J], from 0 on, complete for singular matrices too.
template <class I, class J>
struct LuFactor : linalg::detail::OnMatrices<I, J> {
  using operation = LuFactor;
  static constexpr std::string_view name = "lu_factor";
  static constexpr Verdicts<2> rule(rules::Question const& q) {
    Verdict const v = linalg::rule::as_matrix(q);
    Spec pivots = linalg::rule::per_matrix(q);
    pivots.add(q.from.dims[1].label);
    return {v, rules::accept_if(v, pivots)};
  }
  template <class A>
  using element = Elements<checking::element_t<A>, std::int32_t>;
  constexpr void extents(ResultExtents const& factors, ResultExtents const&) const {
    linalg::detail::check_square(factors);
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::work(c, 2, 0);
  }
  template <class F, class P, class A>
  void fill(F& factors, P& pivots, A const& a) const {
    linalg::detail::factor_each(
        a, linalg::detail::matrices<I, J>(a),
        linalg::detail::stack_beside<A, I, J, I>(factors, execute::written(factors)),
        execute::written(pivots), nullptr);
  }
};

/// x = a^-1 b, or a^-T b, by factors and pivots that the user holds: operands factors [B, I, J],
/// pivots i32[B, J], b.
template <class I, class J, bool transposed>
struct LuSolve : linalg::detail::OnMatrices<I, J> {
  using operation = LuSolve;
  using gradient = checking::PullsBySaved;
  using Rows = std::conditional_t<transposed, J, I>;
  using Cols = std::conditional_t<transposed, I, J>;
  static constexpr std::string_view name = "lu_solve";
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict const v = linalg::rule::solve(q, 2, transposed);
    if (!v) return v;
    if (Verdict const p = linalg::rule::pivots_of_matrices(q); !p) return p;
    return v;
  }
  template <class F, class P, class B>
  static constexpr Code elements() {
    return std::is_same_v<checking::element_t<P>, std::int32_t> ? linalg::detail::elements<F, B>()
                                                                : Code::C10_element_types_differ;
  }
  constexpr void extents(ResultExtents const& c) const {
    linalg::detail::set_solution(c, 2, transposed);
    linalg::detail::check_shared(c, 1);
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::work(c, 0, c.elements(2));
  }
  template <class Out, class F, class P, class B>
  void fill(Out& out, F const& factors, P const& pivots, B const& b) const {
    namespace lk = linalg::kernels;
    using T = typename F::element;
    auto const lu = linalg::detail::matrices<I, J>(factors);
    auto const numbers = linalg::detail::stack_beside<F, I, J, J>(pivots, execute::data_of(pivots));
    auto const right = linalg::detail::stack_beside<F, I, J, Rows>(b, execute::data_of(b));
    auto const made = linalg::detail::stack_beside<F, I, J, Cols>(out, execute::written(out));
    std::int64_t const n = lu.rows;
    runtime::Buffer const square = linalg::detail::room<T>(factors, n * n);
    auto* const whole = static_cast<T*>(square.data());
    runtime::Buffer const rows = linalg::detail::room<std::int32_t>(factors, n);
    auto* const own = static_cast<std::int32_t*>(rows.data());
    linalg::detail::solve_each<I, J, transposed>(
        factors, made,
        [&](std::int64_t t) {
          lk::pack(lu, t, whole, n);
          lk::pack(numbers, t, own, n);
          int const exponent =
              lk::scaling_exponent(lk::largest_part(n, n, whole, n, lk::Part::upper));
          lk::scale_by_power(exponent, n, n, whole, n, lk::Part::upper);
          return linalg::detail::ScaledFactors<T>{whole, own, exponent};
        },
        [&](std::int64_t t, T* x) { lk::pack(right, t, x, n); });
  }
  template <class V, class F, class P, class B>
  constexpr auto save(V const&, F const& factors, P const& pivots, B const&) const {
    return autodiff::keep(factors, pivots);
  }
  /// The gradient with respect to b. One through the factors is refused (X03): take that of solve.
  template <class G>
  constexpr auto pull(G const& g) const {
    static_assert(G::operand == 2, "the factors of lu_factor carry no gradient");
    return g.call(op::LuSolve<I, J, !transposed>{}, g.template kept<0>(), g.template kept<1>(),
                  g.ct);
  }
};

}  // namespace op

namespace linalg {

/// Result of `lu_factor<I, J>`: P A = L U, with L below the diagonal of `factors`, without its
/// ones, and U above; row k was exchanged with row pivots[k], one after another.
template <class I, class J, class Factors, class Pivots>
struct LU {
  Factors factors;
  Pivots pivots;
};

namespace detail {

/// Whether a solve for rows I and columns J takes factors of rows R and columns C of the transposed
/// matrix.
template <class I, class J, class R, class C>
constexpr bool exchanged() {
  constexpr bool same = std::is_same_v<I, R> && std::is_same_v<J, C>;
  static_assert(same || (std::is_same_v<I, C> && std::is_same_v<J, R>),
                "lu_solve<I, J>(lu, b) takes the labels of lu_factor<I, J>(a), or, for the "
                "transposed matrix, lu_solve<J, I>(lu, b)");
  return !same;
}

}  // namespace detail

namespace api {

/// The factors P A = L U of each matrix, with partial pivoting: `a[B@X, I, J]` -> `LU{factors,
/// pivots}`, the factors typed as a, the pivots i32 `[B@X, J]`, from 0 on. The factors of a
/// singular matrix are complete and have a zero on the diagonal. Types and refusals as solve. No
/// gradient, X03: solve has one and factors once.
template <class I, class J, class A>
constexpr auto lu_factor(core::Argument<A> const& a, checking::CallSite where = {}) {
  auto [factors, pivots] = shardtype::call(op::LuFactor<I, J>{}, where, a.self());
  return LU<I, J, decltype(factors), decltype(pivots)>{std::move(factors), std::move(pivots)};
}

/// The solution of a x = b by the factors of lu_factor<I, J>(a), as solve<I, J>(a, b); `lu_solve<J,
/// I>(lu, b)` solves with the transposed matrix. Differentiable with respect to b. Communicates
/// nothing. Refusals as solve.
template <class I, class J, class R, class C, class F, class P, class B>
constexpr auto lu_solve(LU<R, C, F, P> const& lu, B const& b, checking::CallSite where = {}) {
  return shardtype::call(op::LuSolve<R, C, detail::exchanged<I, J, R, C>()>{}, where, lu.factors,
                         lu.pivots, b);
}

}  // namespace api
}  // namespace linalg
}  // namespace shardtype
