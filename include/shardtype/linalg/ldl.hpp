#pragma once
/// L D L^H of one Hermitian matrix over many ranks, without pivots, and solves by it: Cholesky's
/// loop, rules and messages, with other work on the triangle of a panel.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/linalg/cyclic.hpp>

namespace shardtype::execute {

/// What L D L^H does with the triangle of a panel (CholeskyTriangle). On the way d is its diagonal,
/// in place of the ones of L.
template <class T>
struct LdlTriangle {
  using Real = linalg::kernels::real_t<T>;
  static constexpr bool goes_along = true;
  Real* d;  ///< of all columns

  static std::int32_t factor(Matrix<T> const& top) {
    // its rows solved, then those that multiply them
    std::vector<T> scratch(static_cast<std::size_t>(top.rows * top.cols));
    return halves(top, 0, scratch.data());
  }
  static void solve(Matrix<T> const& top, T* scratch, Matrix<T> const& below) {
    // x D L^H = b: conj(L) y^T = b^T, and y = x D
    linalg::kernels::solve_triangle<T>(execute::conjugated(top, scratch), true, true,
                                       below.transposed());
    for (std::int64_t c = 0; c < below.cols; ++c)
      for (std::int64_t i = 0; i < below.rows; ++i)
        linalg::kernels::at(below, i, c) /= diagonal(top, c);
  }
  void keep(Matrix<T> const& top, std::int64_t begin) const {
    for (std::int64_t c = 0; c < top.cols; ++c) d[begin + c] = diagonal(top, c);
  }
  static void scale(Matrix<T> const& top, Matrix<T> const& rows) {
    for (std::int64_t c = 0; c < rows.cols; ++c)
      for (std::int64_t i = 0; i < rows.rows; ++i)
        linalg::kernels::at(rows, i, c) *= diagonal(top, c);
  }
  static void finish(Matrix<T> const& block) {
    for (std::int64_t c = 0; c < block.cols; ++c) linalg::kernels::at(block, c, c) = T(1);
  }

 private:
  static Real diagonal(Matrix<T> const& m, std::int64_t c) {
    return linalg::kernels::real_part(linalg::kernels::at(m, c, c));
  }
  /// The failure, packed, of a block whose first column is `begin`; above its diagonal anything.
  static std::int32_t halves(Matrix<T> const& m, std::int64_t begin, T* scratch) {
    constexpr std::int64_t few = 16;
    if (m.cols <= few) return columns(m, begin);
    std::int64_t const h = m.cols / 2;
    std::int64_t const rest = m.cols - h;
    Matrix<T> const top = m.block(0, 0, h, h);
    Matrix<T> const left = m.block(h, 0, rest, h);
    if (std::int32_t const failed = halves(top, begin, scratch); failed != 0) return failed;
    solve(top, scratch, left);
    Matrix<T> const rows = linalg::kernels::column_major(scratch, rest, h);
    execute::copy_conjugates(left, rows);
    scale(top, rows);
    Matrix<T> const behind = m.block(h, h, rest, rest);
    linalg::kernels::subtract_product<T>(left, rows.transposed(), behind);
    return halves(behind, begin + h, scratch);
  }
  static std::int32_t columns(Matrix<T> const& m, std::int64_t begin) {
    namespace lk = linalg::kernels;
    for (std::int64_t k = 0; k < m.cols; ++k) {
      Real const pivot = diagonal(m, k);
      // a NaN of a row of L comes to its pivot, so that none is passed over
      if (!(std::abs(pivot) <= std::numeric_limits<Real>::max()))
        return FactorFailure::pack(FactorFailure::not_a_number, begin + k);
      if (pivot == Real(0)) return FactorFailure::pack(FactorFailure::no_pivot, begin + k);
      lk::at(m, k, k) = T(pivot);
      for (std::int64_t i = k + 1; i < m.rows; ++i) lk::at(m, i, k) /= pivot;
      for (std::int64_t j = k + 1; j < m.cols; ++j) {
        T const f = lk::conjugate(lk::at(m, j, k)) * pivot;
        for (std::int64_t i = j; i < m.rows; ++i) lk::at(m, i, j) -= lk::at(m, i, k) * f;
      }
    }
    return 0;
  }
};

}  // namespace shardtype::execute

