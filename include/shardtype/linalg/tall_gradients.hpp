#pragma once
/// QR and least squares of one matrix over ranks, a tall one whose rows are split, with gradients,
/// or one whose columns are block-cyclic: the functions of linalg.hpp for such types.
/// docs/linalg_cyclic.md has the latter's algorithm and what it sends.

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <tuple>
#include <type_traits>

#include <shardtype/linalg/cyclic.hpp>
#include <shardtype/linalg/least_squares.hpp>
#include <shardtype/linalg/orthogonal.hpp>
#include <shardtype/linalg/run_cyclic_qr.hpp>
#include <shardtype/linalg/tall_factorization.hpp>
#include <shardtype/ops/collectives.hpp>

namespace shardtype {

namespace op {

template <class I, class J, class K, bool cholesky>
template <std::size_t Result, class V, class A>
constexpr auto TallQr<I, J, K, cholesky>::save(V const& both, A const&) const {
  return autodiff::keep(std::get<0>(both), std::get<1>(both));
}
/// As that of Qr; for q it needs one all_reduce of a square matrix.
template <class I, class J, class K, bool cholesky>
template <class G>
constexpr auto TallQr<I, J, K, cholesky>::pull(G const& g) const {
  using A = typename G::type;
  return linalg::detail::pull_qr < A, I, J, K,
         G::result ==
             1 > (g.template kept<0>(), g.template kept<1>(), g.ct, [](auto const& product) {
               using L = linalg::detail::SecondColumn;
               constexpr bool rows_first = autodiff::place_of<A, I> < autodiff::place_of<A, J>;
               using First = std::conditional_t<rows_first, K, L>;
               using Second = std::conditional_t<rows_first, L, K>;
               return api::reshard<Dim<First>, Dim<Second>>(product);
             });
}

}  // namespace op

namespace linalg {

namespace detail {

/// Whether the rows I of a matrix are split in blocks: then it is one tall matrix over many ranks;
/// of a recorded value the planner moves the axes instead.
template <class I, class J, class A, bool tensor = is_tensor<A>>
inline constexpr bool rows_in_blocks = false;
template <class I, class J, class A>
inline constexpr bool rows_in_blocks<I, J, A, true> = [] {
  using S = core::Scope<A, shardtype::detail::Bare<I, J>>;
  constexpr Spec a = S::template spec<0>;
  int const d = a.find(S::template spec<1>.dims[0].label);
  return d >= 0 && a.dims[d].axes.size > 0 && a.dims[d].axes.cyclic == 0;
}();
template <class I, class J, class A>
concept TallMatrix = rows_in_blocks<I, J, tensor_behind<A>>;

template <class Op, class A>
constexpr auto tall_qr(Op const& op, A const& a, std::source_location const& where) {
  return detail::named_results<QR>(shardtype::call(op, where, a));
}

/// A sum with the dims of b, of which I becomes K, whole.
template <class I, class K, class... Dims, class C>
constexpr auto summed(shardtype::detail::Pack<Dims...>, C const& c,
                      std::source_location const& where) {
  return shardtype::reshard<typename SolvedRows<K, I, Dims>::type...>(c, where);
}

/// The result of `solve(r, c)` for `parts`, q and r, with c = q^H b, which each rank has whole
/// along K.
template <class I, class K, class Parts, class B, class Solve>
constexpr auto fitted(Parts const& parts, B const& b, std::source_location const& where,
                      Solve solve) {
  if constexpr (checking::any_poisoned<std::remove_cvref_t<decltype(parts.q)>>) {
    return parts.q;
  } else {
    using Right = autodiff::tensor_of<B>;
    auto const c = linalg::detail::einsum_to(
        linalg::detail::with_pair<I, I, K, K>(autodiff::labels_of_t<Right>{}),
        linalg::detail::conjugate(parts.q), b);
    if constexpr (checking::any_poisoned<std::remove_cvref_t<decltype(c)>>) {
      return c;
    } else {
      return solve(parts.r,
                   detail::summed<I, K>(typename autodiff::DimsOf<Right>::type{}, c, where));
    }
  }
}

}  // namespace detail

namespace api {

/// Orthonormal columns q and an upper triangular r with a = q r for one tall matrix whose rows are
/// split: `a[I@X, J]` -> `{q[I@X, K], r[K, J]}`, r the same on all ranks. Each rank factorizes its
/// rows in chunks that stay in a cache, then all factorize the ranks' triangles: one all_gather, in
/// which J (J + 1) / 2 numbers of each rank arrive, of any number of rows. Ranks may have fewer
/// rows than columns, or none. Of a matrix of lower rank q is orthonormal too, and r has small
/// numbers on its diagonal. The gradient is of first order, of matrices of full rank; that of q
/// sends one all_reduce of J x J numbers. Refused: D01, D02, Q02, Q07 J or further dims split,
/// batch dims, fewer rows than columns; P12. Errors: E41 fewer rows than columns, E79. Source:
/// Demmel, Grigori, Hoemmen and Langou, "Communication-optimal parallel and sequential QR and LU
/// factorizations", 2012.
template <class I, class J, class K, class A>
  requires detail::TallMatrix<I, J, A>
constexpr auto qr(core::Argument<A> const& a, checking::CallSite where = {}) {
  return detail::tall_qr(op::TallQr<I, J, K>{}, a.self(), where);
}
/// The same by CholeskyQR2, whose work is matrix products: `qr<I, J, K>(a, linalg::cholesky_qr)`.
/// Two all_gathers as the one above. The diagonal of r is positive. Error E83, on all ranks, where
/// the condition of a is above 1e7 or so (3e3 in float), at which q would not be orthonormal.
/// Source: Yamamoto, Nakatsukasa, Yanagisawa and Fukaya, "Roundoff error analysis of the
/// CholeskyQR2 algorithm", 2015.
template <class I, class J, class K, class A>
  requires detail::TallMatrix<I, J, A>
constexpr auto qr(core::Argument<A> const& a, CholeskyQr, checking::CallSite where = {}) {
  return detail::tall_qr(op::TallQr<I, J, K, true>{}, a.self(), where);
}

/// The x that makes |a x - b| smallest for one tall matrix of full rank whose rows are split:
/// `a[I@X, J]`, `b[I@X]` or `b[I@X, K]` -> `[J]`, `[J, K]`, the same on all ranks along X. By qr,
/// and one all_reduce of J x K numbers. Refusals and errors as qr; Error E83, on all ranks, of a
/// column that depends on those before it; b as einsum of q and b.
template <class I, class J, class A, class B>
  requires(detail::TallMatrix<I, J, A> && !core::is_lazy<A>)
constexpr auto lstsq(core::Argument<A> const& a, B const& b, checking::CallSite where = {}) {
  using K = detail::Least;
  return detail::fitted<I, K>(detail::tall_qr(op::TallQr<I, J, K>{}, a.self(), where), b, where,
                              [&](auto const& r, auto const& c) {
                                return shardtype::call(op::LeastTriangle<K, J>{true}, where, r, c);
                              });
}

}  // namespace api
}  // namespace linalg
}  // namespace shardtype

