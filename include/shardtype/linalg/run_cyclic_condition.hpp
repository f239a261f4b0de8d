#pragma once
/// Runs the estimate of the condition of one matrix over many ranks.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <shardtype/linalg/run_cyclic.hpp>
#include <shardtype/linalg/types_cyclic_condition.hpp>

namespace shardtype::execute {

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
