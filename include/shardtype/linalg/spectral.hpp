#pragma once
/// Eigenvalues of symmetric matrices, and singular values.

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <type_traits>
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

struct VectorsAndValues : Index<"vectors and values"> {};

#ifdef SHARDTYPE_HAVE_LAPACK

/// Singular values of an m x n matrix, and, where they are asked for, vectors: u with leading dimension m, vh with min(m, n).
template <class T>
struct OneSvd {
  bool good;     ///< false of a matrix with a NaN or an infinity, or of which LAPACK finds none
  int exponent;  ///< of the power of two by which the matrix was scaled; 0 where that is not asked for
  T* scratch;  ///< m n elements
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

}  // namespace detail
}  // namespace linalg

namespace op {

/// Of each Hermitian matrix [B, I, J] its eigenvectors and eigenvalues, [B, P, I]: n columns, then one of values.
template <class I, class J>
struct EighBoth : linalg::detail::OnMatrices<I, J> {
  using operation = EighBoth;
  using to = Mentions<Dim<linalg::detail::VectorsAndValues>, Dim<I>>;
  using gradient = checking::Constant;
  static constexpr std::string_view name = "eigh";
  bool vectors;
  constexpr explicit EighBoth(bool with_vectors = true) : vectors(with_vectors) {}
  static constexpr Verdict rule(rules::Question const& q) { return linalg::rule::per_square(q); }
  constexpr void extents(ResultExtents const& c) const { linalg::detail::set_with_row(c); }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::work(c, 27, 0);
  }
  template <class Out, class A>
  void fill([[maybe_unused]] Out& out, [[maybe_unused]] A const& a) const {
    linalg::detail::need_lapack("eigh");
#ifdef SHARDTYPE_HAVE_LAPACK
    namespace lk = linalg::kernels;
    using T = typename A::element;
    auto const mats = linalg::detail::matrices<I, J>(a);
    std::int64_t const n = mats.rows;
    if (n == 0) return;
    runtime::Buffer const room = linalg::detail::room<lk::real_t<T>>(a, n);
    auto* const w = static_cast<lk::real_t<T>*>(room.data());
    for (std::int64_t t = 0; t < mats.count; ++t) {
      T* const mine = linalg::detail::written(out) + t * n * (n + 1);
      lk::pack(mats, t, mine, n);
      // with NaN LAPACK may not end
      bool const good =
          lk::finite(mine, n * n) && lk::syevd(vectors, lk::Triangle::lower, n, mine, n, w) == 0;
      if (!good) std::fill_n(mine, n * (n + 1), lk::not_a_number<T>());
      for (std::int64_t k = 0; k < n && good; ++k) mine[n * n + k] = T(w[k]);
    }
#endif
  }
};
/// The eigenvalues [B, K] of a, real, of what EighBoth gave; the gradient is with respect to a.
template <class I, class J, class K>
struct EighValues : linalg::detail::OnMatrices<I, J> {
  using operation = EighValues;
  using to = Mentions<Dim<K>>;
  static constexpr std::string_view name = "eigh";
  static constexpr Verdict rule(rules::Question const& q) {
    return linalg::rule::per_matrix_along_new(q, linalg::rule::square(q));
  }
  template <class A, class F>
  using element = linalg::kernels::real_t<checking::element_t<A>>;
  constexpr void extents(ResultExtents const& c) const {
    c.out[c.result.rank - 1] = linalg::detail::order_of(c);
  }
  template <class Out, class A, class F>
  void fill(Out& out, A const& a, F const& both) const {
    auto const mats = linalg::detail::matrices<I, J>(a);
    std::int64_t const n = mats.rows;
    for (std::int64_t t = 0; t < mats.count; ++t)
      for (std::int64_t k = 0; k < n; ++k)
        linalg::detail::written(out)[t * n + k] =
            linalg::kernels::real_part(execute::data_of(both)[t * n * (n + 1) + n * n + k]);
  }
};
/// The eigenvectors [B, I, K], in the order of a's dims, with K in the place of J.
template <class I, class J, class K>
struct EighVectors : linalg::detail::OnMatrices<I, J> {
  using operation = EighVectors;
  using to = Mentions<Dim<K>>;
  static constexpr std::string_view name = "eigh";
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict const v = linalg::rule::as_matrix(q);
    if (v && q.a().find(q.to.dims[0].label) >= 0)
      return rules::refuse(Code::D02_index_taken, q.to.dims[0].label);
    return linalg::rule::with_new(q, v, 1);
  }
  constexpr void extents(ResultExtents const& c) const {
    linalg::detail::set_extent(c, c.to().dims[0].label, linalg::detail::order_of(c));
  }
  template <class Out, class A, class F>
  void fill(Out& out, A const& a, F const& both) const {
    auto const made = linalg::detail::stack_beside<A, I, J, I>(out, linalg::detail::written(out));
    std::int64_t const n = linalg::detail::matrices<I, J>(a).rows;
    for (std::int64_t t = 0; t < made.count; ++t)
      linalg::kernels::unpack(execute::data_of(both) + t * n * (n + 1), n, made, t);
  }
};
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
    auto const made = linalg::detail::stack_beside<A, K, L, K>(out, linalg::detail::written(out));
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

