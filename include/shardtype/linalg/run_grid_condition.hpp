#pragma once
/// Runs the estimate of the condition of one matrix over a grid of ranks.

#include <algorithm>
#include <cstdint>

#include <shardtype/linalg/run_cyclic_condition.hpp>
#include <shardtype/linalg/run_grid.hpp>
#include <shardtype/linalg/types_grid_condition.hpp>

namespace shardtype::execute {

/// Solutions by the factors of a matrix over a grid, for `inverse_norm`: own elements are those of
/// the own blocks of the diagonal, so that each is one rank's.
template <class C, class T>
class GridSolutions {
 public:
  using R = linalg::kernels::real_t<T>;

  template <class A>
  GridSolutions(C const& call, A const& a, std::int32_t const* row_of)
      : run_(call),
        m_(call.grid(static_cast<T const*>(a.buffer().data()), a)),
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

template <class I, class J>
struct Run<op::GridLuRcond<I, J>> : LuRcondOf<GridRun, GridSolutions, op::GridLuRcond<I, J>> {};

}  // namespace shardtype::execute
