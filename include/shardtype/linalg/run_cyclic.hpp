#pragma once
/// Runs the factorizations and solves of one matrix over many ranks, split columns or a grid, and
/// the estimate of its condition.

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/linalg/kernels_numbers.hpp>
#include <shardtype/linalg/kernels_panel.hpp>
#include <shardtype/linalg/run_cyclic_call.hpp>
#include <shardtype/linalg/run_grid.hpp>
#include <shardtype/linalg/types_cyclic_plan.hpp>
#include <shardtype/linalg/types_cyclic_solutions.hpp>

namespace shardtype::execute {

/// A rank's own columns of the identity whose rows the pivots have exchanged, in the order of the
/// rows of their ones.
class ExchangedIdentity {
 public:
  /// `own`: number of own columns; `memory`: planning::identity_indices numbers.
  ExchangedIdentity(planning::CyclicBlocks const& b, std::int64_t me, std::int64_t own,
                    std::int32_t const* pivots, std::int32_t* memory)
      : own_(own), row_(memory), exchanges_(memory + b.n) {
    std::int32_t* const column_at = exchanges_ + own;
    std::int32_t* const place_of = column_at + own;
    std::iota(row_, row_ + b.n, 0);
    std::iota(column_at, column_at + own, 0);
    std::iota(place_of, place_of + own, 0);
    linalg::kernels::exchange_rows(linalg::kernels::row_major(row_, b.n, 1), pivots, b.n);
    std::int64_t place = 0;
    for (std::int64_t i = 0; i < b.n; ++i) {
      // until it is overwritten, row_ has the column of the one in row i
      std::int64_t const column = row_[i], k = column / b.block;
      if (b.owner(k) != me) continue;
      std::int32_t const from = place_of[b.local(k) + column % b.block];
      exchanges_[place] = from;
      std::swap(column_at[place], column_at[from]);
      place_of[column_at[from]] = from;
      row_[place++] = static_cast<std::int32_t>(i);
    }
  }

  /// The ones, where all of x is 0.
  template <class T>
  void set_ones(linalg::kernels::Matrix<T> const& x) const {
    for (std::int64_t j = 0; j < own_; ++j) linalg::kernels::at(x, row_[j], j) = T(1);
  }
  /// The columns of x back in the order of the matrix's.
  template <class T>
  void restore(linalg::kernels::Matrix<T> const& x) const {
    linalg::kernels::exchange_rows(x.transposed(), exchanges_, own_, true);
  }

 private:
  std::int64_t own_;
  std::int32_t* row_;        ///< of the one of each column, increasing
  std::int32_t* exchanges_;  ///< with which column each was exchanged
};

/// Tells how many of these columns, the first ones, have their one in the rows before an `end` that
/// increases, of x in which the others are not changed yet.
template <class T>
class LeadingColumns {
 public:
  explicit LeadingColumns(linalg::kernels::Matrix<T> const& x) : x_(x) {}

  std::int64_t before(std::int64_t end) {
    while (count_ < x_.cols && begins_before(end)) ++count_;
    begin_ = end;
    return count_;
  }

 private:
  bool begins_before(std::int64_t end) const {
    for (std::int64_t i = begin_; i < end; ++i)
      if (linalg::kernels::at(x_, i, count_) != T(0)) return true;
    return false;
  }

