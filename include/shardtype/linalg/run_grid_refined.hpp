#pragma once
/// Runs solves of one matrix over a grid of ranks by factors of half the precision.

#include <cstdint>

#include <shardtype/linalg/run_cyclic_refined.hpp>
#include <shardtype/linalg/run_grid.hpp>
#include <shardtype/linalg/types_grid_refined.hpp>

namespace shardtype::execute {

/// The half of a matrix over a grid.
template <class C, class A>
class GridHalf {
 public:
  using T = typename C::T;
  using F = typename HalfOf<T>::type;

  GridHalf(C const& run, A const& a)
      : mine(C::matrix_in(static_cast<T const*>(a.buffer().data()), a)),
        comm(run.comm()),
        run_(run),
        a_(a) {}

  Matrix<T const> const mine;
  Comm& comm;

  bool factor(std::int64_t right) {
    factors_ = run_.template take<F>(mine.rows * mine.cols);
    pivots_ = run_.template take<F>(planning::pivot_elements(run_.blocks().n, sizeof(F)));
    copy_half(mine.data, mine.rows * mine.cols, static_cast<F*>(factors_.data()));
    GridMatrix<F> const to = run_.grid(static_cast<F*>(factors_.data()), a_);
    if (run_.try_factor_lu(to, static_cast<std::int32_t*>(pivots_.data())).kind !=
        FactorFailure::none)
      return false;
    given_ = run_.template take<F>(mine.rows * right);
    vectors_ = run_.vectors(lu(), right);
    return true;
  }
  void correct(Matrix<T> const& residual, Matrix<T> const& x) const {
    Matrix<F> const y =
        linalg::kernels::row_major(static_cast<F*>(given_.data()), residual.rows, residual.cols);
    copy_half(residual.data, y.rows * y.cols, y.data);
    run_.solve_lu(lu(), static_cast<std::int32_t const*>(pivots_.data()), y, vectors_);
    add_rows(vectors_.columns, x);
  }

 private:
  GridMatrix<F const> lu() const { return run_.grid(static_cast<F const*>(factors_.data()), a_); }

  C const& run_;
  A const& a_;
  Buffer factors_;
  Buffer pivots_;
  Buffer given_;
  typename C::template Vectors<F> vectors_{};
};

template <class I, class J>
struct Run<op::GridRefinedSolve<I, J>>
    : Solved<GridRun, Run<op::GridRefinedSolve<I, J>>, op::GridRefinedSolve<I, J>, false> {
  template <class C, class A, class T, class B>
  static void solve_for(op::GridRefinedSolve<I, J> const&, C const& run, A const& a,
                        Matrix<T const> const& given, Matrix<T> const& made, B const&) {
    if (!refine<GridHalf<C, A>>(run, a, given, made))
      solve_by_lu_on_grid(run, false, a, given, made);
  }
};

}  // namespace shardtype::execute
