#pragma once
/// Triangular matrices and Cholesky factors.

#include <cstdint>
#include <source_location>
#include <string_view>

#include <shardtype/linalg/solve.hpp>

namespace shardtype {

namespace linalg {

/// Which matrix the elements stand for: the lower triangle or the upper one, with ones on the
/// diagonal if `unit`.
struct Triangular {
  bool upper = false;
  bool unit = false;
};
/// Asks cholesky and cholesky_solve for the upper factor: `cholesky<I, J>(a, linalg::upper)`.
struct Upper {};
inline constexpr Upper upper{};

namespace detail {

/// A second copy of rows and columns.
struct SecondRow : Index<"second row"> {};
struct SecondColumn : Index<"second column"> {};

template <class A>
constexpr auto conjugate(A const& a) {
  if constexpr (kernels::is_complex<checking::element_t<detail::seen_t<A>>>) {
    return shardtype::conj(a);
  } else {
    return a;
  }
}
/// The triangle of `a` that `how` names, the diagonal without its ones.
template <class I, class J, class A>
constexpr auto triangle_of(A const& a, Triangular const& how) {
  using R = std::remove_cvref_t<decltype(shardtype::tril<I, J>(a))>;
  std::int64_t const diagonal = how.unit ? 1 : 0;
  if constexpr (checking::any_poisoned<R>) {
    return R{};
  } else {
    return how.upper ? shardtype::triu<I, J>(a, diagonal) : shardtype::tril<I, J>(a, -diagonal);
  }
}

}  // namespace detail
}  // namespace linalg

namespace op {

/// x = l^-1 b for triangular matrices with rows I and columns J.
template <class I, class J>
struct TriangularSolve : linalg::detail::OnMatrices<I, J> {
  using operation = TriangularSolve;
  using gradient = checking::PullsBySaved;
  static constexpr std::string_view name = "triangular_solve";
  linalg::Triangular how;
  constexpr explicit TriangularSolve(linalg::Triangular const& t = {}) : how(t) {}
  static constexpr Verdict rule(rules::Question const& q) { return linalg::rule::solve(q); }
  constexpr void extents(ResultExtents const& c) const { linalg::detail::set_solution(c, 1); }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    planning::Work w = linalg::detail::work(c, 0, c.elements(1));
    w.flops /= 2;
    return w;
  }
  template <class Out, class A, class B>
  void fill(Out& out, A const& a, B const& b) const {
    namespace lk = linalg::kernels;
    using T = typename A::element;
    auto const mats = linalg::detail::matrices<I, J>(a);
    auto const right = linalg::detail::stack_beside<A, I, J, I>(b, execute::data_of(b));
    auto const made = linalg::detail::stack_beside<A, I, J, J>(out, execute::written(out));
    std::int64_t const n = mats.rows, width = right.width;
    if (n == 0 || width == 0) return;
    linalg::detail::Scratch<T> const s(a, n, width);
    for (std::int64_t t = 0; t < mats.count; ++t) {
      lk::pack(mats, t, s.a(), n);
      lk::pack(right, t, s.b(), n);
      bool singular = false;
      for (std::int64_t k = 0; k < n && !how.unit; ++k)
        singular = singular || s.a()[k * (n + 1)] == T(0);
      if (singular) {
        linalg::detail::report<I, J>(a, t, "E80", "has a zero on its diagonal");
        lk::fill(made, t, lk::not_a_number<T>());
        continue;
      }
      lk::solve_triangular(how.upper ? lk::Triangle::upper : lk::Triangle::lower, lk::Trans::no,
                           how.unit ? lk::Diagonal::unit : lk::Diagonal::general, n, width, s.a(),
                           n, s.b(), n);
      lk::unpack(s.b(), n, made, t);
    }
  }
  template <class V, class A, class B>
  constexpr auto save(V const& x, A const& a, B const&) const {
    return autodiff::keep(a, x);
  }
  template <class G>
  constexpr auto prepare(G const& g) const {
    return g.call(op::TriangularSolve<J, I>{{!how.upper, how.unit}}, g.template kept<0>(), g.ct);
  }
  template <class G>
  constexpr auto pull(G const& g) const {
    if constexpr (G::operand == 0) {
      return linalg::detail::triangle_of<I, J>(
          linalg::detail::minus_outer<typename G::template operand_type<0>>(g.ct,
                                                                            g.template kept<1>()),
          how);
    } else {
      return g.ct;
    }
  }
};

/// l with a = l l^H, zeros above the diagonal; the lower triangle of a is read.
template <class I, class J>
struct Cholesky : linalg::detail::OnSquareMatrices<I, J> {
  using operation = Cholesky;
  using gradient = checking::PullsBySaved;
  static constexpr std::string_view name = "cholesky";
  static constexpr Verdict rule(rules::Question const& q) { return linalg::rule::as_matrix(q); }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::work(c, 1, 0);
  }
  template <class Out, class A>
  void fill(Out& out, A const& a) const {
    namespace lk = linalg::kernels;
    using T = typename A::element;
    auto const mats = linalg::detail::matrices<I, J>(a);
    auto const made = linalg::detail::stack_beside<A, I, J, I>(out, execute::written(out));
    std::int64_t const n = mats.rows;
    if (n == 0) return;
    auto const bad = [&](std::int64_t t) {
      linalg::detail::report<I, J>(a, t, "E81", "is not positive definite");
    };
    if constexpr (lk::has_lanes<T>) {
      if (n <= lk::lanes_most) {
        auto const order = static_cast<int>(n);
        runtime::Buffer const scratch = linalg::detail::room<lk::Lanes<T>>(a, n * n);
        auto* const v = static_cast<lk::Lanes<T>*>(scratch.data());
        auto* const numbers = static_cast<T*>(scratch.data());
        for (std::int64_t t = 0; t < mats.count; t += lk::lanes<T>) {
          lk::pack_lanes(mats, t, numbers, n, 0);
          std::uint32_t const wrong = lk::cholesky_lanes<T>(order, v);
          for (int l = 0; l < lk::lanes<T> && t + l < mats.count; ++l)
            if ((wrong >> l & 1U) != 0) bad(t + l);
          lk::unpack_lanes(numbers, n, 0, made, t, wrong);
        }
        return;
      }
    }
    linalg::detail::Scratch<T> const s(a, n, 0);
    for (std::int64_t t = 0; t < mats.count; ++t) {
      lk::pack(mats, t, s.a(), n);
      if (lk::factor_cholesky(n, s.a(), n) != 0) {
        bad(t);
        lk::fill(made, t, lk::not_a_number<T>());
        continue;
      }
      for (std::int64_t j = 1; j < n; ++j)
        for (std::int64_t i = 0; i < j; ++i) s.a()[i + j * n] = T(0);
      lk::unpack(s.a(), n, made, t);
    }
  }
  template <class V, class A>
  constexpr auto save(V const& l, A const&) const {
    return autodiff::keep(l);
  }
  /// a' = l^-T s conj(l)^-1, where s is the Hermitian part of the lower triangle of l^T l', its
  /// diagonal halved. It is Hermitian: of each pair of elements of a, of which one is read, half
  /// goes to either.
  template <class G>
  constexpr auto pull(G const& g) const {
    using J2 = linalg::detail::SecondColumn;
    using I2 = linalg::detail::SecondRow;
    using T = checking::element_t<typename G::type>;
    auto const& l = g.template kept<0>();
    auto const product = linalg::detail::einsum_to(
        linalg::detail::with_pair<I, J, J, J2>(autodiff::labels_of_t<typename G::type>{}), l,
        api::relabel<J, J2>(g.ct));
    auto const half = api::tril<J, J2>(product, 0) + api::tril<J, J2>(product, -1);
    auto const s = half + api::relabel<J, J2, J2, J>(linalg::detail::conjugate(half.tensor()));
    linalg::Triangular const upper{true, false};
    auto const left = g.call(op::TriangularSolve<J, I>{upper}, l, (T(0.25) * s).tensor());
    auto const both = g.call(op::TriangularSolve<J2, I2>{upper},
                             api::relabel<I, I2, J, J2>(linalg::detail::conjugate(l)), left);
    return g.in_order(api::relabel<I2, J>(both));
  }
};

}  // namespace op