  linalg::kernels::Matrix<T> x_;
  std::int64_t begin_ = 0;
  std::int64_t count_ = 0;
};

/// One call on the calling rank, as the types of the matrix say.
template <class R, class A>
using OneMatrixRun = std::conditional_t<CyclicRun<R, A>::over_grid, GridRun<R, A>, CyclicRun<R, A>>;

template <class I, class J, bool Singular>
struct Run<op::CyclicLu<I, J, Singular>> {
  template <class R, class A>
  static typename R::results run(op::CyclicLu<I, J, Singular> const& op,
                                 std::source_location const& where, A const& a) {
    using C = OneMatrixRun<R, A>;
    auto const made =
        R::extents(op, runtime::map_axes(a.mesh().state(), R::S::names).sizes, GivenExtents(a).at);
    using Pivots = std::tuple_element_t<1, typename R::results>;
    typename R::results out{C::template result<typename R::result>(op, a, a.extents()),
                            execute::with_extents<Pivots>(a.mesh(), made.at[1])};
    if (!a.mesh().here()) return out;
    C const run(a, where, "lu_factor");
    auto* const memory = static_cast<typename A::element*>(std::get<0>(out).buffer().data());
    run.copy_block(a, memory);
    auto* const pivots = static_cast<std::int32_t*>(std::get<1>(out).buffer().data());
    FactorFailure const failed = run.try_factor_lu(a, memory, pivots);
    if (Singular && failed.kind == FactorFailure::no_pivot) {
      run.copy_block(a, memory);
      pivots[0] = -1;
    } else {
      run.check(failed, run.blocks().n);
    }
    return out;
  }
};

template <class I, class J>
struct Run<op::CyclicCholesky<I, J>> : Filled<Run<op::CyclicCholesky<I, J>>> {
  template <class R, class A>
  static typename R::result run(op::CyclicCholesky<I, J> const& op,
                                std::source_location const& where, A const& a) {
    using Out = typename R::result;
    using C = OneMatrixRun<R, A>;
    Out out = C::template result<Out>(op, a, execute::result_extents<R>(op, a));
    if (!a.mesh().here()) return out;
    C const run(a, where, "cholesky");
    auto* const memory = static_cast<typename A::element*>(out.buffer().data());
    run.copy_block(a, memory);
    run.check(run.try_factor_cholesky(a, memory), run.blocks().n);
    return out;
  }
};

/// Runs a call on one matrix that has a new result: allocates it and fills it by
/// `Run<Op>::fill(op, run, out, a, others...)`.
template <class Op>
struct Called {
  template <class R, class A, class... Bs>
  static typename R::result run(Op const& op, std::source_location const& where, A const& a,
                                Bs const&... bs) {
    using Out = typename R::result;
    Out out =
        shardtype::detail::uninitialized<Out>(a.mesh(), execute::result_extents<R>(op, a, bs...));
    if (!a.mesh().here()) return out;
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): names are literals
    OneMatrixRun<R, A> const run(a, where, Op::name.data());
    Run<Op>::fill(op, run, out, a, bs...);
    return out;
  }
};
/// A solve: `Run<Op>::solve_for(op, run, a, given, made, others...)`, from the block of the
/// right-hand sides, the last operand, to that of the solution.
template <class Op>
struct Solved : Called<Op> {
  template <class C, class Out, class A, class... Bs>
  static void fill(Op const& op, C const& run, Out& out, A const& a, Bs const&... bs) {
    using T = typename A::element;
    auto const& b = std::get<sizeof...(Bs) - 1>(std::tie(bs...));
    constexpr int along = C::last.find(Op::transposed ? C::columns : C::rows);
    Run<Op>::solve_for(
        op, run, a, C::template right_in<along>(static_cast<T const*>(b.buffer().data()), b),
        C::template right_in<along>(static_cast<T*>(out.buffer().data()), out), bs...);
  }
};

template <class I, class J, bool Transposed>
struct Run<op::CyclicSolve<I, J, Transposed>> : Solved<op::CyclicSolve<I, J, Transposed>> {
  template <class C, class A, class T, class B>
  static void solve_for(auto const& op, C const& run, A const& a, Matrix<T const> const& given,
                        Matrix<T> const& made, B const&) {
    run.template solve<Transposed>(C::takes(op, a), a, given, made);
  }
};

template <class I, class J, bool Transposed>
struct Run<op::CyclicLuSolve<I, J, Transposed>> : Solved<op::CyclicLuSolve<I, J, Transposed>> {
  template <class C, class A, class T, class P, class B>
  static void solve_for(auto const&, C const& run, A const& a, Matrix<T const> const& given,
                        Matrix<T> const& made, P const& pivots, B const&) {
    run.template lu_solve<Transposed>(a, static_cast<std::int32_t const*>(pivots.buffer().data()),
                                      given, made);
  }
};

