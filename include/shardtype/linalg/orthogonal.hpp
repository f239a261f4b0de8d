#pragma once
/// Orthogonal factors, and least squares by them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/linalg/kernels_lanes.hpp>
#include <shardtype/linalg/kernels_scale.hpp>
#include <shardtype/linalg/spectral.hpp>

namespace shardtype {

namespace linalg {

/// Result of `qr`: a = q r.
template <class Q, class R>
struct QR {
  Q q;
  R r;
};

namespace detail {

struct Least : Index<"least"> {};

/// Whether matrices of this size are factorized in lanes.
constexpr bool small_for_lanes(std::int64_t m, std::int64_t n) {
  return m <= kernels::lanes_most && n <= kernels::lanes_most;
}
/// The cotangent of a = q r, typed as `A`, of that of q or of r: a' = (q' + conj(q) s) r^-T, where
/// s is the Hermitian matrix whose upper triangle is that of r' r^T - q^T q', its diagonal real; q'
/// or r' is zero here. `whole`: sums q^T q' over the ranks that hold rows.
template <class A, class I, class J, class K, bool triangular, class Q, class R, class C,
          class Whole>
constexpr auto pull_qr(Q const& q, R const& given, C const& ct, Whole const& whole) {
  using L = SecondColumn;
  using T = checking::element_t<autodiff::tensor_of<A>>;
  using Labels = autodiff::labels_of_t<autodiff::tensor_of<A>>;
  auto const r = shardtype::relabel<K, L>(given);
  auto const square = linalg::detail::with_pair<I, J, K, L>(Labels{});
  auto const product = [&] {
    if constexpr (triangular) {
      return linalg::detail::einsum_to(square, ct, r);
    } else {
      return (-whole(linalg::detail::einsum_to(square, q, shardtype::relabel<K, L>(ct)))).tensor();
    }
  }();
  auto const twice =
      (shardtype::triu<K, L>(product, 0) + shardtype::triu<K, L>(product, 1)).tensor();
  auto const s =
      (T(0.5) * (twice + shardtype::relabel<K, L, L, K>(linalg::detail::conjugate(twice))))
          .tensor();
  auto const turned = linalg::detail::einsum_to(linalg::detail::with_pair<I, J, I, L>(Labels{}),
                                                linalg::detail::conjugate(q), s);
  auto const both = [&] {
    if constexpr (triangular) {
      return turned;
    } else {
      return (turned + shardtype::relabel<K, L>(ct)).tensor();
    }
  }();
  return autodiff::in_order(shardtype::call(op::TriangularSolve<L, J>{{true, false}},
                                            std::source_location::current(), r, both),
                            Labels{});
}

}  // namespace detail
}  // namespace linalg

namespace op {

/// The factors q [B, I, K] and r [B, K, J] of each matrix [B, I, J].
template <class I, class J, class K>
struct Qr : linalg::detail::OnMatrices<I, J> {
  using operation = Qr;
  using gradient = checking::PullsBySaved;
  using to = Mentions<Dim<K>>;
  static constexpr std::string_view name = "qr";
  static constexpr Verdicts<2> rule(rules::Question const& q) {
    Verdict const v = linalg::rule::per_matrix_along_new(q, linalg::rule::whole_matrix(q));
    return {linalg::rule::with_new(q, v, 1), linalg::rule::with_new(q, v, 0)};
  }
  template <class A>
  using element = Elements<checking::element_t<A>, checking::element_t<A>>;
  constexpr void extents(ResultExtents const& q, ResultExtents const& r) const {
    linalg::detail::set_shorter(q);
    linalg::detail::set_shorter(r);
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    planning::Work w = linalg::detail::work(c, 12, 0);
    Spec const& a = c.operands[0];
    std::int64_t const m = c.rows(0, a.find(c.from.dims[0].label));
    std::int64_t const n = c.rows(0, a.find(c.from.dims[1].label));
    if (m < 0 || n < 0) return w;
    std::int64_t const bytes = linalg::detail::small_for_lanes(m, n) ? 64 : c.element_bytes(0);
    w.workspace = mul_sat(add_sat(mul_sat(m, n), std::min(m, n)), bytes);
    return w;
  }
  template <class Q, class R, class A>
  void fill([[maybe_unused]] Q& q, [[maybe_unused]] R& r, [[maybe_unused]] A const& a) const {
    linalg::detail::need_lapack("qr");
#ifdef SHARDTYPE_HAVE_LAPACK
    namespace lk = linalg::kernels;
    using T = typename A::element;
    auto const mats = linalg::detail::matrices<I, J>(a);
    auto const columns = linalg::detail::stack_beside<A, I, J, I>(q, execute::written(q));
    auto const rows = linalg::detail::stack_beside<A, I, J, K>(r, execute::written(r));
    std::int64_t const m = mats.rows, n = mats.width, k = std::min(m, n);
    if (k == 0) return;
    if constexpr (lk::has_lanes<T>) {
      if (linalg::detail::small_for_lanes(m, n)) return in_lanes(a, mats, columns, rows);
    }
    runtime::Buffer const square = linalg::detail::room<T>(a, m * n);
    runtime::Buffer const numbers = linalg::detail::room<T>(a, k);
    auto* const x = static_cast<T*>(square.data());
    auto* const tau = static_cast<T*>(numbers.data());
    for (std::int64_t t = 0; t < mats.count; ++t) {
      lk::pack(mats, t, x, m);
      lk::factor_qr(m, n, x, m, tau);
      for (std::int64_t c = 0; c < k; ++c)
        for (std::int64_t j = 0; j < n; ++j)
          rows.member(t)[c * rows.row_stride + lk::offset(rows.cols, j)] =
              j >= c ? x[c + j * m] : T(0);
      lk::orgqr(m, k, k, x, m, tau);
      lk::unpack(x, m, columns, t);
    }
#endif
  }
  static constexpr bool first_order = true;
  template <std::size_t Result, class V, class A>
  constexpr auto save(V const& both, A const&) const {
    return autodiff::keep(std::get<0>(both), std::get<1>(both));
  }
  template <class G>
  constexpr auto pull(G const& g) const {
    return linalg::detail::pull_qr < typename G::type, I, J, K,
           G::result == 1 > (g.template kept<0>(), g.template kept<1>(), g.ct,
                             [](auto const& product) { return product; });
  }

