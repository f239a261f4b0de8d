#pragma once
/// Eigenvalues of symmetric matrices, and singular values.

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <tuple>
#include <utility>

#include <shardtype/linalg/triangular.hpp>

namespace shardtype {

namespace linalg {

/// Result of `eigh`: a = v w v^H, eigenvalues ascending.
template <class Values, class Vectors>
struct Eigen {
  Values w;
  Vectors v;
};
/// Result of `svd`: a = u s vh, singular values descending.
template <class Left, class Values, class Right>
struct Singular {
  Left u;
  Values s;
  Right vh;
};

namespace detail {

#ifdef SHARDTYPE_HAVE_LAPACK

/// Calls `f(t, x, w)` for each Hermitian matrix: its eigenvalues w and, where they are asked for,
/// its vectors as the column-major x; NaN of a matrix with a NaN, with which LAPACK may not end, or
/// of which LAPACK finds none.
template <class A, class T, class F>
void each_eigh(A const& a, kernels::Stack<T const> const& mats, bool vectors, F f) {
  using R = kernels::real_t<T>;
  std::int64_t const n = mats.rows;
  if (n == 0) return;
  runtime::Buffer const square = detail::room<T>(a, n * n);
  runtime::Buffer const numbers = detail::room<R>(a, n);
  auto* const x = static_cast<T*>(square.data());
  auto* const w = static_cast<R*>(numbers.data());
  for (std::int64_t t = 0; t < mats.count; ++t) {
    kernels::pack(mats, t, x, n);
    if (!kernels::finite(x, n * n) ||
        kernels::syevd(vectors, kernels::Triangle::lower, n, x, n, w) != 0) {
      std::fill_n(x, n * n, kernels::not_a_number<T>());
      std::fill_n(w, n, kernels::not_a_number<R>());
    }
    f(t, x, w);
  }
}

/// Singular values of an m x n matrix, and, where they are asked for, vectors: u with leading
/// dimension m, vh with min(m, n).
template <class T>
struct OneSvd {
  bool good;     ///< false of a matrix with a NaN or an infinity, or of which LAPACK finds none
  int exponent;  ///< of the power of two by which the matrix was scaled; 0 where that is not asked
                 ///< for
  T* scratch;    ///< m n elements
  T* u;
  T* vh;
  kernels::real_t<T>* s;
};
/// Calls `f(t, svd)` for each matrix that has elements; `scaled`: of the scaled matrix.
template <class A, class T, class F>
void each_svd(A const& a, kernels::Stack<T const> const& mats, bool vectors, F f,
              bool scaled = false) {
  std::int64_t const m = mats.rows, n = mats.width, k = std::min(m, n);
  if (k == 0) return;
  runtime::Buffer const room = detail::room<T>(a, m * n + (vectors ? m * k + k * n : 0));
  runtime::Buffer const values = detail::room<kernels::real_t<T>>(a, k);
  auto* const x = static_cast<T*>(room.data());
  T* const u = vectors ? x + m * n : nullptr;
  OneSvd<T> one{false,
                0,
                x,
                u,
                vectors ? u + m * k : nullptr,
                static_cast<kernels::real_t<T>*>(values.data())};
  for (std::int64_t t = 0; t < mats.count; ++t) {
    kernels::pack(mats, t, x, m);
    if (scaled) one.exponent = kernels::scale_matrix(m, n, x, m);
    one.good = kernels::finite(x, m * n) &&
               kernels::gesdd(vectors, m, n, x, m, one.s, one.u, m, one.vh, k) == 0;
    f(t, one);
  }
}

#endif
/// a'_ij = sum over k of conj(v_ik) w'_k v_jk, of vectors v.
template <class I, class J, class G, class V>
constexpr auto pull_eigenvalues(G const& g, V const& v) {
  using A = typename G::type;
  return linalg::detail::einsum_to(
      autodiff::labels_of_t<A>{},
      (linalg::detail::conjugate(v) * shardtype::cast<checking::element_t<A>>(g.ct)).tensor(),
      shardtype::relabel<I, J>(v));
}
/// a'_ij = sum over k of conj(u_ik) s'_k conj(vh_kj), of vectors that were kept.
template <class G>
constexpr auto pull_singular_values(G const& g) {
  using A = typename G::type;
  return linalg::detail::einsum_to(autodiff::labels_of_t<A>{},
                                   (linalg::detail::conjugate(g.template kept<0>()) *
                                    shardtype::cast<checking::element_t<A>>(g.ct))
                                       .tensor(),
                                   linalg::detail::conjugate(g.template kept<1>()));
}

}  // namespace detail
}  // namespace linalg

namespace op {

/// m[B, K, L] divided by w[L] - w[K], the diagonal 0; operands m and w[B, K].
template <class K, class L>
struct DivideByGaps : linalg::detail::OnMatrices<K, L> {
  using operation = DivideByGaps;
  static constexpr std::string_view name = "divide_by_gaps";
  static constexpr Verdict rule(rules::Question const& q) { return rules::accept(q.a()); }
  template <class A, class W>
  static constexpr Code elements() {
    return Code::ok;
  }
  template <class Out, class A, class W>
  void fill(Out& out, A const& a, W const& w) const {
    namespace lk = linalg::kernels;
    auto const mats = linalg::detail::matrices<K, L>(a);
    auto const made = linalg::detail::stack_beside<A, K, L, K>(out, execute::written(out));
    auto const values = linalg::detail::stack_beside<A, K, L, K>(w, execute::data_of(w));
    for (std::int64_t t = 0; t < mats.count; ++t)
      for (std::int64_t k = 0; k < mats.rows; ++k)
        for (std::int64_t l = 0; l < mats.width; ++l) {
          auto const at = [&](std::int64_t m) { return values.member(t)[m * values.row_stride]; };
          using T = typename A::element;
          T const x = mats.member(t)[k * mats.row_stride + lk::offset(mats.cols, l)];
          made.member(t)[k * made.row_stride + lk::offset(made.cols, l)] =
              k == l ? T(0) : x / T(at(l) - at(k));
        }
  }
};

/// Eigenvalues [B, K] of Hermitian matrices [B, I, J], real, and eigenvectors [B, I, K], in the
/// order of a's dims, with K in the place of J.
template <class I, class J, class K>
struct Eigh : linalg::detail::OnMatrices<I, J> {
  using operation = Eigh;
  using gradient = checking::PullsBySaved;
  using to = Mentions<Dim<K>>;
  static constexpr std::string_view name = "eigh";
  static constexpr Verdicts<2> rule(rules::Question const& q) {
    Verdict const values = linalg::rule::per_matrix_along_new(q, linalg::rule::square(q));
    return {values, linalg::rule::with_new(q, values, 1)};
  }
  template <class A>
  using element = Elements<linalg::kernels::real_t<checking::element_t<A>>, checking::element_t<A>>;
  constexpr void extents(ResultExtents const& values, ResultExtents const& vectors) const {
    linalg::detail::check_square(values);
    for (ResultExtents const* c : {&values, &vectors})
      linalg::detail::set_extent(*c, c->to().dims[0].label, linalg::detail::order_of(*c));
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::work(c, 27, 0);
  }
  template <class W, class V, class A>
  void fill([[maybe_unused]] W& values, [[maybe_unused]] V& vectors,
            [[maybe_unused]] A const& a) const {
    linalg::detail::need_lapack("eigh");
#ifdef SHARDTYPE_HAVE_LAPACK
    namespace lk = linalg::kernels;
    auto const mats = linalg::detail::matrices<I, J>(a);
    auto const made = linalg::detail::stack_beside<A, I, J, I>(vectors, execute::written(vectors));
    std::int64_t const n = mats.rows;
    linalg::detail::each_eigh(a, mats, true, [&](std::int64_t t, auto const* x, auto const* w) {
      std::copy_n(w, n, execute::written(values) + t * n);
      lk::unpack(x, n, made, t);
    });
#endif
  }
  static constexpr bool first_order_results[2] = {false, true};
  template <std::size_t Result, class V, class A>
  constexpr auto save(V const& both, A const&) const {
    if constexpr (Result == 0) {
      return autodiff::keep(std::get<1>(both));
    } else {
      return autodiff::keep(std::get<1>(both), std::get<0>(both));
    }
  }
  /// Of vectors a' is the Hermitian part of conj(v) ((v^T v') / gaps) v^T.
  template <class G>
  constexpr auto pull(G const& g) const {
    auto const& v = g.template kept<0>();
    if constexpr (G::result == 0) {
      return linalg::detail::pull_eigenvalues<I, J>(g, v);
    } else {
      using L = linalg::detail::SecondColumn;
      using A = typename G::type;
      using T = checking::element_t<A>;
      using Labels = autodiff::labels_of_t<A>;
      auto const product = linalg::detail::einsum_to(
          linalg::detail::with_pair<I, J, K, L>(Labels{}), v, api::relabel<K, L>(g.ct));
      auto const divided = g.call(DivideByGaps<K, L>{}, product, g.template kept<1>());
      auto const left = linalg::detail::einsum_to(linalg::detail::with_pair<I, J, I, L>(Labels{}),
                                                  linalg::detail::conjugate(v), divided);
      auto const whole = linalg::detail::einsum_to(Labels{}, left, api::relabel<I, J, K, L>(v));
      return (T(0.5) * (whole + linalg::detail::conjugate(api::relabel<I, J, J, I>(whole))))
          .tensor();
    }
  }
};
/// The eigenvalues alone.
template <class I, class J, class K>
struct EighValues : linalg::detail::OnMatrices<I, J> {
  using operation = EighValues;
  using gradient = checking::PullsBySaved;
  using to = Mentions<Dim<K>>;
  static constexpr std::string_view name = "eigh";
  static constexpr Verdict rule(rules::Question const& q) {
    return linalg::rule::per_matrix_along_new(q, linalg::rule::square(q));
  }
  template <class A>
  using element = linalg::kernels::real_t<checking::element_t<A>>;
  constexpr void extents(ResultExtents const& c) const {
    linalg::detail::check_square(c);
    linalg::detail::set_extent(c, c.to().dims[0].label, linalg::detail::order_of(c));
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::work(c, 27, 0);
  }
  template <class W, class A>
  void fill([[maybe_unused]] W& values, [[maybe_unused]] A const& a) const {
    linalg::detail::need_lapack("eigh");
#ifdef SHARDTYPE_HAVE_LAPACK
    auto const mats = linalg::detail::matrices<I, J>(a);
    linalg::detail::each_eigh(a, mats, false, [&](std::int64_t t, auto const*, auto const* w) {
      std::copy_n(w, mats.rows, execute::written(values) + t * mats.rows);
    });
#endif
  }
  /// The vectors are found too.
  template <class A>
  constexpr auto forward(std::source_location const& where, A const& a) const {
    auto const both = api::call(Eigh<I, J, K>{}, where, a);
    return autodiff::Forward{std::get<0>(both), autodiff::keep(std::get<1>(both))};
  }
  template <class G>
  constexpr auto pull(G const& g) const {
    return linalg::detail::pull_eigenvalues<I, J>(g, g.template kept<0>());
  }
};

/// The singular value decomposition of each matrix [B, I, J]: left singular vectors [B, I, K],
/// singular values [B, K], real, and right singular vectors [B, K, J].
template <class I, class J, class K>
struct Svd : linalg::detail::OnMatrices<I, J> {
  using operation = Svd;
  using gradient = checking::PullsBySaved;
  using to = Mentions<Dim<K>>;
  static constexpr std::string_view name = "svd";
  static constexpr Verdicts<3> rule(rules::Question const& q) {
    Verdict const values = linalg::rule::per_matrix_along_new(q, linalg::rule::whole_matrix(q));
    return {linalg::rule::with_new(q, values, 1), values, linalg::rule::with_new(q, values, 0)};
  }
  template <class A>
  using element = Elements<checking::element_t<A>, linalg::kernels::real_t<checking::element_t<A>>,
                           checking::element_t<A>>;
  constexpr void extents(ResultExtents const& u, ResultExtents const& s,
                         ResultExtents const& vh) const {
    for (ResultExtents const* c : {&u, &s, &vh}) linalg::detail::set_shorter(*c);
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::work(c, 60, 0);
  }
  template <class U, class S, class V, class A>
  void fill([[maybe_unused]] U& left, [[maybe_unused]] S& values, [[maybe_unused]] V& right,
            [[maybe_unused]] A const& a) const {
    linalg::detail::need_lapack("svd");
#ifdef SHARDTYPE_HAVE_LAPACK
    namespace lk = linalg::kernels;
    using T = typename A::element;
    auto const mats = linalg::detail::matrices<I, J>(a);
    auto const u = linalg::detail::stack_beside<A, I, J, I>(left, execute::written(left));
    auto const vh = linalg::detail::stack_beside<A, I, J, K>(right, execute::written(right));
    auto* const s = execute::written(values);
    std::int64_t const k = std::min(mats.rows, mats.width);
    linalg::detail::each_svd(a, mats, true, [&](std::int64_t t, auto const& of) {
      if (of.good) {
        lk::unpack(of.u, mats.rows, u, t);
        lk::unpack(of.vh, k, vh, t);
        std::copy_n(of.s, k, s + t * k);
      } else {
        lk::fill(u, t, lk::not_a_number<T>());
        lk::fill(vh, t, lk::not_a_number<T>());
        std::fill_n(s + t * k, k, lk::not_a_number<lk::real_t<T>>());
      }
    });
#endif
  }
  static constexpr bool first_order = true;
  template <std::size_t Result, class V, class A>
  constexpr auto save(V const& all, A const& a) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};
/// The singular values alone.
template <class I, class J, class K>
struct SvdValues : linalg::detail::OnMatrices<I, J> {
  using operation = SvdValues;
  using gradient = checking::PullsBySaved;
  using to = Mentions<Dim<K>>;
  static constexpr std::string_view name = "svd";
  static constexpr Verdict rule(rules::Question const& q) {
    return linalg::rule::per_matrix_along_new(q, linalg::rule::whole_matrix(q));
  }
  template <class A>
  using element = linalg::kernels::real_t<checking::element_t<A>>;
  constexpr void extents(ResultExtents const& c) const { linalg::detail::set_shorter(c); }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::work(c, 60, 0);
  }
  template <class S, class A>
  void fill([[maybe_unused]] S& values, [[maybe_unused]] A const& a) const {
    linalg::detail::need_lapack("svd");
#ifdef SHARDTYPE_HAVE_LAPACK
    using R = typename S::element;
    auto const mats = linalg::detail::matrices<I, J>(a);
    std::int64_t const k = std::min(mats.rows, mats.width);
    linalg::detail::each_svd(a, mats, false, [&](std::int64_t t, auto const& of) {
      R* const s = execute::written(values) + t * k;
      if (of.good) {
        std::copy_n(of.s, k, s);
      } else {
        std::fill_n(s, k, linalg::kernels::not_a_number<R>());
      }
    });
#endif
  }
  static constexpr bool first_order = true;
  /// The vectors are found too.
  template <class A>
  constexpr auto forward(std::source_location const& where, A const& a) const {
    auto const all = api::call(Svd<I, J, K>{}, where, a);
    return autodiff::Forward{std::get<1>(all), autodiff::keep(std::get<0>(all), std::get<2>(all))};
  }
  template <class G>
  constexpr auto pull(G const& g) const {
    return linalg::detail::pull_singular_values(g);
  }
};

}  // namespace op

