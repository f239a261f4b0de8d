#pragma once
/// Least squares of stacks of matrices: of full rank by reflectors, of any shape and rank by
/// singular values.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/linalg/kernels_scale.hpp>
#include <shardtype/linalg/orthogonal.hpp>
#include <shardtype/linalg/pseudo_inverse.hpp>
#include <shardtype/linalg/rules_local.hpp>
#include <shardtype/linalg/run_cyclic_qr.hpp>
#include <shardtype/linalg/types_cyclic_qr.hpp>

namespace shardtype {

namespace linalg {

/// `{.rcond = 1e-10}`: asks lstsq for the solution of least norm; singular values of at most
/// `rcond` times the largest one are taken for 0. Negative: 10 roundings per row or column, as in
/// pinv.
struct LeastNorm {
  double rcond = -1;
};

namespace rule {

/// a[B, I, J] and b[B, I, K] -> [B, J, K]; `tall`: a has at least as many rows as columns.
constexpr Verdict least_squares(Question const& q, bool tall) {
  Verdict const v = whole_matrix(q);
  if (!v) return v;
  int const rows = q.from.dims[0].label, cols = q.from.dims[1].label;
  if (tall && q.extents[rows] >= 0 && q.extents[cols] >= 0 && q.extents[rows] < q.extents[cols])
    return refuse(Code::Q09_wide_matrix, rows, cols);
  return solved(q.a(), q.operands[1], rows, cols);
}

}  // namespace rule

namespace detail {

/// The extents of `b` with the matrix's columns in the place of its rows.
constexpr void set_least_squares(ResultExtents const& c) {
  check_shared(c, 1);
  set_extent(c, c.from().dims[1].label, columns_of(c));
}
/// Flops of a factorization, m n^2 times `third` / 3, and of its use for right-hand sides; a copy
/// of both.
constexpr planning::Work least_squares_work(planning::CallSizing const& c, int third) {
  std::int64_t const m = c.rows(0, c.operands[0].find(c.from.dims[0].label));
  std::int64_t const n = c.rows(0, c.operands[0].find(c.from.dims[1].label));
  planning::Work w = detail::work(c, third, mul_sat(2, c.elements(1)));
  std::int64_t const most = std::max(m, n);
  w.workspace =
      mul_sat(mul_sat(mul_sat(3, most), add_sat(most, c.elements(1))), c.element_bytes(0));
  return w;
}

}  // namespace detail
}  // namespace linalg

namespace op {

/// x = r^-1 c of the triangle that qr gave, and Error E83 where a column of r depends on those
/// before it. `everywhere`: r is the same on all ranks.
template <class K, class J>
struct LeastTriangle : TriangularSolve<K, J> {
  using operation = LeastTriangle;
  static constexpr std::string_view name = "lstsq";
  bool everywhere;
  constexpr explicit LeastTriangle(bool on_all_ranks = false)
      : TriangularSolve<K, J>({true, false}), everywhere(on_all_ranks) {}
  template <class Out, class A, class B>
  void fill(Out& out, A const& r, B const& c) const {
    auto const mats = linalg::detail::matrices<K, J>(r);
    for (std::int64_t t = 0; t < mats.count; ++t)
      for (std::int64_t j = 0; j < mats.width; ++j) {
        auto const* const column = mats.member(t) + linalg::kernels::offset(mats.cols, j);
        if (linalg::detail::depends(mats.width, j,
                                    [&](std::int64_t i) { return column[i * mats.row_stride]; }))
          linalg::detail::refuse_dependent(linalg::detail::column_label<K, J, A>(), j,
                                           linalg::detail::place_of<K, J>(r, t),
                                           everywhere ? FailedOn::every_rank : FailedOn::this_rank);
      }
    TriangularSolve<K, J>::fill(out, r, c);
  }
};

/// The x [B, J, K] that makes |a x - b| smallest, of matrices of full rank.
template <class I, class J>
struct LeastSquares : linalg::detail::OnMatrices<I, J> {
  using operation = LeastSquares;
  using gradient = checking::ByOthers;
  static constexpr std::string_view name = "lstsq";
  static constexpr Verdict rule(rules::Question const& q) {
    return linalg::rule::least_squares(q, true);
  }
  constexpr void extents(ResultExtents const& c) const {
    detail::check_tall(c);
    linalg::detail::set_least_squares(c);
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::least_squares_work(c, 6);
  }
  template <class Out, class A, class B>
  void fill([[maybe_unused]] Out& out, [[maybe_unused]] A const& a,
            [[maybe_unused]] B const& b) const {
    linalg::detail::need_lapack("lstsq");
#ifdef SHARDTYPE_HAVE_LAPACK
    namespace lk = linalg::kernels;
    using T = typename A::element;
    auto const mats = linalg::detail::matrices<I, J>(a);
    auto const right = linalg::detail::stack_beside<A, I, J, I>(b, execute::data_of(b));
    auto const made = linalg::detail::stack_beside<A, I, J, J>(out, execute::written(out));
    std::int64_t const m = mats.rows, n = mats.width, width = right.width;
    if (n == 0) return;
    runtime::Buffer const room = linalg::detail::room<T>(a, m * (n + width) + n);
    auto* const x = static_cast<T*>(room.data());
    T* const y = x + m * n;
    T* const tau = y + m * width;
    for (std::int64_t t = 0; t < mats.count; ++t) {
      lk::pack(mats, t, x, m);
      lk::pack(right, t, y, m);
      int const of_a = lk::scale_matrix(m, n, x, m);
      int const of_b = lk::scale_matrix(m, width, y, m);
      lk::geqrf(m, n, x, m, tau);
      for (std::int64_t j = 0; j < n; ++j)
        if (linalg::detail::depends(n, j, [&](std::int64_t i) { return x[i + j * m]; }))
          linalg::detail::refuse_dependent(linalg::detail::column_label<I, J, A>(), j,
                                           linalg::detail::place_of<I, J>(a, t),
                                           FailedOn::this_rank);
      lk::ormqr(lk::Side::left, true, m, width, n, x, m, tau, y, m);
      lk::solve_triangular(lk::Triangle::upper, lk::Trans::no, lk::Diagonal::general, n, width, x,
                           m, y, m);
      lk::scale_by_power(of_a - of_b, n, width, y, m);
      lk::unpack(y, m, made, t);
    }
#endif
  }
  /// By q and r, which have gradients.
  template <class A, class B>
  constexpr auto instead(std::source_location const& where, A const& a, B const& b) const {
    using K = linalg::detail::Least;
    auto const parts = linalg::api::qr<I, J, K>(a, where);
    auto const c = linalg::detail::einsum_to(
        linalg::detail::with_pair<I, I, K, K>(autodiff::labels_of_t<linalg::detail::seen_t<B>>{}),
        linalg::detail::conjugate(parts.q), b);
    return api::call(op::LeastTriangle<K, J>{}, where, parts.r, c);
  }
};

/// The same of least norm, of matrices of any shape and rank.
template <class I, class J>
struct LeastNormSolution : linalg::detail::OnMatrices<I, J> {
  using operation = LeastNormSolution;
  using gradient = checking::ByOthers;
  static constexpr std::string_view name = "lstsq";
  linalg::Cutoff cutoff;
  constexpr explicit LeastNormSolution(linalg::Cutoff const& c = {}) : cutoff(c) {}
  static constexpr Verdict rule(rules::Question const& q) {
    return linalg::rule::least_squares(q, false);
  }
  constexpr void extents(ResultExtents const& c) const { linalg::detail::set_least_squares(c); }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::least_squares_work(c, 66);
  }
  template <class Out, class A, class B>
  void fill([[maybe_unused]] Out& out, [[maybe_unused]] A const& a,
            [[maybe_unused]] B const& b) const {
    linalg::detail::need_lapack("lstsq");
#ifdef SHARDTYPE_HAVE_LAPACK
    namespace lk = linalg::kernels;
    using T = typename A::element;
    using R = lk::real_t<T>;
    auto const mats = linalg::detail::matrices<I, J>(a);
    auto const right = linalg::detail::stack_beside<A, I, J, I>(b, execute::data_of(b));
    auto const made = linalg::detail::stack_beside<A, I, J, J>(out, execute::written(out));
    std::int64_t const m = mats.rows, n = mats.width, k = std::min(m, n), width = right.width;
    R const part = cutoff.part<R>(m, n, 10);
    for (std::int64_t t = 0; t < mats.count && k == 0; ++t) lk::fill(made, t, T(0));
    runtime::Buffer const room = linalg::detail::room<T>(a, (std::max(m, n) + k) * width);
    auto* const y = static_cast<T*>(room.data());
    T* const turned = y + std::max(m, n) * width;
    linalg::detail::each_svd(
        a, mats, true,
        [&](std::int64_t t, auto const& of) {
          if (!of.good) return lk::fill(made, t, lk::not_a_number<T>());
          lk::pack(right, t, y, m);
          int const of_b = lk::scale_matrix(m, width, y, m);
          lk::gemm(lk::Trans::conjugate, lk::Trans::no, k, width, m, T(1), of.u, m, y, m, T(0),
                   turned, k);
          for (std::int64_t c = 0; c < k; ++c)
            for (std::int64_t w = 0; w < width; ++w)
              turned[c + w * k] =
                  of.s[c] > part * of.s[0] ? T(turned[c + w * k] / T(of.s[c])) : T(0);
          lk::gemm(lk::Trans::conjugate, lk::Trans::no, n, width, k, T(1), of.vh, k, turned, k,
                   T(0), y, n);
          lk::scale_by_power(of.exponent - of_b, n, width, y, n);
          lk::unpack(y, n, made, t);
        },
        true);
#endif
  }
  /// By the pseudo-inverse, where the rank does not change.
  template <class A, class B>
  constexpr auto instead(std::source_location const& where, A const& a, B const& b) const {
    auto const inverse = api::call(op::PseudoInverse<I, J>{cutoff}, where, a);
    return linalg::detail::einsum_to(
        linalg::detail::with_pair<I, I, J, J>(autodiff::labels_of_t<linalg::detail::seen_t<B>>{}),
        inverse, b);
  }
};

}  // namespace op