 private:
  /// As many matrices at once as a register has lanes.
  template <class A, class T>
  static void in_lanes(A const& a, linalg::kernels::Stack<T const> const& mats,
                       linalg::kernels::Stack<T> const& q, linalg::kernels::Stack<T> const& r) {
    namespace lk = linalg::kernels;
    constexpr int count = lk::lanes<T>;
    auto const m = static_cast<int>(mats.rows), n = static_cast<int>(mats.width);
    runtime::Buffer const scratch =
        linalg::detail::room<lk::Lanes<T>>(a, std::int64_t{m} * n + std::min(m, n));
    auto* const v = static_cast<lk::Lanes<T>*>(scratch.data());
    auto* const numbers = static_cast<T*>(scratch.data());
    lk::Lanes<T>* const tau = v + std::int64_t{m} * n;
    for (std::int64_t t = 0; t < mats.count; t += count) {
      lk::pack_lanes(mats, t, numbers, n, 0);
      lk::LaneScales<T> const scales = lk::scale_lanes<T>(m, n, 0, n, v);
      lk::reflect_lanes<T>(m, n, v, tau);
      for (int l = 0; l < count && t + l < mats.count; ++l) {
        T* const to = r.member(t + l);
        for (std::int64_t i = 0; i < r.rows; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            T const x = j < i ? T(0) : numbers[(i * n + j) * count + l];
            to[i * r.row_stride + lk::offset(r.cols, j)] =
                scales.any ? lk::times_power(x, -scales.of[l]) : x;
          }
      }
      lk::make_q_lanes<T>(m, n, v, tau);
      lk::unpack_lanes(numbers, n, 0, q, t, 0U);
    }
  }
};

}  // namespace op

namespace linalg {
namespace api {

/// Orthonormal columns q and an upper triangular r with a = q r for each matrix: `a[B@X, I, J]` ->
/// `{q[B@X, I, K], r[B@X, K, J]}` with min(I, J) rows of K, of float, double or their complex
/// numbers. Rows and columns are whole on each rank. By LAPACK's reflectors, whose signs it has.
/// The gradient is of first order (X03), of matrices with at least as many rows as columns (E41)
/// and full rank. Communicates nothing. Refused: D01, D02 K is a dim of a, Q01, Q02, Q06, P12.
/// Errors: E79 no LAPACK. As jnp.linalg.qr. Source of the gradient: Seeger et al.,
/// "Auto-differentiating linear algebra", 2017.
template <class I, class J, class K, class A>
constexpr auto qr(core::Argument<A> const& a, checking::CallSite where = {}) {
  return detail::named_results<QR>(shardtype::call(op::Qr<I, J, K>{}, where, a.self()));
}

}  // namespace api
}  // namespace linalg
}  // namespace shardtype
