#pragma once
/// Pseudo-inverses and ranks of stacks of matrices, by singular values.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include <shardtype/linalg/spectral.hpp>

namespace shardtype {

namespace linalg {

/// `{.rtol = 1e-10}`: which singular values are taken for 0, at most this times the largest one.
/// Negative: the default of the function, which depends on extents and precision.
struct Cutoff {
  double rtol = -1;

  /// The part of the largest one, or `steps` roundings per row or column of an m x n matrix.
  template <class R>
  R part(std::int64_t m, std::int64_t n, double steps) const {
    double const eps = static_cast<double>(std::numeric_limits<R>::epsilon());
    return static_cast<R>(rtol >= 0 ? rtol : steps * eps * static_cast<double>(std::max(m, n)));
  }
};

}  // namespace linalg

namespace op {

/// The pseudo-inverse [B, J, I] of each matrix.
template <class I, class J>
struct PseudoInverse : linalg::detail::OnMatrices<I, J> {
  using operation = PseudoInverse;
  using gradient = checking::PullsBySaved;
  static constexpr std::string_view name = "pinv";
  linalg::Cutoff cutoff;
  constexpr explicit PseudoInverse(linalg::Cutoff const& c = {}) : cutoff(c) {}
  static constexpr Verdict rule(rules::Question const& q) {
    return linalg::rule::exchanged(q, linalg::rule::whole_matrix(q));
  }
  constexpr void extents(ResultExtents const& c) const {
    linalg::detail::set_extent(c, c.from().dims[0].label, linalg::detail::order_of(c));
    linalg::detail::set_extent(c, c.from().dims[1].label, linalg::detail::columns_of(c));
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::work(c, 66, 0);
  }
  template <class Out, class A>
  void fill([[maybe_unused]] Out& out, [[maybe_unused]] A const& a) const {
    linalg::detail::need_lapack("pinv");
#ifdef SHARDTYPE_HAVE_LAPACK
    namespace lk = linalg::kernels;
    using T = typename A::element;
    using R = lk::real_t<T>;
    auto const mats = linalg::detail::matrices<I, J>(a);
    auto const made = linalg::detail::stack_beside<A, I, J, J>(out, execute::written(out));
    std::int64_t const m = mats.rows, n = mats.width, k = std::min(m, n);
    R const part = cutoff.part<R>(m, n, 10);
    linalg::detail::each_svd(a, mats, true, [&](std::int64_t t, auto const& of) {
      if (!of.good) {
        lk::fill(made, t, lk::not_a_number<T>());
        return;
      }
      for (std::int64_t c = 0; c < k; ++c)
        for (std::int64_t i = 0; i < m; ++i)
          of.u[i + c * m] = of.s[c] > part * of.s[0] ? T(of.u[i + c * m] / T(of.s[c])) : T(0);
      lk::gemm(lk::Trans::conjugate, lk::Trans::conjugate, n, m, k, T(1), of.vh, k, of.u, m, T(0),
               of.scratch, n);
      lk::unpack(of.scratch, n, made, t);
    });
#endif
  }
  template <class V, class A>
  constexpr auto save(V const& p, A const& a) const {
    return autodiff::keep(p, a);
  }
  /// With p = pinv(a), that of -p a' p + p p^H a'^H (1 - a p) + (1 - p a) a'^H p^H p: -p^T p' p^T
  /// and the conjugates of (1 - a p) p'^T p p^H and of p^H p p'^T (1 - p a), where the rank does
  /// not change.
  template <class G>
  constexpr auto pull(G const& g) const {
    using linalg::detail::conjugate, linalg::detail::einsum_to, linalg::detail::with_pair;
    using I2 = linalg::detail::SecondRow;
    using J2 = linalg::detail::SecondColumn;
    using Labels = autodiff::labels_of_t<typename G::type>;
    constexpr Labels matrix{};
    constexpr auto rows = linalg::detail::with_pair<I, J, I, I2>(Labels{});
    constexpr auto columns = linalg::detail::with_pair<I, J, J2, J>(Labels{});
    auto const& p = g.template kept<0>();
    auto const& a = g.template kept<1>();
    auto const outer =
        linalg::detail::einsum_to(columns, api::relabel<J, J2>(p), linalg::detail::conjugate(p));
    auto const inner =
        linalg::detail::einsum_to(rows, linalg::detail::conjugate(p), api::relabel<I, I2>(p));
    auto const left = linalg::detail::einsum_to(matrix, api::relabel<J, J2>(g.ct), outer);
    auto const right = linalg::detail::einsum_to(matrix, inner, api::relabel<I, I2>(g.ct));
    auto const whole_left =
        left - linalg::detail::einsum_to(matrix,
                                         linalg::detail::einsum_to(rows, a, api::relabel<I, I2>(p)),
                                         api::relabel<I, I2>(left));
    auto const whole_right =
        right -
        linalg::detail::einsum_to(matrix, api::relabel<J, J2>(right),
                                  linalg::detail::einsum_to(columns, api::relabel<J, J2>(p), a));
    auto const inside = linalg::detail::einsum_to(
        matrix, linalg::detail::einsum_to(rows, api::relabel<I, I2>(g.ct), p),
        api::relabel<I, I2>(p));
    return (linalg::detail::conjugate((whole_left + whole_right).tensor()) - inside).tensor();
  }
};

/// The number of singular values of each matrix that are not taken for 0, i32[B].
template <class I, class J>
struct MatrixRank : linalg::detail::OnMatrices<I, J> {
  using operation = MatrixRank;
  static constexpr std::string_view name = "matrix_rank";
  linalg::Cutoff cutoff;
  constexpr explicit MatrixRank(linalg::Cutoff const& c = {}) : cutoff(c) {}
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict const v = linalg::rule::whole_matrix(q);
    return v ? rules::accept(linalg::rule::per_matrix(q)) : v;
  }
  template <class A>
  using element = std::int32_t;
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::work(c, 12, 0);
  }
  template <class Out, class A>
  void fill([[maybe_unused]] Out& out, [[maybe_unused]] A const& a) const {
    linalg::detail::need_lapack("matrix_rank");
#ifdef SHARDTYPE_HAVE_LAPACK
    using R = linalg::kernels::real_t<typename A::element>;
    auto const mats = linalg::detail::matrices<I, J>(a);
    std::int64_t const m = mats.rows, n = mats.width;
    R const part = cutoff.part<R>(m, n, 1);
    std::int32_t* const ranks = execute::written(out);
    std::fill_n(ranks, mats.count, 0);
    linalg::detail::each_svd(a, mats, false, [&](std::int64_t t, auto const& of) {
      if (of.good)
        ranks[t] = static_cast<std::int32_t>(
            std::count_if(of.s, of.s + std::min(m, n), [&](R v) { return v > part * of.s[0]; }));
    });
#endif
  }
};

}  // namespace op

