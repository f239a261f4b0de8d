#pragma once
/// Runs solves of one matrix over a grid of ranks by factors of half the precision.

#include <cstdint>

#include <shardtype/linalg/run_cyclic_refined.hpp>
#include <shardtype/linalg/run_grid.hpp>
#include <shardtype/linalg/types_grid_refined.hpp>

namespace shardtype::execute {

/// The half of a matrix over a grid.
template <class C, class A>
class GridHalf : public HalfOfOne<C, A> {
  using Base = HalfOfOne<C, A>;
  using Base::a_, Base::run_, Base::row_of;

 public:
  using Base::Base;
  using typename Base::F, typename Base::T;

  bool factor(std::int64_t right) {
    GridMatrix<F> const to = run_.grid(this->copied(), a_);
    if (run_.try_factor_lu(to, row_of()).kind != FactorFailure::none) return false;
    given_ = run_.template take<F>(this->mine.rows * right);
    vectors_ = run_.vectors(lu(), right);
    return true;
  }
  void correct(Matrix<T> const& residual, Matrix<T> const& x) const {
    Matrix<F> const y =
        linalg::kernels::row_major(static_cast<F*>(given_.data()), residual.rows, residual.cols);
    execute::copy_half(residual.data, y.rows * y.cols, y.data);
    run_.solve_lu(lu(), row_of(), y, vectors_);
    execute::add_rows(vectors_.columns, x);
  }

 private:
  GridMatrix<F const> lu() const { return run_.grid(this->factors(), a_); }

  Buffer given_;
  typename C::template Vectors<F> vectors_{};
};

template <class I, class J>
struct Run<op::GridRefinedSolve<I, J>> : Solved<GridRun, op::GridRefinedSolve<I, J>> {
  template <class C, class A, class T, class B>
  static void solve_for(auto const&, C const& run, A const& a, Matrix<T const> const& given,
                        Matrix<T> const& made, B const&) {
    if (!execute::refine<GridHalf<C, A>>(run, a, given, made))
      execute::solve_by_lu_on_grid(run, false, a, given, made);
  }
};

}  // namespace shardtype::execute