namespace linalg {
namespace api {

/// Eigenvalues and eigenvectors of each symmetric (Hermitian) matrix, a = v w v^H: `a[B@X, I, J]`
/// -> `{w[B@X, K], v[B@X, I, K]}`, of float, double or their complex numbers; w is real and
/// ascending. Only the lower triangle is read. Rows and columns are whole on each rank. A matrix
/// with a NaN, or of which LAPACK finds no eigenvalues, gives NaN in its own result. The gradient
/// is symmetric, of first order (X03), and not finite for vectors of equal eigenvalues; their sign
/// and phase are LAPACK's, so functions of them should not depend on it. Communicates nothing.
/// Refused: D01, D02 K is a dim of a, Q01, Q02, Q06, P12. Errors: E41 not square, E79 no LAPACK. As
/// jnp.linalg.eigh.
template <class I, class J, class K, class A>
constexpr auto eigh(core::Argument<A> const& a, checking::CallSite where = {}) {
  return detail::named_results<Eigen>(shardtype::call(op::Eigh<I, J, K>{}, where, a.self()));
}

/// Eigenvalues alone: `a[B@X, I, J]` -> `[B@X, K]`, as eigh. Of a value whose gradient is wanted
/// the vectors are found too.
template <class I, class J, class K, class A>
constexpr auto eigvalsh(core::Argument<A> const& a, checking::CallSite where = {}) {
  return shardtype::call(op::EighValues<I, J, K>{}, where, a.self());
}

/// Singular vectors and values of each matrix, a = u s vh: `a[B@X, I, J]` -> `{u[B@X, I, K], s[B@X,
/// K], vh[B@X, K, J]}` with min(I, J) rows of K; s is real and descending. The gradient is of first
/// order (X03), and right where singular values differ: equal ones, whose vectors are not
/// determined, count as having no difference. The phase of pairs of vectors is LAPACK's, so
/// functions of them should not depend on it. Otherwise as eigh. Corresponds to jnp.linalg.svd with
/// full_matrices=False.
template <class I, class J, class K, class A>
constexpr auto svd(core::Argument<A> const& a, checking::CallSite where = {}) {
  return detail::named_results<Singular>(shardtype::call(op::Svd<I, J, K>{}, where, a.self()));
}

/// Singular values alone: `a[B@X, I, J]` -> `[B@X, K]`, as svd, with a gradient of first order. The
/// largest is the 2-norm.
template <class I, class J, class K, class A>
constexpr auto svdvals(core::Argument<A> const& a, checking::CallSite where = {}) {
  return shardtype::call(op::SvdValues<I, J, K>{}, where, a.self());
}

}  // namespace api
}  // namespace linalg
}  // namespace shardtype