namespace linalg {
namespace api {

/// The pseudo-inverse of each matrix: `a[B@X, I, J]` -> `[B@X, J, I]`, of float, double or their
/// complex numbers, as inv of invertible matrices. Singular values of at most `cutoff.rtol` times
/// the largest one are taken for 0, by default 10 max(I, J) roundings. Rows and columns are whole
/// on each rank. A matrix with a NaN or an infinity gives NaN in its own result. Differentiable,
/// any number of times, where the rank does not change. Communicates nothing. Refused: D01, Q01,
/// Q02, Q06, P12. Errors: E79 no LAPACK. As jnp.linalg.pinv; source of the gradient: Golub and
/// Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose
/// variables separate", 1973.
template <class I, class J, class A>
constexpr auto pinv(core::Argument<A> const& a, Cutoff cutoff = {}, checking::CallSite where = {}) {
  return shardtype::call(op::PseudoInverse<I, J>{cutoff}, where, a.self());
}

/// The number of singular values of each matrix that are larger than `cutoff.rtol` times the
/// largest one, by default max(I, J) roundings: `a[B@X, I, J]` -> `i32[B@X]`; 0 of a matrix with a
/// NaN or an infinity. Otherwise as pinv. As jnp.linalg.matrix_rank.
template <class I, class J, class A>
constexpr auto matrix_rank(core::Argument<A> const& a, Cutoff cutoff = {},
                           checking::CallSite where = {}) {
  return shardtype::call(op::MatrixRank<I, J>{cutoff}, where, a.self());
}

}  // namespace api
}  // namespace linalg
}  // namespace shardtype
