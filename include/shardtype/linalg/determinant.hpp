#pragma once
/// Inverses and determinants.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <source_location>
#include <string_view>
#include <tuple>
#include <utility>

#include <shardtype/linalg/kernels_numbers.hpp>
#include <shardtype/linalg/solve.hpp>
#include <shardtype/linalg/types_loops.hpp>

namespace shardtype {

namespace linalg {

/// Result of `slogdet`: the determinant is sign * exp(logdet).
template <class Sign, class Logdet>
struct SignAndLogdet {
  Sign sign;
  Logdet logdet;
};

namespace detail {

/// The product of the diagonal of factors, with the sign of the exchanges, as a number that neither
/// overflows nor underflows.
template <class T>
kernels::ScaledNumber product_of_pivots(std::int64_t n, ScaledFactors<T> const& f) {
  kernels::ScaledNumber product;
  for (std::int64_t k = 0; k < n; ++k) {
    product.multiply(f.lu[k * (n + 1)]);
    if (f.pivots[k] != k) product.multiply(-1, 0);
  }
  product.exponent -= static_cast<double>(n) * f.exponent;
  return product;
}
template <class T>
T sign_of_pivots(std::int64_t n, ScaledFactors<T> const& f) {
  T sign(1);
  for (std::int64_t k = 0; k < n; ++k) {
    T const d = f.lu[k * (n + 1)];
    if (d == T(0)) return T(0);
    sign = sign * kernels::direction(d);
    if (f.pivots[k] != k) sign = -sign;
  }
  return sign;
}
template <class T>
double log_of_pivots(std::int64_t n, ScaledFactors<T> const& f) {
  double sum = -static_cast<double>(n) * std::numbers::ln2 * f.exponent;
  for (std::int64_t k = 0; k < n; ++k) {
    T const d = f.lu[k * (n + 1)];
    if (d == T(0)) return -std::numeric_limits<double>::infinity();
    sum += kernels::log_modulus(d);
  }
  return sum;
}
template <Product what, class T>
auto number_of_pivots(std::int64_t n, ScaledFactors<T> const& f) {
  if constexpr (what == Product::logarithm) {
    return static_cast<kernels::real_t<T>>(detail::log_of_pivots(n, f));
  } else if constexpr (what == Product::sign) {
    return detail::sign_of_pivots(n, f);
  } else {
    return detail::product_of_pivots(n, f).template value<T>();
  }
}
/// The factor of a^-T in the cotangent of a. `ct` is the cotangent of the sign of the determinant
/// or of its logarithm, `made` that sign or logarithm.
template <Product what, class T, class C, class V>
constexpr auto scale_of_inverse(C const& ct, V const& made) {
  static_assert(what != Product::whole);
  if constexpr (what == Product::sign) {
    auto const both = (ct * made).tensor();
    return (T(0.5) * (both - shardtype::conj(both))).tensor();
  } else {
    return shardtype::cast<T>(ct).tensor();
  }
}

}  // namespace detail
}  // namespace linalg

namespace op {

template <class I, class J>
struct Cofactors;

/// y = a^-1 [B, J, I], by the factors that ScaledLu gave; of a nothing is read.
template <class I, class J>
struct InverseFactored : linalg::detail::OnFactors<I, J> {
  using operation = InverseFactored;
  using gradient = checking::PullsBySaved;
  static constexpr std::string_view name = "inv";
  static constexpr Verdict rule(rules::Question const& q) {
    return linalg::rule::exchanged(q, linalg::rule::square(q));
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::work(c, 4, 0);
  }
  template <class Out, class A, class F, class P, class E>
  void fill(Out& out, A const& a, F const& factors, P const& pivots, E const& exponents) const {
    auto const made = linalg::detail::stack_beside<A, I, J, J>(out, execute::written(out));
    std::int64_t const n = made.rows;
    linalg::detail::solve_each<I, J, false>(
        a, made, linalg::detail::factors_of(factors, pivots, exponents, n),
        [n]<class T>(std::int64_t, T* x) {
          for (std::int64_t e = 0; e < n * n; ++e) x[e] = T(e % (n + 1) == 0 ? 1 : 0);
        });
  }
  template <class V, class A, class F, class P, class E>
  constexpr auto save(V const&, A const& a, F const& factors, P const& pivots,
                      E const& exponents) const {
    return autodiff::keep(a, std::tuple(factors, pivots, exponents));
  }
  /// a' = - y^T y' y^T.
  /// a^-T y' a^-T as two solutions with the factors, which are as accurate as they.
  template <class G>
  constexpr auto pull(G const& g) const {
    auto const where = std::source_location::current();
    using linalg::detail::Other;
    auto const& a = g.template kept<0>();
    auto const& factors = g.template kept<1>();
    auto const left = linalg::detail::call_factored(op::SolveFactored<I, J, true>{}, where, a,
                                                    factors, api::relabel<I, Other>(g.ct));
    auto const right =
        linalg::detail::call_factored(op::SolveFactored<I, J, false>{}, where, a, factors,
                                      api::relabel<I, Other, Other, I>(left));
    return g.in_order((-api::relabel<Other, I>(right)).tensor());
  }
};

/// The determinant of each matrix, its sign or the logarithm of its modulus, from the factors; no
/// element of a is read.
template <class I, class J, linalg::detail::Product what, bool complex>
struct DetFactored : linalg::detail::OnFactors<I, J> {
  using operation = DetFactored;
  static constexpr bool is_sign = what == linalg::detail::Product::sign;
  using gradient =
      std::conditional_t<is_sign && !complex, checking::Constant, checking::PullsBySaved>;
  static constexpr std::string_view name = "det";
  static constexpr Verdict rule(rules::Question const& q) { return linalg::rule::per_square(q); }
  template <class A, class F, class P, class E>
  using element =
      std::conditional_t<what == linalg::detail::Product::logarithm,
                         linalg::kernels::real_t<checking::element_t<A>>, checking::element_t<A>>;
  template <class Out, class A, class F, class P, class E>
  void fill(Out& out, A const& a, F const& factors, P const& pivots, E const& exponents) const {
    auto const mats = linalg::detail::matrices<I, J>(a);
    std::int64_t const n = mats.rows;
    auto const each = linalg::detail::factors_of(factors, pivots, exponents, n);
    for (std::int64_t t = 0; t < mats.count; ++t)
      execute::written(out)[t] = linalg::detail::number_of_pivots<what>(n, each(t));
  }
  template <class V, class A, class F, class P, class E>
  constexpr auto save(V const& out, A const& a, F const& factors, P const& pivots,
                      E const& exponents) const {
    return autodiff::keep(a, std::tuple(factors, pivots, exponents), out);
  }
  /// det' det a^-T; of the logarithm logdet' a^-T; of the sign of complex matrices the imaginary
  /// part of sign' sign, times i, a^-T.
  template <class G>
  constexpr auto pull(G const& g) const {
    auto const where = std::source_location::current();
    if constexpr (what == linalg::detail::Product::whole) {
      auto const y = linalg::detail::call_factored(op::Cofactors<I, J>{}, where,
                                                   g.template kept<0>(), g.template kept<1>());
      return g.in_order((y * g.ct).tensor());
    } else {
      auto const y = linalg::detail::call_factored(op::InverseFactored<I, J>{}, where,
                                                   g.template kept<0>(), g.template kept<1>());
      auto const scale = linalg::detail::scale_of_inverse<
          what, checking::element_t<typename G::template operand_type<0>>>(g.ct,
                                                                           g.template kept<2>());
      return g.in_order((y * scale).tensor());
    }
  }
};

/// The derivative of the determinant, det a^-1 as [B, J, I], by the factors that ScaledLu gave: a
/// polynomial, which a singular matrix has too; of that, and where a number on the way is none, by
/// the matrix itself.
template <class I, class J>
struct Cofactors : linalg::detail::OnFactors<I, J> {
  using operation = Cofactors;
  using gradient = checking::ByOthers;
  static constexpr std::string_view name = "det";
  static constexpr Verdict rule(rules::Question const& q) {
    return linalg::rule::exchanged(q, linalg::rule::square(q));
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::work(c, 4, 0);
  }
  template <class Out, class A, class F, class P, class E>
  void fill(Out& out, A const& a, F const& factors, P const& pivots, E const& exponents) const {
    namespace lk = linalg::kernels;
    using T = typename A::element;
    auto const mats = linalg::detail::matrices<I, J>(a);
    auto const made = linalg::detail::stack_beside<A, I, J, J>(out, execute::written(out));
    std::int64_t const n = mats.rows;
    if (n == 0) return;
    linalg::detail::Scratch<T> const s(a, n, n);
    auto const each = linalg::detail::factors_of(factors, pivots, exponents, n);
    for (std::int64_t t = 0; t < mats.count; ++t) {
      if (!by_factors(n, each(t), s)) {
        lk::pack(mats, t, s.a(), n);
        if (lk::finite(s.a(), n * n)) {
          int const exponent = lk::scale_matrix(n, n, s.a(), n);
          lk::adjugate(n, s.a(), static_cast<int>(1 - n) * exponent, s.b());
        } else {
          std::fill_n(s.b(), n * n, lk::not_a_number<T>());
        }
      }
      lk::unpack(s.b(), n, made, t);
    }
  }

