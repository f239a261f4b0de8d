#pragma once
/// QR of one matrix over many ranks, whose columns are block-cyclic, and least squares by it: the
/// functions of linalg.hpp for such types. docs/linalg_cyclic.md has the algorithm and what it
/// sends.

#include <array>
#include <cstdint>
#include <type_traits>

#include <shardtype/linalg/cyclic.hpp>
#include <shardtype/linalg/orthogonal.hpp>
#include <shardtype/linalg/run_cyclic_qr.hpp>
#include <shardtype/linalg/tall_gradients.hpp>

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
  } else if constexpr (shardtype::detail::is_dry<Out>) {
    using S = core::Scope<typename Out::type, shardtype::detail::Bare<I, K>>;
    using R = typename checking::Resolve<op::CyclicQr<I, J, K, true>, tensor_behind<A>>::result;
    constexpr int rows = S::readings[0].spec.find(S::readings[1].spec.dims[0].label);
    std::int64_t n[] = {a.extents()[0], a.extents()[1]};
    n[rows] = out.extents()[1 - rows];
    using P = checking::Dry<R, std::remove_cvref_t<decltype(out.notes())>>;
    return QR<Out, P>{out, P(out.notes(), n)};
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
/// many rows as columns: `a[I, J@X%n]`, `b[I]` or `b[I, K]` -> `[J@X%n]`, `[J@X%n, K]`. By qr; what
/// q^H b has of each column is gathered, as many numbers as x has, and r is solved with by a ring;
/// one number of each rank says whether a column depends on those before it. No gradient, X03.
/// Refusals as qr and solve, Q09 more columns than rows. Errors, on all ranks alike: E24, E41 more
/// columns than rows, E79, E83 such a column.
template <class I, class J, class A, class B>
  requires detail::CyclicColumns<I, J, A>
constexpr auto lstsq(core::Argument<A> const& a, B const& b, checking::CallSite where = {}) {
  using K = detail::Least;
  auto const parts = api::qr<I, J, K>(a.self(), where);
  return detail::fitted<I, K>(parts, b, where, [&](auto const& r, auto const& c) {
    auto const checked = shardtype::call(op::CyclicFullRank<I, J, K>{}, where, a.self(), r);
    if constexpr (checking::any_poisoned<std::remove_cvref_t<decltype(checked)>>) {
      return checked;
    } else {
      return api::triangular_solve<K, J>(r, c, {.upper = true}, where);
    }
  });
}

}  // namespace api
}  // namespace shardtype::linalg