namespace shardtype::op {

/// The factors of a = L D L^H, of which the lower triangle is read: L with its ones, zeros above,
/// and as a second result the diagonal of D, real numbers `[J]`, whole on each rank.
template <class I, class J>
struct CyclicLdl : detail::OnOneMatrix<I, J>, detail::InPlace {
  using operation = CyclicLdl;
  using detail::InPlace::InPlace;
  static constexpr std::string_view name = "ldl_factor";
  static constexpr Verdicts<2> rule(rules::Question const& q) {
    Verdict const v = rules::on_one_matrix(q, false);
    Spec d;
    d.add(q.from.dims[1].label);
    return {v, rules::accept_if(v, d)};
  }
  template <class A>
  using element = Elements<element_t<A>, detail::real_of<element_t<A>>>;
  constexpr void extents(ResultExtents const& l, ResultExtents const&) const {
    detail::check_square(l, false);
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_factor<planning::Factor::ldl>(p, c, this->in_place);
  }
  template <class R, class A>
  typename R::results run(std::source_location const& where, A const& a) const {
    using C = execute::OneMatrixRun<R, A>;
    using T = typename A::element;
    using Diagonal = std::tuple_element_t<1, typename R::results>;
    auto const made = R::extents(*this, runtime::map_axes(a.mesh().state(), R::S::names).sizes,
                                 execute::GivenExtents(a).at);
    typename R::results out{C::template result<typename R::result>(*this, a, a.extents()),
                            execute::with_extents<Diagonal>(a.mesh(), made.at[1])};
    if (!a.mesh().here()) return out;
    C const run(a, where, "ldl_factor");
    auto* const memory = static_cast<T*>(std::get<0>(out).buffer().data());
    run.copy_block(a, memory);
    execute::LdlTriangle<T> const triangle{
        static_cast<detail::real_of<T>*>(std::get<1>(out).buffer().data())};
    execute::FactorFailure const failed = run.try_factor_cholesky(a, memory, triangle);
    if (failed.kind == execute::FactorFailure::no_pivot)
      throw Error("E80",
                  "ldl_factor exchanges no rows, and the pivot of column " +
                      std::to_string(failed.column) + " of " +
                      std::string(R::S::names.label_name[C::columns]) +
                      " is 0; lu_factor takes such a matrix, unless it is singular",
                  FailedOn::every_rank);
    run.check(failed, run.blocks().n);
    return out;
  }
};

/// a x = b by the factors of CyclicLdl.
template <class I, class J>
struct CyclicLdlSolve : detail::OnOneMatrix<I, J> {
  using operation = CyclicLdlSolve;
  static constexpr int results_from = 0, results_to = 2;
  static constexpr std::string_view name = "ldl_solve";
  template <class L, class D, class B>
  static constexpr Code elements() {
    return std::is_same_v<element_t<D>, detail::real_of<element_t<L>>> &&
                   std::is_same_v<element_t<B>, element_t<L>>
               ? detail::factorized_elements<L>()
               : Code::C10_element_types_differ;
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_cholesky_solve(p, c);
  }
  template <class R, class A, class D, class B>
  typename R::result run(std::source_location const& where, A const& l, D const& d,
                         B const& b) const {
    using C = execute::OneMatrixRun<R, A>;
    using T = typename A::element;
    using Out = typename R::result;
    Out out =
        shardtype::detail::uninitialized<Out>(l.mesh(), execute::result_extents<R>(*this, l, d, b));
    if (!l.mesh().here()) return out;
    C const run(l, where, "ldl_solve");
    constexpr int along = C::last.find(C::rows);
    auto const* const numbers = static_cast<detail::real_of<T> const*>(d.buffer().data());
    run.cholesky_solve(l, C::template right_in<along>(static_cast<T const*>(b.buffer().data()), b),
                       C::template right_in<along>(static_cast<T*>(out.buffer().data()), out),
                       [&](std::int64_t begin, execute::Matrix<T> const& rows) {
                         for (std::int64_t i = 0; i < rows.rows; ++i)
                           for (std::int64_t k = 0; k < rows.cols; ++k)
                             linalg::kernels::at(rows, i, k) /= numbers[begin + i];
                       });
    return out;
  }
};

}  // namespace shardtype::op