/// Of each matrix its singular vectors and values, [B, K, P]: rows of u^T, of vh, and one value.
template <class I, class J, class K>
struct SvdAll : linalg::detail::OnMatrices<I, J> {
  using operation = SvdAll;
  using to = Mentions<Dim<K>, Dim<linalg::detail::VectorsAndValues>>;
  using gradient = checking::Constant;
  static constexpr std::string_view name = "svd";
  bool vectors;
  constexpr explicit SvdAll(bool with_vectors = true) : vectors(with_vectors) {}
  static constexpr Verdict rule(rules::Question const& q) {
    return linalg::rule::per_matrix_along_new(q, linalg::rule::whole_matrix(q));
  }
  constexpr void extents(ResultExtents const& c) const {
    std::int64_t const m = linalg::detail::order_of(c), n = linalg::detail::columns_of(c);
    c.out[c.result.rank - 2] = std::min(m, n);
    c.out[c.result.rank - 1] = m + n + 1;
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::work(c, 60, 0);
  }
  template <class Out, class A>
  void fill([[maybe_unused]] Out& out, [[maybe_unused]] A const& a) const {
    linalg::detail::need_lapack("svd");
#ifdef SHARDTYPE_HAVE_LAPACK
    namespace lk = linalg::kernels;
    using T = typename A::element;
    auto const mats = linalg::detail::matrices<I, J>(a);
    std::int64_t const m = mats.rows, n = mats.width, k = std::min(m, n), width = m + n + 1;
    linalg::detail::each_svd(a, mats, vectors, [&](std::int64_t t, auto const& of) {
      T* const mine = linalg::detail::written(out) + t * k * width;
      if (!of.good) {
        std::fill_n(mine, k * width, lk::not_a_number<T>());
        return;
      }
      for (std::int64_t c = 0; c < k; ++c) {
        T* const row = mine + c * width;
        for (std::int64_t i = 0; i < m; ++i) row[i] = vectors ? of.u[i + c * m] : T(0);
        for (std::int64_t j = 0; j < n; ++j) row[m + j] = vectors ? of.vh[c + j * k] : T(0);
        row[m + n] = T(of.s[c]);
      }
    });
#endif
  }
};
/// A part of what SvdAll gave: u [B, I, K], the values [B, K], real, or vh [B, K, J]; the gradient is with
/// respect to a. `constant`: no gradient flows through it.
enum class SvdPart { left, values, right };
template <class I, class J, class K, SvdPart part, bool constant>
struct SvdPartOf : linalg::detail::OnMatrices<I, J> {
  using operation = SvdPartOf;
  using to = Mentions<Dim<K>>;
  using gradient = std::conditional_t<constant, checking::Constant, void>;
  static constexpr std::string_view name = "svd";
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict const v = linalg::rule::whole_matrix(q);
    if (v && part == SvdPart::values) return rules::accept(linalg::rule::per_matrix(q));
    return linalg::rule::with_new(q, v, part == SvdPart::left ? 1 : 0);
  }
  template <class A, class F>
  using element =
      std::conditional_t<part == SvdPart::values, linalg::kernels::real_t<checking::element_t<A>>,
                         checking::element_t<A>>;
  constexpr void extents(ResultExtents const& c) const {
    linalg::detail::set_extent(
        c, c.to().dims[0].label,
        std::min(linalg::detail::order_of(c), linalg::detail::columns_of(c)));
  }
  template <class Out, class A, class F>
  void fill(Out& out, A const& a, F const& all) const {
    namespace lk = linalg::kernels;
    auto const mats = linalg::detail::matrices<I, J>(a);
    std::int64_t const m = mats.rows, n = mats.width, k = std::min(m, n), width = m + n + 1;
    auto* const to_write = linalg::detail::written(out);
    for (std::int64_t t = 0; t < mats.count; ++t) {
      auto const* const mine = execute::data_of(all) + t * k * width;
      if constexpr (part == SvdPart::values) {
        for (std::int64_t c = 0; c < k; ++c)
          to_write[t * k + c] = lk::real_part(mine[c * width + m + n]);
      } else if constexpr (part == SvdPart::left) {
        lk::unpack(mine, width, linalg::detail::stack_beside<A, I, J, I>(out, to_write), t);
      } else {
        auto const made = linalg::detail::stack_beside<A, I, J, K>(out, to_write);
        for (std::int64_t c = 0; c < k; ++c)
          for (std::int64_t j = 0; j < n; ++j)
            made.member(t)[c * made.row_stride + lk::offset(made.cols, j)] =
                mine[c * width + m + j];
      }
    }
  }
};

}  // namespace op

