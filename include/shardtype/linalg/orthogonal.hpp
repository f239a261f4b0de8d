#pragma once
/// Orthogonal factors, and least squares by them.

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

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

struct Factors : Index<"orthogonal and triangular"> {};
struct Least : Index<"least"> {};

}  // namespace detail
}  // namespace linalg

namespace op {

/// Of each matrix [B, I, J] its factors, [B, K, P]: of each row the column of q, then the row of r.
template <class I, class J, class K>
struct QrBoth : linalg::detail::OnMatrices<I, J> {
  using operation = QrBoth;
  using to = Mentions<Dim<K>, Dim<linalg::detail::Factors>>;
  using gradient = checking::Constant;
  static constexpr std::string_view name = "qr";
  static constexpr Verdict rule(rules::Question const& q) {
    return linalg::rule::per_matrix_along_new(q, linalg::rule::whole_matrix(q));
  }
  constexpr void extents(ResultExtents const& c) const {
    std::int64_t const m = linalg::detail::order_of(c), n = linalg::detail::columns_of(c);
    c.out[c.result.rank - 2] = std::min(m, n);
    c.out[c.result.rank - 1] = m + n;
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::work(c, 12, 0);
  }
  template <class Out, class A>
  void fill([[maybe_unused]] Out& out, [[maybe_unused]] A const& a) const {
    linalg::detail::need_lapack("qr");
#ifdef SHARDTYPE_HAVE_LAPACK
    namespace lk = linalg::kernels;
    using T = typename A::element;
    auto const mats = linalg::detail::matrices<I, J>(a);
    std::int64_t const m = mats.rows, n = mats.width, k = std::min(m, n), width = m + n;
    if (k == 0) return;
    runtime::Buffer const square = linalg::detail::room<T>(a, m * n);
    runtime::Buffer const numbers = linalg::detail::room<T>(a, k);
    auto* const x = static_cast<T*>(square.data());
    auto* const tau = static_cast<T*>(numbers.data());
    for (std::int64_t t = 0; t < mats.count; ++t) {
      T* const mine = linalg::detail::written(out) + t * k * width;
      lk::pack(mats, t, x, m);
      lk::factor_qr(m, n, x, m, tau);
      for (std::int64_t c = 0; c < k; ++c)
        for (std::int64_t j = 0; j < n; ++j) mine[c * width + m + j] = j >= c ? x[c + j * m] : T(0);
      lk::orgqr(m, k, k, x, m, tau);
      for (std::int64_t c = 0; c < k; ++c) std::copy_n(x + c * m, m, mine + c * width);
    }
#endif
  }
};
/// q [B, I, K] of what QrBoth gave, or r [B, K, J]; the gradient is with respect to a.
template <class I, class J, class K, bool triangular>
struct QrPartOf : linalg::detail::OnMatrices<I, J> {
  using operation = QrPartOf;
  using to = Mentions<Dim<K>>;
  static constexpr std::string_view name = "qr";
  static constexpr Verdict rule(rules::Question const& q) {
    return linalg::rule::with_new(q, linalg::rule::whole_matrix(q), triangular ? 0 : 1);
  }
  constexpr void extents(ResultExtents const& c) const {
    linalg::detail::set_extent(
        c, c.to().dims[0].label,
        std::min(linalg::detail::order_of(c), linalg::detail::columns_of(c)));
  }
  template <class Out, class A, class F>
  void fill(Out& out, A const& a, F const& both) const {
    namespace lk = linalg::kernels;
    auto const mats = linalg::detail::matrices<I, J>(a);
    std::int64_t const m = mats.rows, n = mats.width, k = std::min(m, n), width = m + n;
    auto const made = linalg::detail::stack_beside<A, I, J, std::conditional_t<triangular, K, I>>(
        out, linalg::detail::written(out));
    for (std::int64_t t = 0; t < mats.count; ++t) {
      auto const* const mine = execute::data_of(both) + t * k * width;
      if constexpr (triangular) {
        for (std::int64_t c = 0; c < k; ++c)
          for (std::int64_t j = 0; j < n; ++j)
            made.member(t)[c * made.row_stride + lk::offset(made.cols, j)] =
                mine[c * width + m + j];
      } else {
        lk::unpack(mine, width, made, t);
      }
    }
  }
};

}  // namespace op

namespace linalg::detail {

/// The cotangent of a = q r, typed as `A`, of that of q or of r: a' = (q' + conj(q) s) r^-T, where s is the Hermitian matrix
/// whose upper triangle is that of r' r^T - q^T q', its diagonal real; q' or r' is zero here. `whole`: sums q^T q' over the ranks
/// that hold rows.
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

}  // namespace linalg::detail

namespace autodiff {

template <class I, class J, class K, bool triangular>
struct Vjp<op::QrPartOf<I, J, K, triangular>> : Differentiable {
  static constexpr bool first_order = true;
  using Op = op::QrPartOf<I, J, K, triangular>;
  template <class V, class A, class F>
  static constexpr auto save(Op const&, V const&, A const& a, F const& both) {
    auto const where = std::source_location::current();
    return autodiff::keep(api::call(op::QrPartOf<I, J, K, false>{}, where, a, both),
                          api::call(op::QrPartOf<I, J, K, true>{}, where, a, both));
  }
  template <int Which, class V, class A, class F, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    return linalg::detail::pull_qr<A, I, J, K, triangular>(
        autodiff::kept<0>(saved), autodiff::kept<1>(saved), ct,
        [](auto const& product) { return product; });
  }
};

}  // namespace autodiff

namespace linalg {
namespace api {

/// Orthonormal columns q and an upper triangular r with a = q r for each matrix: `a[B@X, I, J]` -> `{q[B@X, I, K], r[B@X, K,
/// J]}` with min(I, J) rows of K, of float, double or their complex numbers. Rows and columns are whole on each rank. By
/// LAPACK's reflectors, whose signs it has. The gradient is of first order (X03), of matrices with at least as many rows as
/// columns (E41) and full rank. Communicates nothing. Refused: D01, D02 K is a dim of a, Q01, Q02, Q06, P12. Errors: E79
/// no LAPACK. As jnp.linalg.qr. Source of the gradient: Seeger et al., "Auto-differentiating linear algebra", 2017.
template <class I, class J, class K, class A>
constexpr auto qr(core::Argument<A> const& a, checking::CallSite where = {}) {
  auto const both = shardtype::call(op::QrBoth<I, J, K>{}, where, a.self());
  auto q = shardtype::call(op::QrPartOf<I, J, K, false>{}, where, a.self(), both);
  auto r = shardtype::call(op::QrPartOf<I, J, K, true>{}, where, a.self(), both);
  return QR<decltype(q), decltype(r)>{std::move(q), std::move(r)};
}

}  // namespace api
}  // namespace linalg
}  // namespace shardtype