template <class I, class J>
struct Run<op::CyclicCholeskySolve<I, J>> : Solved<op::CyclicCholeskySolve<I, J>> {
  template <class C, class A, class T, class B>
  static void solve_for(auto const&, C const& run, A const& a, Matrix<T const> const& given,
                        Matrix<T> const& made, B const&) {
    run.cholesky_solve(a, given, made, [](std::int64_t, Matrix<T> const&) {});
  }
};

template <class I, class J, bool Transposed>
struct Run<op::CyclicTriangle<I, J, Transposed>> : Solved<op::CyclicTriangle<I, J, Transposed>> {
  template <class C, class A, class T, class B>
  static void solve_for(auto const& op, C const& run, A const& a, Matrix<T const> const& given,
                        Matrix<T> const& made, B const&) {
    run.template triangular_solve<Transposed>(op.lower, op.unit, a, given, made);
  }
};

/// The sums of two numbers over all ranks, in double, as the plan counts.
template <class R>
void sum_of_two(Comm& comm, R* two) {
  double const mine[2] = {static_cast<double>(two[0]), static_cast<double>(two[1])};
  double all[2];
  comm.template all_reduce<double>(mine, all, 2, ReduceKind::sum);
  two[0] = static_cast<R>(all[0]), two[1] = static_cast<R>(all[1]);
}

/// Solutions by the factors of one matrix, for `inverse_norm`: own elements are those of the own
/// blocks.
template <class C, class T>
struct CyclicSolutions {
  using R = linalg::kernels::real_t<T>;
  C const& run;
  CyclicColumns<T const> factors;
  std::int32_t const* pivots;

  template <class A>
  CyclicSolutions(C const& call, A const& a, std::int32_t const* row_of)
      : run(call),
        factors(call.columns_in(static_cast<T const*>(a.buffer().data()), a)),
        pivots(row_of) {}

  std::int64_t n() const { return run.blocks().n; }
  void solve(T* x) const {
    Matrix<T> const y = linalg::kernels::row_major(x, n(), 1);
    linalg::kernels::exchange_rows(y, pivots, n());
    run.clear_others(y);
    run.template solve_by_ring<T>({factors, true, true}, y);
    run.template solve_by_ring<T>({factors, false, false}, y);
  }
  void solve_adjoint(T* x) const {
    // a^H y = x, as a^T conj(y) = conj(x)
    Matrix<T> const y = linalg::kernels::row_major(x, n(), 1);
    linalg::kernels::conjugate_all(y);
    C::solve_transposed(factors, pivots, y);
    linalg::kernels::conjugate_all(y);
  }
  void for_own(auto visit) const {
    run.for_own_blocks([&](std::int64_t begin, std::int64_t, std::int64_t width) {
      for (std::int64_t i = begin; i < begin + width; ++i) visit(i);
    });
  }
  void sum(R* two) const { execute::sum_of_two(run.everyone(), two); }
};

/// Solutions by the factors of a matrix over a grid, for `inverse_norm`: own elements are those of
/// the own blocks of the diagonal, so that each is one rank's.
template <class C, class T>
class GridSolutions {
 public:
  using R = linalg::kernels::real_t<T>;

  template <class A>
  GridSolutions(C const& call, A const& a, std::int32_t const* row_of)
      : run_(call),
        m_(call.grid_in(static_cast<T const*>(a.buffer().data()), a)),
        pivots_(row_of),
        vectors_(call.vectors(m_, 1)),
        memory_(call.take(m_.mine.rows + m_.mine.cols + m_.rows.n)) {
    T* const data = C::writable(memory_);
    rows_ = linalg::kernels::row_major(data, m_.mine.rows, 1);
    columns_ = linalg::kernels::row_major(data + m_.mine.rows, m_.mine.cols, 1);
    whole_ = data + m_.mine.rows + m_.mine.cols;
  }