namespace autodiff {

/// a'_ij = sum over k of conj(v_ik) w'_k v_jk.
template <class I, class J, class K>
struct Vjp<op::EighValues<I, J, K>> : Differentiable {
  using Op = op::EighValues<I, J, K>;
  template <class V, class A, class F>
  static constexpr auto save(Op const&, V const&, A const& a, F const& both) {
    return autodiff::keep(a, both);
  }
  template <int Which, class V, class A, class F, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    using T = checking::element_t<tensor_of<A>>;
    auto const v = api::call(op::EighVectors<I, J, K>{}, std::source_location::current(),
                             autodiff::kept<0>(saved), autodiff::kept<1>(saved));
    return linalg::detail::einsum_to(labels_of_t<tensor_of<A>>{},
                                     (linalg::detail::conjugate(v) * api::cast<T>(ct)).tensor(),
                                     api::relabel<I, J>(v));
  }
};
/// a' is the Hermitian part of conj(v) ((v^T v') / gaps) v^T.
template <class I, class J, class K>
struct Vjp<op::EighVectors<I, J, K>> : Differentiable {
  static constexpr bool first_order = true;
  using Op = op::EighVectors<I, J, K>;
  template <class V, class A, class F>
  static constexpr auto save(Op const&, V const& v, A const& a, F const& both) {
    return autodiff::keep(
        v, api::call(op::EighValues<I, J, K>{}, std::source_location::current(), a, both));
  }
  template <int Which, class V, class A, class F, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    using L = linalg::detail::SecondColumn;
    using T = checking::element_t<tensor_of<A>>;
    auto const& v = autodiff::kept<0>(saved);
    auto const product = linalg::detail::einsum_to(
        linalg::detail::with_pair<I, J, K, L>(labels_of_t<tensor_of<A>>{}), v,
        api::relabel<K, L>(ct));
    auto const divided = api::call(op::DivideByGaps<K, L>{}, std::source_location::current(),
                                   product, autodiff::kept<1>(saved));
    auto const left = linalg::detail::einsum_to(
        linalg::detail::with_pair<I, J, I, L>(labels_of_t<tensor_of<A>>{}),
        linalg::detail::conjugate(v), divided);
    auto const whole =
        linalg::detail::einsum_to(labels_of_t<tensor_of<A>>{}, left, api::relabel<I, J, K, L>(v));
    return (T(0.5) * (whole + linalg::detail::conjugate(api::relabel<I, J, J, I>(whole)))).tensor();
  }
};
/// a'_ij = sum over k of conj(u_ik) s'_k conj(vh_kj).
template <class I, class J, class K>
struct Vjp<op::SvdPartOf<I, J, K, op::SvdPart::values, false>> : Differentiable {
  static constexpr bool first_order = true;
  using Op = op::SvdPartOf<I, J, K, op::SvdPart::values, false>;
  template <class V, class A, class F>
  static constexpr auto save(Op const&, V const&, A const& a, F const& all) {
    using op::SvdPart;
    auto const where = std::source_location::current();
    return autodiff::keep(api::call(op::SvdPartOf<I, J, K, SvdPart::left, true>{}, where, a, all),
                          api::call(op::SvdPartOf<I, J, K, SvdPart::right, true>{}, where, a, all));
  }
  template <int Which, class V, class A, class F, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    using T = checking::element_t<tensor_of<A>>;
    return linalg::detail::einsum_to(
        labels_of_t<tensor_of<A>>{},
        (linalg::detail::conjugate(autodiff::kept<0>(saved)) * api::cast<T>(ct)).tensor(),
        linalg::detail::conjugate(autodiff::kept<1>(saved)));
  }
};

}  // namespace autodiff