  /// The gradient of the cofactors, as det times the inverse. For singular matrices it is not a
  /// number: there only the first derivative of the determinant is one.
  template <class A, class F, class P, class E>
  constexpr auto instead(std::source_location const& where, A const& a, F const& factors,
                         P const& pivots, E const& exponents) const {
    using Det =
        op::DetFactored<I, J, linalg::detail::Product::whole,
                        linalg::kernels::is_complex<checking::element_t<autodiff::tensor_of<A>>>>;
    return (api::call(op::InverseFactored<I, J>{}, where, a, factors, pivots, exponents) *
            api::call(Det{}, where, a, factors, pivots, exponents))
        .tensor();
  }

 private:
  /// det a^-1 at s.b(); false of a singular matrix, or where the inverse is no number.
  template <class T, class S>
  static bool by_factors(std::int64_t n, linalg::detail::ScaledFactors<T> const& f, S const& s) {
    namespace lk = linalg::kernels;
    lk::ScaledNumber product = linalg::detail::product_of_pivots(n, f);
    if (product.zero()) return false;
    for (std::int64_t e = 0; e < n * n; ++e) s.b()[e] = T(e % (n + 1) == 0 ? 1 : 0);
    lk::solve_lu(lk::Trans::no, n, n, f.lu, n, f.pivots, s.b(), n);
    if (!lk::finite(s.b(), n * n)) return false;
    // the inverse is that of the scaled matrix
    product.exponent += f.exponent;
    int const by = static_cast<int>(std::clamp(product.exponent, -1e6, 1e6));
    product.exponent = 0;
    auto const mantissa = product.template value<T>();
    for (std::int64_t e = 0; e < n * n; ++e) s.b()[e] = lk::times_power(T(mantissa * s.b()[e]), by);
    return true;
  }
};

}  // namespace op

namespace linalg {

namespace detail {

template <class I, class J, class Op, class A>
constexpr auto by_factors(Op const& op, std::source_location const& where, A const& a) {
  return detail::call_factored(op, where, a, shardtype::call(op::ScaledLu<I, J>{}, where, a));
}
template <class A>
inline constexpr bool of_complex = kernels::is_complex<checking::element_t<detail::seen_t<A>>>;

}  // namespace detail

namespace api {

/// The inverse of each matrix: `a[B@X, I, J]` -> `[B@X, J, I]`, whose rows are J and columns I, so
/// that `einsum<B, J, K>(inv<I, J>(a), b)` contracts I. `solve` is faster and more accurate where a
/// product with the inverse is wanted. NaN, E80, refusals and errors as solve. Communicates
/// nothing. As jnp.linalg.inv.
template <class I, class J, class A>
constexpr auto inv(core::Argument<A> const& a, checking::CallSite where = {}) {
  return detail::by_factors<I, J>(op::InverseFactored<I, J>{}, where, a.self());
}

/// The determinant of each matrix: `a[B@X, I, J]` -> `[B@X]`. Where it is a number no product on
/// the way overflows; of many rows it seldom is: slogdet then. 0 of a singular matrix, whose
/// gradient, the cofactors, is right too; its second one is NaN. Communicates nothing. As
/// jnp.linalg.det.
template <class I, class J, class A>
constexpr auto det(core::Argument<A> const& a, checking::CallSite where = {}) {
  using Op = op::DetFactored<I, J, detail::Product::whole, detail::of_complex<A>>;
  return detail::by_factors<I, J>(Op{}, where, a.self());
}

/// The sign and the logarithm of the modulus of each determinant: `a[B@X, I, J]` -> `{sign[B@X],
/// logdet[B@X]}`; the logarithm is real. The sign of real matrices is constant. Otherwise as det.
/// As jnp.linalg.slogdet.
template <class I, class J, class A>
constexpr auto slogdet(core::Argument<A> const& a, checking::CallSite where = {}) {
  using detail::Product;
  constexpr bool complex = detail::of_complex<A>;
  auto const factors = shardtype::call(op::ScaledLu<I, J>{}, where, a.self());
  auto sign = detail::call_factored(op::DetFactored<I, J, Product::sign, complex>{}, where,
                                    a.self(), factors);
  auto logdet = detail::call_factored(op::DetFactored<I, J, Product::logarithm, complex>{}, where,
                                      a.self(), factors);
  return SignAndLogdet<decltype(sign), decltype(logdet)>{std::move(sign), std::move(logdet)};
}

}  // namespace api
}  // namespace linalg
}  // namespace shardtype
