#pragma once
/// The inverse and the determinant of one matrix over many ranks, with gradients where its columns,
/// or rows, are block-cyclic over one axis, and its solves for right-hand sides that are split over
/// the same axis: the functions of linalg.hpp for such types. docs/linalg_cyclic.md has the
/// algorithms and what they send.

#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/named.hpp>
#include <shardtype/autodiff/value_and_grad.hpp>
#include <shardtype/linalg/cyclic.hpp>
#include <shardtype/linalg/determinant.hpp>
#include <shardtype/linalg/run_blocks.hpp>
#include <shardtype/linalg/run_cyclic_inverse.hpp>

namespace shardtype {

namespace op {

/// A number that was made of the factors of a matrix, as one of the matrix, of which nothing is
/// read: operands number, matrix, factors, pivots.
template <class I, class J, linalg::detail::Product what>
struct NumberOfOne {
  using operation = NumberOfOne;
  using from = shardtype::detail::Bare<I, J>;
  static constexpr std::string_view name = "det";
  static constexpr bool recorded = false;
  static constexpr bool has_named_form = false;
  static constexpr Verdict rule(rules::Question const& q) { return rules::accept(q.a()); }
  template <class N, class A, class F, class P>
  static constexpr Code elements() {
    return Code::ok;
  }
  template <class N, class A, class F, class P>
  using element = checking::element_t<N>;
  template <class Out, class N, class A, class F, class P>
  void fill(Out& out, N const& number, A const&, F const&, P const&) const {
    *execute::written(out) = *execute::data_of(number);
  }
};

}  // namespace op

namespace autodiff {

/// The gradient as that of DetFactored: the transposed inverse, typed as the matrix, from both
/// factors, which are sent to all ranks once more.
template <class I, class J, linalg::detail::Product what>
struct Vjp<op::NumberOfOne<I, J, what>> {
  static constexpr bool exists = true;
  static constexpr bool communicates = true;
  static constexpr bool first_order = true;
  using Op = op::NumberOfOne<I, J, what>;
  template <class V, class N, class A, class F, class P>
  static constexpr auto save(Op const&, V const& out, N const&, A const&, F const& factors,
                             P const& pivots) {
    return autodiff::keep(factors, pivots, out);
  }
  template <int K, class V, class N, class A, class F, class P, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    static_assert(K == 1, "the factors of lu_factor carry no gradient");
    auto const where = std::source_location::current();
    auto const& factors = autodiff::kept<0>(saved);
    if constexpr (what == linalg::detail::Product::whole) {
      auto const y = api::call(op::CyclicCofactors<I, J>{}, where, factors,
                               autodiff::kept<1>(saved), autodiff::kept<2>(saved));
      return autodiff::in_order((y * ct).tensor(), labels_of_t<tensor_of<A>>{});
    } else {
      auto const y =
          api::call(op::CyclicInverse<I, J, true>{}, where, factors, autodiff::kept<1>(saved));
      auto const scale = linalg::detail::scale_of_inverse<what, checking::element_t<tensor_of<A>>>(
          ct, autodiff::kept<2>(saved));
      return autodiff::in_order((y * scale).tensor(), labels_of_t<tensor_of<A>>{});
    }
  }
};

}  // namespace autodiff

namespace linalg::detail {

/// A number of the factors of one matrix `a`, with the gradient of it if that is sought.
template <class I, class J, Product what, class A, class N, class F>
constexpr auto number_of_one(A const& a, N const& number, F const& lu, checking::CallSite where) {
  constexpr bool constant = what == Product::sign && !of_complex<A>;
  if constexpr (core::is_active<A> && !constant) {
    return shardtype::call(op::NumberOfOne<I, J, what>{}, where, number, a, lu.factors, lu.pivots);
  } else {
    return number;
  }
}

}  // namespace linalg::detail
}  // namespace shardtype