namespace linalg {
namespace api {

/// The solution of l x = b for triangular matrices: types as solve<I, J>(l, b). With rows I and
/// columns J, `how` says which triangle is read, and whether ones stand for the diagonal; the rest
/// is not read. The transposed matrix is `triangular_solve<J, I>(l, b, {.upper = true})` of a lower
/// l. A zero on the diagonal gives NaN, and Error E80 with SHARDTYPE_CHECK=values. Communicates
/// nothing. Refusals as solve. As scipy.linalg.solve_triangular.
template <class I, class J, class A, class B>
constexpr auto triangular_solve(core::Argument<A> const& l, B const& b, Triangular how = {},
                                checking::CallSite where = {}) {
  return shardtype::call(op::TriangularSolve<I, J>{how}, where, l.self(), b);
}

/// The lower triangular l with a = l l^T (l l^H of complex numbers) for each symmetric positive
/// definite matrix: `a[B@X, I, J]` -> l typed as a, zeros above the diagonal. Only the lower
/// triangle is read. A matrix that is not positive definite gives NaN in its own result, and Error
/// E81, which names it, with SHARDTYPE_CHECK=values. The gradient is symmetric: it is that of
/// matrices which stay symmetric. Communicates nothing. Refused: D01, Q01, Q02, Q06, P12. Error
/// E41: not square. As jnp.linalg.cholesky; source of the gradient: Murray, "Differentiation of the
/// Cholesky decomposition", 2016.
template <class I, class J, class A>
constexpr auto cholesky(core::Argument<A> const& a, checking::CallSite where = {}) {
  return shardtype::call(op::Cholesky<I, J>{}, where, a.self());
}
/// The upper triangular u with a = u^T u (u^H u): the upper triangle of a is read, zeros below the
/// diagonal. Otherwise as above. Corresponds to jnp.linalg.cholesky with upper=True.
template <class I, class J, class A>
constexpr auto cholesky(core::Argument<A> const& a, Upper, checking::CallSite where = {}) {
  // u is the transpose of the lower factor of the transposed matrix
  return shardtype::call(op::Cholesky<J, I>{}, where, a.self());
}

/// The solution of a x = b by l = cholesky<I, J>(a): types as solve<I, J>(a, b). Two triangular
/// solutions; communicates nothing. Refusals as solve.
template <class I, class J, class A, class B>
constexpr auto cholesky_solve(core::Argument<A> const& l, B const& b,
                              checking::CallSite where = {}) {
  auto const y = shardtype::call(op::TriangularSolve<I, J>{}, where, l.self(), b);
  if constexpr (checking::any_poisoned<std::remove_cvref_t<decltype(y)>>) {
    return y;
  } else {
    return shardtype::relabel<I, J>(shardtype::call(op::TriangularSolve<J, I>{{true, false}}, where,
                                                    detail::conjugate(l.self()), y));
  }
}
/// The same by u = cholesky<I, J>(a, upper).
template <class I, class J, class A, class B>
constexpr auto cholesky_solve(core::Argument<A> const& u, B const& b, Upper,
                              checking::CallSite where = {}) {
  auto const y = shardtype::call(op::TriangularSolve<J, I>{}, where, detail::conjugate(u.self()),
                                 shardtype::relabel<I, J>(b));
  if constexpr (checking::any_poisoned<std::remove_cvref_t<decltype(y)>>) {
    return y;
  } else {
    return shardtype::call(op::TriangularSolve<I, J>{{true, false}}, where, u.self(), y);
  }
}

}  // namespace api
}  // namespace linalg
}  // namespace shardtype
