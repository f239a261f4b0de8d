#pragma once
/// Norms and conditions of matrices, and their powers. The condition is also estimated from LU
/// factors: rcond, of stacks and of one matrix over many ranks.

#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include <shardtype/linalg/cyclic.hpp>
#include <shardtype/linalg/determinant.hpp>
#include <shardtype/linalg/factors.hpp>
#include <shardtype/linalg/kernels_numbers.hpp>
#include <shardtype/linalg/run_cyclic.hpp>
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
constexpr auto computed(X const& x) {
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
      return detail::computed(shardtype::where(least == R(0), R(infinite), most / least));
    }
  } else {
    auto const inverse = api::inv<I, J>(a.self(), where);
    if constexpr (checking::any_poisoned<std::remove_cvref_t<decltype(inverse)>>) {
      return inverse;
    } else {
      auto const own = api::norm<I, J, which>(a.self(), where);
      using R = kernels::real_t<checking::element_t<detail::seen_t<A>>>;
      auto const both = detail::computed(own * api::norm<J, I, which>(inverse, where));
      return detail::computed(shardtype::where(
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

namespace linalg::detail {

/// The estimate of one matrix by its column-major factors and pivots; `work` has 2 n elements. 0 of
/// a singular one.
template <class T>
kernels::real_t<T> rcond_of(std::int64_t n, T const* factors, std::int32_t const* pivots,
                            kernels::real_t<T> norm, T* work) {
  using R = kernels::real_t<T>;
  for (std::int64_t k = 0; k < n; ++k)
    if (factors[k * (n + 1)] == T(0)) return std::isnan(norm) ? norm : R(0);
  kernels::FactoredSolutions<T> const how{n, factors, pivots};
  return kernels::reciprocal_condition(n, norm, kernels::inverse_norm(how, n, work, work + n));
}

/// Flops of two norms and of the most solutions that an estimate takes, and of LU where `factors`.
constexpr planning::Work rcond_work(planning::CallSizing const& c, bool factors) {
  std::int64_t const n = c.rows(0, c.operands[0].find(c.from.dims[0].label));
  std::int64_t const solutions = mul_sat(2 * (2 * condition_rounds + 1), c.elements(0));
  std::int64_t const lu = factors ? mul_sat(mul_sat(c.elements(0), n), 2) / 3 : 0;
  std::int64_t const room = mul_sat(mul_sat(n, n + 3), c.element_bytes(0));
  return {add_sat(solutions, lu), room, false};
}

}  // namespace linalg::detail

namespace op {

/// 1 / (|a|_1 |a^-1|_1) of each matrix [B, I, J], estimated: real [B].
template <class I, class J>
struct Rcond : linalg::detail::OnSquareMatrices<I, J> {
  using operation = Rcond;
  static constexpr std::string_view name = "rcond";
  static constexpr Verdict rule(rules::Question const& q) { return linalg::rule::per_square(q); }
  template <class A>
  using element = linalg::kernels::real_t<checking::element_t<A>>;
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::rcond_work(c, true);
  }
  template <class Out, class A>
  void fill(Out& out, A const& a) const {
    namespace lk = linalg::kernels;
    using T = typename A::element;
    using R = lk::real_t<T>;
    auto const mats = linalg::detail::matrices<I, J>(a);
    std::int64_t const n = mats.rows;
    linalg::detail::Scratch<T> const s(a, n, 2);
    for (std::int64_t t = 0; t < mats.count; ++t) {
      lk::pack(mats, t, s.a(), n);
      lk::scale_matrix(n, n, s.a(), n);
      R norm(0);
      for (std::int64_t j = 0; j < n; ++j) {
        R sum(0);
        for (std::int64_t i = 0; i < n; ++i) sum += lk::modulus(s.a()[i + j * n]);
        if (!(sum <= norm)) norm = sum;
        if (std::isnan(norm)) break;
      }
      lk::factor_lu(n, s.a(), n, s.pivots());
      execute::written(out)[t] = linalg::detail::rcond_of(n, s.a(), s.pivots(), norm, s.b());
    }
  }
};

/// The same of factors and pivots that the user holds and the matrices' 1-norms, real [B].
template <class I, class J>
struct LuRcond : linalg::detail::OnMatrices<I, J> {
  using operation = LuRcond;
  static constexpr std::string_view name = "rcond";
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict const v = linalg::rule::per_square(q);
    if (!v) return v;
    if (Verdict const p = linalg::rule::pivots_of_matrices(q); !p) return p;
    if (Verdict const n = linalg::rule::same_dims(q.operands[2], v.result); !n) return n;
    return q.operands[2].unreduced.empty() ? v : rules::refuse(Code::Q02_not_linear);
  }
  template <class F, class P, class N>
  static constexpr Code elements() {
    using R = linalg::kernels::real_t<checking::element_t<F>>;
    return std::is_same_v<checking::element_t<P>, std::int32_t> &&
                   std::is_same_v<checking::element_t<N>, R>
               ? linalg::detail::elements<F>()
               : Code::C10_element_types_differ;
  }
  template <class F, class P, class N>
  using element = linalg::kernels::real_t<checking::element_t<F>>;
  constexpr void extents(ResultExtents const& c) const {
    linalg::detail::check_square(c);
    linalg::detail::check_shared(c, 1);
    linalg::detail::check_shared(c, 2);
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::rcond_work(c, false);
  }
  template <class Out, class F, class P, class N>
  void fill(Out& out, F const& factors, P const& pivots, N const& norms) const {
    namespace lk = linalg::kernels;
    using T = typename F::element;
    auto const lu = linalg::detail::matrices<I, J>(factors);
    auto const numbers = linalg::detail::stack_beside<F, I, J, J>(pivots, execute::data_of(pivots));
    auto const norm = linalg::detail::stack_beside<F, I, J, I>(norms, execute::data_of(norms));
    std::int64_t const n = lu.rows;
    linalg::detail::Scratch<T> const s(factors, n, 2);
    for (std::int64_t t = 0; t < lu.count; ++t) {
      lk::pack(lu, t, s.a(), n);
      lk::pack(numbers, t, s.pivots(), n);
      int const exponent = lk::scaling_exponent(lk::largest_part(n, n, s.a(), n, lk::Part::upper));
      lk::scale_by_power(exponent, n, n, s.a(), n, lk::Part::upper);
      execute::written(out)[t] = linalg::detail::rcond_of(
          n, s.a(), s.pivots(), lk::times_power(*norm.member(t), exponent), s.b());
    }
  }
};

}  // namespace op

namespace linalg::detail {

template <class J, class A>
struct ColumnsOf;
template <class J, class T, class... Parts>
struct ColumnsOf<J, Tensor<T, Parts...>> : SolvedColumns<J, Parts...> {};

/// The 1-norm of one matrix over many ranks, a number on all of them.
template <class I, class J, class A>
constexpr auto norm_of_one(A const& a, checking::CallSite where) {
  if constexpr (on_grid<I, J, A>) {
    using Columns = typename ColumnsOf<J, tensor_behind<A>>::type;
    auto const sums = shardtype::reshard<Columns>(shardtype::norm_1<I>(a, where), where);
    return shardtype::reshard<>(shardtype::norm_inf<J>(sums, where), where);
  } else {
    return shardtype::reshard<>(api::norm<I, J, Norm::one>(a, where), where);
  }
}

}  // namespace linalg::detail

namespace linalg::api {

/// The reciprocal of each matrix's condition in the 1-norm, 1 / (|a|_1 |a^-1|_1), estimated:
/// `a[B@X, I, J]` -> `[B@X]`, real. By LU factors and 3 to 11 solutions (LAPACK's xGECON), so in
/// little more than the time of LU; never below the true value but for rounding, seldom above three
/// times it. Near the precision of the elements: solutions have no correct digit. 0 of a singular
/// matrix, NaN of one with NaN, 1 of an empty one. Communicates nothing. No gradient, X03: cond has
/// one. Refusals and errors as lu_factor.
///
///     auto r = linalg::rcond<I, J>(a);   // as scipy's: about 1 / cond<I, J, Norm::one>(a)
template <class I, class J, class A>
constexpr auto rcond(core::Argument<A> const& a, checking::CallSite where = {}) {
  return shardtype::call(op::Rcond<I, J>{}, where, a.self());
}

/// The same of one matrix over many ranks, `a[I, J@X%n]` -> a number on all ranks: sends what
/// lu_factor sends, and two rings of sums or solutions for each of 3 to 11 solutions; the plan
/// counts 11. Over a grid, `a[I@X%n, J@Y%n]`, also the sums of the sizes along columns, and one of
/// n numbers along X for each second solution. Error E80 of a singular matrix, E82 of one with NaN;
/// no gradient.
template <class I, class J, class A>
  requires detail::OneMatrix<I, J, A>
constexpr auto rcond(core::Argument<A> const& a, checking::CallSite where = {}) {
  auto const lu = api::lu_factor<I, J>(a.self(), where);
  if constexpr (checking::any_poisoned<std::remove_cvref_t<decltype(lu.factors)>>) {
    return lu.factors;
  } else {
    auto const norm = detail::norm_of_one<I, J>(a.self(), where);
    return shardtype::call(op::CyclicLuRcond<I, J>{}, where, lu.factors, lu.pivots, norm);
  }
}

/// The same by factors that are kept, and the norm of the matrix: `rcond<I, J>(lu, norm)`, `norm`
/// as `linalg::norm<I, J, Norm::one>(a)` gives it, `[B@X]`; of one matrix over many ranks
/// `reshard<>` of that, a number; over a grid the sums along columns that X splits first,
/// `reshard<>(norm_inf<J>(all_reduce<X>(norm_1<I>(a))))`. Sends only what the solutions send,
/// nothing for stacks. Refusals as lu_solve.
template <class I, class J, class F, class P, class N>
constexpr auto rcond(LU<I, J, F, P> const& lu, N const& norm, checking::CallSite where = {}) {
  if constexpr (detail::OneMatrix<I, J, F>) {
    return shardtype::call(op::CyclicLuRcond<I, J>{}, where, lu.factors, lu.pivots, norm);
  } else {
    return shardtype::call(op::LuRcond<I, J>{}, where, lu.factors, lu.pivots, norm);
  }
}

}  // namespace linalg::api
}  // namespace shardtype