namespace shardtype::linalg {

namespace detail {

template <class I, class J, class A, class B, bool tensors = is_tensor<A> && is_tensor<B>>
inline constexpr bool splits_right = false;
template <class I, class J, class A, class B>
inline constexpr bool splits_right<I, J, A, B, true> = [] {
  using S = core::Scope<A, B, shardtype::detail::Bare<I, J>>;
  Spec const& a = S::parsed[0].spec;
  Spec const& b = S::parsed[1].spec;
  if (CyclicSplit<I, J, A>::rows == CyclicSplit<I, J, A>::columns) return false;
  DimSpec const* const matrix = S::parsed[2].spec.dims;
  int const x = a.dims[a.find(matrix[CyclicSplit<I, J, A>::rows ? 0 : 1].label)].axes[0];
  for (int d = 0; d < b.rank; ++d)
    if (b.dims[d].label != matrix[0].label && b.dims[d].label != matrix[1].label &&
        b.dims[d].axes.contains(x))
      return true;
  return false;
}();

/// Whether the axis that splits the matrix splits the right-hand sides among the ranks.
template <class I, class J, class A, class B>
concept OwnRight = splits_right<I, J, tensor_behind<A>, tensor_behind<B>>;

/// The result of `next(lu, Pack<R, C>{})` for the factors `lu` of one matrix, which has the rows R
/// and the columns C. Where only the rows of a are split, the transposed matrix is factorized, and
/// R and C are its rows and columns. `singular`: a singular matrix is no error.
template <class I, class J, bool singular = false, class A, class Next>
constexpr auto with_factors(A const& a, checking::CallSite where, Next next) {
  constexpr bool rows = by_rows<I, J, A>;
  using R = std::conditional_t<rows, J, I>;
  using C = std::conditional_t<rows, I, J>;
  auto const lu =
      detail::factors_of<R, C>(shardtype::call(op::CyclicLu<R, C, singular>{}, where, a));
  if constexpr (checking::any_poisoned<std::remove_cvref_t<decltype(lu.factors)>>) {
    return lu.factors;
  } else {
    return next(lu, shardtype::detail::Pack<R, C>{});
  }
}

/// The matrix whose factors make a determinant: one whose gradient is sought, without it, because
/// factors carry none; over a grid it stays, and lu_factor refuses it.
template <class I, class J, class A>
constexpr auto factorized(A const& a) {
  if constexpr (core::is_active<A> && !on_grid<I, J, A>) {
    return shardtype::api::stop_gradient(a);
  } else {
    return a;
  }
}

}  // namespace detail

namespace api {

/// The solution of a x = b by the factors of one matrix, where its axis splits the right-hand
/// sides: `lu_solve<I, J>(lu, b)`, `b[I, K@X]` -> `[J, K@X]`; of the transposed matrix `lu_solve<J,
/// I>(lu, b)`, `b[J, K@X]` -> `[I, K@X]`. Each rank solves for its own, and every block column of
/// the factors comes by: 2 n^2 (1 - 1 / p) numbers at most arrive, however many right-hand sides
/// there are. For few of them keep K whole. Refusals and errors as lu_solve.
template <class I, class J, class R, class C, class F, class P, class B>
  requires(detail::OneMatrix<R, C, F> && detail::OwnRight<R, C, F, B>)
constexpr auto lu_solve(LU<R, C, F, P> const& lu, B const& b, checking::CallSite where = {}) {
  return shardtype::call(op::CyclicLuSolveOwn<R, C, detail::exchanged<I, J, R, C>()>{}, where,
                         lu.factors, lu.pivots, b);
}

/// The solution of a x = b where the axis of the matrix splits the right-hand sides: `a[I, J@X%n]`,
/// or `a[I@X%n, J]`, and `b[I, K@X]` -> `[J, K@X]`, by lu_factor and lu_solve. Without a gradient,
/// X03.
template <class I, class J, class A, class B>
  requires(detail::OneMatrix<I, J, A> && detail::OwnRight<I, J, A, B>)
constexpr auto solve(core::Argument<A> const& a, B const& b, checking::CallSite where = {}) {
  return detail::with_factors<I, J>(
      a.self(), where, [&](auto const& lu, auto) { return api::lu_solve<I, J>(lu, b, where); });
}
/// The same of a matrix that is given away, which is factorized in its own memory.
template <class I, class J, class A, class B>
  requires(detail::OneTensor<I, J, A> && detail::OwnRight<I, J, A, B>)
constexpr auto solve(core::Argument<A>&& a, B const& b, checking::CallSite where = {}) {
  return detail::with_factors<I, J>(std::move(a).self(), where, [&](auto const& lu, auto) {
    return api::lu_solve<I, J>(lu, b, where);
  });
}

/// The inverse of one matrix over many ranks: `a[I, J@X%n]` -> `[J, I@X%n]`, whose rows are J and
/// columns I; of `a[I@X%n, J]` `[J@X%n, I]`; over a grid `a[I@X%n, J@Y%n]` -> `[J@X%n, I@Y%n]`.
/// Sends what lu_factor sends, and each block column of both factors to all ranks; over a grid each
/// to the process rows, and each block of the inverse twice down the process columns. `solve` is
/// faster and more accurate where a product with the inverse is wanted. Refusals and errors as
/// lu_factor; no gradient, X03.
template <class I, class J, class A>
  requires detail::OneMatrix<I, J, A>
constexpr auto inv(core::Argument<A> const& a, checking::CallSite where = {}) {
  return detail::with_factors<I, J>(
      a.self(), where, [&]<class R, class C>(auto const& lu, shardtype::detail::Pack<R, C>) {
        return shardtype::call(op::CyclicInverse<R, C>{}, where, lu.factors, lu.pivots);
      });
}

/// The determinant of one matrix over many ranks, or over a grid of them, a number on all of them.
/// Sends what lu_factor sends, and three numbers of each rank. The gradient sends both factors once
/// to all ranks, of a singular matrix, whose determinant is 0, as many numbers of the matrix, which
/// each rank then holds; over a grid there is none, X03. Error E82 of a NaN; else as det of stacks.
template <class I, class J, class A>
  requires detail::OneMatrix<I, J, A>
constexpr auto det(core::Argument<A> const& a, checking::CallSite where = {}) {
  using detail::Product;
  return detail::with_factors<I, J, true>(
      detail::factorized<I, J>(a.self()), where,
      [&]<class R, class C>(auto const& lu, shardtype::detail::Pack<R, C>) {
        auto const number = shardtype::call(op::CyclicLuProduct<R, C, Product::whole>{}, where,
                                            lu.factors, lu.pivots);
        return detail::number_of_one<R, C, Product::whole>(a.self(), number, lu, where);
      });
}

/// The sign and the logarithm of the modulus of the determinant of one matrix over many ranks:
/// `{sign, logdet}`, numbers on all of them. As det.
template <class I, class J, class A>
  requires detail::OneMatrix<I, J, A>
constexpr auto slogdet(core::Argument<A> const& a, checking::CallSite where = {}) {
  using detail::Product;
  auto const both = [&]<class R, class C>(auto const& lu, shardtype::detail::Pack<R, C>) {
    auto const number = [&]<Product what>(std::integral_constant<Product, what>) {
      auto const n =
          shardtype::call(op::CyclicLuProduct<R, C, what>{}, where, lu.factors, lu.pivots);
      return detail::number_of_one<R, C, what>(a.self(), n, lu, where);
    };
    auto sign = number(std::integral_constant<Product, Product::sign>{});
    auto logdet = number(std::integral_constant<Product, Product::logarithm>{});
    return SignAndLogdet<decltype(sign), decltype(logdet)>{std::move(sign), std::move(logdet)};
  };
  auto out = detail::with_factors<I, J, true>(detail::factorized<I, J>(a.self()), where, both);
  if constexpr (checking::any_poisoned<std::remove_cvref_t<decltype(out)>>) {
    return SignAndLogdet<decltype(out), decltype(out)>{out, out};
  } else {
    return out;
  }
}

}  // namespace api

}  // namespace shardtype::linalg
