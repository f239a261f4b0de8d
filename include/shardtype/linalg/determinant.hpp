#pragma once
/// Inverses and determinants.

#include <cmath>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <utility>

#include <shardtype/linalg/solve.hpp>
#include <shardtype/linalg/types_determinant.hpp>

namespace shardtype {

namespace linalg {

/// Result of `slogdet`: the determinant is sign * exp(logdet).
template <class Sign, class Logdet>
struct SignAndLogdet {
  Sign sign;
  Logdet logdet;
};

namespace detail {

template <Product what, class T>
auto product_of_pivots(std::int64_t n, T const* factors) {
  using R = kernels::real_t<T>;
  T const* const pivots = factors + n * n;
  T product(1);
  R sum(0);
  for (std::int64_t k = 0; k < n; ++k) {
    T const d = factors[k * (n + 1)];
    bool const exchanged = kernels::real_part(pivots[k]) != static_cast<R>(k);
    if constexpr (what == Product::logarithm) {
      sum += std::log(kernels::modulus(d));
    } else {
      T const f = what == Product::sign && d != T(0) ? T(d / kernels::modulus(d)) : d;
      product = product * (exchanged ? -f : f);
    }
  }
  if constexpr (what == Product::logarithm) {
    return sum;
  } else {
    return product;
  }
}

}  // namespace detail
}  // namespace linalg

namespace op {

/// y = a^-1 [B, J, I], by the factors that LuFactor gave; of a nothing is read.
template <class I, class J>
struct InverseFactored : linalg::detail::OnSquareMatrices<I, J> {
  using operation = InverseFactored;
  static constexpr std::string_view name = "inv";
  static constexpr Verdict rule(rules::Question const& q) {
    return linalg::rule::exchanged(q, linalg::rule::square(q));
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::work(c, 4, 0);
  }
  template <class Out, class A, class F>
  void fill(Out& out, A const& a, F const& factors) const {
    auto const made = linalg::detail::stack_beside<A, I, J, J>(out, linalg::detail::written(out));
    std::int64_t const n = made.rows;
    linalg::detail::solve_each<I, J, false>(
        a, made, linalg::detail::packed_factors(execute::data_of(factors), n),
        [n]<class T>(std::int64_t, T* x) {
          for (std::int64_t e = 0; e < n * n; ++e) x[e] = T(e % (n + 1) == 0 ? 1 : 0);
        });
  }
};

/// Of each matrix the determinant, its sign or the logarithm of its modulus, by the factors; of a nothing is read.
template <class I, class J, linalg::detail::Product what, bool complex>
struct DetFactored : linalg::detail::OnSquareMatrices<I, J> {
  using operation = DetFactored;
  static constexpr bool is_sign = what == linalg::detail::Product::sign;
  using gradient = std::conditional_t<is_sign && !complex, checking::Constant, void>;
  static constexpr std::string_view name = "det";
  static constexpr Verdict rule(rules::Question const& q) { return linalg::rule::per_square(q); }
  template <class A, class F>
  using element =
      std::conditional_t<what == linalg::detail::Product::logarithm,
                         linalg::kernels::real_t<checking::element_t<A>>, checking::element_t<A>>;
  template <class Out, class A, class F>
  void fill(Out& out, A const& a, F const& factors) const {
    auto const mats = linalg::detail::matrices<I, J>(a);
    std::int64_t const n = mats.rows;
    for (std::int64_t t = 0; t < mats.count; ++t)
      linalg::detail::written(out)[t] =
          linalg::detail::product_of_pivots<what>(n, execute::data_of(factors) + t * n * (n + 1));
  }
};

}  // namespace op

namespace autodiff {

/// a' = - y^T y' y^T.
template <class I, class J>
struct Vjp<op::InverseFactored<I, J>> : Differentiable {
  using Op = op::InverseFactored<I, J>;
  template <class V, class A, class F>
  static constexpr auto save(Op const&, V const&, A const& a, F const& factors) {
    return autodiff::keep(a, factors);
  }
  /// a^-T y' a^-T as two solutions with the factors, which are as accurate as they.
  template <int K, class V, class A, class F, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    auto const where = std::source_location::current();
    using linalg::detail::Other;
    auto const& a = autodiff::kept<0>(saved);
    auto const& factors = autodiff::kept<1>(saved);
    auto const left =
        api::call(op::SolveFactored<I, J, true>{}, where, a, factors, api::relabel<I, Other>(ct));
    auto const right = api::call(op::SolveFactored<I, J, false>{}, where, a, factors,
                                 api::relabel<I, Other, Other, I>(left));
    return autodiff::in_order((-api::relabel<Other, I>(right)).tensor(),
                              labels_of_t<tensor_of<A>>{});
  }
};

}  // namespace autodiff

