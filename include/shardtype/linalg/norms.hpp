#pragma once
/// Norms and conditions of matrices, and their powers.

#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include <shardtype/linalg/determinant.hpp>
#include <shardtype/linalg/spectral.hpp>
#include <shardtype/ops/reductions.hpp>

namespace shardtype {

namespace linalg {

/// Which norm: of a matrix the root of the sum of squares, the largest sum of sizes along a column
/// or along a row, or the largest singular value; of a vector the same without matrices: `two` and
/// `frobenius` are one.
enum class Norm : std::int8_t { frobenius, one, infinity, two };

}  // namespace linalg

namespace op {

/// Ones on the diagonal, typed as the matrix.
template <class I, class J>
struct IdentityLike : linalg::detail::OnSquareMatrices<I, J> {
  using operation = IdentityLike;
  using gradient = checking::Constant;
  static constexpr std::string_view name = "matrix_power";
  static constexpr Verdict rule(rules::Question const& q) { return linalg::rule::as_matrix(q); }
  template <class Out, class A>
  void fill(Out& out, A const&) const {
    namespace lk = linalg::kernels;
    using T = typename A::element;
    auto const made = linalg::detail::stack_beside<A, I, J, I>(out, execute::written(out));
    for (std::int64_t t = 0; t < made.count; ++t) {
      lk::fill(made, t, T(0));
      for (std::int64_t i = 0; i < made.rows; ++i)
        made.member(t)[i * made.row_stride + lk::offset(made.cols, i)] = T(1);
    }
  }
};

}  // namespace op

namespace linalg {

namespace detail {

/// The product of two matrices typed alike, with rows I and columns J.
template <class I, class J, class A, class B>
constexpr auto product(A const& a, B const& b) {
  return linalg::detail::einsum_to(autodiff::labels_of_t<detail::seen_t<A>>{},
                                   shardtype::relabel<J, Other>(a),
                                   shardtype::relabel<I, Other>(b));
}
/// The tensor of an elementwise expression; that of automatic mode itself.
template <class X>
constexpr auto settled(X const& x) {
  if constexpr (core::is_lazy<X>) {
    return x;
  } else {
    return x.tensor();
  }
}
/// a^n, n >= 1, of products that halve n.
template <class I, class J, std::int64_t n, class A>
constexpr auto power(A const& a) {
  if constexpr (n == 1) {
    return a;
  } else {
    auto const half = linalg::detail::power<I, J, n / 2>(a);
    auto const both = linalg::detail::product<I, J>(half, half);
    if constexpr (n % 2 == 0) {
      return both;
    } else {
      return linalg::detail::product<I, J>(both, a);
    }
  }
}

}  // namespace detail

namespace api {

/// The norm of vectors along I: `a[B@X, I]` -> `[B@X]`, real; shardtype::norm, norm_1 or norm_inf,
/// whose refusals it has: I split is S03, or an unreduced result for `one` and `infinity`. As
/// jnp.linalg.norm with axis=-1.
template <class I, Norm which = Norm::two, class A>
constexpr auto norm(core::Argument<A> const& a, checking::CallSite where = {}) {
  if constexpr (which == Norm::one) {
    return shardtype::norm_1<I>(a.self(), where);
  } else if constexpr (which == Norm::infinity) {
    return shardtype::norm_inf<I>(a.self(), where);
  } else {
    return shardtype::norm<I>(a.self(), where);
  }
}

/// The norm of each matrix: `a[B@X, I, J]` -> `[B@X]`, real, by default the Frobenius norm.
/// `Norm::one` is the largest sum of sizes along a column, `Norm::infinity` that along a row,
/// `Norm::two` the largest singular value, for which rows and columns are whole, as for svdvals. 0
/// of a matrix without elements. Communicates nothing: where the dim of the sums is split, S02 or
/// S03 refuses; where the other one is, the result is an unreduced maximum. Differentiable as its
/// parts: norm_1 and norm_inf, svdvals. Corresponds to jnp.linalg.norm with two axes.
///
///     auto x = linalg::norm<I, J, linalg::Norm::one>(a);
template <class I, class J, Norm which = Norm::frobenius, class A>
constexpr auto norm(core::Argument<A> const& a, checking::CallSite where = {}) {
  if constexpr (which == Norm::one) {
    return shardtype::norm_inf<J>(shardtype::norm_1<I>(a.self(), where), where);
  } else if constexpr (which == Norm::infinity) {
    return shardtype::norm_inf<I>(shardtype::norm_1<J>(a.self(), where), where);
  } else if constexpr (which == Norm::two) {
    using K = detail::Other;
    return shardtype::norm_inf<K>(api::svdvals<I, J, K>(a.self(), where), where);
  } else {
    return shardtype::norm<I, J>(a.self(), where);
  }
}

/// The condition of each matrix: `a[B@X, I, J]` -> `[B@X]`, real: the largest singular value over
/// the least one, or, for another norm, that of a square matrix times that of its inverse. Infinite
/// of a singular matrix, which is also Error E80 for those norms with SHARDTYPE_CHECK=values; NaN
/// of one with a NaN. Rows and columns are whole on each rank. Communicates nothing. Refusals and
/// errors as svdvals or inv. As jnp.linalg.cond.
template <class I, class J, Norm which = Norm::two, class A>
constexpr auto cond(core::Argument<A> const& a, checking::CallSite where = {}) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if constexpr (which == Norm::two) {
    using K = detail::Other;
    auto const s = api::svdvals<I, J, K>(a.self(), where);
    if constexpr (checking::any_poisoned<std::remove_cvref_t<decltype(s)>>) {
      return s;
    } else {
      using R = kernels::real_t<checking::element_t<detail::seen_t<A>>>;
      auto const least = shardtype::min<K>(s, where);
      auto const most = shardtype::norm_inf<K>(s, where);
      return detail::settled(shardtype::where(least == R(0), R(infinite), most / least));
    }
  } else {
    auto const inverse = api::inv<I, J>(a.self(), where);
    if constexpr (checking::any_poisoned<std::remove_cvref_t<decltype(inverse)>>) {
      return inverse;
    } else {
      auto const own = api::norm<I, J, which>(a.self(), where);
      using R = kernels::real_t<checking::element_t<detail::seen_t<A>>>;
      auto const both = detail::settled(own * api::norm<J, I, which>(inverse, where));
      return detail::settled(shardtype::where(
          shardtype::isnan(own), own, shardtype::where(shardtype::isnan(both), R(infinite), both)));
    }
  }
}

/// The n-th power of each square matrix, with rows I and columns J as a: `a[B@X, I, J]` -> the
/// same; n < 0 is a power of the inverse, n = 0 the identity. At most 2 log2(n) products.
/// Differentiable, any number of times. Communicates nothing. Refused: as einsum and inv. Errors:
/// E24, E41 not square. As jnp.linalg.matrix_power, whose n is static too.
///
///     auto cubed = linalg::matrix_power<I, J, 3>(a);
template <class I, class J, std::int64_t n, class A>
constexpr auto matrix_power(core::Argument<A> const& a, checking::CallSite where = {}) {
  if constexpr (n == 0) {
    return shardtype::call(op::IdentityLike<I, J>{}, where, a.self());
  } else if constexpr (n < 0) {
    auto const inverse = api::inv<I, J>(a.self(), where);
    if constexpr (checking::any_poisoned<std::remove_cvref_t<decltype(inverse)>>) {
      return inverse;
    } else {
      return detail::power<I, J, -n>(shardtype::relabel<I, J, J, I>(inverse));
    }
  } else {
    return detail::power<I, J, n>(a.self());
  }
}

}  // namespace api
}  // namespace linalg
}  // namespace shardtype