namespace linalg {
namespace api {

/// Eigenvalues and eigenvectors of each symmetric (Hermitian) matrix, a = v w v^H: `a[B@X, I, J]` -> `{w[B@X, K], v[B@X, I,
/// K]}`, of float, double or their complex numbers; w is real and ascending. Only the lower triangle is read. Rows and
/// columns are whole on each rank. A matrix with a NaN, or of which LAPACK finds no eigenvalues, gives NaN in its own
/// result. The gradient is symmetric, of first order (X03), and not finite for vectors of equal eigenvalues; their sign and
/// phase are LAPACK's, so functions of them should not depend on it. Communicates nothing.
/// Refused: D01, D02 K is a dim of a, Q01, Q02, Q06, P12. Errors: E41 not square, E79 no LAPACK. As jnp.linalg.eigh.
template <class I, class J, class K, class A>
constexpr auto eigh(core::Argument<A> const& a, checking::CallSite where = {}) {
  auto const both = shardtype::call(op::EighBoth<I, J>{}, where, a.self());
  auto w = shardtype::call(op::EighValues<I, J, K>{}, where, a.self(), both);
  auto v = shardtype::call(op::EighVectors<I, J, K>{}, where, a.self(), both);
  return Eigen<decltype(w), decltype(v)>{std::move(w), std::move(v)};
}

/// Eigenvalues alone: `a[B@X, I, J]` -> `[B@X, K]`, as eigh. Of a value whose gradient is wanted the vectors are found too.
template <class I, class J, class K, class A>
constexpr auto eigvalsh(core::Argument<A> const& a, checking::CallSite where = {}) {
  auto const both = shardtype::call(op::EighBoth<I, J>{core::is_active<A>}, where, a.self());
  return shardtype::call(op::EighValues<I, J, K>{}, where, a.self(), both);
}

/// Singular vectors and values of each matrix, a = u s vh: `a[B@X, I, J]` -> `{u[B@X, I, K], s[B@X, K], vh[B@X, K, J]}` with
/// min(I, J) rows of K; s is real and descending. The gradient is of first order (X03), and right where singular values differ:
/// equal ones, whose vectors are not determined, count as having no difference. The phase of pairs of vectors is LAPACK's, so functions
/// of them should not depend on it. Otherwise as eigh.
/// As jnp.linalg.svd with full_matrices=False.
template <class I, class J, class K, class A>
constexpr auto svd(core::Argument<A> const& a, checking::CallSite where = {}) {
  using op::SvdPart;
  auto const all = shardtype::call(op::SvdAll<I, J, K>{}, where, a.self());
  auto u = shardtype::call(op::SvdPartOf<I, J, K, SvdPart::left, false>{}, where, a.self(), all);
  auto s = shardtype::call(op::SvdPartOf<I, J, K, SvdPart::values, false>{}, where, a.self(), all);
  auto vh = shardtype::call(op::SvdPartOf<I, J, K, SvdPart::right, false>{}, where, a.self(), all);
  return Singular<decltype(u), decltype(s), decltype(vh)>{std::move(u), std::move(s),
                                                          std::move(vh)};
}

/// Singular values alone: `a[B@X, I, J]` -> `[B@X, K]`, as svd, with a gradient of first order. The largest is the
/// 2-norm.
template <class I, class J, class K, class A>
constexpr auto svdvals(core::Argument<A> const& a, checking::CallSite where = {}) {
  auto const all = shardtype::call(op::SvdAll<I, J, K>{core::is_active<A>}, where, a.self());
  return shardtype::call(op::SvdPartOf<I, J, K, op::SvdPart::values, false>{}, where, a.self(),
                         all);
}

}  // namespace api
}  // namespace linalg
}  // namespace shardtype