  void solve(T* x) const {
    each_row([&](std::int64_t i, std::int64_t at) { rows_.data[at] = x[i]; });
    run_.solve_lu(m_, pivots_, rows_, vectors_);
    on_diagonal([&](std::int64_t i, std::int64_t at) { x[i] = vectors_.columns.data[at]; });
  }
  void solve_adjoint(T* x) const {
    // a^H y = x, as a^T conj(y) = conj(x)
    on_diagonal([&](std::int64_t i, std::int64_t at) {
      columns_.data[at] = linalg::kernels::conjugate(x[i]);
    });
    run_.solve_transposed(m_, pivots_, columns_, vectors_, rows_);
    // a sum with zeros, so that all process columns have the same bits
    std::fill_n(whole_, m_.rows.n, T(0));
    each_row([&](std::int64_t i, std::int64_t at) {
      whole_[i] = linalg::kernels::conjugate(rows_.data[at]);
    });
    constexpr std::int64_t parts = linalg::kernels::is_complex<T> ? 2 : 1;
    m_.down.template all_reduce<R>(reinterpret_cast<R const*>(whole_), reinterpret_cast<R*>(x),
                                   parts * m_.rows.n, ReduceKind::sum);
  }
  void for_own(auto visit) const {
    on_diagonal([&](std::int64_t i, std::int64_t) { visit(i); });
  }
  void sum(R* two) const { execute::sum_of_two(run_.everyone(), two); }

 private:
  /// Calls `visit(i, place among the own rows)`.
  void each_row(auto visit) const {
    for (std::int64_t k = 0; k < m_.rows.count(); ++k)
      if (m_.has_rows(k))
        for (std::int64_t i = 0; i < m_.width(k); ++i) visit(m_.rows.begin(k) + i, m_.row(k) + i);
  }
  /// Calls `visit(i, place among the own columns)`.
  void on_diagonal(auto visit) const {
    for (std::int64_t k = 0; k < m_.rows.count(); ++k)
      if (m_.has_rows(k) && m_.has_columns(k))
        for (std::int64_t i = 0; i < m_.width(k); ++i)
          visit(m_.rows.begin(k) + i, m_.columns.local(k) + i);
  }

  C const& run_;
  GridMatrix<T const> m_;
  std::int32_t const* pivots_;
  typename C::template Vectors<T> vectors_;
  Buffer memory_;
  Matrix<T> rows_{};
  Matrix<T> columns_{};
  T* whole_ = nullptr;
};

/// The same of the matrix times 2^exponent, so that solutions of a matrix of very small or very
/// large numbers are numbers.
template <class T, class How>
struct ScaledSolutions {
  using R = linalg::kernels::real_t<T>;
  How const& how;
  std::int64_t n;
  int exponent;

  void scale(T* x) const { linalg::kernels::scale_by_power(-exponent, n, 1, x, n); }
  void solve(T* x) const {
    scale(x);
    how.solve(x);
  }
  void solve_adjoint(T* x) const {
    scale(x);
    how.solve_adjoint(x);
  }
  void for_own(auto visit) const { how.for_own(visit); }
  void sum(R* two) const { how.sum(two); }
};

template <class I, class J>
struct Run<op::CyclicLuRcond<I, J>> : Called<op::CyclicLuRcond<I, J>> {
  template <class C, class Out, class A, class P, class N>
  static void fill(auto const&, C const& run, Out& out, A const& a, P const& pivots,
                   N const& norm) {
    using T = typename A::element;
    std::int64_t const n = run.blocks().n;
    Buffer const vectors = run.take(2 * n);
    T* const x = C::writable(vectors);
    using Solutions = std::conditional_t<C::grid, GridSolutions<C, T>, CyclicSolutions<C, T>>;
    Solutions const how(run, a, static_cast<std::int32_t const*>(pivots.buffer().data()));
    using Real = linalg::kernels::real_t<T>;
    // a number on all ranks, so that all scale alike
    Real const size = *static_cast<Real const*>(norm.buffer().data());
    int const exponent = linalg::kernels::scaling_exponent(size);
    ScaledSolutions<T, Solutions> const scaled{how, n, exponent};
    Real const inverse = linalg::kernels::inverse_norm(scaled, n, x, x + n);
    *static_cast<Real*>(out.buffer().data()) = linalg::kernels::reciprocal_condition(
        n, linalg::kernels::times_power(size, exponent), inverse);
  }
};

}  // namespace shardtype::execute