namespace shardtype::linalg {

namespace detail {

/// Whether the columns of a matrix are block-cyclic, and its rows are not in blocks: those are tall
/// matrices.
template <class I, class J, class A>
concept CyclicColumns =
    cyclic_columns<I, J, tensor_behind<A>> && !rows_in_blocks<I, J, tensor_behind<A>>;

/// The result of `qr`, from the result `out` of its operation. Without data the operation has one
/// result, so r is made here.
template <class I, class J, class K, class A, class Out>
constexpr auto qr_parts([[maybe_unused]] A const& a, Out const& out) {
  if constexpr (checking::any_poisoned<Out>) {
    return QR<Out, Out>{out, out};
  } else if constexpr (shardtype::detail::is_abstract<Out>) {
    using S = core::Scope<typename Out::type, shardtype::detail::Bare<I, K>>;
    using R = typename checking::Resolve<op::CyclicQr<I, J, K, true>, tensor_behind<A>>::result;
    constexpr int rows = S::parsed[0].spec.find(S::parsed[1].spec.dims[0].label);
    std::int64_t n[] = {a.extents()[0], a.extents()[1]};
    n[rows] = out.extents()[1 - rows];
    using P = checking::Abstract<R, std::remove_cvref_t<decltype(out.recorder())>>;
    return QR<Out, P>{out, P(out.recorder(), n)};
  } else {
    return QR<decltype(out.q), decltype(out.r)>{out.q, out.r};
  }
}

}  // namespace detail

namespace api {

/// Orthonormal columns q and an upper triangular r with a = q r of one matrix over many ranks:
/// `a[I, J@X%n]` -> `{q[I, K@X%n], r[K, J@X%n]}` with min(I, J) rows of K. By LAPACK's reflectors
/// in panels of n columns, whose signs it has: each panel is sent to all ranks of X once for r and
/// once more for q, nothing is gathered, and the next one is factorized while one is applied. A NaN
/// gives NaNs. No gradient, X03. Refused: D01, D02 K is a dim of a, Q01 to Q05, P12. Errors: E79 no
/// LAPACK. Source: Bischof and Van Loan, "The WY representation for products of Householder
/// matrices", 1987.
template <class I, class J, class K, class A>
  requires detail::CyclicColumns<I, J, A>
constexpr auto qr(core::Argument<A> const& a, checking::CallSite where = {}) {
  return detail::qr_parts<I, J, K>(a.self(),
                                   shardtype::call(op::CyclicQr<I, J, K>{}, where, a.self()));
}

/// The x that makes |a x - b| smallest, of one matrix of full rank over many ranks with at least as
/// many rows as columns: `a[I, J@X%n]`, `b[I]` or `b[I, K]` -> `[J@X%n]`, `[J@X%n, K]`. Each
/// panel of reflectors is sent once, and applied to b as it arrives: to b[I] on each rank, of b[I,
/// K] each rank has some columns, and as many numbers as x has are gathered. r is solved with by a
/// ring; one number of each rank says whether a column depends on those before it. Where a gradient
/// flows to b, by qr and its product with q. No gradient with respect to a, X03. Refusals as qr and
/// solve, Q09 more columns than rows. Errors, on all ranks alike: E24, E41 more columns than rows,
/// E79, E83 such a column.
template <class I, class J, class A, class B>
  requires detail::CyclicColumns<I, J, A>
constexpr auto lstsq(core::Argument<A> const& a, B const& b, checking::CallSite where = {}) {
  using K = detail::Least;
  auto const solve = [&](auto const& r, auto const& c) {
    auto const checked = shardtype::call(op::CyclicFullRank<I, J, K>{}, where, a.self(), r);
    if constexpr (checking::any_poisoned<std::remove_cvref_t<decltype(checked)>>) {
      return checked;
    } else {
      return api::triangular_solve<K, J>(r, c, {.upper = true}, where);
    }
  };
  if constexpr (core::is_active<A> || core::is_active<B>) {
    // by q, whose product with b has a gradient
    return detail::fitted<I, K>(api::qr<I, J, K>(a.self(), where), b, where, solve);
  } else {
    auto const out = shardtype::call(op::CyclicQrWithRight<I, J, K>{}, where, a.self(), b);
    if constexpr (checking::any_poisoned<std::remove_cvref_t<decltype(out)>>) {
      return out;
    } else {
      auto const& [turned, r] = out;
      using Dims = typename autodiff::DimsOf<autodiff::tensor_of<B>>::type;
      return solve(r, detail::summed<I, K>(Dims{}, turned, where));
    }
  }
}

}  // namespace api
}  // namespace shardtype::linalg