namespace shardtype::linalg {

/// Result of `ldl_factor<I, J>`: a = L D L^H, L with its ones, and the diagonal of D.
template <class I, class J, class L, class D>
struct LDL {
  L l;
  D d;
};

namespace detail {

template <class I, class J, class L, class D>
constexpr LDL<I, J, L, D> ldl_of(std::tuple<L, D> const& out) {
  return {std::get<0>(out), std::get<1>(out)};
}

}  // namespace detail

namespace api {

/// The factors a = L D L^T (L D L^H of complex numbers) of one symmetric (Hermitian) matrix over
/// many ranks, of which the lower triangle is read: `a[I, J@X%n]` -> `LDL{l, d}`, l typed as a with
/// ones on its diagonal and zeros above, d real `[J]`, whole on each rank; over a grid `a[I@X%n,
/// J@Y%n]` too. No rows are exchanged: stable for definite matrices of either sign and, with a
/// bounded condition, for quasi-definite ones, such as [h, a^T; a, -c] with h and c positive
/// definite. Other indefinite matrices may have no factors, or such of large elements and little
/// accuracy, which is not noticed: lu_factor is for them. Sends as cholesky, over a grid also the
/// triangle of each panel along Y. Refused: as lu_factor; with the rows block-cyclic, Q04,
/// `ldl_factor<J, I>(a)`. Errors, on all ranks alike: E41 not square, E80 a pivot of 0, E82 a NaN.
/// No gradient, X03: solve has one. Sources: Vanderbei, "Symmetric quasidefinite matrices", 1995;
/// Gill, Saunders and Shinnerl, "On the stability of Cholesky factorization for symmetric
/// quasidefinite systems", 1996.
///
///     auto const ldl = linalg::ldl_factor<I, J>(kkt);   // f64[I, J@X%64] -> l the same, d: f64[J]
///     auto const x = linalg::ldl_solve<I, J>(ldl, b);   // b: f64[I] -> f64[J@X%64]
template <class I, class J, class A>
constexpr auto ldl_factor(core::Argument<A> const& a, checking::CallSite where = {}) {
  return detail::ldl_of<I, J>(shardtype::call(op::CyclicLdl<I, J>{}, where, a.self()));
}
/// The same of a matrix that is given away, `ldl_factor<I, J>(std::move(a))`, or a temporary: l
/// takes its memory, unless another tensor shares it. After an Error its elements are lost.
template <class I, class J, class A>
  requires detail::OneTensor<I, J, A>
constexpr auto ldl_factor(core::Argument<A>&& a, checking::CallSite where = {}) {
  A const taken = std::move(a).self();
  return detail::ldl_of<I, J>(shardtype::call(op::CyclicLdl<I, J>{true}, where, taken));
}

/// The solution of a x = b by ldl = ldl_factor<I, J>(a): `b[I, K]` -> `[J@X%n, K]`, over a grid
/// `b[I@X%n, K]` -> `[J@Y%n, K]`. Sends as cholesky_solve. Refused: as lu_solve. Errors: E24, E41.
template <class I, class J, class L, class D, class B>
  requires detail::OneMatrix<I, J, L>
constexpr auto ldl_solve(LDL<I, J, L, D> const& ldl, B const& b, checking::CallSite where = {}) {
  return shardtype::call(op::CyclicLdlSolve<I, J>{}, where, ldl.l, ldl.d, b);
}

// Refused, Q12: other calls, such as of stacks of whole matrices.
SHARDTYPE_REFUSED_CALLS(
    ldl_factor, Q12_no_such_call_of_linalg,
    LDL<checking::Poisoned, checking::Poisoned, checking::Poisoned, checking::Poisoned>)
SHARDTYPE_REFUSED_CALLS(ldl_solve, Q12_no_such_call_of_linalg, checking::Poisoned)
// Reported where the factors were refused.
template <class... Labels, class I, class J, class B>
constexpr auto ldl_solve(LDL<I, J, checking::Poisoned, checking::Poisoned> const&, B const&) {
  return checking::Poisoned{};
}

}  // namespace api
}  // namespace shardtype::linalg