namespace autodiff {}  // namespace autodiff

namespace linalg {
namespace api {

/// The x that makes |a x - b| smallest for each matrix of full rank with at least as many rows as
/// columns: `a[B@X, I, J]`, `b[B@X, I, K]` -> `[B@X, J, K]`; b as in solve. By LAPACK's reflectors;
/// differentiable with respect to both. Communicates nothing. Refused: as solve, Q09 more columns
/// than rows. Errors: E24, E41 more columns than rows, E79, E83 a column that depends on those
/// before it, on the rank that holds the matrix.
///
///     auto x = linalg::lstsq<I, J>(a, b);
template <class I, class J, class A, class B>
constexpr auto lstsq(core::Argument<A> const& a, B const& b, checking::CallSite where = {}) {
  return shardtype::call(op::LeastSquares<I, J>{}, where, a.self(), b);
}
/// The one of least norm of these x, of matrices of any shape and rank: `lstsq<I, J>(a, b, {.rcond
/// = 1e-10})`; singular values of at most `rcond` times the largest one are taken for 0, by
/// default, `linalg::LeastNorm{}`, 10 max(I, J) roundings. By singular values; a matrix with a NaN
/// or an infinity gives NaN in its own result. Differentiable, any number of times, where the rank
/// does not change. Communicates nothing. Refusals as solve. Errors: E24, E79. As jnp.linalg.lstsq.
template <class I, class J, class A, class B>
constexpr auto lstsq(core::Argument<A> const& a, B const& b, LeastNorm how,
                     checking::CallSite where = {}) {
  return shardtype::call(op::LeastNormSolution<I, J>{{how.rcond}}, where, a.self(), b);
}
/// The same with `rcond` as a number.
template <class I, class J, class A, class B>
constexpr auto lstsq(core::Argument<A> const& a, B const& b, double rcond,
                     checking::CallSite where = {}) {
  return api::lstsq<I, J>(a.self(), b, LeastNorm{rcond}, where);
}

}  // namespace api
}  // namespace linalg
}  // namespace shardtype