namespace linalg::detail {

/// What a^-T is multiplied with in the cotangent of a, of that of the determinant, its sign or its logarithm, which was `made`.
template <Product what, class T, class C, class V>
constexpr auto scale_of_inverse(C const& ct, V const& made) {
  if constexpr (what == Product::whole) {
    return (ct * made).tensor();
  } else if constexpr (what == Product::sign) {
    auto const both = (ct * made).tensor();
    return (T(0.5) * (both - shardtype::conj(both))).tensor();
  } else {
    return shardtype::cast<T>(ct).tensor();
  }
}

}  // namespace linalg::detail

namespace autodiff {

/// det' det a^-T; of the logarithm logdet' a^-T; of the sign of complex matrices the imaginary part of sign' sign, times i,
/// a^-T.
template <class I, class J, linalg::detail::Product what, bool complex>
  requires(complex || what != linalg::detail::Product::sign)
struct Vjp<op::DetFactored<I, J, what, complex>> : Differentiable {
  using Op = op::DetFactored<I, J, what, complex>;
  template <class V, class A, class F>
  static constexpr auto save(Op const&, V const& out, A const& a, F const& factors) {
    return autodiff::keep(a, factors, out);
  }
  template <int K, class V, class A, class F, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    auto const y = api::call(op::InverseFactored<I, J>{}, std::source_location::current(),
                             autodiff::kept<0>(saved), autodiff::kept<1>(saved));
    auto const scale = linalg::detail::scale_of_inverse<what, checking::element_t<tensor_of<A>>>(
        ct, autodiff::kept<2>(saved));
    return autodiff::in_order((y * scale).tensor(), labels_of_t<tensor_of<A>>{});
  }
};

}  // namespace autodiff

namespace linalg {

namespace detail {

template <class I, class J, class Op, class A>
constexpr auto by_factors(Op const& op, std::source_location const& where, A const& a) {
  auto const factors = shardtype::call(op::LuFactor<I, J, true>{}, where, a);
  return shardtype::call(op, where, a, factors);
}
template <class A>
inline constexpr bool of_complex = kernels::is_complex<checking::element_t<detail::seen_t<A>>>;

}  // namespace detail

namespace api {

/// The inverse of each matrix: `a[B@X, I, J]` -> `[B@X, J, I]`, whose rows are J and columns I, so that
/// `einsum<B, J, K>(inv<I, J>(a), b)` contracts I. `solve` is faster and more accurate where a product with the inverse is
/// wanted. NaN, E80, refusals and errors as solve. Communicates nothing. As jnp.linalg.inv.
template <class I, class J, class A>
constexpr auto inv(core::Argument<A> const& a, checking::CallSite where = {}) {
  return detail::by_factors<I, J>(op::InverseFactored<I, J>{}, where, a.self());
}

/// The determinant of each matrix: `a[B@X, I, J]` -> `[B@X]`. It overflows early: slogdet does not. 0 of a singular matrix,
/// whose gradient is NaN. Communicates nothing. As jnp.linalg.det.
template <class I, class J, class A>
constexpr auto det(core::Argument<A> const& a, checking::CallSite where = {}) {
  using Op = op::DetFactored<I, J, detail::Product::whole, detail::of_complex<A>>;
  return detail::by_factors<I, J>(Op{}, where, a.self());
}

/// The sign and the logarithm of the modulus of each determinant: `a[B@X, I, J]` -> `{sign[B@X], logdet[B@X]}`; the logarithm
/// is real. The sign of real matrices is constant. Otherwise as det. As
/// jnp.linalg.slogdet.
template <class I, class J, class A>
constexpr auto slogdet(core::Argument<A> const& a, checking::CallSite where = {}) {
  using detail::Product;
  constexpr bool complex = detail::of_complex<A>;
  auto const factors = shardtype::call(op::LuFactor<I, J, true>{}, where, a.self());
  auto sign =
      shardtype::call(op::DetFactored<I, J, Product::sign, complex>{}, where, a.self(), factors);
  auto logdet = shardtype::call(op::DetFactored<I, J, Product::logarithm, complex>{}, where,
                                a.self(), factors);
  return SignAndLogdet<decltype(sign), decltype(logdet)>{std::move(sign), std::move(logdet)};
}

}  // namespace api
}  // namespace linalg
}  // namespace shardtype
